// Runs in every document of a page before its own scripts: notes where they want to go, and goes nowhere.
(() => {
  // A script may give these names to something else (`const URL = '/api'`).
  const { Attr, CharacterData, Document, DocumentFragment, Element, EventTarget, History, Map, Math, NamedNodeMap, Node } = window;
  const { CSSStyleDeclaration, Date, Function, Number, Object, Performance, Promise, Proxy, Reflect, Set, String, URL, XMLDocument, getComputedStyle, history, navigation, performance } = window;
  const { Array, JSON, RegExp, Symbol, WeakMap, WeakSet } = window;
  const { defineProperty, getOwnPropertyDescriptor, is } = Object;
  const { apply, deleteProperty } = Reflect;
  const say = window.argiopeSaw;
  delete window.argiopeSaw;
  if (!say) return;
  // What the language gives, as it is before any script. Scripts may replace it by what throws, or does something else.
  const builtins = [];
  const iterators = [[], new Map(), new Set(), ''].map((iterated) => Object.getPrototypeOf(iterated[Symbol.iterator]()));
  iterators.push(Object.getPrototypeOf(iterators[0]), Object.getPrototypeOf(function* () {}).prototype);
  const holders = [Array, Function, JSON, Map, Math, Number, Object, Promise, Reflect, RegExp, Set, String, Symbol, WeakMap, WeakSet];
  for (const holder of [...holders, ...holders.map((each) => each.prototype), ...iterators]) {
    if (!holder) continue;
    for (const name of Reflect.ownKeys(holder)) builtins.push({ holder, name, own: getOwnPropertyDescriptor(holder, name) });
  }
  const put = ({ holder, name }, property) => {
    try {
      if (property === undefined) deleteProperty(holder, name);
      else defineProperty(holder, name, property);
    } catch { /* it cannot be changed any more */ }
  };
  // A function that does its work with what the language gives. What scripts have put in its place is back when it has done so: it is
  // not for what calls functions of the page.
  let isPlain = false;
  const plainly = (does) => (...rest) => {
    if (isPlain) return apply(does, undefined, rest);
    const replaced = [];
    let count = 0;
    for (let at = 0; at < builtins.length; at += 1) {
      const builtin = builtins[at];
      const now = getOwnPropertyDescriptor(builtin.holder, builtin.name);
      if (now !== undefined && is(now.value, builtin.own.value) && now.get === builtin.own.get) continue;
      replaced[count] = { builtin, now };
      count += 1;
      put(builtin, builtin.own);
    }
    isPlain = true;
    try {
      return apply(does, undefined, rest);
    } finally {
      isPlain = false;
      for (let at = 0; at < count; at += 1) put(replaced[at].builtin, replaced[at].now);
    }
  };
  // A collection that keeps its own functions.
  const keeping = (collection) => Object.defineProperties(collection, Object.getOwnPropertyDescriptors(Object.getPrototypeOf(collection)));
  const state = { clicking: false, quiet: false, scrolls: false, routes: false, sawRoute: false, clickable: keeping(new Set()), changeable: keeping(new Set()) };
  // What is read of a document is read by the browser's own functions, as they are before any script. Elements may be named after what
  // documents and forms have (`<img name=querySelectorAll>`), and scripts may replace what all objects have.
  const own = (holder, name) => {
    const { get, value } = Object.getOwnPropertyDescriptor(holder.prototype, name);
    return Function.prototype.call.bind(get ?? value);
  };
  const of = {
    nodeType: own(Node, 'nodeType'),
    lastChild: own(Node, 'lastChild'),
    previousSibling: own(Node, 'previousSibling'),
    parentNode: own(Node, 'parentNode'),
    treeRoot: own(Node, 'getRootNode'),
    ownerDocument: own(Node, 'ownerDocument'),
    baseURI: own(Node, 'baseURI'),
    data: own(CharacterData, 'data'),
    localName: own(Element, 'localName'),
    attributes: own(Element, 'attributes'),
    attributeCount: own(NamedNodeMap, 'length'),
    attribute: own(NamedNodeMap, 'item'),
    attributeName: own(Attr, 'name'),
    attributeValue: own(Attr, 'value'),
    hasAttribute: own(Element, 'hasAttribute'),
    shadowRoot: own(Element, 'shadowRoot'),
    assigned: own(window.HTMLSlotElement, 'assignedNodes'),
    content: own(window.HTMLTemplateElement, 'content'),
    iframe: own(window.HTMLIFrameElement, 'contentDocument'),
    frame: own(window.HTMLFrameElement, 'contentDocument'),
    head: own(Document, 'head'),
    root: own(Document, 'documentElement'),
    body: own(Document, 'body'),
    url: own(Document, 'URL'),
    view: own(Document, 'defaultView'),
    readyState: own(Document, 'readyState'),
    animations: own(Document, 'getAnimations'),
    styled: own(CSSStyleDeclaration, 'getPropertyValue'),
    first: own(Document, 'querySelector'),
    inDocument: own(Document, 'querySelectorAll'),
    inFragment: own(DocumentFragment, 'querySelectorAll'),
  };
  // Of an element that is called as these, but is none, there is nothing.
  const tried = (read, element) => {
    try {
      return read(element);
    } catch {
      return null;
    }
  };
  const all = (root, selector) => (of.nodeType(root) === Node.DOCUMENT_NODE ? of.inDocument : of.inFragment)(root, selector);
  // Whether the fragment may be a page of its own.
  const isRoute = (url) => /^[^#]*#[/!]/.test(url);
  // docsify names the parts of its pages by `?id=`, also where its routes are paths.
  const whole = (href) => (window.$docsify?.routerMode === 'history' ? href.replace(/\?id=[^&#]*$/, '') : href);
  const note = (by, url) => {
    try {
      const to = whole(String(new URL(url, of.baseURI(document))));
      state.sawRoute ||= isRoute(to);
      say(`${by} ${to}`);
    } catch { /* no URL */ }
  };
  // A closed shadow tree is closed to scripts, not to people.
  const attachShadow = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    return apply(attachShadow, this, [{ ...options, mode: 'open' }]);
  };
  window.open = (url) => {
    if (url) note('window', url);
    return null;
  };
  window.print = () => {};
  // Frames are painted when somebody looks: here nobody does, and a tab beside another may wait for ever.
  const FRAME_MS = 16;
  window.requestAnimationFrame = (callback) => setTimeout(() => callback(performance.now()), FRAME_MS);
  window.cancelAnimationFrame = (id) => clearTimeout(id);
  window.requestIdleCallback = (callback) => setTimeout(() => callback({ didTimeout: false, timeRemaining: () => 50 }), FRAME_MS);
  window.cancelIdleCallback = (id) => clearTimeout(id);
  navigation.addEventListener('navigate', (event) => {
    if ((event.hashChange && !isRoute(event.destination.url)) || state.quiet) return;
    if (event.navigationType === 'reload') {
      if (state.clicking && event.cancelable) event.preventDefault();
      return;
    }
    if (event.downloadRequest !== null && event.downloadRequest !== undefined) {
      note(state.clicking ? 'click' : 'download', event.destination.url);
      event.preventDefault();
      return;
    }
    // A form with POST is not sent, and leads nowhere: its request is refused.
    if (event.formData) return;
    // To load itself again, by its own URL.
    if (!event.destination.sameDocument && event.destination.url === location.href && !state.clicking) return;
    if (event.destination.sameDocument) {
      note(state.clicking ? 'click' : 'history', event.destination.url);
      return;
    }
    // Where a frame goes by itself is loaded into it, like its first document: the page stays where it is.
    if (window !== window.top && !state.clicking) return;
    note(state.clicking ? 'click' : 'navigation', event.destination.url);
    if (event.cancelable) event.preventDefault();
  });
  // The history of a tab leads away from its page: to what it showed before. Only between the states of the page itself a script may go.
  const { back, forward, go } = History.prototype;
  const isWithin = (steps) => navigation.entries()[navigation.currentEntry?.index + steps]?.sameDocument === true;
  const stepping = (original, stepsOf) => function (...rest) {
    const steps = stepsOf(...rest);
    if (steps === 0 ? !state.clicking : isWithin(steps)) apply(original, this, rest);
  };
  History.prototype.back = stepping(back, () => -1);
  History.prototype.forward = stepping(forward, () => 1);
  History.prototype.go = stepping(go, (steps) => Math.trunc(Number(steps)) || 0);
  const addEventListener = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type, ...rest) {
    if (type === 'click' && this instanceof Element) state.clickable.add(this);
    if (type === 'change' || type === 'input') state.changeable.add(this ?? window);
    if (this === window && (type === 'hashchange' || type === 'popstate')) state.routes = true;
    if (type === 'scroll' || type === 'scrollend' || type === 'wheel') state.scrolls = true;
    return apply(addEventListener, this, [type, ...rest]);
  };

  // The clock of a page stands while its scripts run. For one that waits for it, it goes on with each reading, after so many of the same time.
  const READINGS_MAX = 10000;
  const [elapsed, present] = [performance.now.bind(performance), Date.now];
  let [readAt, readings, ahead] = [0, 0, 0];
  const millisecondsAhead = () => {
    const at = elapsed();
    if (at === readAt) {
      readings += 1;
      if (readings > READINGS_MAX) ahead += 1;
    } else {
      ahead = Math.max(0, ahead - (at - readAt));
      [readAt, readings] = [at, 0];
    }
    return ahead;
  };
  const now = () => Math.round(present() + millisecondsAhead());
  Performance.prototype.now = () => elapsed() + millisecondsAhead();
  Date.now = () => now();
  window.Date = new Proxy(Date, {
    apply: () => String(new Date(now())),
    construct: (target, rest, created) => Reflect.construct(target, rest.length > 0 ? rest : [now()], created),
  });
  Date.prototype.constructor = window.Date;

  // Timers that are yet to come: when each is due, and which it is in the order in which they were set.
  const timers = keeping(new Map());
  let timersSet = 0;
  // Those set before the last action are none of its business.
  let timersBefore = 0;
  const keepTimers = (set, clear, repeats) => {
    const [setting, clearing] = [window[set], window[clear]];
    window[set] = (handler, delay, ...rest) => {
      const due = repeats ? -Infinity : elapsed() + (Number(delay) || 0);
      const run = (...values) => {
        if (!repeats) timers.delete(id);
        [isInTimer, looksHere] = [true, false];
        try {
          return apply(handler, window, values);
        } finally {
          isInTimer = false;
          if (looksHere) placeLooks += 1;
        }
      };
      const id = apply(setting, window, [typeof handler === 'function' ? run : handler, delay, ...rest]);
      timersSet += 1;
      timers.set(id, { nth: timersSet, due });
      return id;
    };
    window[clear] = (id) => {
      timers.delete(id);
      apply(clearing, window, [id]);
    };
  };
  // Some pages look in timers and frames where they stand, rather than hear of it. So many looks are no measuring at the begin.
  const PLACE_LOOKS_MIN = 8;
  let [isInTimer, looksHere, placeLooks] = [false, false, 0];
  const tellLooks = (holder, name) => {
    const property = Object.getOwnPropertyDescriptor(holder, name);
    const kind = property?.get ? 'get' : 'value';
    const original = property?.[kind];
    if (typeof original !== 'function') return;
    const told = function (...rest) {
      looksHere ||= isInTimer;
      return apply(original, this, rest);
    };
    Object.defineProperty(holder, name, { ...property, [kind]: told });
  };
  for (const name of ['scrollY', 'pageYOffset']) tellLooks(window, name);
  for (const name of ['scrollTop', 'getBoundingClientRect']) tellLooks(Element.prototype, name);
  const later = window.setTimeout;
  keepTimers('setTimeout', 'clearTimeout', false);
  keepTimers('setInterval', 'clearInterval', true);
  // Whether no timer is due within this time. Frames have timers of their own.
  const isCalm = (milliseconds) => {
    const until = elapsed() + milliseconds;
    for (const { nth, due } of timers.values()) {
      if (nth > timersBefore && due <= until) return false;
    }
    return of.first(document, 'iframe, frame, object, embed') === null;
  };

  // What the page waits for that no clock tells: storage, workers, codecs. What does not end is looked at so often.
  const LOOKS_MAX = 300;
  const waits = keeping(new Map());
  const begin = () => {
    const wait = {};
    waits.set(wait, 0);
    return () => waits.delete(wait);
  };
  const until = (target, events) => {
    const end = begin();
    for (let at = 0; at < events.length; at += 1) apply(addEventListener, target, [events[at], end]);
  };
  const wrap = (owner, names, after) => {
    for (const name of names) {
      const original = owner?.[name];
      if (typeof original !== 'function') continue;
      owner[name] = function (...rest) {
        const result = apply(original, this, rest);
        after(result, this);
        return result;
      };
    }
  };
  const promised = (result) => {
    if (typeof result?.then !== 'function') return;
    const end = begin();
    result.then(end, end);
  };
  wrap(window.IDBFactory?.prototype, ['open', 'deleteDatabase'], (request) => until(request, ['success', 'error', 'blocked']));
  wrap(window.IDBDatabase?.prototype, ['transaction'], (transaction) => until(transaction, ['complete', 'abort', 'error']));
  wrap(window.IDBFactory?.prototype, ['databases'], promised);
  wrap(window.CacheStorage?.prototype, ['open', 'has', 'keys', 'match', 'delete'], promised);
  wrap(window.Cache?.prototype, ['add', 'addAll', 'put', 'keys', 'match', 'matchAll', 'delete'], promised);
  wrap(window.StorageManager?.prototype, ['estimate', 'getDirectory', 'persist'], promised);
  wrap(window.SubtleCrypto?.prototype, ['decrypt', 'deriveBits', 'deriveKey', 'digest', 'encrypt', 'generateKey', 'importKey', 'sign', 'verify'], promised);
  wrap(window.WebAssembly, ['compile', 'compileStreaming', 'instantiate', 'instantiateStreaming'], promised);
  wrap(window, ['createImageBitmap'], promised);
  wrap(window.Blob?.prototype, ['arrayBuffer', 'text'], promised);
  wrap(window.FileReader?.prototype, ['readAsArrayBuffer', 'readAsDataURL', 'readAsText'], (_, reader) => until(reader, ['loadend']));
  wrap(window.ServiceWorkerContainer?.prototype, ['register'], (registered) => {
    promised(registered);
    registered.then(({ installing }) => {
      if (!installing) return;
      const end = begin();
      apply(addEventListener, installing, ['statechange', () => {
        if (installing.state === 'activated' || installing.state === 'redundant') end();
      }]);
    }, () => {});
  });
  // The timers of workers run in the time of the machine, which no script of the page knows: the crawler says how long it waits for them.
  const workers = keeping(new Set());
  const heard = ['message', 'messageerror', 'error'];
  const untilHeard = (target) => {
    const wait = {};
    workers.add(wait);
    for (let at = 0; at < heard.length; at += 1) apply(addEventListener, target, [heard[at], () => workers.delete(wait)]);
    until(target, heard);
  };
  const awaited = (name, port) => {
    const original = window[name];
    if (!original) return;
    window[name] = new Proxy(original, {
      construct(target, rest, created) {
        const worker = Reflect.construct(target, rest, created);
        untilHeard(port(worker));
        return worker;
      },
    });
  };
  awaited('Worker', (worker) => worker);
  awaited('SharedWorker', (worker) => worker.port);
  wrap(window.Worker?.prototype, ['postMessage'], (_, worker) => untilHeard(worker));
  wrap(window.ServiceWorker?.prototype, ['postMessage'], () => untilHeard(window.navigator.serviceWorker));
  // Whether a frame has reported what is in sight since that was asked for last. Observers get their reports in the order in which they
  // began, so the page has its own by then. A frame may be late, or show nothing, on a busy machine.
  const { IntersectionObserver } = window;
  const { observe, disconnect } = IntersectionObserver.prototype;
  let hasReport = true;
  const askForReport = () => {
    const root = of.root(document);
    if (root === null) return;
    hasReport = false;
    const observer = new IntersectionObserver(() => {
      hasReport = true;
      apply(disconnect, observer, []);
    });
    apply(observe, observer, [root]);
  };
  let observes = false;
  // Whether the page wants to know what is in sight.
  let watches = false;
  wrap(window.ResizeObserver?.prototype, ['observe'], () => {
    observes = true;
  });
  wrap(window.IntersectionObserver?.prototype, ['observe'], () => {
    observes = true;
    watches = true;
  });
  // Whether something is waited for. It counts as a look.
  const isBusy = plainly(() => {
    for (const [wait, looks] of waits) {
      if (looks < LOOKS_MAX) waits.set(wait, looks + 1);
      else waits.delete(wait);
    }
    return waits.size > 0;
  });
  // Animations have no clock but that of frames: they are ended, and what waits for their end goes on.
  const endAnimations = () => {
    let ended = false;
    for (const animation of of.animations(document)) {
      if (animation.playState !== 'running') continue;
      try {
        animation.finish();
        ended = true;
      } catch { /* it has no end */ }
    }
    return ended;
  };
  // The frame that tells of the end of an animation has the time of so many looks, all of them together of more.
  const FRAME_LOOKS = 10;
  const FRAME_LOOKS_MAX = 200;
  let frameLooks = 0;
  let allFrameLooks = 0;
  const awaitsFrame = () => {
    if (endAnimations()) frameLooks = FRAME_LOOKS;
    if (frameLooks === 0 || allFrameLooks >= FRAME_LOOKS_MAX) return false;
    frameLooks -= 1;
    allFrameLooks += 1;
    return true;
  };
  // What is waited for, and whether the page's clock may jump this far. What is in sight is told in the time of the machine.
  const pending = (milliseconds) => {
    const busy = isBusy();
    const waits = awaitsFrame() || busy;
    const calm = !waits && !observes && isCalm(milliseconds);
    return (waits ? 1 : 0) | (observes ? 2 : 0) | (calm ? 4 : 0) | (workers.size > 0 ? 8 : 0);
  };
  const settled = async () => {
    if (of.readyState(document) !== 'complete') {
      await new Promise((resolve) => apply(addEventListener, window, ['load', resolve, { once: true }]));
    }
    do await new Promise((resolve) => apply(later, window, [resolve, 1]));
    while (isBusy());
  };

  // The document in a frame; `null` if there is none, or it is of another origin.
  const documentIn = (element) => {
    const name = of.localName(element);
    if (name === 'iframe') return tried(of.iframe, element);
    return name === 'frame' ? tried(of.frame, element) : null;
  };
  // Every root of the page: documents of its frames, and shadow trees.
  const roots = (root, found = []) => {
    found.push(root);
    for (const element of all(root, '*')) {
      const shadow = of.shadowRoot(element);
      if (shadow) roots(shadow, found);
      const inside = documentIn(element);
      if (inside) roots(inside, found);
    }
    return found;
  };

  // Elements that stand within a line, unless a style says otherwise.
  const INLINE = new Set(['a', 'abbr', 'b', 'bdi', 'bdo', 'button', 'cite', 'code', 'data', 'dfn', 'em', 'font', 'i', 'ins', 'kbd', 'label', 'mark', 'output', 'q', 's', 'samp', 'small', 'span', 'strong', 'sub', 'sup', 'time', 'u', 'var']);
  // Whether an element that would stand within a line stands apart by its style: nobody sees its words joined to those beside it.
  const standsApart = (element, name) => {
    if (!INLINE.has(name) && !name.includes('-')) return false;
    const display = of.styled(apply(getComputedStyle, window, [element]), 'display');
    return display !== '' && !/^(?:inline|ruby|none|contents)/.test(display);
  };

  const VOID = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr']);
  const RAW = new Set(['script', 'style', 'xmp', 'iframe', 'noembed', 'noframes', 'noscript', 'plaintext']);
  const isRaw = (parent) => parent !== null && of.nodeType(parent) === Node.ELEMENT_NODE && RAW.has(of.localName(parent));
  const text = (value) => value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
  const attribute = (value) => value.replace(/&/g, '&amp;').replace(/"/g, '&quot;');

  // What is relative to the document that it is in.
  const RELATIVE = new Set(['href', 'src', 'poster', 'data']);

  // The document as one text, in which shadow trees and frames of the page's own stand where they are seen. What is on the
  // stack is still to be written: nodes, and texts that end elements. It stops where the text is longer than `max`.
  const serialize = (url, max) => {
    const out = [];
    const stack = [document];
    let length = 0;
    const write = (piece) => {
      out.push(piece);
      length += piece.length;
    };
    const later = (nodes) => {
      for (let at = nodes.length - 1; at >= 0; at -= 1) stack.push(nodes[at]);
    };
    const children = (node) => {
      for (let child = of.lastChild(node); child; child = of.previousSibling(child)) stack.push(child);
    };
    const baseURI = of.baseURI(document);
    const base = baseURI.split('#')[0];
    const hasBase = base === url || of.first(document, 'base[href]') !== null;
    const head = of.head(document);
    while (stack.length && length <= max) {
      const node = stack.pop();
      if (typeof node === 'string') {
        write(node);
        continue;
      }
      switch (of.nodeType(node)) {
        case Node.TEXT_NODE:
          write(isRaw(of.parentNode(node)) ? of.data(node) : text(of.data(node)));
          continue;
        case Node.DOCUMENT_TYPE_NODE:
          write('<!DOCTYPE html>');
          continue;
        case Node.DOCUMENT_NODE:
        case Node.DOCUMENT_FRAGMENT_NODE:
          children(node);
          continue;
        case Node.ELEMENT_NODE:
          break;
        default:
          continue;
      }
      const name = of.localName(node);
      if (name === 'slot') {
        const assigned = tried(of.assigned, node);
        if (assigned?.length) later(assigned);
        else children(node);
        continue;
      }
      // What is in a frame or a shadow tree says nothing of the page.
      if (name === 'base' && of.treeRoot(node) !== document) continue;
      // In a frame that is written into the page, links do not lead from where the page's own do.
      const isElsewhere = of.ownerDocument(node) !== document && of.baseURI(node) !== baseURI;
      const apart = standsApart(node, name) ? '\n' : '';
      let tag = `${apart}<${name}`;
      const attributes = of.attributes(node);
      for (let at = 0; at < of.attributeCount(attributes); at += 1) {
        const one = of.attribute(attributes, at);
        const [key, value] = [of.attributeName(one), of.attributeValue(one)];
        const isMoved = isElsewhere && RELATIVE.has(key) && typeof node[key] === 'string';
        const kept = isMoved ? node[key] : value;
        tag += ` ${key}="${attribute(key === 'href' ? whole(kept) : kept)}"`;
      }
      write(`${tag}>`);
      if (node === head && !hasBase) write(`<base href="${attribute(base)}">`);
      if (VOID.has(name)) continue;
      const frame = name === 'iframe' ? documentIn(node) : null;
      const body = frame && of.body(frame);
      if (body && (of.hasAttribute(node, 'srcdoc') || of.url(frame) === 'about:blank')) {
        stack.push('</div>');
        children(body);
        stack.push('<div>');
      }
      stack.push(`</${name}>${apart}`);
      const shadow = of.shadowRoot(node);
      if (shadow) children(shadow);
      else children((name === 'template' && tried(of.content, node)) || node);
    }
    // A script has removed the root.
    return out.join('') || (of.readyState(document) === 'complete' ? '<html></html>' : '');
  };

  // Where a link leads, `null` if to nothing that can be crawled. Parts of a page are no pages of their own, but its routes may be.
  const link = (anchor) => {
    const href = anchor.href?.baseVal ?? anchor.href;
    if (typeof href !== 'string' || !of.hasAttribute(anchor, 'href') || !/^https?:/.test(href)) return null;
    return isRoute(href) ? href : whole(href.split('#')[0]);
  };
  // Whether the application makes pages of hash routes: it listens to them, and there are some.
  const hasRouter = () => {
    const listens = state.routes || typeof window.onhashchange === 'function' || typeof window.onpopstate === 'function';
    return listens && (state.sawRoute || isRoute(location.href) || links().some(isRoute));
  };
  const links = () => {
    const found = new Set();
    for (const root of roots(document)) {
      for (const element of all(root, 'a[href], area[href]')) found.add(link(element));
    }
    found.delete(null);
    return [...found];
  };

  // From now on the page goes somewhere since something was clicked, in each of its frames.
  const beginClicking = () => {
    state.clicking = true;
    for (const frame of roots(document).map((root) => (of.nodeType(root) === Node.DOCUMENT_NODE ? of.view(root) : null))) {
      if (frame && frame !== window) frame.argiopeCrawler?.inside.clicked();
    }
  };
  // Does something whose navigation is of no interest.
  const quietly = (does) => {
    state.quiet = true;
    try {
      does();
    } finally {
      state.quiet = false;
    }
  };

  // Puts the page's own URL back into the address bar, so that to load the page again loads that one.
  const comeHome = (url) => quietly(() => history.replaceState(null, '', url));

  // What the crawler calls. A page may call it too: it learns nothing of others by it. `behaviours.js` adds what a person does.
  Object.defineProperty(window, 'argiopeCrawler', {
    value: {
      comeHome,
      html: plainly(serialize),
      // Whether the browser shows an error in place of broken XML.
      isMalformed: () => document instanceof XMLDocument && of.first(document, 'parsererror') !== null,
      link: plainly(link),
      links: plainly(links),
      hasRouter: plainly(hasRouter),
      pending: plainly(pending),
      settled,
      inside: {
        plainly,
        clickable: state.clickable,
        changeable: state.changeable,
        all,
        roots,
        beginClicking: plainly(beginClicking),
        beginAction: () => {
          timersBefore = timersSet;
        },
        quietly,
        clicked: () => {
          state.clicking = true;
        },
        askForReport,
        hasReport: () => hasReport,
        watchesScrolling: () => state.scrolls || watches || placeLooks >= PLACE_LOOKS_MIN || typeof window.onscroll === 'function' || of.first(document, '[onscroll]') !== null,
      },
    },
  });
})();
