//! Pages shown in a browser before they are looked into. What a page asks for besides is fetched as everything is: under the same
//! limits and address rules, by the robots.txt of its site, unless an exclude pattern matches it.

mod evidence;
mod resources;

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use extract::media_type;
use fetch::Fetcher;
use model::{FetchOutcome, Fetched, Purpose, RenderedDocument, Rendering};
use render::{Page, Renderer, Source};

use crate::Settings;
use crate::clock::Clock;
use evidence::{Worth, worth};
use resources::{PageResources, Resources};

/// Which pages are rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderMode {
    /// Those that show too little without it ([`evidence`]).
    Auto,
    /// All.
    Always,
}

/// A browser for a crawl, with what its pages share.
pub struct Browsing {
    renderer: Renderer,
    mode: RenderMode,
    resources: Arc<Resources>,
    clock: Clock,
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
        Browsing { renderer, mode, resources: Arc::new(Resources::new(fetcher, settings)), clock }
    }

    /// Shows the answer, if it is a page that is to be rendered, and adds what came of it to the outcome.
    pub async fn show(&self, outcome: &mut FetchOutcome, purpose: Purpose) {
        if purpose == Purpose::Robots {
            self.resources.learn(outcome);
        }
        let Fetched::Response(response) = &outcome.fetched else { return };
        let content_type = response.headers.get("content-type");
        let is_page = purpose == Purpose::Page
            && (200..300).contains(&response.status)
            && !response.body.is_empty()
            && media_type::sniff(&response.body, content_type, outcome.url.path_extension()).is_html();
        if !is_page {
            return;
        }
        let before = worth(&response.body, content_type);
        let why = match self.mode {
            RenderMode::Always => "asked for",
            RenderMode::Auto => match before.evidence() {
                Some(evidence) => evidence,
                None => return,
            },
        };
        let page = Page {
            url: outcome.url.clone(),
            status: response.status,
            headers: response.headers.clone(),
            body: response.body.clone(),
        };
        let at = self.clock.now();
        let got = Arc::new(PageResources::new(self.resources.clone()));
        let rendered = self.renderer.render(&page, got.clone() as Arc<dyn Source>).await;
        // The visit lasts as long as the page asks for things: the delay is counted from their end.
        outcome.finished_at = self.clock.now();
        let resources = std::mem::take(&mut *locked(&got.exchanges));
        let (document, note) = match rendered {
            Err(failure) => (None, format!("rendering ({why}): {failure}")),
            Ok(rendered) => {
                let after = worth(rendered.html.as_bytes(), Some(RenderedDocument::CONTENT_TYPE));
                let outlinks: Vec<String> = rendered.found.into_iter().map(|found| found.url).collect();
                let note = gain(why, &before, &after, outlinks.len());
                (
                    Some(RenderedDocument { html: Bytes::from(rendered.html), outlinks, redirect: rendered.redirect }),
                    note,
                )
            }
        };
        outcome.rendering = Some(Box::new(Rendering { at, document, note, resources }));
    }
}

/// Why a page was rendered, and what that brought.
fn gain(why: &str, before: &Worth, after: &Worth, found: usize) -> String {
    let links = after.links.saturating_sub(before.links) + found;
    let chars = after.text_chars.saturating_sub(before.text_chars);
    format!("rendered ({why}): {links} links and {chars} characters gained")
}

/// What is shared by the pages of a crawl, behind a lock that no panic leaves half changed.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
