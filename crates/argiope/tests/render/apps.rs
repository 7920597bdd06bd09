//! Small applications made with the frameworks that people use, beside a judge: a plain browser that opens every link and presses each
//! button once. The scripts of the frameworks are packages of npm, which `cargo xtask test` unpacks. It builds what must be built: `apps/built`, `apps/ferries`,
//! `apps/shipyard`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::browser::Browser;
use testkit::tables;
use testweb::{Config, Reply, Request, Server, Web, from_fn};
use weburl::{CanonicalRules, CanonicalUrl, HashRoutes};

use crate::crawls::Crawled;

const ORIGIN: &str = "http://app.test";
/// The share of the words that the judge sees which the dataset must have.
const WORDS_MIN: f64 = 0.95;
/// Pages that the judge opens of an application, at most.
const PAGES_MAX: usize = 40;
/// Buttons of a page that the judge presses, at most.
const BUTTONS_MAX: usize = 5;
/// The buttons of a page, as they are written.
const BUTTONS: &str = "[...document.querySelectorAll('button')].map((button) => button.outerHTML)";

/// An application.
struct App {
    name: &'static str,
    /// `BY_PATHS` in it stands for [`App::has_paths`].
    html: &'static str,
    /// Its server has no file for a route, and answers with the application.
    has_paths: bool,
    /// Pages that a crawl must find, the others being left to the judge.
    pages: &'static [&'static str],
    /// Requests by POST that it makes.
    posts: usize,
    /// It is a site with files of its own, in this directory of [`npm_dir`].
    site: Option<&'static str>,
    /// Pages that are rendered and gain nothing, at most. Of pages that a server wrote, the crawl renders a sample.
    samples_max: usize,
}

const APPS: [App; 13] = [
    App {
        name: "React",
        html: include_str!("apps/react.html"),
        has_paths: true,
        pages: &["/", "/item/1", "/item/2", "/maker/0", "/maker/1", "/cart"],
        posts: 1,
        site: None,
        samples_max: 0,
    },
    App {
        name: "Vue, by fragments",
        html: include_str!("apps/vue.html"),
        has_paths: false,
        pages: &["/", "/#/beds", "/#/beds/north", "/#/beds/south", "/#/compost", "/#/shed"],
        posts: 0,
        site: None,
        samples_max: 0,
    },
    App {
        name: "Vue, by paths",
        html: include_str!("apps/vue.html"),
        has_paths: true,
        pages: &["/", "/beds", "/beds/north", "/beds/south", "/compost", "/shed"],
        posts: 0,
        site: None,
        samples_max: 0,
    },
    App {
        name: "docsify, by fragments",
        html: include_str!("apps/docsify.html"),
        has_paths: false,
        pages: &["/", "/#/guide", "/#/start", "/#/deep/page", "/#/hidden"],
        posts: 0,
        site: None,
        samples_max: 0,
    },
    App {
        name: "docsify, by paths",
        html: include_str!("apps/docsify.html"),
        has_paths: true,
        pages: &["/", "/guide", "/start", "/deep/page", "/hidden"],
        posts: 0,
        site: None,
        samples_max: 0,
    },
    App {
        name: "reveal.js",
        html: include_str!("apps/reveal.html"),
        has_paths: false,
        pages: &["/", "/#/1", "/#/1/1", "/#/2", "/#/2/0/0", "/#/3", "/#/4", "/#/mouth"],
        posts: 0,
        site: None,
        samples_max: 0,
    },
    App {
        name: "Swagger UI",
        html: include_str!("apps/swagger.html"),
        has_paths: false,
        pages: &[
            "/",
            "/#/books",
            "/#/readers",
            "/#/books/listBooks",
            "/#/books/addBook",
            "/#/readers/showReader",
            "/terms",
            "/privacy",
        ],
        posts: 1,
        site: None,
        samples_max: 0,
    },
    App {
        name: "Svelte",
        html: include_str!("apps/svelte.html"),
        has_paths: true,
        pages: &["/", "/boats", "/boats/Merle", "/boats/Amsel", "/tides"],
        posts: 1,
        site: None,
        samples_max: 0,
    },
    App {
        name: "Angular, by fragments",
        html: include_str!("apps/angular.html"),
        has_paths: false,
        pages: &["/", "/#/stones", "/#/stones/upper", "/#/stones/lower", "/#/flour", "/#/cellar"],
        posts: 0,
        site: None,
        samples_max: 0,
    },
    App {
        name: "Angular, by paths",
        html: include_str!("apps/angular.html"),
        has_paths: true,
        pages: &["/", "/stones", "/stones/upper", "/stones/lower", "/flour", "/cellar"],
        posts: 0,
        site: None,
        samples_max: 0,
    },
    App {
        name: "VitePress",
        html: "",
        has_paths: false,
        pages: &[
            "/",
            "/apples.html",
            "/cherries.html",
            "/medlars.html",
            "/quinces.html",
            "/plums.html",
            "/kinds/pears.html",
            "/kinds/williams.html",
        ],
        posts: 0,
        site: Some("built/package/orchard"),
        // Three show that what all pages have brings nothing; a fourth may be chosen before that is known.
        samples_max: 4,
    },
    App {
        name: "Next",
        html: "",
        has_paths: false,
        pages: &["/", "/timetable", "/lines/north", "/lines/south", "/lines/island", "/lines/night"],
        posts: 1,
        site: Some("ferries/package"),
        samples_max: 0,
    },
    App {
        name: "Docusaurus",
        html: "",
        has_paths: false,
        pages: &[
            "/",
            "/nails",
            "/planks",
            "/tar",
            "/yard/shed",
            "/yard/slipway",
            "/yard/figurehead",
            "/blog",
            "/blog/tags",
            "/blog/tags/wood",
            "/blog/2026/03/01/launch",
            "/blog/2026/04/01/oak",
        ],
        posts: 0,
        site: Some("shipyard/package"),
        samples_max: 4,
    },
];

/// What the applications ask for.
const FILES: [(&str, &str); 15] = [
    ("/api/items.json", include_str!("apps/items.json")),
    ("/api/beds.json", r#"["north", "south"]"#),
    ("/api/boats.json", r#"[{"name":"Merle","load":"salt"},{"name":"Amsel","load":"wool"}]"#),
    ("/api/pears.json", r#"["williams"]"#),
    ("/api/shed.json", r#"["figurehead"]"#),
    ("/api/stones.json", r#"["upper", "lower"]"#),
    (
        "/README.md",
        "# Manual\n\nWhat every visitor reads first.\n\n- [Guide](guide.md)\n- [Start](start.md?id=first)\n",
    ),
    ("/_sidebar.md", "- [Home](/)\n- [Guide](guide.md)\n- [Deep](deep/page.md)\n"),
    (
        "/guide.md",
        "# Guide\n\nThe way is long.\n\n## Part one\n\nIt begins.\n\n## Part two\n\nSee [deep](deep/page.md).\n",
    ),
    ("/slides.md", "## Ferries\n\nThey cross where there is no bridge.\n\n---\n\n## Bridges\n\nThey came later.\n"),
    ("/openapi.json", include_str!("apps/openapi.json")),
    ("/terms", "<!DOCTYPE html><title>Terms</title><h1>Terms of the library</h1>"),
    ("/privacy", "<!DOCTYPE html><title>Privacy</title><h1>What is known of readers</h1>"),
    ("/start.md", "# Start\n\n## First\n\nBegin here.\n"),
    ("/deep/page.md", "# Deep page\n\nFar down. [Hidden](/hidden)\n"),
];
const HIDDEN: &str = "# Hidden\n\nNot in the sidebar.\n";

/// Where `cargo xtask test` has what the applications are made with.
fn npm_dir() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/npm"))
}

fn npm(path: &str) -> Option<Vec<u8>> {
    let root = npm_dir();
    let (package, file) = path.strip_prefix("/npm/")?.split_once('/')?;
    let file = root.join(package).join("package").join(file);
    let read = std::fs::read(&file);
    Some(read.unwrap_or_else(|error| panic!("{}: {error}: `cargo xtask test` unpacks it", file.display())))
}

fn answer(app: &App, request: &Request) -> Reply {
    let path = request.path();
    let media = match Path::new(path).extension().and_then(|ending| ending.to_str()) {
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("json") => "application/json",
        Some("md") => "text/markdown",
        _ => "text/html; charset=utf-8",
    };
    let file = |body: Vec<u8>| Reply::new(200).header("Content-Type", media).body(body);
    if let Some(body) = npm(path) {
        return file(body);
    }
    if let Some((_, body)) = FILES.iter().find(|(name, _)| *name == path) {
        return file(body.as_bytes().to_vec());
    }
    if let Some(site) = app.site.filter(|_| !path.starts_with("/api/")) {
        return of_site(site, path, file);
    }
    let html = || app.html.replace("BY_PATHS", &app.has_paths.to_string());
    match path {
        "/api/offers" => {
            Reply::new(200).header("Content-Type", "application/json").body(r#"[{"name":"Lamps"},{"name":"Chairs"}]"#)
        }
        "/api/ferries" if request.method == "POST" => {
            Reply::new(200).header("Content-Type", "application/json").body(r#"["night"]"#)
        }
        "/hidden.md" => file(HIDDEN.into()),
        "/" => Reply::html(html()),
        _ if app.has_paths && !path.contains('.') => Reply::html(html()),
        _ => Reply::error(404, path),
    }
}

/// A file of a site. Its URL leaves out `.html`.
fn of_site(site: &str, path: &str, reply: impl Fn(Vec<u8>) -> Reply) -> Reply {
    let name = if path == "/" { "index" } else { path.trim_start_matches('/') };
    let read = |ending: &str| std::fs::read(npm_dir().join(site).join(format!("{name}{ending}")));
    let found = read("").or_else(|_| read(".html")).map(reply);
    found.unwrap_or_else(|_| Reply::error(404, path))
}

fn web(app: &'static App) -> Web {
    if let Some(site) = app.site {
        let home = npm_dir().join(site).join("index.html");
        assert!(home.exists(), "{}: `cargo xtask test` builds it", home.display());
    }
    Web::new().site("app.test", from_fn(move |request| answer(app, request)))
}

/// The URL as the crawl names it. docsify names parts of a page by `?id=`.
fn canonical(url: &str) -> Option<String> {
    let url = url.split("?id=").next()?;
    let rules = CanonicalRules { hash_routes: HashRoutes::Always, ..CanonicalRules::default() };
    let url = CanonicalUrl::parse(url, &rules).ok()?.to_string();
    url.starts_with(ORIGIN).then_some(url)
}

/// Opens the page as if nobody had been there before.
fn open(browser: &mut Browser, url: &str) {
    browser.open("about:blank", "", 1_280, false);
    browser.open(url, "", 1_280, false);
    still(browser);
}

/// Waits until what is seen stays as it is.
fn still(browser: &mut Browser) {
    browser.value(
        "(async () => { let last; for (let same = 0, looks = 0; same < 4 && looks < 100; looks += 1) {
           await new Promise((done) => setTimeout(done, 100));
           const now = location.href + document.body.innerText;
           same = now === last ? same + 1 : 0; last = now; } })()",
    );
}

/// Where the shown page leads, and where it is.
fn leads(browser: &mut Browser) -> Vec<String> {
    let found = browser.value("[location.href, ...[...document.querySelectorAll('a[href]')].map((link) => link.href)]");
    let found = found.as_array().cloned().unwrap_or_default();
    found.iter().filter_map(Value::as_str).filter_map(canonical).collect()
}

/// The pages of an application with the text that each shows, as a plain browser finds them. Documents that are not HTML have none.
/// A button that several pages have is pressed on the first one.
fn judged(app: &'static App) -> BTreeMap<String, Option<String>> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let server = runtime.block_on(Server::start(Config::new(web(app)))).expect("a free port");
    let to = format!("--host-resolver-rules=MAP app.test {}", server.address());
    let mut browser = Browser::with(&[&to]);
    let (mut texts, mut known, mut pressed) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    let mut queue = vec![format!("{ORIGIN}/")];
    while let Some(url) = queue.pop().filter(|_| texts.len() < PAGES_MAX) {
        if !known.insert(url.clone()) {
            continue;
        }
        open(&mut browser, &url);
        let text = browser.value("document.contentType === 'text/html' ? document.body.innerText : null");
        let text = text.as_str().map(str::to_owned);
        texts.insert(url.clone(), text);
        queue.extend(leads(&mut browser));
        let buttons = browser.value(BUTTONS);
        let buttons: Vec<String> = serde_json::from_value(buttons).expect("a list");
        for (at, button) in buttons.into_iter().enumerate().take(BUTTONS_MAX) {
            if !pressed.insert(button) {
                continue;
            }
            open(&mut browser, &url);
            browser.value(&format!("document.querySelectorAll('button')[{at}]?.click(); 0"));
            still(&mut browser);
            queue.extend(leads(&mut browser));
        }
    }
    texts
}

/// The share of the words of a text that another has, each as often.
fn share_of_words(of: &str, had: &str) -> f64 {
    let mut words: BTreeMap<String, usize> = BTreeMap::new();
    had.split_whitespace().for_each(|word| *words.entry(word.to_lowercase()).or_default() += 1);
    let (mut all, mut found) = (0_u32, 0_u32);
    for word in of.split_whitespace() {
        all += 1;
        if let Some(left) = words.get_mut(&word.to_lowercase()).filter(|left| **left > 0) {
            *left -= 1;
            found += 1;
        }
    }
    f64::from(found) / f64::from(all.max(1))
}

/// What a crawl of an application lacks.
fn missing(app: &'static App, texts: &BTreeMap<String, Option<String>>, mode: &str) -> Vec<String> {
    let crawled = Crawled::of(web(app), &format!("{ORIGIN}/"), &["--render", mode, "--render-time", "120s"]);
    let rows = tables::pages(&crawled.dir());
    let mut missing = Vec::new();
    for path in app.pages {
        if !rows.contains_key(&format!("{ORIGIN}{path}")) {
            missing.push(format!("no page {path}"));
        }
    }
    for (url, text) in texts {
        let Some(row) = rows.get(url) else {
            missing.push(format!("no page {url}"));
            continue;
        };
        let Some(text) = text else { continue };
        let share = share_of_words(text, row.get("text").map_or("", String::as_str));
        if share < WORDS_MIN {
            missing.push(format!("{share:.2} of the words of {url}: {text:?}, not {:?}", row.get("text")));
        }
    }
    let posts = crawled.log.iter().filter(|entry| entry.method == "POST").count();
    if posts < app.posts {
        missing.push(format!("{posts} requests by POST of {}", app.posts));
    }
    let is_for_nothing = |row: &BTreeMap<String, String>| {
        row.get("reason").is_some_and(|reason| reason.contains(": 0 links and 0 characters gained"))
    };
    let for_nothing: Vec<&String> = rows.iter().filter(|(_, row)| is_for_nothing(row)).map(|(url, _)| url).collect();
    if mode == "auto" && for_nothing.len() > app.samples_max {
        missing.push(format!("rendered for nothing: {for_nothing:?}"));
    }
    missing.into_iter().map(|what| format!("{}, {mode}: {what}", app.name)).collect()
}

/// Sees what a crawl of the applications of this name lacks.
fn check(name: &str) {
    let apps: Vec<&App> = APPS.iter().filter(|app| app.name.starts_with(name)).collect();
    assert!(!apps.is_empty(), "an application of {name}");
    let lacks: Vec<String> = apps.into_iter().flat_map(|app| missing(app, &judged(app), "auto")).collect();
    assert!(lacks.is_empty(), "{lacks:#?}");
}

#[test]
fn an_application_of_react_shows_the_crawl_what_it_shows_a_browser() {
    check("React");
}

#[test]
fn applications_of_vue_show_the_crawl_what_they_show_a_browser() {
    check("Vue");
}

#[test]
fn manuals_of_docsify_show_the_crawl_what_they_show_a_browser() {
    check("docsify");
}

#[test]
fn slides_of_reveal_show_the_crawl_what_they_show_a_browser() {
    check("reveal.js");
}

#[test]
fn an_interface_in_swagger_ui_shows_the_crawl_what_it_shows_a_browser() {
    check("Swagger UI");
}

#[test]
fn an_application_of_svelte_shows_the_crawl_what_it_shows_a_browser() {
    check("Svelte");
}

#[test]
fn applications_of_angular_show_the_crawl_what_they_show_a_browser() {
    check("Angular");
}

#[test]
fn a_site_of_vitepress_shows_the_crawl_what_it_shows_a_browser() {
    check("VitePress");
}

#[test]
fn a_site_of_next_shows_the_crawl_what_it_shows_a_browser() {
    check("Next");
}

#[test]
fn a_site_of_docusaurus_shows_the_crawl_what_it_shows_a_browser() {
    check("Docusaurus");
}
