//! A sandbox whose pages have their links by scripts, each in another way. Without a browser nothing is found but the pages
//! themselves.

use crate::{Pages, Reply, Site};

/// The host of the site.
pub const HOST: &str = "scripted.test";

/// The pages: path, body, and where a person can go from them.
pub const PAGES: [(&str, &str, &[&str]); 18] = [
    ("/by/write", "<script>document.write('<a href=\"/written\">x</a>')</script>", &["/written"]),
    ("/by/markup", "<div id=a></div><script>a.innerHTML = '<a href=\"/inner\">x</a>'</script>", &["/inner"]),
    (
        "/by/element",
        "<script>const a = document.createElement('a'); a.href = '/made'; a.text = 'x'; document.body.append(a)</script>",
        &["/made"],
    ),
    (
        "/by/fetched",
        "<template id=t><a>x</a></template><script>fetch('/data.json').then(r => r.json()).then(all => all.forEach(href => {\
         const copy = t.content.cloneNode(true); copy.querySelector('a').href = href; document.body.append(copy) }))</script>",
        &["/fetched-1", "/fetched-2"],
    ),
    (
        "/by/requested",
        "<script>const r = new XMLHttpRequest(); r.open('GET', '/part.html'); r.onload = () => document.body.innerHTML += r.response; r.send()</script>",
        &["/asked"],
    ),
    (
        "/by/listener",
        "<p id=p>go</p><script>p.addEventListener('click', () => { location.href = '/clicked' })</script>",
        &["/clicked"],
    ),
    ("/by/attribute", "<p onclick=\"location = '/attribute'\">go</p>", &["/attribute"]),
    (
        "/by/delegated",
        "<div data-to=/delegated style='cursor:pointer'>go</div><script>document.onclick = e => location.assign(e.target.dataset.to)</script>",
        &["/delegated"],
    ),
    (
        "/by/more",
        "<button id=b>more</button><script>b.onclick = () => fetch('/part.html').then(r => r.text()).then(t => document.body.innerHTML += t)</script>",
        &["/asked"],
    ),
    ("/by/history", "<script>history.pushState({}, '', '/pushed')</script>", &["/pushed"]),
    ("/by/tab", "<button onclick=\"history.pushState({}, '', '/tab/2')\">2</button>", &["/tab/2"]),
    ("/by/window", "<button onclick=\"window.open('/opened')\">open</button>", &["/opened"]),
    (
        "/by/late",
        "<script>setTimeout(() => document.body.innerHTML += '<a href=\"/late\">x</a>', 3000)</script>",
        &["/late"],
    ),
    (
        "/by/shadow",
        "<div id=h></div><script>h.attachShadow({mode: 'open'}).innerHTML = '<a href=\"/shadow\">x</a>'</script>",
        &["/shadow"],
    ),
    (
        "/by/closed-shadow",
        "<div id=h></div><script>h.attachShadow({mode: 'closed'}).innerHTML = '<a href=\"/closed\">x</a>'</script>",
        &["/closed"],
    ),
    ("/by/frame", "<iframe srcdoc='<a href=\"/framed\">x</a>'></iframe>", &["/framed"]),
    ("/by/module", "<script type=module src=/module.js></script>", &["/module.js-made"]),
    (
        "/by/custom-element",
        "<x-card to=/custom></x-card><script>customElements.define('x-card', class extends HTMLElement { connectedCallback() {\
         requestAnimationFrame(() => Promise.resolve().then(() => { this.innerHTML = `<a href=\"${this.getAttribute('to')}\">x</a>` })) } })</script>",
        &["/custom"],
    ),
];

/// What scripts of the pages ask for: path, media type, content.
pub const RESOURCES: [(&str, &str, &str); 4] = [
    ("/data.json", "application/json", "[\"/fetched-1\", \"/fetched-2\"]"),
    ("/part.html", "text/html", "<a href=\"/asked\">x</a>"),
    (
        "/module.js",
        "text/javascript",
        "import { name } from '/name.js'; document.body.innerHTML += `<a href=\"${name}\">x</a>`",
    ),
    ("/name.js", "text/javascript", "export const name = '/module.js-made'"),
];

/// The site: a page that links to [`PAGES`], these, and what they lead to.
pub fn site() -> impl Site {
    let links: String = PAGES.iter().map(|(path, ..)| format!("<li><a href=\"{path}\">{path}</a>\n")).collect();
    let words = "Each of these pages has its links by a script, and each in another way. ".repeat(4);
    let mut site = Pages::new().text("/robots.txt", "User-agent: *\nDisallow:\n").html(
        "/",
        format!("<!doctype html>\n<html lang=en>\n<title>Scripted</title>\n<p>{words}</p>\n<ul>\n{links}</ul>\n"),
    );
    for (path, body, leads_to) in PAGES {
        site = site.html(path, format!("<!doctype html>\n<html lang=en>\n<title>{path}</title>\n<body>{body}\n"));
        for path in leads_to {
            site = site.html(*path, format!("<!doctype html>\n<title>{path}</title>\n<p>You have found {path}.\n"));
        }
    }
    for (path, media_type, content) in RESOURCES {
        site = site.reply(path, Reply::new(200).header("Content-Type", media_type).body(content));
    }
    site
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_path_is_two_things() {
        let pages: BTreeSet<&str> = PAGES.iter().map(|(path, ..)| *path).collect();
        assert_eq!(pages.len(), PAGES.len());
        let leads_to: BTreeSet<&str> = PAGES.iter().flat_map(|(_, _, leads_to)| *leads_to).copied().collect();
        let resources: BTreeSet<&str> = RESOURCES.iter().map(|(path, ..)| *path).collect();
        assert!(pages.is_disjoint(&leads_to) && pages.is_disjoint(&resources) && leads_to.is_disjoint(&resources));
    }
}
