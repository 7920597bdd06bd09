"use strict";
// Keeps pages up to date. Every page works without this.
// A page of the interface; null for one that says what went wrong, unless any will do.
const parsed = async (link, isAny = false) => {
  const answer = await fetch(link);
  return answer.ok || isAny ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
};

// A reader is at a link or field of an element, and stays there.
const isIn = (element) => element !== document.activeElement && element.contains(document.activeElement);
const leaves = async (element) => {
  while (isIn(element)) await new Promise((left) => element.addEventListener("focusout", () => setTimeout(left), { once: true }));
};

// Reads a part of a page again, once at a time.
const parts = new Set();
const renew = async (link, id) => {
  const part = document.getElementById(id);
  if (!part || parts.has(id) || part.contains(document.activeElement)) return;
  parts.add(id);
  const page = await parsed(link).catch(() => null);
  parts.delete(id);
  const news = page?.getElementById(id);
  if (news && !part.contains(document.activeElement)) part.replaceWith(news);
};

// The overview, while a crawl runs.
const board = document.getElementById("numbers");
if (board) {
  const KEPT_MAX = 3600;
  const REREAD_EVERY = 5;
  const REREAD_HISTORY_EVERY = 300;
  // The seconds over which the rate runs, and those after which samples do not belong together: nobody watched in between.
  const RATE_OVER = 10;
  const GAP = 60;
  // The path of the crawl, if it is one of several.
  const base = board.dataset.base ?? "";
  const wasRunning = board.dataset.running !== undefined;
  const numbers = new Map();
  for (const element of board.querySelectorAll("[data-live]")) numbers.set(element.dataset.live, element);
  let samples = [];
  let events = null;

  const rate = (from, to) => (to.visited - from.visited) / Math.max(1, to.at - from.at);

  // The chart: the whole crawl by minutes, the last part as it is sampled. A line marks the moment that is chosen.
  const figure = document.getElementById("chart");
  const canvas = figure.querySelector("canvas");
  const slider = document.getElementById("moment");
  const MARGIN = { side: 4, below: 6, above: 18 };
  let minutes = [];
  let rates = [];

  const withRates = (points) => points.slice(1).map((point, before) => ({
    at: point.at, bytes: point.bytes, from: points[before].at, rate: Math.max(0, rate(points[before], point)),
  }));

  // Samples where somebody watched, and the minutes of the crawl elsewhere. Both are in the order of time.
  const ratesOf = () => {
    const sampled = withRates(samples).filter(({ from, at }) => at - from <= GAP);
    const inMinutes = withRates(minutes.map(({ at, pages, bytes }) => ({ at, visited: pages, bytes })));
    let next = 0;
    const elsewhere = inMinutes.filter(({ at }) => {
      while (next < sampled.length && sampled[next].at < at) next += 1;
      return next >= sampled.length || at <= sampled[next].from;
    });
    return [...elsewhere, ...sampled].sort((one, other) => one.at - other.at);
  };

  const say = (chosen) => {
    const date = new Date(chosen.at * 1000).toISOString().slice(0, 19).replace("T", " ");
    const text = `${date} UTC: ${chosen.rate.toFixed(1)} pages a second, ${(chosen.bytes / 1e6).toFixed(1)} MB in all`;
    document.getElementById("at").textContent = text;
    slider.setAttribute("aria-valuetext", text);
  };

  const draw = () => {
    const wasLast = Number(slider.value) >= Number(slider.max);
    rates = ratesOf();
    figure.hidden = rates.length < 2;
    if (figure.hidden) return;
    slider.max = rates.length - 1;
    if (wasLast) slider.value = slider.max;
    const { width, height } = canvas;
    const pen = canvas.getContext("2d");
    const most = rates.reduce((most, { rate }) => Math.max(most, rate), 0) || 1;
    const [first, last] = [rates[0].at, rates.at(-1).at];
    const left = ({ at }) => ((at - first) / Math.max(1, last - first)) * (width - 2 * MARGIN.side) + MARGIN.side;
    pen.clearRect(0, 0, width, height);
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.lineWidth = 2;
    pen.beginPath();
    for (const point of rates) pen.lineTo(left(point), height - MARGIN.below - (point.rate / most) * (height - MARGIN.below - MARGIN.above));
    pen.stroke();
    const chosen = rates[Number(slider.value)] ?? rates.at(-1);
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(left(chosen), 0);
    pen.lineTo(left(chosen), height);
    pen.stroke();
    say(chosen);
    canvas.setAttribute("aria-label", `Pages a second: at the end ${rates.at(-1).rate.toFixed(1)}, at most ${most.toFixed(1)}`);
  };

  // The nearest moment to where the pointer is.
  const choose = (event) => {
    const box = canvas.getBoundingClientRect();
    const [first, last] = [rates[0].at, rates.at(-1).at];
    const at = first + ((event.clientX - box.left) / box.width) * (last - first);
    const after = rates.findIndex((point) => point.at >= at);
    slider.value = after < 0 ? slider.max : after;
    draw();
  };
  slider.addEventListener("input", draw);
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    choose(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (canvas.hasPointerCapture(event.pointerId)) choose(event);
  });

  const readHistory = async () => {
    const answer = await fetch(`${base}/history.json`);
    if (!answer.ok) return;
    minutes = await answer.json();
    draw();
  };

  // The first of the last samples that belong together: within some seconds, or taken one after the other while this page watched.
  const rateFrom = (last, received) => {
    const first = samples.findIndex((sample) => sample.at >= last.at - RATE_OVER);
    return samples[received > 2 ? Math.min(first, samples.length - 2) : first];
  };

  const show = (last, received) => {
    for (const name of ["fetched", "waiting", "again", "urls", "sites", "size"]) {
      if (numbers.has(name)) numbers.get(name).textContent = last[name];
    }
    const from = rateFrom(last, received);
    if (from.at < last.at) {
      const now = rate(from, last);
      numbers.get("rate").textContent = now.toFixed(now < 10 ? 1 : 0);
      numbers.get("rate").parentElement.hidden = false;
    }
    draw();
  };

  const follow = () => {
    // The first event has the samples so far, of an earlier crawl perhaps.
    let received = 0;
    let answers = false;
    // It has what happened while nobody watched.
    readHistory().catch(() => {});
    events = new EventSource(`${base}/events`);
    const stale = document.getElementById("stale");
    events.onopen = () => {
      answers = true;
      stale.hidden = true;
    };
    // Each answer ends, and the browser asks again by itself. One that has not begun did not come.
    events.onerror = () => {
      stale.hidden = answers;
      answers = false;
    };
    events.onmessage = (event) => {
      const news = JSON.parse(event.data);
      const last = news.at(-1);
      received += 1;
      if (received > 1 && last.running !== wasRunning) {
        // A crawl began or ended: the page is another.
        events.close();
        location.reload();
        return;
      }
      // Samples that come once more take the place of those from then on.
      samples = [...samples.filter(({ at }) => at < news[0].at), ...news.filter(({ running }) => running)];
      samples.splice(0, Math.max(0, samples.length - KEPT_MAX));
      if (received === 1 || !last.running) return;
      show(last, received);
      // Outcomes, sites in trouble, pause and changes.
      if (received % REREAD_EVERY === 0) renew(base || "/", "rest");
      if (received % REREAD_HISTORY_EVERY === 0) readHistory().catch(() => {});
    };
  };

  // A tab that nobody sees asks for nothing.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) events?.close();
    else follow();
  });
  if (document.hidden) readHistory().catch(() => {});
  else follow();
}

// A browser may keep a page in memory and show it again on the way back (back/forward cache). The crawl has gone on since.
addEventListener("pageshow", (shown) => {
  if (shown.persisted) location.reload();
});

// The rows of several crawls.
const CRAWLS_EVERY_MS = 5000;
if (document.getElementById("crawls")) setInterval(() => document.hidden || renew("/", "crawls"), CRAWLS_EVERY_MS);

// Follows the count of what a change affects to its end.
const countOn = async () => {
  const link = document.getElementById("effect")?.dataset.reread;
  if (link === undefined) return;
  const news = (await parsed(link))?.getElementById("effect");
  if (!news) return;
  const effect = document.getElementById("effect");
  await leaves(effect);
  effect.replaceWith(news);
  // The answer waited for news.
  await countOn();
};
countOn().catch(() => {});

// Shows a picture, a report or a sorted table when that is there. Until then, it shows how far that is.
const REREAD_AFTER_MS = 300;
// Where nobody answers, somebody may later.
const REREAD_LATER_MS = 3000;
const awaitPage = async () => {
  const link = document.getElementById("awaited")?.dataset.reread;
  if (link === undefined) return;
  // Also one that says what went wrong, which is told once.
  const page = await parsed(link, true).catch(() => null);
  if (page === null) {
    await new Promise((over) => setTimeout(over, REREAD_LATER_MS));
    await awaitPage();
    return;
  }
  const main = document.querySelector("main");
  const news = page.getElementById("awaited");
  const whole = page.querySelector("main:not(:has(script))");
  // A page with a script of its own is opened.
  if (!news && !whole) {
    location.replace(link);
    return;
  }
  // Nothing is requested while the page waits for a reader.
  if (!news) {
    await leaves(main);
    main.replaceWith(whole);
    return;
  }
  const awaited = document.getElementById("awaited");
  if (!isIn(awaited)) awaited.replaceWith(news);
  await new Promise((over) => setTimeout(over, REREAD_AFTER_MS));
  await awaitPage();
};
awaitPage().catch(() => {});

// Looks on for URLs of a rare kind until the page is full, so many times by itself.
const LOOKS_MAX = 100;
const lookOn = async (looks = 0) => {
  const more = document.querySelector("#look-on:has([role=status])");
  const body = document.querySelector("main tbody");
  if (!more || !body || body.rows.length >= 100 || looks >= LOOKS_MAX || document.hidden) return;
  const page = await parsed(more.querySelector("a").href);
  if (!page) return;
  body.append(...page.querySelectorAll("main tbody tr"));
  const next = page.getElementById("look-on");
  if (next) {
    more.replaceWith(next);
    await lookOn(looks + 1);
  } else {
    more.textContent = body.rows.length === 0 ? "No URL." : "";
  }
};
lookOn().catch(() => {});
