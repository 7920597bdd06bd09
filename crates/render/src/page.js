// Runs in every document of a page before its own scripts: notes where they want to go, and goes nowhere.
(() => {
  const say = window.argiopeSaw;
  delete window.argiopeSaw;
  if (!say) return;
  const state = { clicking: false, clickable: new Set() };
  const note = (by, url) => {
    try {
      say(JSON.stringify([by, String(new URL(url, document.baseURI))]));
    } catch { /* no URL */ }
  };
  // A closed shadow tree is closed to scripts, not to people.
  const attachShadow = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    return attachShadow.call(this, { ...options, mode: 'open' });
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
  window.navigation?.addEventListener('navigate', (event) => {
    if (event.hashChange || event.navigationType === 'reload') return;
    if (event.destination.sameDocument) {
      note(state.clicking ? 'click' : 'history', event.destination.url);
      return;
    }
    // Where a frame goes by itself is loaded into it, like its first document: the page stays where it is.
    if (window !== window.top && !state.clicking) return;
    note(state.clicking ? 'click' : 'navigation', event.destination.url);
    if (event.cancelable) event.preventDefault();
  });
  const addEventListener = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type, ...rest) {
    if (type === 'click' && this instanceof Element) state.clickable.add(this);
    return addEventListener.call(this, type, ...rest);
  };

  // Every root of the page: documents of its frames, and shadow trees.
  const roots = (root, found = []) => {
    found.push(root);
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) roots(element.shadowRoot, found);
      if (element.localName === 'iframe' || element.localName === 'frame') {
        try {
          if (element.contentDocument) roots(element.contentDocument, found);
        } catch { /* of another origin */ }
      }
    }
    return found;
  };

  const VOID = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr']);
  const RAW = new Set(['script', 'style', 'xmp', 'iframe', 'noembed', 'noframes', 'plaintext']);
  const text = (value) => value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
  const attribute = (value) => value.replace(/&/g, '&amp;').replace(/"/g, '&quot;');

  // The document as one text, in which shadow trees and frames of the page's own stand where they are seen.
  const serialize = (node, out, max) => {
    if (out.length > max) return;
    switch (node.nodeType) {
      case Node.TEXT_NODE: {
        const parent = node.parentNode?.localName;
        out.push(RAW.has(parent) ? node.data : text(node.data));
        return;
      }
      case Node.DOCUMENT_TYPE_NODE:
        out.push('<!DOCTYPE html>');
        return;
      case Node.DOCUMENT_NODE:
      case Node.DOCUMENT_FRAGMENT_NODE:
        for (const child of node.childNodes) serialize(child, out, max);
        return;
      case Node.ELEMENT_NODE:
        break;
      default:
        return;
    }
    const name = node.localName;
    if (name === 'slot') {
      const assigned = node.assignedNodes();
      for (const child of assigned.length ? assigned : node.childNodes) serialize(child, out, max);
      return;
    }
    out.push('<', name);
    for (const { name: key, value } of node.attributes) out.push(' ', key, '="', attribute(value), '"');
    out.push('>');
    if (VOID.has(name)) return;
    if (node.shadowRoot) {
      serialize(node.shadowRoot, out, max);
    } else {
      const inner = name === 'template' ? node.content : node;
      for (const child of inner.childNodes) serialize(child, out, max);
    }
    out.push('</', name, '>');
    if (name === 'iframe') {
      try {
        const frame = node.contentDocument;
        if (frame?.body && (node.hasAttribute('srcdoc') || frame.URL === 'about:blank')) {
          out.push('<div>');
          for (const child of frame.body.childNodes) serialize(child, out, max);
          out.push('</div>');
        }
      } catch { /* of another origin */ }
    }
  };

  const links = () => {
    const found = new Set();
    for (const root of roots(document)) {
      for (const element of root.querySelectorAll('a[href], area[href]')) {
        const href = element.href?.baseVal ?? element.href;
        if (typeof href === 'string' && /^https?:/.test(href)) found.add(href.split('#')[0]);
      }
    }
    return [...found];
  };

  const LIKELY = '[onclick], button, summary, [role=button], [role=link], [role=tab], [role=menuitem], [data-href], [data-url], [data-link]';
  const click = (max) => {
    const seen = new Set();
    for (const root of roots(document)) {
      for (const element of root.querySelectorAll(LIKELY)) seen.add(element);
      for (const element of root.querySelectorAll('a:not([href])')) seen.add(element);
    }
    for (const element of state.clickable) if (element.isConnected) seen.add(element);
    for (const root of roots(document)) {
      for (const element of root.querySelectorAll('*')) {
        if (seen.size >= max) break;
        const style = element.childElementCount === 0 && !element.closest('a[href]') && getComputedStyle(element);
        if (style && style.cursor === 'pointer') seen.add(element);
      }
    }
    let count = 0;
    state.clicking = true;
    for (const element of seen) {
      if (count >= max) break;
      if (element.closest('a[href]') || (element.form && (element.type === 'submit' || element.type === 'reset'))) continue;
      count += 1;
      try {
        element.click();
      } catch { /* of no matter */ }
    }
    return count;
  };

  // What the crawler calls. A page may call it too: it learns nothing of others by it.
  Object.defineProperty(window, 'argiopeCrawler', {
    value: Object.freeze({
      html: (max) => {
        const out = [];
        serialize(document, out, max);
        return out.join('');
      },
      links,
      click,
    }),
  });
})();
