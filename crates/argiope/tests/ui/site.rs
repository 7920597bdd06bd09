//! The site that the tests crawl, whose every text attacks the page that shows it.

use std::path::Path;

use testkit::crawled::Crawled;
use testkit::ui::Ui;
use testweb::{Reply, Request, Web, from_fn};

/// What no page may turn into markup.
pub const HOSTILE: &str =
    "</title></textarea></script><script>window.owned=1</script>\"'><img src=x onerror=window.owned=2>{{owned}}";

/// The URL of a page with a query that would end an attribute.
pub const HOSTILE_URL: &str = "http://ui.test/b?q='onmouseover='window.owned=3&x=<b>";

fn answer(request: &Request) -> Reply {
    let text = HOSTILE.replace('<', "&lt;");
    match request.path() {
        "/" => Reply::html(format!(
            "<title>{text}</title><h1>{text}</h1><p>A spider writes. {text}
             <a href=/a>{text}</a><a href=\"{HOSTILE_URL}\">second</a><a href=/gone>third</a><a href=/typed>fourth</a>
             <a href=\"javascript:window.owned=4\">script</a><a href=/private/x>private</a>"
        )),
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /private/ # <script>window.owned=5</script>"),
        "/gone" => Reply::new(404),
        "/typed" => Reply::new(200).header("Content-Type", "a/b<img src=x onerror=window.owned=6>").body("x"),
        path => Reply::html(format!("<title>{path} {text}</title><p>{text} page <a href=/>start</a>")),
    }
}

/// A crawl of the site to its end.
pub fn crawled() -> Crawled {
    crawled_with(&[])
}

/// The same with more arguments.
pub fn crawled_with(arguments: &[&str]) -> Crawled {
    let web = Web::new().site("ui.test", from_fn(answer));
    Crawled::of(web, "http://ui.test/", &[&["--no-sitemaps"], arguments].concat())
}

/// The interface to a crawl.
pub fn shown(crawl: &Crawled) -> Ui {
    Ui::start(Path::new(crawl.dir()))
}

/// All screens, with and without something to show.
pub const SCREENS: [&str; 21] = [
    "/",
    "/sites",
    "/urls",
    "/urls?state=http_error",
    "/urls?site=ui.test&match=*%2Fnone*",
    "/url",
    "/url?u=http%3A%2F%2Fui.test%2F",
    "/url?u=http%3A%2F%2Fui.test%2Fgone",
    "/url?u=http%3A%2F%2Fui.test%2Fb%3Fq%3D%27onmouseover%3D%27window.owned%3D3%26x%3D%3Cb%3E",
    "/url?u=ui.test",
    "/url?u=%3Cscript%3Ewindow.owned%3D7%3C%2Fscript%3E",
    "/changes",
    "/changes?since=2026-01-01&site=ui.test",
    "/search",
    "/search?q=owned&case=any",
    "/graph",
    "/graph?of=popular",
    "/graph/path?from=ui.test%2F&to=http%3A%2F%2Fui.test%2Fgone",
    "/graph/rank?u=http%3A%2F%2Fui.test%2F",
    "/report",
    "/steer",
];
