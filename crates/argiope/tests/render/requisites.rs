//! `--requisites` beside a browser: what it loaded is not fetched again, what it left out is.

use dataset::schema::Table;
use testkit::tables::rows;
use testweb::{Pages, Reply, Site, Web, from_fn};

use crate::crawls::Crawled;

#[test]
fn what_the_browser_loaded_is_not_fetched_again() {
    let words = "Enough words to be read without any script at all. ".repeat(10);
    let file = |media: &'static str, body: &'static str| Reply::new(200).header("Content-Type", media).body(body);
    let app = Pages::new()
        .text("/robots.txt", "User-agent: *\nAllow: /\n")
        .reply(
            "/",
            Reply::html(
                "<!DOCTYPE html><title>App</title><link rel=icon href=data:,><link rel=stylesheet href=/style.css>
                <div id=app></div><script src=/app.js></script>
                <script type=importmap>{\"imports\": {\"x/\": \"/all/\"}, \"scopes\": {\"/lib/\": {\"x/\": \"/of-lib/\"}}}</script>
                <script type=module src=/lib/main.js></script>",
            )
            .header("Link", "</style.css>; rel=preload; as=style, </head.png>; rel=preload; as=image"),
        )
        .reply("/lib/main.js", file("text/javascript", "import 'x/now.js'; globalThis.never && import('x/later.js')"))
        .reply("/of-lib/now.js", file("text/javascript", ""))
        .reply("/of-lib/later.js", file("text/javascript", ""))
        .reply("/head.png", file("image/png", "image"))
        .html(
            "/plain",
            format!("<title>Plain</title><link rel=icon href=data:,><link rel=stylesheet href=/style.css>{words}"),
        )
        .reply("/style.css", file("text/css", "@font-face { font-family: F; src: url(/f.woff2) }"))
        .reply("/f.woff2", file("font/woff2", "font"))
        .reply("/late.png", file("image/png", "image"))
        .reply("/rule.png", file("image/png", "image"))
        .reply("/object.png", file("image/png", "image"))
        .reply("/sound.mp3", file("audio/mpeg", "sound"))
        .reply(
            "/app.js",
            file(
                "text/javascript",
                "const app = document.getElementById('app'); app.innerHTML = '<a href=/plain>plain</a><img src=/late.png>'; \
                 const style = document.createElement('style'); document.head.append(style); \
                 style.sheet.insertRule('#app { background: url(/rule.png) }'); \
                 new Image().src = '/object.png'; new Audio('/sound.mp3').play().catch(() => 0)",
            ),
        );
    let crawled =
        Crawled::of(Web::new().site("app.test", app), "http://app.test/", &["--render", "auto", "--requisites"]);
    let in_no_markup = ["/rule.png", "/object.png", "/sound.mp3", "/head.png"];
    let in_no_markup = in_no_markup.into_iter().chain(["/lib/main.js", "/of-lib/now.js", "/of-lib/later.js"]);
    for path in ["/style.css", "/app.js", "/f.woff2", "/late.png", "/plain"].into_iter().chain(in_no_markup) {
        assert_eq!(crawled.asked.get(&format!("GET app.test{path}")), Some(&1), "{path}: {:?}", crawled.asked);
    }
    assert_eq!(crawled.asked.get("GET app.test/all/later.js"), None, "the name is that of a script in /lib/");
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

/// Pages that all show one image behind two redirects, and one that its server shows to those who come back with a cookie.
fn moved() -> Web {
    let words = "Enough words to be read without any script at all. ".repeat(10);
    let to = |status: u16, location: &'static str| Reply::new(status).header("Location", location);
    let png = |body: &'static str| Reply::new(200).header("Content-Type", "image/png").body(body);
    let page = format!(
        "<!DOCTYPE html><link rel=icon href=data:,>{words}<img src=/moved.png><img src=/gate.png><script>1</script>\
         <a href=/>1</a><a href=/two>2</a><a href=/three>3</a>"
    );
    let pages = Pages::new()
        .html("/", page.clone())
        .html("/two", page.clone())
        .html("/three", page)
        .reply("/moved.png", to(301, "/further.png"))
        .reply("/further.png", to(302, "/real.png"))
        .reply("/real.png", png("\u{89}PNG real"))
        .reply("/set", to(302, "/gate.png").header("Set-Cookie", "seen=1"));
    let gate = from_fn(move |request| match request.header("cookie") {
        _ if request.path() != "/gate.png" => Site::reply(&pages, request),
        Some(cookies) if cookies.contains("seen=1") => png("\u{89}PNG gate"),
        _ => to(302, "/set"),
    });
    Web::new().site("app.test", gate)
}

/// The server is asked once for what leads to an image and once for the image, for whichever page. The archive has each once, and the dataset
/// says of each page that it shows the image.
#[test]
fn an_image_behind_redirects_is_requested_once_for_all_pages() {
    let modes: [&[&str]; 5] = [
        &["--images"],
        &["--requisites"],
        &["--render", "always", "--images"],
        &["--render", "always", "--images", "--requisites"],
        &["--render", "always", "--images", "--connections-per-site", "4", "--concurrency", "4"],
    ];
    for mode in modes {
        let crawled = Crawled::of(moved(), "http://app.test/", mode);
        let way = ["/moved.png", "/further.png", "/real.png"];
        for path in way {
            let asked = crawled.asked.get(&format!("GET app.test{path}"));
            assert_eq!(asked, Some(&1), "{mode:?}: {path}: {:?}", crawled.asked);
        }
        let index = crawled.run("export", &["cdxj"]).stdout;
        for (path, status) in way.into_iter().zip(["301", "302", "200"]) {
            let lines = index.lines().filter(|line| line.contains(&format!("\"url\": \"http://app.test{path}\"")));
            let lines: Vec<&str> = lines.collect();
            assert!(lines.len() == 1 && lines[0].contains(status), "{mode:?}: {path}: {lines:?} of {index}");
        }
        assert_eq!(crawled.run("check", &[]).code, 0, "{mode:?}");
        let shown = rows(&crawled.dir(), Table::Images);
        let of_pages = shown.iter().filter(|row| row.get("url").is_some_and(|url| url.ends_with("/moved.png")));
        assert_eq!(of_pages.count(), 3, "{mode:?}: {shown:?}");
        if !mode.contains(&"--images") {
            continue;
        }
        let of_images = || {
            let rows = crawled.rows();
            let row = |path: &str| (rows[path]["outcome"].clone(), rows[path]["redirect_to"].clone());
            way.map(row)
        };
        let redirect = |to: &str| ("redirect".into(), format!("http://app.test{to}").into());
        let expect = [redirect("/further.png"), redirect("/real.png"), ("binary".into(), serde_json::Value::Null)];
        assert_eq!(of_images(), expect, "{mode:?}");
        assert_eq!(crawled.run("derive", &["--all"]).code, 0);
        assert_eq!(of_images(), expect, "{mode:?}: derived again");
    }
}

/// A redirect that another page got is no answer to a page that has been there: its cookies may open what was closed.
#[test]
fn a_page_that_comes_back_to_a_redirect_asks_its_server() {
    let crawled = Crawled::of(moved(), "http://app.test/", &["--render", "always", "--images"]);
    let gates = crawled.log.iter().filter(|entry| entry.target == "/gate.png").map(|entry| entry.status);
    let gates: Vec<_> = gates.collect();
    // The first page is sent on and comes back; the others get the redirect of the first one, and come back.
    assert_eq!(gates, [Some(302), Some(200), Some(200), Some(200)]);
    let row = &crawled.rows()["/gate.png"];
    assert_eq!((row["outcome"].as_str(), row["status"].as_u64()), (Some("binary"), Some(200)), "{row}");
}

/// What scripts request with fields of their own, the crawl cannot: in a round, too, the browser does.
#[test]
fn a_round_leaves_to_the_browser_what_it_loaded() {
    let text = |media: &'static str, body: &'static str| Reply::new(200).header("Content-Type", media).body(body);
    let pages = Pages::new()
        .html(
            "/",
            "<!DOCTYPE html><title>App</title><link rel=icon href=/icon.png><div id=app></div><script src=/app.js></script>",
        )
        .reply("/icon.png", text("image/png", "icon"))
        .reply(
            "/app.js",
            text(
                "text/javascript",
                "fetch('/api', { headers: { 'X-Requested-With': 'XMLHttpRequest' } }).then(answer => answer.text()) \
                 .then(text => { document.getElementById('app').textContent = text })",
            ),
        );
    let site = from_fn(move |request| match request.header("x-requested-with") {
        _ if request.path() != "/api" => Site::reply(&pages, request),
        Some(_) => text("application/json", "{}"),
        None => Reply::error(403, "/api"),
    });
    let crawled =
        Crawled::of(Web::new().site("app.test", site), "http://app.test/", &["--render", "always", "--requisites"]);
    // Without a browser, the crawl visits them itself.
    for (round, more) in [(1, None), (2, Some(&["--again"][..])), (3, Some(&["--again", "--unset", "render"]))] {
        let log = more.map_or_else(|| crawled.log.clone(), |more| crawled.goes_on(more));
        for path in ["/", "/app.js", "/icon.png", "/api"] {
            let asked = log.iter().filter(|entry| entry.target == path).count();
            assert_eq!(asked, round, "{path} in round {round}: {log:?}");
        }
        let is_refused = log.iter().any(|entry| entry.status == Some(403));
        assert_eq!(is_refused, round == 3, "round {round}: {log:?}");
    }
}
