
// Puts the page together from its data.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const tables = new Map(data.tables.map((table) => [table.id, table]));
  const main = document.getElementById("main");
  const contents = document.getElementById("contents");

  const more = data.seed_count - data.seeds.length;
  const seeds = data.seeds.flatMap((seed, at) => (at ? [", ", link(seed)] : [link(seed)]));
  document.getElementById("seeds").append(
    ...(seeds.length ? ["From ", ...seeds, more > 0 ? ` and ${number(more)} more` : ""] : ["No seeds: nothing was crawled."]),
  );
  const { speed } = data;
  if (speed.began_at) {
    const rate = speed.pages_per_second === null ? "" : `, ${SHORT.format(speed.pages_per_second)} pages a second`;
    document.getElementById("when").append(`${moment(speed.began_at)} to ${moment(speed.ended_at)} UTC${rate}`);
  }
  if (data.missing) Object.assign(document.getElementById("missing"), { textContent: data.missing, hidden: false });

  const figures = document.getElementById("figures");
  const wanted = ["sites", "web pages (URLs found)", "HTML pages", "binary files", "duplicates", "errors"];
  for (const row of tables.get("overview").rows.filter((row) => wanted.includes(row[0]))) {
    const name = row[0].replace(" (URLs found)", "");
    figures.append(element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: shown(row[2]) })));
  }

  function section(id, title, note, parts) {
    contents.append(element("li", {}, element("a", { href: `#${id}`, textContent: title })));
    const said = note ? [element("p", { className: "quiet", textContent: note })] : [];
    main.append(element("section", { id }, element("h2", { textContent: title }), ...said, ...parts));
  }

  const legend = () => element("ul", { className: "legend" },
    element("li", {}, element("span", { className: "swatch seed" }), "seed sites"),
    element("li", {}, element("span", { className: "swatch all" }), "all sites"));
  // The bars beside a table: [name, all sites, seed sites] of its first rows.
  const drawn = {
    types: (row) => [row[0], row[2], row[1]],
    sites: (row) => [row[0].replace(/^https?:\/\//, ""), row[2], row[1] ? row[2] : 0],
    depths: (row) => [`depth ${row[0]}`, row[2], row[1]],
  };
  for (const table of data.tables) {
    const bar = drawn[table.id];
    const parts = bar ? [legend(), bars(table.title, table.rows.slice(0, 12).map(bar))] : [];
    section(table.id, table.title, table.note, [...parts, ...buildTable(table)]);
    if (table.id !== "overview") continue;
    if (speed.buckets.length > 1) section("speed", "Speed over time", "", [speedChart(speed)]);
    const { picture: graph } = data;
    if (graph && graph.pages.length) {
      const title = `Links between the ${graph.pages.length} most linked pages`;
      section("picture", title, "A page is as large as many pages of the crawl link to it; a colour is a site.", picture(graph));
    }
  }
  document.documentElement.dataset.ready = "yes";
})();
