// What the crawler does on a page in place of a person: it looks, clicks, undoes what a click did, and scrolls. Each call does one
// thing; the crawler lets the page settle in between.
(() => {
  const crawler = window.argiopeCrawler;
  if (!crawler) return;
  // As in `page.js`.
  const { Event, HashChangeEvent, KeyboardEvent, Map, Math, Node, NodeFilter, PopStateEvent, Reflect, Set, String, WeakSet, history } = window;
  const { all, askForReport, attribute, changeable, clickable, hasReport, plainly, roots, watchesScrolling, quietly, write } = crawler.inside;
  // So many nodes of a page are looked at, and whether there were more.
  const NODES_MAX = 20000;
  let isCut = false;
  const LABEL_CHARS_MAX = 80;

  const hash = (text) => {
    let sum = 0x811c9dc5;
    for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
    return sum >>> 0;
  };
  // Clocks and counters are no change of a page.
  const words = (text) => text.replace(/\d+/g, '0').replace(/\s+/g, ' ').trim();
  const isShown = (element) => element?.checkVisibility({ visibilityProperty: true }) === true;
  const owner = (node) => node.parentElement ?? node.getRootNode().host ?? null;

  const LIKELY = '[onclick], button, summary, input[type=button], input[type=submit], [role=button], [role=link], [role=tab], [role=menuitem], ' +
    '[role=treeitem], [aria-expanded], [data-href], [data-url], [data-link]';
  const SWITCHES = '[role=tab], [role=button], [data-toggle], [data-bs-toggle], [aria-controls], [aria-expanded]';
  const isHandled = (element) => clickable.has(element) || typeof element.onclick === 'function';
  // Whether a link leads a person somewhere. Else it is a button in disguise.
  const leads = (anchor) => {
    const href = anchor.getAttribute('href').trim();
    if (href === '' || href === '#' || /^javascript:/i.test(href)) return false;
    return !href.startsWith('#') || /^#[/!]/.test(href) || !(anchor.matches(SWITCHES) || isHandled(anchor));
  };
  const isPart = (element) => {
    if (element.parentElement?.closest(LIKELY)) return true;
    for (let above = element.parentElement, levels = 3; above && levels > 0; above = above.parentElement, levels -= 1) {
      if (above !== document.body && isHandled(above)) return true;
    }
    return false;
  };
  // What a person fills in. A form without it is a button.
  const FIELDS = 'input:not([type=hidden], [type=submit], [type=button], [type=image]), select, textarea, [contenteditable]';
  const { querySelector } = window.Element.prototype;
  const asks = (form) => Reflect.apply(querySelector, form, [FIELDS]) !== null;
  // Whether a script hears that this is chosen.
  const isHeard = (element) => {
    for (let node = element; node; node = node.parentNode ?? node.host ?? node.defaultView) {
      if (changeable.has(node) || typeof node.onchange === 'function' || typeof node.oninput === 'function') return true;
    }
    return false;
  };
  const isClickable = (element) => {
    const anchor = element.closest('a[href]');
    if (anchor && (anchor !== element || leads(anchor))) return false;
    if (element.disabled || element.matches('html, body, [aria-disabled=true]')) return false;
    if (element.form && (element.type === 'reset' || (element.type === 'submit' && asks(element.form)))) return false;
    if (element.matches('input[type=radio], input[type=checkbox]') && isHeard(element)) return true;
    if (anchor || element.matches(LIKELY) || element.localName === 'a' || isHandled(element)) return true;
    return element.childElementCount === 0 && !isPart(element) && getComputedStyle(element).cursor === 'pointer';
  };
  // What looks alike does alike.
  const groupOf = (element) => {
    const style = (node) => `${node?.localName}.${[...(node?.classList ?? [])].slice(0, 3).join('.')}`;
    return hash(words(`${style(element)} ${element.getAttribute('role')} ${element.type} ${style(element.parentElement)}`));
  };

  // Clickable elements that were seen, and those of the last look by name. A name is the same when the page is loaded again.
  const met = new WeakSet();
  const named = new Map();

  const elementsOf = function* (types) {
    let looked = 0;
    for (const root of roots(document)) {
      const walker = (root.ownerDocument ?? root).createTreeWalker(root, types);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        looked += 1;
        if (looked > NODES_MAX) {
          isCut = true;
          return;
        }
        yield node;
      }
    }
  };

  // What would be gone with an element that can be clicked.
  const OWN_TEXTS_MAX = 10;
  const ownPieces = (element, group) => {
    const own = [hash(`c${group}`)];
    const walker = element.ownerDocument.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (own.length <= OWN_TEXTS_MAX && walker.nextNode()) {
      const text = words(walker.currentNode.data);
      if (text !== '') own.push(hash(`t${text}`));
    }
    return own;
  };

  // Texts that were seen, with their numbers.
  const everSeen = new Set();

  // What a person sees of the page, as hashes of its pieces; where its links lead; what can be clicked. `null` if the page looks as
  // it did.
  const look = (known) => {
    const pieces = [hash(`u${location.href}`)];
    const links = new Set();
    const clickables = [];
    const alike = new Map();
    const before = everSeen.size;
    named.clear();
    for (const node of elementsOf(NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)) {
      if (node.nodeType === Node.TEXT_NODE) {
        const text = words(node.data);
        if (text !== '' && isShown(owner(node))) {
          pieces.push(hash(`t${text}`));
          everSeen.add(hash(node.data.trim()));
        }
        continue;
      }
      if (node.localName === 'a' || node.localName === 'area') {
        const link = crawler.link(node);
        if (link !== null && !links.has(link)) {
          links.add(link);
          pieces.push(hash(`l${link}`));
        }
      }
      if (!isShown(node) || !isClickable(node)) continue;
      const group = groupOf(node);
      const kind = `${group}.${hash(words((node.ariaLabel ?? node.textContent).slice(0, LABEL_CHARS_MAX)))}`;
      const nth = alike.get(kind) ?? 0;
      alike.set(kind, nth + 1);
      const name = `${kind}.${nth}`;
      named.set(name, node);
      pieces.push(hash(`c${group}`));
      clickables.push({ name, group, is_known: met.has(node), own: ownPieces(node, group) });
      met.add(node);
    }
    pieces.sort((a, b) => a - b);
    const state = `${pieces.length}.${hash(pieces.join())}`;
    return state === known ? null : { state, pieces, has_new_text: everSeen.size > before, links: [...links], clickables };
  };

  // Texts of the document that was taken, seen or not.
  const taken = new Set();
  const noteTaken = () => {
    for (const node of elementsOf(NodeFilter.SHOW_TEXT)) taken.add(hash(`t${words(node.data)}`));
  };
  // Where a text that is shown for the first time stands among others, within its elements up to the body, whose tags are written around it.
  const isBody = (element) => element === null || element.localName === 'body' || element.localName === 'html';
  const around = (element, inner) => {
    let html = inner;
    for (let above = element; !isBody(above); above = owner(above)) {
      const kept = ['class', 'role'].filter((name) => above.hasAttribute(name)).map((name) => ` ${name}="${attribute(above.getAttribute(name))}"`);
      html = `<${above.localName}${kept.join('')}>${html}</${above.localName}>`;
    }
    return html;
  };
  // The parts of the page whose texts are all among these pieces and not in the document: what they show, as HTML. Texts without letters
  // belong to those beside them.
  const parts = (pieces, max) => {
    const wanted = new Set(pieces);
    const counts = new Map();
    const fresh = [];
    for (const node of elementsOf(NodeFilter.SHOW_TEXT)) {
      const text = words(node.data);
      if (!/\p{L}/u.test(text) || !isShown(owner(node))) continue;
      const piece = hash(`t${text}`);
      const isFresh = wanted.has(piece) && !taken.has(piece);
      if (isFresh) fresh.push({ node, piece });
      for (let above = owner(node); !isBody(above); above = owner(above)) {
        const count = counts.get(above) ?? { texts: 0, fresh: 0 };
        count.texts += 1;
        if (isFresh) count.fresh += 1;
        counts.set(above, count);
      }
    }
    const isWhole = (element) => !isBody(element) && counts.get(element).texts === counts.get(element).fresh;
    const found = new Map();
    for (const { node, piece } of fresh) {
      let root = isBody(owner(node)) ? node : owner(node);
      while (root !== node && isWhole(owner(root))) root = owner(root);
      found.set(root, [...(found.get(root) ?? []), piece]);
    }
    const shown = [];
    let left = max;
    for (const [root, among] of found) {
      const inner = write(root, left);
      const html = root.nodeType === Node.TEXT_NODE ? `<p>${inner}</p>` : around(owner(root), inner);
      if (html.length > left) break;
      left -= html.length;
      shown.push({ pieces: among, html });
    }
    return shown;
  };

  const press = (element) => {
    const view = element.ownerDocument.defaultView ?? window;
    // A form is for the scripts of the page: it is not sent.
    const stay = (event) => event.preventDefault();
    view.addEventListener('submit', stay);
    try {
      const { left, top, width, height } = element.getBoundingClientRect();
      const [clientX, clientY] = [Math.round(left + width / 2), Math.round(top + height / 2)];
      const how = { bubbles: true, cancelable: true, composed: true, view, detail: 1, clientX, clientY };
      for (const [kind, type] of [['PointerEvent', 'pointerover'], ['MouseEvent', 'mouseover'], ['PointerEvent', 'pointerdown'], ['MouseEvent', 'mousedown']]) {
        element.dispatchEvent(new view[kind](type, { ...how, pointerType: 'mouse', isPrimary: true }));
      }
      element.focus?.({ preventScroll: true });
      element.dispatchEvent(new view.PointerEvent('pointerup', { ...how, pointerType: 'mouse', isPrimary: true }));
      element.dispatchEvent(new view.MouseEvent('mouseup', how));
      element.dispatchEvent(new view.PointerEvent('click', { ...how, pointerType: 'mouse' }));
    } catch { /* of no matter */ } finally {
      view.removeEventListener('submit', stay);
    }
  };

  // What tells which of several is chosen.
  const MARKS = ['class', 'aria-selected', 'aria-expanded', 'aria-pressed', 'aria-current', 'aria-checked', 'data-state', 'tabindex'];
  const marks = (element) => [element.checked, ...MARKS.map((name) => element.getAttribute(name))].join('\n');
  const beside = (element) => {
    const group = groupOf(element);
    return [...named.values()].filter((other) => other !== element && (other.parentElement === element.parentElement || groupOf(other) === group));
  };

  // The clicks that led to the state of the page, each with what it takes to undo it.
  const clicks = [];
  const click = (depth, name) => {
    const element = named.get(name);
    if (!element?.isConnected) return false;
    crawler.inside.beginClicking();
    crawler.inside.beginAction();
    clicks.length = depth;
    clicks.push({
      name,
      element,
      url: location.href,
      state: history.state,
      others: new Map(beside(element).map((other) => [other, marks(other)])),
    });
    press(element);
    return true;
  };

  const UNDOING = {
    // Back, as by the browser's button.
    back({ url, state }) {
      const from = location.href;
      if (from === url) return false;
      quietly(() => history.replaceState(state, '', url));
      dispatchEvent(new PopStateEvent('popstate', { state }));
      if (from.split('#')[0] === url.split('#')[0]) dispatchEvent(new HashChangeEvent('hashchange', { oldURL: from, newURL: url }));
      return true;
    },
    // The same again: it closes what it opened, or brings more.
    again({ name, element }) {
      const same = element.isConnected ? element : named.get(name);
      if (!isShown(same)) return false;
      press(same);
      return true;
    },
    // What was chosen before.
    before({ others }) {
      const before = [...others].find(([other, as]) => other.isConnected && marks(other) !== as);
      if (!before) return false;
      press(before[0]);
      return true;
    },
    escape() {
      for (const type of ['keydown', 'keyup']) {
        const key = { key: 'Escape', code: 'Escape', keyCode: 27, bubbles: true, cancelable: true, composed: true };
        (document.activeElement ?? document.body)?.dispatchEvent(new KeyboardEvent(type, key));
      }
      all(document, 'dialog[open]').forEach((dialog) => dialog.close());
      all(document, ':popover-open').forEach((popover) => popover.hidePopover());
      return true;
    },
  };
  // Tries one way to undo the click at this depth. Whether there was anything to try.
  const undo = (depth, how) => {
    const done = clicks[depth];
    crawler.inside.beginAction();
    return done !== undefined && UNDOING[how](done);
  };

  // Scrolling further than this much tells an inner container from what overflows by its borders, in CSS pixels.
  const OVERFLOW_MIN = 16;
  const scrollers = plainly(() => {
    const found = [];
    for (const element of elementsOf(NodeFilter.SHOW_ELEMENT)) {
      const down = element.scrollHeight > element.clientHeight + OVERFLOW_MIN;
      const across = element.scrollWidth > element.clientWidth + OVERFLOW_MIN;
      if (!(down || across) || element.clientHeight === 0) continue;
      const isRoot = element === element.ownerDocument.scrollingElement;
      const style = getComputedStyle(element);
      const does = (overflow) => /auto|scroll/.test(overflow);
      if ((down && (isRoot || does(style.overflowY))) || (across && !isRoot && does(style.overflowX))) found.push(element);
    }
    return found;
  });
  const shownByScrolling = new Set();
  // Where everything that was scrolled stood before, and how it was scrolled since.
  const places = new Map();
  // Scrolls an element by what is seen of it: down, then across, and up if it began at its end or beyond its begin. Gives whether it moved.
  const scrollOn = (element, isRoot) => {
    if (!places.has(element)) places.set(element, { top: element.scrollTop, left: element.scrollLeft, moved: false, across: 0, isUp: false });
    const place = places.get(element);
    const [top, left] = [element.scrollTop, element.scrollLeft];
    const seen = Math.max(isRoot ? element.ownerDocument.defaultView.innerHeight : element.clientHeight, 1);
    const isMoved = () => element.scrollTop !== top || element.scrollLeft !== left;
    if (!place.isUp) element.scrollTo({ top: top + seen, behavior: 'instant' });
    // One that begins again at its end is not followed.
    if (!isMoved() && !isRoot && place.across < element.scrollWidth) {
      place.across += element.clientWidth;
      const towards = getComputedStyle(element).direction === 'rtl' ? -1 : 1;
      element.scrollTo({ left: left + towards * Math.max(element.clientWidth, 1), behavior: 'instant' });
    }
    if (!isMoved() && (place.isUp || place.top !== 0 || !place.moved)) {
      place.isUp = true;
      element.scrollTo({ top: top - seen, behavior: 'instant' });
    }
    place.moved ||= isMoved();
    return isMoved();
  };
  const size = () => {
    let sum = 0;
    for (const element of elementsOf(NodeFilter.SHOW_ELEMENT)) sum += 1 + (element === element.ownerDocument.scrollingElement ? element.scrollHeight : 0);
    return sum;
  };
  // Scrolls everything that scrolls by what is seen of it. Gives whether anything moved, how great the page is, and whether a frame has
  // reported to the page what the scroll before brought into sight.
  const scroll = () => {
    const reported = hasReport();
    crawler.links().forEach((link) => shownByScrolling.add(link));
    let moved = false;
    for (const element of scrollers()) {
      const isRoot = element === element.ownerDocument.scrollingElement;
      if (scrollOn(element, isRoot)) moved = true;
      // The next frame tells of what has moved.
      else (isRoot ? element.ownerDocument : element).dispatchEvent(new Event('scroll', { bubbles: isRoot }));
    }
    askForReport();
    return { moved, size: size(), reported };
  };
  // Scrolls everything back to where it stood. Gives whether there was something to do.
  const rewind = () => {
    for (const [element, { top, left }] of places) element.scrollTo({ top, left, behavior: 'instant' });
    return places.size > 0;
  };
  // Links that scrolling showed, and that are gone again.
  const passed = () => {
    const present = new Set(crawler.links());
    return [...shownByScrolling].filter((link) => !present.has(link));
  };
  const scrolls = () => watchesScrolling() || scrollers().some((element) => typeof element.onscroll === 'function');

  // Films and sounds begin to play, so what plays them requests its sources. What is loaded when it is to be played is loaded now.
  const PLAYED_MAX = 20;
  const media = plainly(() => roots(document).flatMap((root) => [...all(root, 'video, audio')]));
  const play = () => {
    const found = media();
    const played = found.slice(0, PLAYED_MAX);
    for (const element of played) {
      element.muted = true;
      element.preload = 'auto';
      element.play().catch(() => { /* it has no source that may be loaded */ });
    }
    return { played: played.length, left: found.length - played.length };
  };
  const pause = () => media().forEach((element) => element.pause());

  // A script of the user's, of which one runs at a time.
  let ran = 'done';
  const run = (script) => {
    ran = 'running';
    crawler.inside.beginClicking();
    script().then(
      () => {
        ran = 'done';
      },
      (error) => {
        ran = { failed: String(error) };
      },
    );
  };

  Object.assign(crawler, {
    look: plainly(look),
    noteTaken: plainly(noteTaken),
    parts: plainly(parts),
    click,
    undo,
    scroll,
    rewind,
    scrolls: plainly(scrolls),
    passed: plainly(passed),
    play,
    pause,
    run,
    ran: () => ran,
    isCut: () => isCut,
  });
  Object.freeze(crawler);
})();
