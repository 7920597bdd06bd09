  // The document of a page, and what the crawler calls. The function is begun in `page.js`.

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
  const serialize = (url, max, root = document) => {
    const out = [];
    const stack = [root];
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
    return out.join('') || (root === document && of.readyState(document) === 'complete' ? '<html></html>' : '');
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
  const comeHome = (url) => {
    state.leaving = true;
    quietly(() => history.replaceState(null, '', url));
  };

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
        write: (root, max) => serialize('', max, root),
        attribute,
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
