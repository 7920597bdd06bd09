"use strict";
// Keeps the overview up to date while a crawl runs. Every page works without this.
const board = document.getElementById("numbers");
if (board) {
  const KEPT_MAX = 3600;
  const REREAD_EVERY = 5;
  const wasRunning = board.dataset.running !== undefined;
  const numbers = new Map();
  for (const element of board.querySelectorAll("[data-live]")) numbers.set(element.dataset.live, element);
  let samples = [];
  let events = null;

  const rate = (from, to) => (to.visited - from.visited) / Math.max(1, to.at - from.at);

  const draw = () => {
    const figure = document.getElementById("chart");
    const canvas = figure.querySelector("canvas");
    figure.hidden = samples.length < 3;
    if (figure.hidden) return;
    const { width, height } = canvas;
    const pen = canvas.getContext("2d");
    const rates = samples.slice(1).map((sample, at) => Math.max(0, rate(samples[at], sample)));
    const most = Math.max(...rates) || 1;
    pen.clearRect(0, 0, width, height);
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.lineWidth = 2;
    pen.beginPath();
    rates.forEach((pages, at) => {
      const x = (at / Math.max(1, rates.length - 1)) * (width - 8) + 4;
      pen.lineTo(x, height - 6 - (pages / most) * (height - 24));
    });
    pen.stroke();
    canvas.setAttribute("aria-label", `Pages a second: now ${rates.at(-1).toFixed(1)}, at most ${most.toFixed(1)}`);
  };

  // Outcomes, sites in trouble, pause and changes.
  const reread = async () => {
    const answer = await fetch("/");
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const rest = page.getElementById("rest");
    if (rest) document.getElementById("rest").replaceWith(rest);
  };

  const show = (last) => {
    for (const name of ["fetched", "waiting", "again", "urls", "sites", "size"]) {
      if (numbers.has(name)) numbers.get(name).textContent = last[name];
    }
    if (samples.length > 1) {
      const now = rate(samples[Math.max(0, samples.length - 11)], last);
      numbers.get("rate").textContent = now.toFixed(now < 10 ? 1 : 0);
      numbers.get("rate").parentElement.hidden = false;
    }
    draw();
  };

  const follow = () => {
    // The first event has the samples so far, of an earlier crawl perhaps.
    let received = 0;
    events = new EventSource("/events");
    events.onopen = () => {
      received = 0;
    };
    events.onmessage = (event) => {
      const news = JSON.parse(event.data);
      const last = news.at(-1);
      if (received === 0) samples = [];
      received += 1;
      if (received > 1 && last.running !== wasRunning) {
        // A crawl began or ended: the page is another.
        events.close();
        location.reload();
        return;
      }
      samples.push(...news.filter((sample) => sample.running));
      samples.splice(0, Math.max(0, samples.length - KEPT_MAX));
      if (received === 1 || !last.running) return;
      show(last);
      if (received % REREAD_EVERY === 0) reread().catch(() => {});
    };
  };

  // A browser has few connections to one host: a tab that nobody sees leaves them to others.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) events?.close();
    else follow();
  });
  if (!document.hidden) follow();
}
