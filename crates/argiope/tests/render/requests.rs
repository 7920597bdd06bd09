//! What pages request besides plain GET: sent by the crawler's rules, recorded, and found by pywb when the page is shown again.

use std::path::{Path, PathBuf};

use testkit::python::{python, runs, script};
use testweb::{Heard, Pages, Reply, Request, Web, from_fn};

use crate::crawls::Crawled;
use crate::replayed::replayed;

/// Enough for a slow machine: a request may take a third of it.
const PATIENT: &str = "60s";

/// Asks in every way, and shows what came as a link and as text.
const APP: &str = r"
const show = async (name, asking) => {
  const text = await Promise.resolve().then(asking).then(answer => answer.text()).catch(() => 'nothing');
  document.body.insertAdjacentHTML('beforeend', `<p>${name}: ${text}</p><a href=/of-${name}>${name}</a>`);
};
const json = {'Content-Type': 'application/json'};
const post = (url, page) => fetch(url, {method: 'POST', headers: json, body: JSON.stringify({page, of: ['a', 'b']})});
(async () => {
  document.cookie = 'by=script';
  await show('fields', () => fetch('/fields', {headers: {Accept: 'application/json', 'X-Requested-With': 'XMLHttpRequest', Authorization: 'Bearer t0ken'}}));
  await show('session', () => fetch('/session'));
  await show('first', () => post('/posts', 1));
  await show('second', () => post('/posts', 2));
  await show('form', () => fetch('/form', {method: 'POST', body: new URLSearchParams({q: 'two words', é: '%'})}));
  await show('cors', () => post('http://api.test/posts', 3));
  await show('change', () => fetch('/change', {method: 'PUT', body: 'x'}));
  new EventSource('/events').onmessage = event => show('event', () => new Response(event.data));
})();
";

const SHOWN: [&str; 8] = [
    "fields: with fields",
    "session: of=page; by=script",
    r#"first: got {"page":1,"of":["a","b"]}"#,
    r#"second: got {"page":2,"of":["a","b"]}"#,
    "form: got q=two+words&amp;%C3%A9=%25",
    r#"cors: got {"page":3,"of":["a","b"]}"#,
    "change: nothing",
    "event: told",
];

fn app(request: &Request) -> Reply {
    let is = |name: &str, value: &str| request.header(name) == Some(value);
    let got = || Reply::text(format!("got {}", String::from_utf8_lossy(&request.body)));
    match (request.method.as_str(), request.target.as_str()) {
        ("GET", "/") => Reply::html("<!DOCTYPE html><title>App</title><body><script src=/app.js></script>")
            .header("Set-Cookie", "of=page; HttpOnly"),
        ("GET", "/app.js") => Reply::new(200).header("Content-Type", "text/javascript").body(APP),
        ("GET", "/fields") => {
            let has_all = is("accept", "application/json") && is("x-requested-with", "XMLHttpRequest");
            Reply::text(if has_all && is("authorization", "Bearer t0ken") { "with fields" } else { "without" })
        }
        ("GET", "/session") => Reply::text(request.header("cookie").unwrap_or_default().to_owned()),
        ("POST", "/posts" | "/form") => got(),
        ("GET", "/events") => Reply::new(200).header("Content-Type", "text/event-stream").body("data: told\n\n"),
        _ => Reply::error(404, &request.target),
    }
}

fn api(request: &Request) -> Reply {
    let answer = match request.method.as_str() {
        "OPTIONS" => Reply::new(204).header("Access-Control-Allow-Headers", "content-type"),
        "POST" => Reply::text(format!("got {}", String::from_utf8_lossy(&request.body))),
        _ => Reply::error(404, &request.target),
    };
    answer.header("Access-Control-Allow-Origin", "http://app.test").header("Vary", "Origin")
}

fn web(heard: &Heard) -> Web {
    let site = |reply: fn(&Request) -> Reply| from_fn(reply);
    Web::new().site("app.test", heard.at(site(app))).site("api.test", heard.at(site(api)))
}

/// The files of a crawl's archive whose names end so.
pub fn files(dir: &str, ending: &str) -> Vec<PathBuf> {
    let files = Path::new(dir).join("archive").read_dir().expect("an archive");
    files.map(|entry| entry.expect("an entry").path()).filter(|path| path.to_string_lossy().ends_with(ending)).collect()
}

#[test]
fn a_page_that_calls_its_api_is_crawled_recorded_and_replayed() {
    let heard = Heard::default();
    let crawled =
        Crawled::of(web(&heard), "http://app.test/", &["--render", "always", "--depth", "0", "--render-time", PATIENT]);
    let rows = crawled.rows();
    let reason = rows["/"]["reason"].as_str().expect("a reason").to_owned();
    assert!(reason.ends_with("; 1 requests refused (method)"), "{reason}");
    let requests = heard.requests();
    assert!(requests.iter().all(|request| request.method != "PUT"), "{requests:?}");
    let origins = requests.iter().filter(|request| request.host == "api.test" && request.target == "/posts");
    let origins: Vec<_> = origins.map(|request| (request.method.as_str(), request.header("origin"))).collect();
    assert_eq!(origins, [("OPTIONS", Some("http://app.test")), ("POST", Some("http://app.test"))]);

    // The archive has bodies, and of credentials only the names of their fields.
    let warc = files(&crawled.dir(), ".warc.gz").pop().expect("a segment").display().to_string();
    runs(python(&["warcio"]).args(["-m", "warcio.cli", "check"]).arg(&warc));
    let list = "import sys; from warcio.archiveiterator import ArchiveIterator\n\
                for record in ArchiveIterator(open(sys.argv[1], 'rb')):\n \
                if record.rec_type == 'request': print(record.http_headers.protocol, record.rec_headers.get_header('WARC-Target-URI'), \
                record.http_headers.get_header('Authorization'), record.http_headers.get_header('Cookie'), record.content_stream().read())";
    let records = script(&["warcio"], list, &[&warc]);
    for line in [
        "GET http://app.test/fields *** *** b''",
        "GET http://app.test/session None *** b''",
        r#"POST http://api.test/posts None None b'{"page":3,"of":["a","b"]}'"#,
        "POST http://app.test/form None *** b'q=two+words&%C3%A9=%25'",
        "OPTIONS http://api.test/posts None None b''",
    ] {
        assert!(records.lines().any(|other| other == line), "{line} is not in\n{records}");
    }

    // The index has the keys that the reference tool makes; of preflights it makes none of their own.
    let ours = std::fs::read_to_string(files(&crawled.dir(), ".cdxj").pop().expect("an index")).expect("a file");
    let index = "import sys; from cdxj_indexer.main import main; main(['-p', '-s', sys.argv[1]])";
    let theirs = script(&["cdxj_indexer"], index, &[&warc]);
    let keys = |text: &str| -> Vec<String> {
        let key = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        let mut keys: Vec<String> = text.lines().map(key).filter(|key| key.contains("__wb_method=post")).collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(&ours).len(), 4, "{ours}");
    assert!(ours.contains("test,api)/posts?__wb_method=options "), "{ours}");
    assert_eq!(keys(&ours), keys(&theirs), "{theirs}");
    let form = ours.lines().find(|line| line.contains("app.test/form")).expect("a line");
    assert!(form.ends_with(r#""requestBody": "q=two words&é=%", "method": "POST"}"#), "{form}");

    let html = replayed(&crawled, "http://app.test/");
    for shown in SHOWN {
        assert!(html.contains(shown), "{shown} is not in {html}");
    }
    let checked = crawled.run("check", &[]);
    assert_eq!(checked.code, 0, "{checked:?}");
}

#[test]
fn links_behind_requests_are_followed() {
    let heard = Heard::default();
    let crawled = Crawled::of(web(&heard), "http://app.test/", &["--render", "auto", "--render-time", PATIENT]);
    let rows = crawled.rows();
    for name in ["fields", "session", "first", "second", "form", "cors", "change", "event"] {
        assert!(rows.contains_key(&format!("/of-{name}")), "{name}: {:?}", rows.keys());
    }
}

/// A page's POST is disallowed by the robots.txt of the site that it goes to, as every request is.
#[test]
fn robots_txt_holds_for_every_method() {
    let heard = Heard::default();
    let page = "<p>words</p><script>fetch('/private/x', {method: 'POST', body: 'x'}).catch(() => 0)</script>";
    let site = Pages::new().text("/robots.txt", "User-agent: *\nDisallow: /private/\n").html("/", page);
    let web = Web::new().site("app.test", heard.at(site));
    let crawled = Crawled::of(web, "http://app.test/", &["--render", "always", "--render-time", PATIENT]);
    assert!(heard.requests().iter().all(|request| request.method == "GET"));
    let reason = crawled.rows()["/"]["reason"].as_str().expect("a reason").to_owned();
    assert!(reason.ends_with("; 1 requests refused (robots.txt)"), "{reason}");
}
