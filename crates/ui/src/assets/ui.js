"use strict";
// Keeps the numbers of the overview up to date while a crawl runs. Every page works without this.
const state = document.getElementById("waits");
if (state) {
  const KEPT_MAX = 3600;
  const wasRunning = state.dataset.running !== undefined;
  const samples = [];
  const numbers = new Map();
  for (const element of document.querySelectorAll("[data-live]")) numbers.set(element.dataset.live, element);

  const rate = (from, to) => (to.fetched - from.fetched) / Math.max(1, to.at - from.at);

  const draw = () => {
    const figure = document.getElementById("chart");
    const canvas = figure.querySelector("canvas");
    figure.hidden = samples.length < 3;
    if (figure.hidden) return;
    const { width, height } = canvas;
    const pen = canvas.getContext("2d");
    const rates = samples.slice(1).map((sample, at) => rate(samples[at], sample));
    const most = Math.max(1, ...rates);
    pen.clearRect(0, 0, width, height);
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.lineWidth = 2;
    pen.beginPath();
    rates.forEach((pages, at) => {
      const x = (at / Math.max(1, rates.length - 1)) * (width - 8) + 4;
      pen.lineTo(x, height - 6 - (Math.max(0, pages) / most) * (height - 24));
    });
    pen.stroke();
    canvas.setAttribute("aria-label", `Pages a second: now ${rates.at(-1).toFixed(1)}, at most ${most.toFixed(1)}`);
  };

  // The first event has the samples so far, of an earlier crawl perhaps.
  let isFirst = true;
  const events = new EventSource("/events");
  events.onmessage = (event) => {
    const news = JSON.parse(event.data);
    const last = news.at(-1);
    const isPast = isFirst;
    isFirst = false;
    if (isPast || !last) {
      samples.push(...news.filter((sample) => sample.running));
      return;
    }
    if (last.running !== wasRunning) {
      // A crawl began or ended: the page is another.
      events.close();
      location.reload();
      return;
    }
    if (!last.running) return;
    samples.push(...news.filter((sample) => sample.running));
    samples.splice(0, Math.max(0, samples.length - KEPT_MAX));
    for (const name of ["fetched", "waiting", "urls", "sites", "size"]) numbers.get(name).textContent = last[name];
    if (samples.length > 1) {
      const before = samples[Math.max(0, samples.length - 11)];
      const now = rate(before, last);
      numbers.get("rate").textContent = now.toFixed(now < 10 ? 1 : 0);
      numbers.get("rate").parentElement.hidden = false;
    }
    state.textContent = last.waits ? `It waits for: ${last.waits}.` : "";
    draw();
  };
}
