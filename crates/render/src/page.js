// Runs in every document of a page before its own scripts: notes where they want to go, and goes nowhere. Its function goes on in
// `waits.js`, and ends with `document.js`.
(() => {
  // A script may give these names to something else (`const URL = '/api'`).
  const { Attr, CharacterData, Document, DocumentFragment, Element, EventTarget, History, Map, Math, NamedNodeMap, Node } = window;
  const { CSSStyleDeclaration, Date, Function, Number, NavigateEvent, Navigation, Object, Performance, Promise, Proxy, Reflect, Set, String, URL, XMLDocument, getComputedStyle, history, navigation, performance } = window;
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
  const state = { clicking: false, quiet: false, leaving: false, scrolls: false, routes: false, sawRoute: false, clickable: keeping(new Set()), changeable: keeping(new Set()) };
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
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  const { intercept, preventDefault, stopImmediatePropagation } = NavigateEvent.prototype;
  // Navigations that the page takes over: its document stays.
  const taken = keeping(new WeakSet());
  const decide = (event) => {
    if ((event.hashChange && !isRoute(event.destination.url)) || state.quiet) return;
    const stays = event.destination.sameDocument || taken.has(event);
    if (event.navigationType === 'reload') {
      if (state.clicking && event.cancelable && !stays) apply(preventDefault, event, []);
      return;
    }
    if (event.downloadRequest !== null && event.downloadRequest !== undefined && !stays) {
      note(state.clicking ? 'click' : 'download', event.destination.url);
      apply(preventDefault, event, []);
      return;
    }
    // A form with POST is not sent, and leads nowhere: its request is refused.
    if (event.formData) return;
    // To load itself again, by its own URL.
    if (!stays && event.destination.url === location.href && !state.clicking) return;
    if (stays) {
      note(state.clicking ? 'click' : 'history', event.destination.url);
      return;
    }
    // Where a frame goes by itself is loaded into it, like its first document: the page stays where it is.
    if (window !== window.top && !state.clicking) return;
    note(state.clicking ? 'click' : 'navigation', event.destination.url);
    if (event.cancelable) apply(preventDefault, event, []);
  };
  // The page's own listeners hear of a navigation before, and may take it over.
  const decideLast = () => {
    apply(removeEventListener, navigation, ['navigate', decide]);
    apply(addEventListener, navigation, ['navigate', decide]);
  };
  decideLast();
  for (const [name, original] of [['intercept', intercept], ['preventDefault', preventDefault]]) {
    NavigateEvent.prototype[name] = function (...rest) {
      apply(original, this, rest);
      taken.add(this);
    };
  }
  NavigateEvent.prototype.stopImmediatePropagation = function () {
    decide(this);
    apply(stopImmediatePropagation, this, []);
  };
  // Unless the crawler loads the page again.
  apply(addEventListener, navigation, ['navigate', (event) => {
    if (state.leaving) apply(stopImmediatePropagation, event, []);
  }, true]);
  const { get: getHandler, set: setHandler } = Object.getOwnPropertyDescriptor(Navigation.prototype, 'onnavigate');
  Object.defineProperty(Navigation.prototype, 'onnavigate', {
    configurable: true,
    enumerable: true,
    get: getHandler,
    set(handler) {
      apply(setHandler, this, [handler]);
      state.routes = true;
      decideLast();
    },
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
  const traversing = (original, isInside) => function (...rest) {
    // It stays for ever on its way.
    const way = () => new Promise(() => {});
    return isInside(...rest) ? apply(original, this, rest) : { committed: way(), finished: way() };
  };
  Navigation.prototype.back = traversing(Navigation.prototype.back, () => isWithin(-1));
  Navigation.prototype.forward = traversing(Navigation.prototype.forward, () => isWithin(1));
  Navigation.prototype.traverseTo = traversing(Navigation.prototype.traverseTo, (key) =>
    navigation.entries().some((entry) => entry.key === key && entry.sameDocument));
  EventTarget.prototype.addEventListener = function (type, ...rest) {
    if (type === 'click' && this instanceof Element) state.clickable.add(this);
    if (type === 'change' || type === 'input') state.changeable.add(this ?? window);
    if (this === window && (type === 'hashchange' || type === 'popstate')) state.routes = true;
    if (type === 'scroll' || type === 'scrollend' || type === 'wheel') state.scrolls = true;
    apply(addEventListener, this, [type, ...rest]);
    if (this === navigation && type === 'navigate') {
      state.routes = true;
      decideLast();
    }
  };
