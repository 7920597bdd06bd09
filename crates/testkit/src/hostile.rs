//! A site whose every text attacks the page that shows it.

use testweb::{Reply, Request, Web, from_fn};

/// What no page may turn into markup.
pub const HOSTILE: &str =
    "</title></textarea></script><script>window.owned=1</script>\"'><img src=x onerror=window.owned=2>{{owned}}";

/// The path of a page with a query that would end an attribute.
const HOSTILE_PATH: &str = "/b?q='onmouseover='window.owned=3&x=<b>";

/// The site: a start, pages, an error, a document of a hostile type, and what robots.txt forbids.
pub fn site(request: &Request) -> Reply {
    let text = HOSTILE.replace('<', "&lt;");
    match request.path() {
        "/" => Reply::html(format!(
            "<title>{text}</title><h1>{text}</h1><p>A spider writes. {text}
             <a href=/a>{text}</a><a href=\"{HOSTILE_PATH}\">second</a><a href=/gone>third</a><a href=/typed>fourth</a>
             <a href=\"javascript:window.owned=4\">script</a><a href=/private/x>private</a>"
        )),
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /private/ # <script>window.owned=5</script>"),
        "/gone" => Reply::new(404),
        "/typed" => Reply::new(200).header("Content-Type", "a/b<img src=x onerror=window.owned=6>").body("x"),
        path => Reply::html(format!("<title>{path} {text}</title><p>{text} page <a href=/>start</a>")),
    }
}

/// The site, and another one: each links to the other.
pub fn two_sites() -> Web {
    let text = HOSTILE.replace('<', "&lt;");
    let other = Reply::html(format!("<title>{text}</title><a href=\"http://ui.test{HOSTILE_PATH}\">{text}</a>"));
    let this = Reply::html(format!("<title>{text}</title><a href=\"http://other.test/\">{text}</a>"));
    let first = move |request: &Request| if request.path() == "/a" { this.clone() } else { site(request) };
    let second = move |request: &Request| if request.path() == "/" { other.clone() } else { Reply::new(404) };
    Web::new().site("ui.test", from_fn(first)).site("other.test", from_fn(second))
}
