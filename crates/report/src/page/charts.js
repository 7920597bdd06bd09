
// Charts as SVG, drawn for the width they have and again when it changes.
const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function chart(label, draw) {
  const svg = shape("svg", { role: "img", "aria-label": label });
  const figure = element("figure", {}, svg);
  let width = 0;
  new ResizeObserver(() => {
    const now = Math.round(figure.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    svg.replaceChildren();
    const height = draw(svg, width);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
  }).observe(figure);
  return figure;
}

// Bars below their names: `rows` are [name, all sites, seed sites or null].
function bars(label, rows) {
  const most = Math.max(1, ...rows.map((row) => row[1]));
  const said = rows.map(([name, all]) => `${name} ${number(all)}`).join(", ");
  const figure = chart(`${label}: ${said}`, (svg, width) => {
    rows.forEach(([name, all, seed], at) => {
      const top = at * 38;
      const room = Math.max(8, Math.floor((width - 90) / 7.5));
      const short = name.length > room ? `${name.slice(0, room - 1)}\u2026` : name;
      const bar = (value, kind) =>
        svg.append(shape("rect", { x: 0, y: top + 20, width: Math.max(value > 0 ? 2 : 0, (value / most) * width), height: 9, class: kind }));
      svg.append(shape("text", { x: 0, y: top + 14 }, short));
      svg.append(shape("text", { x: width, y: top + 14, "text-anchor": "end", class: "quiet" }, number(all)));
      bar(all, "all");
      if (seed !== null) bar(seed, "seed");
    });
    return rows.length * 38;
  });
  figure.className = "bars";
  return figure;
}

function moment(text) {
  return `${text.slice(0, 10)} ${text.slice(11, 19)}`;
}

// Columns over time.
function speedChart(speed) {
  const rates = speed.buckets.map((bucket) => bucket.pages / speed.bucket_seconds);
  const most = Math.max(...rates);
  const label = `Pages a second from ${speed.began_at} to ${speed.ended_at}, at most ${SHORT.format(most)}`;
  return chart(label, (svg, width) => {
    const [top, height, step] = [22, 140, width / rates.length];
    svg.append(shape("text", { x: 0, y: 13, class: "quiet" }, `${SHORT.format(most)} pages a second`));
    rates.forEach((rate, at) => {
      const tall = (rate / most) * height;
      const gap = step > 4 ? 1 : 0;
      const column = shape("rect", { x: at * step, y: top + height - tall, width: Math.max(0.5, step - gap), height: tall, class: "speed" });
      const bucket = speed.buckets[at];
      column.append(shape("title", {}, `${moment(bucket.at)} UTC: ${SHORT.format(rate)} pages a second, ${number(bucket.pages)} pages, ${size(bucket.bytes)}`));
      svg.append(column);
    });
    svg.append(shape("line", { x1: 0, x2: width, y1: top + height, y2: top + height, class: "axis" }));
    svg.append(shape("text", { x: 0, y: top + height + 18, class: "quiet" }, moment(speed.began_at)));
    const end = { x: width, y: top + height + 18, "text-anchor": "end", class: "quiet" };
    const sameDay = speed.began_at.slice(0, 10) === speed.ended_at.slice(0, 10);
    svg.append(shape("text", end, sameDay ? moment(speed.ended_at).slice(11) : moment(speed.ended_at)));
    return top + height + 26;
  });
}
