
// The links between the most linked pages. Places come with the data; here they are drawn, and looked at.
const PAD = 28;
const ZOOM_MAX = 20;
const LABELS_FROM = 2.5;
const COLOURS = ["#3a7fc4", "#d9822b", "#3a9a5b", "#c9504f", "#8b66c4", "#a8754f", "#d06aa8", "#2f9d9d"];
const OTHER_SITES = "#8b929a";

function picture({ pages, lines }) {
  const sites = new Map();
  for (const page of pages) sites.set(page.site, (sites.get(page.site) || 0) + 1);
  const ranked = [...sites].sort((a, b) => b[1] - a[1]).map(([site]) => site);
  const colours = new Map(ranked.map((site, at) => [site, COLOURS[at] || OTHER_SITES]));
  const neighbours = pages.map(() => new Set());
  for (const { from, to } of lines) {
    neighbours[from].add(to);
    neighbours[to].add(from);
  }
  const most = Math.max(1, ...pages.map((page) => page.links));
  const radius = (page) => 4 + 8 * Math.sqrt(page.links / most);

  const canvas = element("canvas", { tabIndex: 0 });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Links between the ${pages.length} most linked pages. Arrow keys go from page to page; plus, minus and 0 zoom. The same pages are in the table below.`);
  const about = element("p", { className: "about" });
  about.setAttribute("aria-live", "polite");
  const search = element("input", { type: "search", placeholder: "Search title or URL" });
  search.setAttribute("aria-label", "Search the pages of the picture");
  const found = element("span", { className: "quiet" });
  const button = (text, label, act) => {
    const made = element("button", { type: "button", textContent: text, title: label });
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  };
  const pen = canvas.getContext("2d");
  let [width, height, ratio] = [0, 0, 1];
  let view = { scale: 1, x: 0, y: 0 };
  let [hovered, chosen, matches, due, inks] = [null, null, null, false, {}];
  const rows = [];

  const at = (page) => [
    (PAD + page.x * (width - 2 * PAD)) * view.scale + view.x,
    (PAD + page.y * (height - 2 * PAD)) * view.scale + view.y,
  ];

  function repaint() {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      paint();
    });
  }

  function paint() {
    const looked = hovered ?? chosen;
    const near = looked === null ? null : neighbours[looked];
    const places = pages.map(at);
    const isDim = (place) => (matches && !matches.has(place)) || (near && place !== looked && !near.has(place));
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const draw = (wanted, alpha, ink, thick) => {
      pen.globalAlpha = alpha;
      pen.strokeStyle = ink;
      pen.lineWidth = thick;
      pen.beginPath();
      for (const { from, to } of lines) {
        if (!wanted(from, to)) continue;
        pen.moveTo(...places[from]);
        pen.lineTo(...places[to]);
      }
      pen.stroke();
    };
    // Many lines are fainter each, so that the picture never turns into a plate.
    const faint = Math.max(0.08, Math.min(0.5, 60 / Math.max(1, lines.length)));
    draw(() => true, near || matches ? faint / 2 : faint, inks.quiet, 1);
    if (near) draw((from, to) => from === looked || to === looked, 0.9, inks.mark, 1.5);
    // The least linked first, so that the most linked lie on top.
    for (let place = pages.length - 1; place >= 0; place -= 1) {
      const [x, y] = places[place];
      pen.globalAlpha = isDim(place) ? 0.18 : 1;
      pen.fillStyle = colours.get(pages[place].site);
      pen.beginPath();
      pen.arc(x, y, radius(pages[place]), 0, 2 * Math.PI);
      pen.fill();
      pen.lineWidth = place === looked ? 3 : 1;
      pen.strokeStyle = place === looked ? inks.text : inks.back;
      pen.stroke();
    }
    if (view.scale >= LABELS_FROM) label(places, isDim);
    pen.globalAlpha = 1;
  }

  function label(places, isDim) {
    pen.fillStyle = inks.text;
    pen.font = "12px system-ui, sans-serif";
    pages.forEach((page, place) => {
      const [x, y] = places[place];
      if (isDim(place) || x < 0 || y < 0 || x > width || y > height) return;
      pen.globalAlpha = 1;
      pen.fillText((page.title || page.url).slice(0, 30), x + radius(page) + 3, y + 4);
    });
  }

  function tell() {
    const looked = hovered ?? chosen;
    rows.forEach((row, place) => row && row.classList.toggle("chosen", place === looked));
    if (looked === null) {
      about.replaceChildren(element("span", { className: "quiet", textContent: "Point at a page, or choose one with the arrow keys, to see what it is and what it is linked with." }));
    } else {
      const page = pages[looked];
      const here = neighbours[looked].size;
      about.replaceChildren(
        element("b", { textContent: page.title || page.url }),
        link(page.url),
        element("span", { className: "quiet", textContent: ` ${number(page.links)} ${page.links === 1 ? "page links" : "pages link"} to it; linked with ${here} in this picture` }),
      );
    }
    repaint();
  }

  function pageAt(event) {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let nearest = null;
    let closest = Infinity;
    pages.forEach((page, place) => {
      const [px, py] = at(page);
      const distance = Math.hypot(px - x, py - y) - radius(page);
      if (distance < closest) [nearest, closest] = [place, distance];
    });
    return closest < (event.pointerType === "touch" ? 16 : 6) ? nearest : null;
  }

  function hold() {
    view.x = Math.min(0, Math.max(width * (1 - view.scale), view.x));
    view.y = Math.min(0, Math.max(height * (1 - view.scale), view.y));
    canvas.classList.toggle("zoomed", view.scale > 1);
    repaint();
  }

  function zoom(factor, x = width / 2, y = height / 2) {
    const scale = Math.min(ZOOM_MAX, Math.max(1, view.scale * factor));
    view.x = x - ((x - view.x) * scale) / view.scale;
    view.y = y - ((y - view.y) * scale) / view.scale;
    view.scale = scale;
    hold();
  }

  const pointers = new Map();
  let moved = 0;
  const inside = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, inside(event));
    if (pointers.size === 1) moved = 0;
    canvas.classList.add("dragged");
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) {
      const now = pageAt(event);
      if (now !== hovered) {
        hovered = now;
        tell();
      }
      return;
    }
    const now = inside(event);
    const other = [...pointers].find(([id]) => id !== event.pointerId);
    if (other) {
      const [ox, oy] = other[1];
      const far = ([x, y]) => Math.max(1, Math.hypot(x - ox, y - oy));
      zoom(far(now) / far(before), (now[0] + ox) / 2, (now[1] + oy) / 2);
      moved = Infinity;
    } else {
      moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
      view.x += now[0] - before[0];
      view.y += now[1] - before[1];
      hold();
    }
    pointers.set(event.pointerId, now);
  });
  const release = (event) => {
    const wasDown = pointers.delete(event.pointerId);
    if (pointers.size === 0) canvas.classList.remove("dragged");
    if (wasDown && event.type === "pointerup" && moved < 5) {
      chosen = pageAt(event);
      hovered = null;
      tell();
    }
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => {
    hovered = null;
    tell();
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.002)), ...inside(event));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const factor = { "+": 1.4, "=": 1.4, "-": 1 / 1.4, 0: 1 / ZOOM_MAX }[event.key];
    if (step) chosen = chosen === null ? (step > 0 ? 0 : pages.length - 1) : (chosen + step + pages.length) % pages.length;
    else if (event.key === "Escape") chosen = null;
    else if (factor) zoom(factor);
    else return;
    event.preventDefault();
    hovered = null;
    tell();
  });
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLowerCase();
    const has = (page) => `${page.title || ""}\n${page.url}`.toLowerCase().includes(wanted);
    matches = wanted ? new Set(pages.map((page, place) => (has(page) ? place : -1)).filter((place) => place >= 0)) : null;
    found.textContent = matches ? `${matches.size} of ${pages.length}` : "";
    chosen = matches && matches.size === 1 ? [...matches][0] : null;
    tell();
  });

  function restyle() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["back", "text", "quiet", "mark"]) inks[name] = style.getPropertyValue(`--${name}`).trim();
    repaint();
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);
  new ResizeObserver(() => {
    [width, height, ratio] = [canvas.clientWidth, canvas.clientHeight, window.devicePixelRatio || 1];
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    hold();
  }).observe(canvas);
  restyle();
  tell();

  const legend = element("ul", { className: "legend" });
  const named = ranked.slice(0, COLOURS.length);
  const entry = (text, colour) => {
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = colour;
    return element("li", {}, swatch, text);
  };
  legend.append(...named.map((site) => entry(`${site} (${sites.get(site)})`, colours.get(site))));
  const others = ranked.length - named.length;
  if (others > 0) legend.append(entry(others === 1 ? `${ranked[named.length]} (${sites.get(ranked[named.length])})` : `${others} other sites`, OTHER_SITES));

  const table = {
    columns: [
      { label: "linked by", kind: "number" },
      { label: "page", kind: "url" },
      { label: "title", kind: "text" },
      { label: "linked with here", kind: "number" },
    ],
    rows: pages.map((page, place) => [page.links, page.url, page.title, neighbours[place].size]),
    total: pages.length,
  };
  const onRow = (row, place) => {
    rows[place] = row;
    for (const [type, value] of [["mouseenter", place], ["focusin", place], ["mouseleave", null], ["focusout", null]]) {
      row.addEventListener(type, () => {
        hovered = value;
        tell();
      });
    }
  };
  const tools = element("div", { className: "tools" }, search, button("+", "Zoom in", () => zoom(1.4)), button("\u2212", "Zoom out", () => zoom(1 / 1.4)), button("Whole", "Show the whole picture", () => zoom(1 / ZOOM_MAX)), found);
  return [tools, canvas, about, legend, ...buildTable(table, onRow)];
}
