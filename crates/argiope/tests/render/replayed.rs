//! A rendered page, replayed by pywb: what it shows comes from the archive alone.

use std::pin::Pin;
use std::sync::Arc;

use model::Headers;
use render::{Page, Renderer, Served, Settings, Source, Wanted};
use weburl::{CanonicalRules, CanonicalUrl};

use crate::crawls::crawl;
use testkit::pywb::{Pywb, get};

/// Gives a browser what pywb has, and nothing else.
struct Replay {
    port: u16,
}

impl Replay {
    fn ask(port: u16, url: &str) -> Option<(u16, Headers, Vec<u8>)> {
        let path = url.strip_prefix(&format!("http://127.0.0.1:{port}"))?;
        let (status, head, body) = get(port, path);
        let fields = head.lines().skip(1).filter_map(|line| line.split_once(": "));
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Some((status.parse().ok()?, Headers(fields), body))
    }
}

impl Source for Replay {
    fn get(&self, wanted: Wanted) -> Pin<Box<dyn Future<Output = Served> + Send + '_>> {
        let port = self.port;
        Box::pin(async move {
            let answer = tokio::task::spawn_blocking(move || Replay::ask(port, &wanted.url)).await.ok().flatten();
            match answer {
                Some((status, headers, body)) => Served::Answer { status, headers, body: body.into() },
                None => Served::Refused,
            }
        })
    }
}

#[test]
fn pywb_shows_what_the_browser_saw() {
    let crawled = crawl("always");
    let home = tempfile::tempdir().expect("a directory");
    let wacz = home.path().join("crawl.wacz");
    let ran = crawled.run("export", &["wacz", "-o", wacz.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    // Not within a frame of pywb's own: the page itself is what is looked at.
    std::fs::write(home.path().join("config.yaml"), "framed_replay: false\n").expect("a file");
    let pywb = Pywb::serve(home.path(), &wacz);
    // Where pywb leads to: the record that is nearest in time.
    let mut url = format!("http://127.0.0.1:{}/it/2030/http://app.test/", pywb.port);
    let (status, headers, body) = loop {
        let (status, headers, body) = Replay::ask(pywb.port, &url).expect("an answer");
        match headers.get("location").filter(|_| (300..400).contains(&status)) {
            Some(location) => url = location.to_owned(),
            None => break (status, headers, body),
        }
    };
    assert_eq!(status, 200, "{headers:?}");
    let browser = Settings::find_browser(None).expect("the tests need the Debian package chromium");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let rendered = runtime.block_on(async {
        let renderer = Renderer::new(Settings { clicks_max: 0, ..Settings::new(browser) });
        let url = CanonicalUrl::parse(&url, &CanonicalRules::default()).expect("a URL");
        let page = Page { url, status, headers, body: body.into() };
        renderer.render(&page, Arc::new(Replay { port: pywb.port })).await
    });
    let html = rendered.expect("a page").html;
    assert!(html.contains("Woven by a script.") && html.contains(">listed</a>"), "{html}");
    assert!(!html.contains("secret"), "{html}");
}
