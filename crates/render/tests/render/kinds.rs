//! Each way in which scripts make links.

use std::sync::Arc;

use render::{FoundBy, Renderer};

use crate::site::{Site, leads_to, render, settings};

/// What is on the page, and where it leads.
const KINDS: [(&str, &[&str]); 18] = [
    ("<script>document.write('<a href=\"/written\">x</a>')</script>", &["/written"]),
    ("<div id=a></div><script>a.innerHTML = '<a href=\"/inner\">x</a>'</script>", &["/inner"]),
    (
        "<script>const a = document.createElement('a'); a.href = '/made'; a.text = 'x'; document.body.append(a)</script>",
        &["/made"],
    ),
    (
        "<template id=t><a>x</a></template><script>fetch('/data.json').then(r => r.json()).then(all => all.forEach(href => {\
         const copy = t.content.cloneNode(true); copy.querySelector('a').href = href; document.body.append(copy) }))</script>",
        &["/fetched-1", "/fetched-2"],
    ),
    (
        "<script>const r = new XMLHttpRequest(); r.open('GET', '/part.html'); r.onload = () => document.body.innerHTML += r.response; r.send()</script>",
        &["/asked"],
    ),
    ("<p id=p>go</p><script>p.addEventListener('click', () => { location.href = '/clicked' })</script>", &["/clicked"]),
    ("<p onclick=\"location = '/attribute'\">go</p>", &["/attribute"]),
    (
        "<div data-to=/delegated style='cursor:pointer'>go</div><script>document.onclick = e => location.assign(e.target.dataset.to)</script>",
        &["/delegated"],
    ),
    (
        "<button id=b>more</button><script>b.onclick = () => fetch('/part.html').then(r => r.text()).then(t => document.body.innerHTML += t)</script>",
        &["/asked"],
    ),
    ("<script>history.pushState({}, '', '/pushed')</script>", &["/pushed"]),
    ("<button onclick=\"history.pushState({}, '', '/tab/2')\">2</button>", &["/tab/2"]),
    ("<button onclick=\"window.open('/window')\">open</button>", &["/window"]),
    ("<script>setTimeout(() => document.body.innerHTML += '<a href=\"/late\">x</a>', 3000)</script>", &["/late"]),
    (
        "<div id=h></div><script>h.attachShadow({mode: 'open'}).innerHTML = '<a href=\"/shadow\">x</a>'</script>",
        &["/shadow"],
    ),
    (
        "<div id=h></div><script>h.attachShadow({mode: 'closed'}).innerHTML = '<a href=\"/closed\">x</a>'</script>",
        &["/closed"],
    ),
    ("<iframe srcdoc='<a href=\"/framed\">x</a>'></iframe>", &["/framed"]),
    ("<script type=module src=/module.js></script>", &["/module.js-made"]),
    (
        "<x-card to=/element></x-card><script>customElements.define('x-card', class extends HTMLElement { connectedCallback() {\
         requestAnimationFrame(() => Promise.resolve().then(() => { this.innerHTML = `<a href=\"${this.getAttribute('to')}\">x</a>` })) } })</script>",
        &["/element"],
    ),
];

fn site() -> Arc<Site> {
    let site = Site::new()
        .file("/data.json", "application/json", "[\"/fetched-1\", \"/fetched-2\"]")
        .file("/part.html", "text/html", "<a href=\"/asked\">x</a>")
        .script("/module.js", "import { name } from '/name.js'; document.body.innerHTML += `<a href=\"${name}\">x</a>`")
        .script("/name.js", "export const name = '/module.js-made'");
    Arc::new(site)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_link_is_found_that_a_person_would_find() {
    let renderer = Renderer::new(settings());
    for (body, expect) in KINDS {
        let rendered = render(&renderer, &format!("<!DOCTYPE html><body>{body}"), &site()).await.expect(body);
        let found = leads_to(&rendered);
        for path in expect {
            assert!(found.iter().any(|found| found == path), "{path} is not in {found:?}: {body}\n{rendered:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn how_a_link_was_found_is_told() {
    let renderer = Renderer::new(settings());
    let body = "<title>t</title><p onclick=\"location = '/a'\">go</p><script>history.pushState({}, '', '/b')</script>\
                <button onclick=\"window.open('/c')\">open</button><p onclick=\"location = 'mailto:x@y.test'\">mail</p>";
    let rendered = render(&renderer, body, &site()).await.expect("a page");
    let mut found: Vec<(FoundBy, &str)> = rendered.found.iter().map(|found| (found.by, found.url.as_str())).collect();
    found.sort_unstable_by_key(|(_, url)| *url);
    let expect = [(FoundBy::Click, "a"), (FoundBy::History, "b"), (FoundBy::Window, "c")];
    let expect = expect.map(|(by, name)| (by, format!("http://page.test/{name}")));
    assert_eq!(found, expect.each_ref().map(|(by, url)| (*by, url.as_str())));
    assert_eq!(rendered.redirect, None);
}
