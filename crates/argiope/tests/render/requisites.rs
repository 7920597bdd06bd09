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

/// Three applications and a page without scripts; each shows an image of its own and what all have, by markup, style and script.
fn gallery() -> Web {
    let words = "Enough words to be read without any script at all. ".repeat(10);
    let png =
        |own: u8| Reply::new(200).header("Content-Type", "image/png").body([b"\x89PNG\r\n\x1a\n", &[own][..]].concat());
    let text = |media: &'static str, body: &'static str| Reply::new(200).header("Content-Type", media).body(body);
    let head = "<!DOCTYPE html><link rel=icon href=data:,><link rel=stylesheet href=/style.css>";
    let app = |own: &str| {
        format!("{head}<title>{own}</title><div id=app></div><img src=/{own}.png><script src=/app.js></script>")
    };
    let links = "<a href=/plain>plain</a> <a href=/two>two</a> <a href=/three>three</a>";
    let pages = Pages::new()
        .html("/", format!("{}{links}", app("one")))
        .html("/two", app("two"))
        .html("/three", app("three"))
        .html("/plain", format!("{head}<title>Plain</title>{words}<img src=/shared.png><img src=/plain.png>"))
        .reply("/style.css", text("text/css", "body { background: url(/ground.png) }"))
        .reply(
            "/app.js",
            text(
                "text/javascript",
                "document.getElementById('app').innerHTML = '<img src=/shared.png><img src=/late.png>'",
            ),
        );
    let names = ["one", "two", "three", "plain", "shared", "late", "ground"];
    let pages = names.iter().zip(0..).fold(pages, |pages, (name, own)| pages.reply(format!("/{name}.png"), png(own)));
    Web::new().site("app.test", pages)
}

/// Whatever comes first, the browser or the crawl: the server is asked for each URL once. Browser and crawl get to the pages in any order,
/// so this is tried more than once.
#[test]
fn no_url_is_requested_twice() {
    let modes: [&[&str]; 3] = [
        &["--render", "always", "--images"],
        &["--render", "always", "--requisites"],
        &["--render", "auto", "--images", "--requisites"],
    ];
    for mode in modes {
        let arguments = [mode, &["--render-time", "60s", "--connections-per-site", "4", "--concurrency", "4"]].concat();
        let crawled = Crawled::of(gallery(), "http://app.test/", &arguments);
        let twice: Vec<_> = crawled.asked.iter().filter(|(_, count)| **count > 1).collect();
        assert!(twice.is_empty(), "{mode:?}: {twice:?}");
        for name in ["one", "two", "three", "shared", "late"] {
            assert!(crawled.asked.contains_key(&format!("GET app.test/{name}.png")), "{mode:?}: {:?}", crawled.asked);
        }
        let checked = crawled.run("check", &[]);
        assert_eq!(checked.code, 0, "{mode:?}: {checked:?}");
        if mode.contains(&"--images") {
            let images = || {
                let is_image = |(path, row): (&String, &serde_json::Value)| {
                    path.ends_with(".png").then(|| (path.clone(), row["outcome"].clone(), row["content_type"].clone()))
                };
                crawled.rows().iter().filter_map(is_image).collect::<Vec<_>>()
            };
            let before = images();
            for name in ["one", "two", "three", "plain", "shared", "late"] {
                assert!(
                    before.contains(&(format!("/{name}.png"), "binary".into(), "image/png".into())),
                    "{mode:?}: {before:?}"
                );
            }
            assert_eq!(crawled.run("derive", &["--all"]).code, 0);
            assert_eq!(images(), before, "derived again");
        }
    }
}
