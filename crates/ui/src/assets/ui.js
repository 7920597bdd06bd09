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
  // The seconds over which the rate runs by which the queue is estimated.
  const ESTIMATED_OVER = 600;
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
  const canvases = [...figure.querySelectorAll("canvas")];
  const slider = document.getElementById("moment");
  const MARGIN = { side: 4, below: 6, above: 18 };
  // What is told of a moment besides pages and bytes, where it is known.
  const TOLD = { in_flight: "fetches under way", sites_waiting: "sites in the queue", sites_aside: "sites in trouble", workers: "workers" };
  let minutes = [];
  let points = [];
  // When the chosen moment was; null for the last one, whatever comes.
  let chosenAt = null;

  const withRates = (moments) => moments.slice(1).map((moment, before) => ({
    ...moment, from: moments[before].at, rate: Math.max(0, rate(moments[before], moment)),
  }));

  // Samples where somebody watched, and the minutes of the crawl elsewhere. Both are in the order of time.
  const pointsOf = () => {
    const sampled = withRates(samples.map(({ at, visited, bytes }) => ({ at, visited, bytes, left_out: 0 })));
    const watched = sampled.filter(({ from, at }) => at - from <= GAP);
    let next = 0;
    const elsewhere = withRates(minutes).filter(({ at }) => {
      while (next < watched.length && watched[next].at < at) next += 1;
      return next >= watched.length || at <= watched[next].from;
    });
    return [...elsewhere, ...watched].sort((one, other) => one.at - other.at);
  };

  const place = () => {
    const after = chosenAt === null ? -1 : points.findIndex(({ at }) => at >= chosenAt);
    return after < 0 ? points.length - 1 : after;
  };

  const size = (bytes) => (bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

  const say = (chosen) => {
    const date = new Date(chosen.at * 1000).toISOString().slice(0, 19).replace("T", " ");
    const known = Object.entries(TOLD).filter(([name]) => chosen[name] !== undefined).map(([name, told]) => `${chosen[name]} ${told}`);
    const numbers = [`${chosen.rate.toFixed(1)} pages a second`, `${size(chosen.bytes)} in all`, ...known];
    const text = `${date} UTC: ${numbers.join(", ")}${chosen.paused ? "; paused" : ""}`;
    document.getElementById("at").textContent = text;
    slider.setAttribute("aria-valuetext", text);
  };

  // One line, of the points that have its number.
  const drawLine = (canvas, chosen, left) => {
    const { series, shows } = canvas.dataset;
    const known = points.filter((point) => point[series] !== undefined);
    canvas.parentElement.hidden = known.length < 2;
    if (canvas.parentElement.hidden) return;
    const { width, height } = canvas;
    const pen = canvas.getContext("2d");
    const most = known.reduce((most, point) => Math.max(most, point[series]), 0);
    pen.clearRect(0, 0, width, height);
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.lineWidth = 2;
    pen.beginPath();
    const top = (point) => height - MARGIN.below - (point[series] / (most || 1)) * (height - MARGIN.below - MARGIN.above);
    for (const point of known) {
      // A rate is that of the time since the point before: also where nothing ran.
      if (series === "rate") pen.lineTo(left({ at: Math.max(point.from, points[0].at) }), top(point));
      pen.lineTo(left(point), top(point));
    }
    pen.stroke();
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(left(chosen), 0);
    pen.lineTo(left(chosen), height);
    pen.stroke();
    const said = (number) => number.toFixed(series === "rate" ? 1 : 0);
    canvas.setAttribute("aria-label", `${shows}: at the end ${said(known.at(-1)[series])}, at most ${said(most)}`);
  };

  const draw = () => {
    points = pointsOf();
    figure.hidden = points.length < 2;
    if (figure.hidden) return;
    slider.max = points.length - 1;
    slider.value = place();
    const [first, last] = [points[0].at, points.at(-1).at];
    const { width } = canvases[0];
    const left = ({ at }) => ((at - first) / Math.max(1, last - first)) * (width - 2 * MARGIN.side) + MARGIN.side;
    const chosen = points[place()];
    for (const canvas of canvases) drawLine(canvas, chosen, left);
    say(chosen);
  };

  const choose = (number) => {
    chosenAt = number >= points.length - 1 ? null : points[number].at;
    draw();
  };
  // The nearest moment to where the pointer is.
  const chooseAt = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const [first, last] = [points[0].at, points.at(-1).at];
    const at = first + ((event.clientX - box.left) / box.width) * (last - first);
    const after = points.findIndex((point) => point.at >= at);
    choose(after < 0 ? points.length - 1 : after);
  };

  const momentsOf = async (query) => {
    const answer = await fetch(`${base}/history.json${query}`);
    if (!answer.ok) return [];
    const { pages, ...columns } = { ...(await answer.json()) };
    const named = Object.entries({ visited: pages, ...columns });
    return columns.at.map((_, number) => Object.fromEntries(named.map(([name, column]) => [name, column[number]])));
  };

  // Reads the minutes around the chosen moment that the chart has no room for, once at a time.
  let isReading = false;
  const refine = async () => {
    const [chosen, after] = [points[place()], points[place() + 1]];
    if (isReading || !chosen || chosen.left_out + (after?.left_out ?? 0) === 0) return;
    isReading = true;
    const news = await momentsOf(`?from=${chosen.from}&to=${(after ?? chosen).at}`).catch(() => []);
    isReading = false;
    if (news.length < 2) return;
    const before = minutes.filter(({ at }) => at < news[0].at);
    // The first has what is left out before it.
    const first = minutes.find(({ at }) => at === news[0].at) ?? news[0];
    minutes = [...before, first, ...news.slice(1), ...minutes.filter(({ at }) => at > news.at(-1).at)];
    draw();
  };
  slider.addEventListener("input", () => choose(Number(slider.value)));
  slider.addEventListener("change", refine);
  for (const canvas of canvases) {
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      chooseAt(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) chooseAt(event);
    });
    canvas.addEventListener("lostpointercapture", refine);
  }

  const readHistory = async () => {
    const news = await momentsOf("");
    if (news.length === 0) return;
    minutes = news;
    draw();
    if (chosenAt !== null) await refine();
  };

  // The first of the last samples that belong together: within some seconds, or taken one after the other while this page watched.
  const rateFrom = (last, received) => {
    const first = samples.findIndex((sample) => sample.at >= last.at - RATE_OVER);
    return samples[received > 2 ? Math.min(first, samples.length - 2) : first];
  };

  // How long so many seconds are, in two units at most.
  const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const span = (seconds) => {
    const whole = Math.max(1, Math.round(seconds));
    const first = UNITS.findIndex(([, length]) => whole >= length);
    const parts = UNITS.slice(first, first + 2).map(([name, length], at) => [Math.floor((at === 0 ? whole : whole % UNITS[first][1]) / length), name]);
    return parts.filter(([count]) => count > 0).map(([count, name]) => `${count} ${name}`).join(" ");
  };

  // How long the queue takes at the rate of the last minutes, of those that are known.
  const estimate = (last) => {
    const from = points.find(({ at }) => at >= last.at - ESTIMATED_OVER);
    const pace = from && from.at < last.at ? rate(from, last) : 0;
    const shown = numbers.get("ends");
    shown.parentElement.hidden = pace <= 0 || last.waiting === 0;
    if (!shown.parentElement.hidden) shown.textContent = `≥ ${span(last.waiting / pace)}`;
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
    estimate(last);
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
