//! Pages shown in a browser and looked into again. What a page asks for besides is fetched as everything is: under the same
//! limits and address rules, by the robots.txt of its site, unless an exclude pattern matches it.

mod evidence;
mod pace;
mod resources;
mod robots_files;

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use extract::parts::Parts;
use fetch::Fetcher;
use model::{Exchange, FetchOutcome, FetchTask, Fetched, Purpose, RenderedDocument, Rendering, Shown};
use render::{Page, Rendered, Renderer, Source};
use stages::{Stage, wait};
use weburl::UrlKey;

use crate::clock::Clock;
use crate::content::{Content, Finding, missing_page};
use crate::{RenderMode, Settings};
pub(crate) use evidence::TEXT_CHARS_MIN;
use evidence::{Evidence, Samples};
use resources::{Kept, PageResources, Resources};

/// A browser for a crawl, with what its pages share.
pub struct Browsing {
    renderer: Renderer,
    mode: RenderMode,
    resources: Arc<Resources>,
    samples: Mutex<Samples>,
    clock: Clock,
}

/// A page that is to be shown.
pub(crate) struct Showing {
    evidence: Evidence,
    parts: Parts,
    before: Shown,
}

impl Browsing {
    /// A browser that shows pages of a crawl with these settings.
    #[must_use]
    pub fn new(
        renderer: Renderer,
        mode: RenderMode,
        fetcher: Arc<Fetcher>,
        settings: Arc<Settings>,
        clock: Clock,
    ) -> Self {
        let resources = Arc::new(Resources::new(fetcher, settings, clock));
        Browsing { renderer, mode, resources, samples: Mutex::default(), clock }
    }

    /// Takes note of a request of the crawl itself: what pages ask of the same address waits for it.
    pub(crate) fn count(&self, task: &FetchTask) {
        self.resources.count(task);
    }

    /// The longest that showing one of so many pages at a time takes.
    pub(crate) fn time_max(&self, pages: usize) -> Duration {
        self.renderer.time_max(pages)
    }

    /// Takes note of an answer; `Some` if it is a page that is to be shown.
    pub(crate) fn judge(&self, outcome: &FetchOutcome, purpose: Purpose, content: &Content) -> Option<Box<Showing>> {
        if purpose == Purpose::Robots {
            self.resources.learn(outcome);
        }
        if matches!(content.finding, Finding::Document | Finding::Redirect(Ok(_))) {
            self.resources.learn_file(outcome, address_of(outcome));
        }
        let (missing, page);
        let is_missing = matches!(content.finding, Finding::Nothing) && purpose == Purpose::Page;
        match &content.finding {
            Finding::Page(found) => page = found,
            _ if is_missing => {
                missing = missing_page(outcome, self.resources.settings())?;
                page = &missing;
            }
            _ => return None,
        }
        let before = page.shown?;
        if is_missing && !Evidence::of(page.scripting, before).is_some_and(Evidence::is_application) {
            return None;
        }
        let parts = page.parts.as_deref().cloned().unwrap_or_default();
        let evidence = match self.mode {
            RenderMode::Always => Evidence::Asked,
            // Without its scripts it is another page.
            RenderMode::Auto if outcome.url.route().is_some() => Evidence::Route,
            RenderMode::Auto => Evidence::of(page.scripting, before)
                .or_else(|| locked(&self.samples).evidence(page.scripting, &parts, &outcome.url))?,
        };
        // A fetch under way holds it, and most have none.
        Some(Box::new(Showing { evidence, parts, before }))
    }

    /// Shows a page, and adds what came of it to the outcome.
    pub(crate) async fn show(&self, outcome: &mut FetchOutcome, showing: &Showing) {
        let Fetched::Response(response) = &outcome.fetched else { return };
        let page = Page {
            url: outcome.url.clone(),
            status: response.status,
            headers: response.headers.clone(),
            body: response.body.clone(),
        };
        let at = self.clock.date();
        let got = Arc::new(PageResources::new(self.resources.clone(), &outcome.url, address_of(outcome)));
        let showing_it = self.renderer.render(&page, got.clone() as Arc<dyn Source>);
        let rendered = wait(Stage::Render, showing_it).await;
        // The visit lasts as long as the page asks for things: the delay is counted from their end.
        outcome.finished_at = self.clock.now();
        let Kept { files, robots, .. } = got.end();
        let (rendered, failure) = match rendered {
            Ok(rendered) => (rendered, None),
            Err(failure) => (Rendered::default(), Some(failure.to_string())),
        };
        let document = RenderedDocument {
            html: Bytes::from(rendered.html),
            outlinks: rendered.found.into_iter().map(|found| found.url).collect(),
            redirect: rendered.redirect,
            has_router: rendered.has_router,
            pictures: rendered.pictures,
        };
        outcome.rendering = Some(Box::new(Rendering {
            at,
            evidence: showing.evidence.as_str().to_owned(),
            before: showing.before,
            document: failure.map_or(Ok(document), Err),
            resources: files,
            robots,
            shared: std::mem::take(&mut *locked(&got.reused)),
            unloaded: rendered.unloaded.into_iter().collect(),
            refused: rendered.refused,
            left_out: rendered.left_out,
            script_errors: rendered.script_errors,
        }));
    }

    /// Ends the browser. The process may end right after.
    pub(crate) async fn end(&self) {
        self.renderer.end().await;
    }

    /// Gives files of a rendering that is not recorded to the one that is, as far as that uses them. Others are forgotten: a page that needs one
    /// has it recorded.
    pub(crate) fn discard(&self, unrecorded: Rendering, recorded: Option<&mut Rendering>) {
        let urls_of = |exchanges: &[Exchange]| Vec::from_iter(exchanges.iter().map(|exchange| exchange.url.clone()));
        let mut urls = urls_of(&unrecorded.resources);
        match recorded {
            Some(recorded) => {
                recorded.take_shared(unrecorded);
                let kept: HashSet<UrlKey> = recorded.resources.iter().map(|exchange| exchange.url.key()).collect();
                urls.retain(|url| !kept.contains(&url.key()));
            }
            None => urls.extend(urls_of(&unrecorded.robots)),
        }
        self.resources.forget(&urls);
    }

    /// Learns from what a page showed.
    pub(crate) fn learn(&self, outcome: &FetchOutcome, showing: &Showing, content: &Content) {
        if showing.evidence == Evidence::Sample {
            locked(&self.samples).learn(&outcome.url, &showing.parts, content.gained);
        }
    }
}

/// The address that answered; `None` behind a proxy.
fn address_of(outcome: &FetchOutcome) -> Option<IpAddr> {
    outcome.exchanges.last().and_then(|exchange| exchange.address).map(|address| address.ip())
}

/// What is shared by the pages of a crawl, behind a lock that no panic leaves half changed.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
