//! A site that exists only in the answers of a test.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use model::{Headers, Refusal};
use render::{Page, RenderFailure, Rendered, Renderer, Served, Settings, Source, Wanted};
use weburl::{CanonicalRules, CanonicalUrl};

/// Answers by path, and what was asked for.
pub struct Site {
    origin: &'static str,
    files: BTreeMap<String, (&'static str, String)>,
    asked: Mutex<Vec<Wanted>>,
}

impl Site {
    pub fn new() -> Self {
        Site { origin: "http://page.test", files: BTreeMap::new(), asked: Mutex::default() }
    }

    /// The same under another scheme or name, for the files to come.
    pub fn at(self, origin: &'static str) -> Self {
        Site { origin, ..self }
    }

    pub fn file(mut self, path: &str, media_type: &'static str, body: impl Into<String>) -> Self {
        self.files.insert(format!("{}{path}", self.origin), (media_type, body.into()));
        self
    }

    pub fn script(self, path: &str, body: impl Into<String>) -> Self {
        self.file(path, "text/javascript", body)
    }

    /// What was asked for, in order of the URLs.
    pub fn asked(&self) -> Vec<String> {
        let mut asked: Vec<String> =
            self.asked.lock().expect("no panic").iter().map(|wanted| wanted.url.clone()).collect();
        asked.sort_unstable();
        asked
    }
}

impl Source for Site {
    fn get(&self, wanted: Wanted) -> Pin<Box<dyn Future<Output = Served> + Send + '_>> {
        let found = self.files.get(&wanted.url).cloned();
        self.asked.lock().expect("no panic").push(wanted);
        Box::pin(async move {
            match found {
                None => Served::Refused(Refusal::NoAnswer),
                Some((media_type, body)) => Served::Answer {
                    status: 200,
                    headers: Headers(vec![("Content-Type".to_owned(), media_type.to_owned())]),
                    body: body.into(),
                },
            }
        })
    }
}

/// How long a page may take that no test expects to be cut: on a busy machine a minute can pass before it is done.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// The settings of tests. Those that expect a page to be cut set a time of their own.
pub fn settings() -> Settings {
    let browser = Settings::find_browser(None).expect("the tests need the Debian package chromium");
    Settings { page_time_max: PATIENCE, ..Settings::new(browser) }
}

pub fn page(html: &str) -> Page {
    Page {
        url: CanonicalUrl::parse("http://page.test/", &CanonicalRules::default()).expect("a URL"),
        status: 200,
        headers: Headers(vec![("Content-Type".to_owned(), "text/html; charset=utf-8".to_owned())]),
        body: Bytes::copy_from_slice(html.as_bytes()),
    }
}

/// Renders one page.
pub async fn render(renderer: &Renderer, html: &str, site: &Arc<Site>) -> Result<Rendered, RenderFailure> {
    let source: Arc<dyn Source> = site.clone();
    renderer.render(&page(html), source).await
}

/// Everything that a page leads to, by its links and otherwise, as paths.
pub fn leads_to(rendered: &Rendered) -> Vec<String> {
    let hrefs = rendered.html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned);
    let found = rendered.found.iter().map(|found| found.url.replace("http://page.test", ""));
    let mut all: Vec<String> = hrefs.chain(found).collect();
    all.sort_unstable();
    all.dedup();
    all
}
