"use strict";

// Elements are made here and text is set as text: nothing from the crawl is ever read as HTML.
function element(name, properties, ...children) {
  const made = document.createElement(name);
  Object.assign(made, properties);
  made.append(...children);
  return made;
}

const ROWS_SHOWN = 25;
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const MEAN = new Intl.NumberFormat("en", { minimumFractionDigits: 3, maximumFractionDigits: 3 });
const SHORT = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

function number(value) {
  return (Number.isInteger(value) ? WHOLE : MEAN).format(value);
}

function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  for (; bytes >= 1000 && at < units.length - 1; at += 1) bytes /= 1000;
  return `${SHORT.format(bytes)} ${units[at]}`;
}

function shown(value, kind) {
  if (value === null || value === undefined) return "\u2013";
  if (typeof value === "string") return value;
  if (kind === "bytes") return size(value);
  if (kind === "milliseconds") return `${WHOLE.format(value)} ms`;
  if (kind === "share") return `${SHORT.format(value * 100)} %`;
  return number(value);
}

// Only what is plainly http or https becomes a link.
function link(url) {
  if (!/^https?:\/\//i.test(url)) return document.createTextNode(url);
  return element("a", { href: url, textContent: url, rel: "noopener noreferrer nofollow", target: "_blank" });
}

function isWords(kind) {
  return kind === "text" || kind === "url";
}

function compare(a, b, kind) {
  if (a === null || b === null) return (a === null) - (b === null);
  return isWords(kind) ? String(a).localeCompare(String(b), "en", { numeric: true }) : a - b;
}

// A table whose columns sort. `onRow(element, row)` is told of each row that is made.
function buildTable(table, onRow) {
  let rows = table.rows.map((cells, place) => ({ cells, place }));
  let sorted = null;
  let all = rows.length <= ROWS_SHOWN;
  const body = element("tbody");
  const heads = table.columns.map(({ label, kind }, column) => {
    const button = element("button", { type: "button", textContent: label });
    const head = element("th", { scope: "col", className: isWords(kind) ? "" : "number" }, button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => sortBy(column));
    return head;
  });
  const more = element("button", { type: "button", className: "more" });
  more.addEventListener("click", () => {
    all = !all;
    fill();
  });

  // Numbers begin with the greatest, words with the first.
  function sortBy(column) {
    const { kind } = table.columns[column];
    const first = isWords(kind) ? "ascending" : "descending";
    const other = isWords(kind) ? "descending" : "ascending";
    const order = sorted && sorted.column === column && sorted.order === first ? other : first;
    sorted = { column, order };
    heads.forEach((head, at) => head.setAttribute("aria-sort", at === column ? order : "none"));
    const sign = order === "ascending" ? 1 : -1;
    rows.sort((a, b) => {
      const [x, y] = [a.cells[column], b.cells[column]];
      // What is not known stays at the end.
      const unknown = (x === null) - (y === null);
      return unknown || sign * compare(x, y, kind) || a.place - b.place;
    });
    fill();
  }

  function fill() {
    const made = (all ? rows : rows.slice(0, ROWS_SHOWN)).map(({ cells, place }) => {
      const row = element("tr");
      cells.forEach((value, column) => {
        const { kind } = table.columns[column];
        const cell = element("td", { className: !isWords(kind) ? "number" : String(value).length > 12 ? "words" : "" });
        cell.append(kind === "url" && value ? link(value) : shown(value, kind));
        row.append(cell);
      });
      if (onRow) onRow(row, place);
      return row;
    });
    body.replaceChildren(...made);
    more.textContent = all ? `Show the first ${ROWS_SHOWN}` : `Show ${number(rows.length)} rows`;
  }

  fill();
  const whole = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body);
  const parts = [element("div", { className: "scroll" }, whole)];
  if (rows.length > ROWS_SHOWN) parts.push(more);
  if (table.total > rows.length) {
    const left = number(table.total - rows.length);
    parts.push(element("p", { className: "quiet", textContent: `and ${left} more, not in this page` }));
  }
  return parts;
}
