//! A rendered page, replayed by pywb: what it shows comes from the archive alone.

use std::pin::Pin;
use std::sync::Arc;

use model::{Headers, Refusal};
use render::{Page, Renderer, Served, Settings, Source, Wanted};
use weburl::{CanonicalRules, CanonicalUrl, HashRoutes};

use crate::crawls::{Crawled, crawl};
use testkit::pywb::{Pywb, ask};

/// Gives a browser what pywb has, and nothing else.
struct Replay {
    port: u16,
}

impl Replay {
    fn ask(port: u16, wanted: &Wanted) -> Option<(u16, Headers, Vec<u8>)> {
        let path = wanted.url.strip_prefix(&format!("http://127.0.0.1:{port}"))?;
        let fields: Vec<(&str, &str)> =
            wanted.headers.0.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let (status, head, body) = ask(port, wanted.method.as_str(), path, &fields, &wanted.body);
        let fields = head.lines().skip(1).filter_map(|line| line.split_once(": "));
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Some((status.parse().ok()?, Headers(fields), body))
    }
}

impl Source for Replay {
    fn get(&self, wanted: Wanted) -> Pin<Box<dyn Future<Output = Served> + Send + '_>> {
        let port = self.port;
        Box::pin(async move {
            let answer = tokio::task::spawn_blocking(move || Replay::ask(port, &wanted)).await.ok().flatten();
            match answer {
                Some((status, headers, body)) => Served::Answer { status, headers, body: body.into() },
                None => Served::Refused(Refusal::NoAnswer),
            }
        })
    }
}

/// The page of a crawl as a browser shows it, which gets everything from pywb.
pub fn replayed(crawled: &Crawled, url: &str) -> String {
    let home = tempfile::tempdir().expect("a directory");
    let wacz = home.path().join("crawl.wacz");
    let ran = crawled.run("export", &["wacz", "-o", wacz.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    // Not within a frame of pywb's own: the page itself is what is looked at.
    std::fs::write(home.path().join("config.yaml"), "framed_replay: false\n").expect("a file");
    let pywb = Pywb::serve(home.path(), &wacz);
    let (url, fragment) = url.split_once('#').map_or((url, ""), |(url, fragment)| (url, fragment));
    // Where pywb leads to: the record that is nearest in time.
    let mut url = format!("http://127.0.0.1:{}/it/2030mp_/{url}", pywb.port);
    let (status, headers, body) = loop {
        let path = url.split_once(&format!(":{}", pywb.port)).expect("of pywb").1;
        let (status, head, body) = ask(pywb.port, "GET", path, &[], b"");
        let fields = head.lines().skip(1).filter_map(|line| line.split_once(": "));
        let headers = Headers(fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect());
        match headers.get("location").filter(|_| status.starts_with('3')) {
            Some(location) => url = location.to_owned(),
            None => break (status.parse().expect("a status"), headers, body),
        }
    };
    assert_eq!(status, 200, "{headers:?}");
    let browser = Settings::find_browser(None).expect("the tests need the Debian package chromium");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let rendered = runtime.block_on(async {
        let renderer = Renderer::new(Settings { clicks_max: 0, ..Settings::new(browser) });
        let rules = CanonicalRules { hash_routes: HashRoutes::Always, ..CanonicalRules::default() };
        let url = CanonicalUrl::parse(&format!("{url}#{fragment}"), &rules).expect("a URL");
        let page = Page { url, status, headers, body: body.into() };
        renderer.render(&page, Arc::new(Replay { port: pywb.port })).await
    });
    rendered.expect("a page").html
}

#[test]
fn pywb_shows_what_the_browser_saw() {
    let html = replayed(&crawl("always"), "http://app.test/");
    assert!(html.contains("Woven by a script.") && html.contains(">listed</a>"), "{html}");
    assert!(!html.contains("secret"), "{html}");
}

/// pywb makes an index of its own: what was made of a page has a name of its own there.
#[test]
fn pywb_finds_each_page_once_in_a_warc_file() {
    let crawled = crawl("always");
    let home = tempfile::tempdir().expect("a directory");
    std::fs::write(home.path().join("config.yaml"), "framed_replay: false\n").expect("a file");
    let pywb = Pywb::of_warcs(home.path(), &[crawled.segment()]);
    let index = std::fs::read_to_string(home.path().join("collections/it/indexes/index.cdxj")).expect("an index");
    for page in ["/", "/one", "/two", "/three"] {
        let url = format!("\"url\": \"http://app.test{page}\"");
        // Whether a page leads to a file, the crawl asks by HEAD.
        let lines = index.lines().filter(|line| line.contains(&url) && !line.contains("__wb_method=head"));
        let lines: Vec<&str> = lines.collect();
        assert_eq!(lines.len(), 1, "{page}: {lines:#?}");
    }
    let (_, _, page) = ask(pywb.port, "GET", "/it/2030id_/http://app.test/", &[], b"");
    let page = String::from_utf8_lossy(&page).into_owned();
    assert!(page.contains("<div id=app></div>"), "{page}");
    let (_, _, document) = ask(pywb.port, "GET", "/it/2030id_/urn:dom:http://app.test/", &[], b"");
    let document = String::from_utf8_lossy(&document).into_owned();
    assert!(document.contains("Woven by a script."), "{document}");
}
