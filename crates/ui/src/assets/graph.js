"use strict";
// Draws the link graph. The places come from the server; this moves, zooms and says what the pointer is at.
const canvas = document.getElementById("graph");
if (canvas) {
  // The largest communities have colours, whose hues lie far apart.
  const COLOURS = Array.from({ length: 24 }, (_, at) => `hsl(${Math.round(at * 137.5) % 360} 55% 47%)`);
  const OTHERS = "#8a8d94";
  const MARGIN = 24;
  // A point of mean rank takes this share of the room that there is for each, at most.
  const SHARE = 0.3;
  const RADIUS = { least: 1, most: 14 };
  const ZOOM = { step: 1.25, least: 0.5, most: 200 };
  const STEP = 60;
  const NEAR = 12;
  // Lines are drawn when nothing has moved for so long, in milliseconds.
  const REST = 120;
  // The picture of this page holds no more, and the next one takes some time. It is asked for again then, in milliseconds.
  const ACCEPTED = 202;
  const LOAD_AGAIN = 1000;
  const pen = canvas.getContext("2d");
  // Colours are read from it: reading from the canvas itself would slow that down.
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const pointed = document.getElementById("pointed");
  const view = { x: 0, y: 0, scale: 1 };
  let points = [];
  let groups = [];
  let links = [];
  let frame = 0;
  let rest = 0;
  let hovered = null;
  let still = null;

  const left = (point) => (MARGIN + point.at[0] * (canvas.width - 2 * MARGIN)) * view.scale + view.x;
  const top = (point) => (MARGIN + point.at[1] * (canvas.height - 2 * MARGIN)) * view.scale + view.y;

  const drawLinks = () => {
    pen.globalAlpha = Math.max(0.04, Math.min(0.5, 600 / links.length));
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.lineWidth = 1;
    pen.beginPath();
    for (const [from, to] of links) {
      const [x1, y1, x2, y2] = [left(points[from]), top(points[from]), left(points[to]), top(points[to])];
      if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > canvas.width || Math.max(y1, y2) < 0 || Math.min(y1, y2) > canvas.height) continue;
      pen.moveTo(x1, y1);
      pen.lineTo(x2, y2);
    }
    pen.stroke();
    pen.globalAlpha = 1;
  };

  const drawPoints = () => {
    for (const [colour, members] of groups) {
      pen.fillStyle = colour;
      for (const point of members) {
        const [x, y, size] = [left(point), top(point), point.size];
        if (x < -size || y < -size || x > canvas.width + size || y > canvas.height + size) continue;
        if (size < 3) {
          pen.fillRect(x - size, y - size, 2 * size, 2 * size);
          continue;
        }
        pen.beginPath();
        pen.arc(x, y, size, 0, 2 * Math.PI);
        pen.fill();
      }
    }
  };

  const drawRing = () => {
    if (hovered === null) return;
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(left(hovered), top(hovered), hovered.size + 4, 0, 2 * Math.PI);
    pen.stroke();
  };

  const clear = () => pen.clearRect(0, 0, canvas.width, canvas.height);

  // Everything, kept as an image until something moves.
  const drawAll = () => {
    clear();
    drawLinks();
    drawPoints();
    still = document.createElement("canvas");
    Object.assign(still, { width: canvas.width, height: canvas.height });
    still.getContext("2d").drawImage(canvas, 0, 0);
    drawRing();
  };

  // Points as squares, written as pixels: a call for each would take most of a processor.
  const drawMoving = () => {
    still = null;
    const { width, height } = canvas;
    const image = pen.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    for (const [, members, pixel] of groups) {
      for (const point of members) {
        const [x, y, size] = [Math.round(left(point)), Math.round(top(point)), Math.round(point.size)];
        const [from, to] = [Math.max(0, x - size), Math.min(width, x + size)];
        if (from >= to) continue;
        const below = Math.min(height, y + size);
        for (let row = Math.max(0, y - size); row < below; row += 1) pixels.fill(pixel, row * width + from, row * width + to);
      }
    }
    pen.putImageData(image, 0, 0);
    drawRing();
  };

  // A colour as it is in the memory of a picture.
  const pixelOf = (colour) => {
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    return new Uint32Array(probe.getImageData(0, 0, 1, 1).data.buffer)[0];
  };

  // While something moves only points are drawn, at most once a frame of the display.
  const redraw = () => {
    if (frame === 0) {
      frame = requestAnimationFrame(() => {
        frame = 0;
        drawMoving();
      });
    }
    clearTimeout(rest);
    rest = setTimeout(drawAll, REST);
  };

  const zoom = (factor, x, y) => {
    const scale = Math.max(ZOOM.least, Math.min(ZOOM.most, view.scale * factor));
    const by = scale / view.scale;
    Object.assign(view, { x: x - (x - view.x) * by, y: y - (y - view.y) * by, scale });
    redraw();
  };

  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * canvas.width, ((event.clientY - box.top) / box.height) * canvas.height];
  };

  const nearest = (x, y) => {
    let [found, least] = [null, Infinity];
    for (const point of points) {
      const distance = Math.hypot(left(point) - x, top(point) - y) - point.size;
      if (distance < least) [found, least] = [point, distance];
    }
    return least < NEAR ? found : null;
  };

  const point = (at) => {
    if (at === hovered) return;
    hovered = at;
    canvas.classList.toggle("over", at !== null);
    if (at) pointed.textContent = `${at.name} – PageRank ${at.rank.toFixed(6)}, linked by ${at.linked_by}, community ${at.community + 1}`;
    if (still === null) return;
    clear();
    pen.drawImage(still, 0, 0);
    drawRing();
  };

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(event.deltaY < 0 ? ZOOM.step : 1 / ZOOM.step, ...place(event));
  }, { passive: false });

  let dragged = null;
  canvas.addEventListener("pointerdown", (event) => {
    dragged = { at: place(event), moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (dragged === null) {
      point(nearest(x, y));
      return;
    }
    const [dx, dy] = [x - dragged.at[0], y - dragged.at[1]];
    if (!dragged.moved && Math.hypot(dx, dy) < 4) return;
    Object.assign(dragged, { at: [x, y], moved: true });
    view.x += dx;
    view.y += dy;
    redraw();
  });
  canvas.addEventListener("pointerup", (event) => {
    const at = dragged?.moved ? null : nearest(...place(event));
    dragged = null;
    if (at) location.href = `${canvas.dataset.story}?u=${encodeURIComponent(at.name)}`;
  });

  const keys = {
    ArrowLeft: () => (view.x += STEP),
    ArrowRight: () => (view.x -= STEP),
    ArrowUp: () => (view.y += STEP),
    ArrowDown: () => (view.y -= STEP),
    "+": () => zoom(ZOOM.step, canvas.width / 2, canvas.height / 2),
    "-": () => zoom(1 / ZOOM.step, canvas.width / 2, canvas.height / 2),
    0: () => Object.assign(view, { x: 0, y: 0, scale: 1 }),
  };
  canvas.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
    redraw();
  });

  const load = async () => {
    const answer = await fetch(canvas.dataset.src);
    if (answer.status === ACCEPTED) {
      pointed.textContent = "The picture is being drawn once more: the crawl has gone on.";
      await new Promise((over) => setTimeout(over, LOAD_AGAIN));
      await load();
      return;
    }
    if (!answer.ok) {
      pointed.textContent = "The picture cannot be loaded now.";
      return;
    }
    ({ vertices: points, links } = await answer.json());
    const mean = points.reduce((sum, point) => sum + point.rank, 0) / points.length || 1;
    const highest = points.reduce((most, point) => Math.max(most, point.rank), 0) || 1;
    const room = SHARE * Math.sqrt((canvas.width * canvas.height) / points.length);
    // Areas are in the proportion of ranks: the largest point is not cut.
    const radius = Math.min(room / Math.sqrt(mean), RADIUS.most / Math.sqrt(highest));
    const byColour = new Map();
    for (const point of points) {
      point.size = Math.max(RADIUS.least, radius * Math.sqrt(point.rank));
      const colour = COLOURS[point.community] ?? OTHERS;
      if (!byColour.has(colour)) byColour.set(colour, []);
      byColour.get(colour).push(point);
    }
    groups = [...byColour].map(([colour, members]) => [colour, members, pixelOf(colour)]);
    drawAll();
    canvas.dataset.ready = "yes";
  };
  load().catch(() => {
    pointed.textContent = "The picture cannot be loaded now.";
  });
}
