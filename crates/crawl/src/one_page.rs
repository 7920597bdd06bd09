//! One page from the web, fetched as a crawl fetches it: robots.txt holds, and so do the limits.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail};
use engine::{Answer, Extra, Hook, Recorded};
use fresh::Temporary;
use settings::options::Options;
use settings::plan::Plan;
use settings::units::Span;
use weburl::CanonicalUrl;

use crate::{CrawlDir, Session};

/// The longest that all of it may take, redirects and waits included.
const TIME_MAX: Duration = Duration::from_secs(60);

/// A page that was fetched.
pub struct OnePage {
    /// Its URL, behind all redirects.
    pub url: CanonicalUrl,
    /// Its body, without content coding.
    pub body: Vec<u8>,
}

/// Fetches a page.
///
/// # Errors
/// The text is no URL of a page, or the page cannot be fetched; the message says why.
pub async fn one_page(url: &str) -> anyhow::Result<OnePage> {
    let options = Options {
        depth: Some(0),
        max_time: Some(Span(TIME_MAX)),
        patience: Some(Span(Duration::ZERO)),
        no_sitemaps: true,
        no_dataset: Some(true),
        ..Options::default()
    };
    let plan = Plan::new(&options)?;
    let seeds = plan.seeds(&[url.to_owned()])?;
    let place = Temporary::new_in(&std::env::temp_dir()).context("no temporary directory can be made")?;
    let seen = Seen::default();
    let sink = seen.clone();
    let reasons = move |recorded: &Recorded<'_>| {
        sink.note(recorded);
        Ok(())
    };
    let session = Session::builder(CrawlDir::at(place.path()), plan).seeds(seeds).hook(seen.clone()).sink(reasons);
    session.open()?.run().await?;
    match seen.take() {
        (Some(fetched), _) => Ok(fetched),
        (None, Some(why)) => bail!("{url}: {why}"),
        (None, None) => bail!("{url}: no answer within {} s", TIME_MAX.as_secs()),
    }
}

/// What came so far: the page, and why the last visit brought none.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<(Option<OnePage>, Option<String>)>>);

impl Seen {
    fn note(&self, recorded: &Recorded<'_>) {
        for visit in &recorded.batch.visits {
            let why = match (visit.reason.as_str(), visit.status) {
                ("", 0) => visit.outcome.to_string(),
                ("", status) => format!("{}, status {status}", visit.outcome),
                (reason, _) => format!("{}: {reason}", visit.outcome),
            };
            self.0.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(why);
        }
    }

    fn take(&self) -> (Option<OnePage>, Option<String>) {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Hook for Seen {
    fn responded(&self, answer: &Answer<'_>) -> Extra {
        if (200..=299).contains(&answer.response.status) {
            let fetched = OnePage { url: answer.exchange.url.clone(), body: answer.response.body.to_vec() };
            self.0.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(fetched);
        }
        Extra::default()
    }
}
