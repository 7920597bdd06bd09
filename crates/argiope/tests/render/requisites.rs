//! `--requisites` beside a browser: what it loaded is not fetched again, what it left out is.

use testweb::{Pages, Reply, Web};

use crate::crawls::Crawled;

#[test]
fn what_the_browser_loaded_is_not_fetched_again() {
    let words = "Enough words to be read without any script at all. ".repeat(10);
    let file = |media: &'static str, body: &'static str| Reply::new(200).header("Content-Type", media).body(body);
    let app = Pages::new()
        .text("/robots.txt", "User-agent: *\nAllow: /\n")
        .html(
            "/",
            "<!DOCTYPE html><title>App</title><link rel=icon href=data:,><link rel=stylesheet href=/style.css>
                <div id=app></div><script src=/app.js></script>",
        )
        .html(
            "/plain",
            format!("<title>Plain</title><link rel=icon href=data:,><link rel=stylesheet href=/style.css>{words}"),
        )
        .reply("/style.css", file("text/css", "@font-face { font-family: F; src: url(/f.woff2) }"))
        .reply("/f.woff2", file("font/woff2", "font"))
        .reply("/late.png", file("image/png", "image"))
        .reply(
            "/app.js",
            file(
                "text/javascript",
                "document.getElementById('app').innerHTML = '<a href=/plain>plain</a><img src=/late.png>'",
            ),
        );
    let crawled =
        Crawled::of(Web::new().site("app.test", app), "http://app.test/", &["--render", "auto", "--requisites"]);
    for path in ["/style.css", "/app.js", "/f.woff2", "/late.png", "/plain"] {
        assert_eq!(crawled.asked.get(&format!("GET app.test{path}")), Some(&1), "{path}: {:?}", crawled.asked);
    }
    let style = crawled.run("explain", &["http://app.test/style.css", "--json"]).json();
    assert_eq!(style["row"]["purpose"], "requisite", "{style}");
    assert!(style["row"]["warc_file"].is_string(), "{style}");
    let checked = crawled.run("check", &[]);
    assert_eq!(checked.code, 0, "{checked:?}");
}
