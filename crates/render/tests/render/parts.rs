//! What only clicks show, and what is gone again when the page is as it was: it stands in the document, once.

use std::sync::Arc;

use render::{Renderer, Settings};

use crate::site::{Site, render, settings};

/// Pages, and texts that each must have once.
const PAGES: &[(&str, &str, &[&str])] = &[
    (
        "tabs with one panel for all",
        "<main class=guide><div role=tablist><button role=tab>One</button><button role=tab>Two</button><button role=tab>Three</button></div>\
         <div class=panel id=p></div></main><script>const shows = ['first words', 'second words', 'third words'];\
         const tabs = [...document.querySelectorAll('[role=tab]')]; const show = n => { p.innerHTML = `<h2>Head</h2><p>${shows[n]}</p>` };\
         tabs.forEach((tab, n) => tab.onclick = () => show(n)); show(0)</script>",
        &[
            "<p>first words</p>",
            "<main class=\"guide\"><div class=\"panel\"><p>second words</p></div></main>",
            "<main class=\"guide\"><div class=\"panel\"><p>third words</p></div></main>",
        ],
    ),
    (
        "tabs that ask for their panels",
        "<button>One</button><button>Two</button><div id=p>first</div><script>for (const b of document.querySelectorAll('button'))\
         b.onclick = async () => { p.innerHTML = await (await fetch('/' + b.textContent)).text() }</script>",
        &["<p>words of One</p>", "<p>words of Two</p>"],
    ),
    (
        "a menu that a second click closes, and a menu in it",
        "<button id=b>Menu</button><ul id=m></ul><script>b.onclick = () => { m.innerHTML = m.innerHTML ? '' : '<li>item <button id=c>More</button><p id=n></p>';\
         const c = document.getElementById('c'); if (c) c.onclick = () => { n.textContent = n.textContent ? '' : 'item within' } }</script>",
        &["<li>item ", "item within"],
    ),
    (
        "a view in place of the other, for ever",
        "<div id=v><button id=a>A</button><p>begin</p></div><script>a.onclick = () => { v.innerHTML = '<p>the end 2</p><table><tr><td>cell</td><td>12</td></tr></table>' }</script>",
        &["<p>begin</p>", "<p>the end 2</p>", "<tr><td>cell</td><td>12</td></tr>"],
    ),
    (
        "panels that are there, and hidden",
        "<button>One</button><button>Two</button><p class=p>first</p><p class=p hidden>second</p><script>\
         const [b, p] = [document.querySelectorAll('button'), document.querySelectorAll('.p')];\
         b.forEach((each, n) => each.onclick = () => p.forEach((one, at) => { one.hidden = at !== n }))</script>",
        &[">first</p>", ">second</p>"],
    ),
    (
        "more and more of it",
        "<div id=l></div><button id=b>More</button><script>let n = 0; const names = ['ash', 'elm', 'fir', 'oak', 'yew'];\
         b.onclick = () => { l.insertAdjacentHTML('beforeend', `<p>${names[n++]}</p>`); if (n === 5) b.remove() }</script>",
        &["<p>ash</p>", "<p>elm</p>", "<p>fir</p>", "<p>oak</p>", "<p>yew</p>"],
    ),
    (
        "a clock is no text",
        "<button id=b>One</button><p>at <b id=t>10:00</b></p><script>let n = 0; setInterval(() => { t.textContent = `10:0${++n % 10}` }, 300); b.onclick = () => {}</script>",
        &["<p>at <b"],
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn each_text_that_a_click_shows_is_there_once() {
    let renderer = Renderer::new(Settings { scroll: true, ..settings() });
    let site = ["One", "Two"]
        .into_iter()
        .fold(Site::new(), |site, name| site.file(&format!("/{name}"), "text/html", format!("<p>words of {name}</p>")));
    let site = Arc::new(site);
    let mut failures = Vec::new();
    for (name, html, texts) in PAGES {
        let rendered = render(&renderer, &format!("<body>{html}"), &site).await.expect(name);
        let body = rendered.html.split("</script>").map(|part| part.split("<script>").next().unwrap_or_default());
        let body: String = body.collect();
        for text in *texts {
            let count = body.matches(text).count();
            failures.extend((count != 1).then(|| format!("{name}: {count} times {text} in {body}")));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
