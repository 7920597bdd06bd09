//! Secrets and pages in a browser: what a page of a seed's site asks for bears them, as far as it goes to such a site; what a foreign page
//! asks for bears none, wherever it goes.

use std::os::unix::fs::PermissionsExt;

use testweb::{Heard, Pages, Reply, Web};

use crate::crawls::Crawled;

fn script(body: &'static str) -> Reply {
    Reply::new(200).header("Content-Type", "text/javascript").body(body)
}

#[test]
fn a_foreign_page_asks_for_nothing_in_the_users_name() {
    asks_for_nothing(&["--header", "Cookie: id=S3CRET"]);
}

#[test]
fn a_foreign_page_asks_for_nothing_with_the_cookies_of_the_jar() {
    let home = tempfile::tempdir().expect("a directory");
    let file = home.path().join("cookies.txt");
    std::fs::write(&file, "seed.test\tFALSE\t/\tFALSE\t0\tid\tS3CRET\n").expect("written");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("set");
    asks_for_nothing(&["--cookies", &file.display().to_string()]);
}

/// What these arguments give to the seed's site stays with its pages.
fn asks_for_nothing(arguments: &[&str]) {
    let heard = Heard::default();
    let seed = Pages::new()
        .html("/", "<a href=http://evil.test/>e</a><p id=p><script src=/shared.js></script><script src=http://cdn.test/c.js></script>")
        .reply("/shared.js", script("fetch('/api.json').then(() => { document.getElementById('p').textContent = 'had' })"))
        .reply("/api.json", Reply::new(200).header("Content-Type", "application/json").body("{}"))
        .reply("/private.json", Reply::new(200).header("Content-Type", "application/json").body("{}"));
    let evil = Pages::new().html(
        "/",
        "<p>evil<script src=http://seed.test/shared.js></script>
        <script>fetch('http://seed.test/private.json', { mode: 'no-cors', credentials: 'include' })</script>",
    );
    let web = Web::new()
        .site("seed.test", heard.at(seed))
        .site("evil.test", heard.at(evil))
        .site("cdn.test", heard.at(Pages::new().reply("/c.js", script("1"))));
    // More than a busy machine needs.
    let arguments = [&["--render", "always", "--render-time", "60s", "--scope", "any"], arguments].concat();
    let crawled = Crawled::of(web, "http://seed.test/", &arguments);
    let asked = |host: &str, target: &str| -> Vec<bool> {
        let requests = heard.requests().into_iter().filter(|request| request.host == host && request.target == target);
        requests.map(|request| request.header("cookie").is_some()).collect()
    };
    assert_eq!(asked("seed.test", "/"), [true]);
    assert_eq!(asked("seed.test", "/api.json"), [true], "{:?}", crawled.asked);
    assert_eq!(asked("cdn.test", "/c.js"), [false]);
    assert_eq!(asked("evil.test", "/"), [false]);
    assert_eq!(asked("seed.test", "/private.json"), [false], "for the foreign page");
    let mut shared = asked("seed.test", "/shared.js");
    shared.sort_unstable();
    assert_eq!(shared, [false, true], "the foreign page gets an answer of its own");
}

/// What a button does is not known: a crawl in the user's name presses them, and sends nothing that could change something.
#[test]
fn clicks_post_nothing_in_the_users_name() {
    let post = |name: &str| format!("fetch('/{name}', {{ method: 'POST', body: 'x' }})");
    let page = format!(
        "<p>words</p><button onclick=\"{}\">Delete</button><script>{}</script>",
        post("by-click"),
        post("by-script")
    );
    let posted = |more: &[&str]| {
        let heard = Heard::default();
        let site = Pages::new().html("/", page.clone()).text("/by-click", "x").text("/by-script", "x");
        let web = Web::new().site("seed.test", heard.at(site));
        let arguments = ["--render", "always", "--render-time", "60s"];
        let crawled = Crawled::of(web, "http://seed.test/", &[&arguments, more].concat());
        let posted = heard.requests().into_iter().filter(|request| request.method == "POST");
        let mut posted: Vec<String> = posted.map(|request| request.target).collect();
        posted.sort_unstable();
        let rows = crawled.run("export", &["jsonl"]).stdout;
        (posted, rows.contains("; 1 requests refused (click)"))
    };
    assert_eq!(posted(&[]), (vec!["/by-click".to_owned(), "/by-script".to_owned()], false));
    assert_eq!(posted(&["--header", "Cookie: id=S3CRET"]), (vec!["/by-script".to_owned()], true));
}
