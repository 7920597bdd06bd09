//! The story of a URL.

use std::path::PathBuf;

use dataset::Layout;
use model::{Change, Limit, Outcome, Purpose, Visit};
use serde::Serialize;
use store::{CrawlView, Entry};
use weburl::{CanonicalUrl, Rejected, SiteKey, UrlKey, without_user_info};

use super::crawl::Crawl;
use super::found::{Step, way_to};
use super::linked::LinkedAs;
use super::rules::{self, Rule};
use super::standing::SiteNow;
use crate::rows::{Row, Rows};

/// How far into a site's queue a URL's place is looked for.
const QUEUE_LOOKED_AT_MAX: usize = 100_000;

/// Queue entries read at once.
const QUEUED_AT_ONCE: usize = 1_000;

/// Everything there is to say of a URL.
#[derive(Debug, Serialize)]
pub(super) struct UrlStory {
    /// As it was asked for.
    pub(super) given: String,
    /// The canonical form; `null` if it is no URL for a crawler.
    pub(super) url: Option<String>,
    /// Why there is none.
    pub(super) not_crawlable: Option<String>,
    /// The crawl found it.
    pub(super) known: bool,
    pub(super) row: Option<Row>,
    /// From a seed to it.
    pub(super) found: Vec<Step>,
    /// What other pages call it.
    pub(super) linked_as: LinkedAs,
    /// The limits and trap rules that kept something of it out of the crawl.
    pub(super) limits: Vec<&'static str>,
    /// Requests made for it.
    pub(super) attempts: u8,
    /// All of its visits, the oldest first, where there are several.
    pub(super) visits: Vec<Past>,
    /// When it was fetched, or judged without a fetch.
    pub(super) at: Option<String>,
    /// Where a redirect leads, or the URL that the page names as canonical.
    pub(super) target: Option<Target>,
    /// Where the response lies.
    pub(super) record: Option<RecordPlace>,
    /// It was fetched, but the archive does not have its response.
    pub(super) record_is_missing: bool,
    /// What the rules say now.
    pub(super) rules: Vec<Rule>,
    /// What it waits for, or what would become of it.
    pub(super) why: Vec<String>,
    /// What was changed from outside, with its date.
    pub(super) changes: Vec<String>,
}

/// A visit of the URL.
#[derive(Debug, Serialize)]
pub(super) struct Past {
    pub(super) at: String,
    pub(super) round: u32,
    pub(super) outcome: &'static str,
    pub(super) status: Option<u16>,
    /// How it differs from the visit before.
    pub(super) change: &'static str,
}

/// A URL that a page leads to in the name of itself.
#[derive(Debug, Serialize)]
pub(super) struct Target {
    pub(super) url: String,
    /// What became of it; `null` if the crawl does not know it.
    pub(super) outcome: Option<&'static str>,
}

/// Where a record lies.
#[derive(Debug, Serialize)]
pub(super) struct RecordPlace {
    pub(super) path: PathBuf,
    pub(super) offset: u64,
    pub(super) length: u64,
}

impl UrlStory {
    fn new(given: &str) -> Self {
        UrlStory {
            given: without_user_info(given).into_owned(),
            url: None,
            not_crawlable: None,
            known: false,
            row: None,
            found: Vec::new(),
            linked_as: LinkedAs::default(),
            limits: Vec::new(),
            attempts: 0,
            visits: Vec::new(),
            at: None,
            target: None,
            record: None,
            record_is_missing: false,
            rules: Vec::new(),
            why: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// The story of a text that is no URL for a crawler.
    pub(super) fn not_crawlable(given: &str, rejected: &Rejected) -> Self {
        UrlStory { not_crawlable: Some(rejected.to_string()), ..UrlStory::new(given) }
    }

    /// The story of a URL.
    ///
    /// # Errors
    /// The store or the dataset cannot be read.
    pub(super) fn of(crawl: &Crawl, given: &str, url: &CanonicalUrl) -> anyhow::Result<Self> {
        let store = crawl.store();
        let entry = store.get(url.key())?;
        let standing = SiteNow::new(&url.site(), store.site(url.key().site)?, &crawl.settings, crawl.now);
        let is_seed = store.seeds()?.contains(url);
        let mut story = UrlStory::new(given);
        story.url = Some(url.to_string());
        story.changes = crawl.changes_of(&url.site(), Some(url));
        story.linked_as = LinkedAs::of(&Layout::at(crawl.opened.dir.dataset()), url.key())?;
        story.rules = rules::judge(url, is_seed, &standing, &crawl.settings);
        match &entry {
            None => story.why = story.what_would_be(crawl, &crawl.similar(url)?),
            Some(entry) => {
                story.learn(crawl, entry)?;
                let is_first = entry.visit.is_none();
                let waits_again = !is_first && store.totals()?.again > 0 && place_in_queue(store, url.key())?.is_some();
                if waits_again {
                    story.why.push("it is to be visited again in this round".to_owned());
                }
                if is_first || waits_again {
                    story.why.extend(what_it_waits_for(crawl, entry, &standing)?);
                }
            }
        }
        Ok(story)
    }

    fn learn(&mut self, crawl: &Crawl, entry: &Entry) -> anyhow::Result<()> {
        let store = crawl.store();
        self.known = true;
        self.row = Some(Rows::new(store, true)?.row(entry)?);
        self.found = way_to(store, entry)?;
        self.attempts = entry.attempts;
        let Some(visit) = &entry.visit else { return Ok(()) };
        self.attempts = self.attempts.max(visit.attempts);
        self.limits = visit.limits.iter().map(Limit::as_str).collect();
        self.at = Some(visit.at.to_rfc3339());
        self.visits = visits_of(store, visit)?;
        self.target = target_of(store, visit)?;
        self.record = place_of(crawl, visit)?;
        self.record_is_missing = crawl.keeps_archive && visit.status > 0 && self.record.is_none();
        Ok(())
    }

    /// What would become of a URL that was not found.
    fn what_would_be(&self, crawl: &Crawl, similar: &[CanonicalUrl]) -> Vec<String> {
        let mut why = vec!["no page, redirect or sitemap that was read leads to it".to_owned()];
        why.extend(similar.iter().map(|url| format!("known is {url}")));
        if let Some(max) = crawl.settings.depth_max {
            why.push(format!("links of pages at depth {max} are not followed (--depth {max})"));
        }
        let refused: Vec<&str> =
            self.rules.iter().filter(|rule| rule.allows == Some(false)).map(|rule| rule.rule).collect();
        why.push(match refused.as_slice() {
            [] => "if it were found, it would be fetched".to_owned(),
            refused => format!("if it were found, it would not be fetched, because of: {}", refused.join(", ")),
        });
        why
    }
}

/// All visits of a URL, where there are several.
fn visits_of(store: &dyn CrawlView, last: &Visit) -> anyhow::Result<Vec<Past>> {
    if last.past.visits == 0 {
        return Ok(Vec::new());
    }
    let mut visits = store.earlier(last.key)?;
    visits.push(last.clone());
    let past = visits.iter().enumerate().map(|(n, visit)| {
        let before = n.checked_sub(1).map(|n| &visits[n]);
        Past {
            at: visit.at.to_rfc3339(),
            round: visit.round,
            outcome: visit.outcome.as_str(),
            status: Some(visit.status).filter(|status| *status > 0),
            change: Change::between(before, visit).as_str(),
        }
    });
    Ok(past.collect())
}

fn target_of(store: &dyn CrawlView, visit: &Visit) -> anyhow::Result<Option<Target>> {
    let Some(url) = visit.target.clone() else { return Ok(None) };
    let entry = match CanonicalUrl::from_canonical(&url) {
        Some(url) => store.get(url.key())?,
        None => None,
    };
    let outcome = entry.map(|entry| entry.visit.map_or(crate::rows::FRONTIER, |visit| visit.outcome.as_str()));
    Ok(Some(Target { url, outcome }))
}

fn place_of(crawl: &Crawl, visit: &Visit) -> anyhow::Result<Option<RecordPlace>> {
    let Some(location) = visit.location else { return Ok(None) };
    let segments = crawl.store().segments()?;
    let segment = segments.into_iter().find(|segment| segment.serial == location.segment);
    Ok(segment.map(|segment| RecordPlace {
        path: crawl.opened.dir.archive().join(segment.name),
        offset: location.offset,
        length: location.length,
    }))
}

fn what_it_waits_for(crawl: &Crawl, entry: &Entry, standing: &SiteNow<'_>) -> anyhow::Result<Vec<String>> {
    let key = entry.candidate.url.key();
    let before = place_in_queue(crawl.store(), key)?;
    let mut why = vec![match before {
        Some(0) => "it is the next of its site".to_owned(),
        Some(1) => "one URL of its site comes before it".to_owned(),
        Some(before) => format!("{before} URLs of its site come before it"),
        None => format!("more than {QUEUE_LOOKED_AT_MAX} URLs of its site come before it"),
    }];
    if entry.candidate.purpose == Purpose::Page && entry.attempts > 0 {
        let max = crawl.settings.site_rules.politeness.attempts_max;
        let times = if entry.attempts < max { format!(" of {max}") } else { String::new() };
        why.push(format!("it was requested {} times{times}, and will be tried again", entry.attempts));
    }
    let low = standing.low_group(&entry.candidate.url);
    why.extend(low.map(|(group, _)| {
        format!("{group} seems to bring only more of itself: most of its URLs wait behind all others of the site")
    }));
    why.extend(standing.reasons(before.unwrap_or(QUEUE_LOOKED_AT_MAX as u64) + 1));
    why.extend(standing.spent_budget().is_none().then(|| crawl.resume_advice()).flatten());
    Ok(why)
}

/// How many URLs of its site come before a URL.
fn place_in_queue(store: &dyn CrawlView, key: UrlKey) -> anyhow::Result<Option<u64>> {
    let site: SiteKey = key.site;
    let mut before = 0;
    let mut after = None;
    while before < QUEUE_LOOKED_AT_MAX {
        let queue = store.pending(site, after, QUEUED_AT_ONCE)?;
        let Some(last) = queue.last() else { break };
        after = Some(last.candidate.position());
        match queue.iter().position(|queued| queued.candidate.url.key() == key) {
            Some(at) => return Ok(Some((before + at) as u64)),
            None => before += queue.len(),
        }
    }
    Ok(None)
}

/// True where a target is one of a redirect, and not the canonical URL that a page names.
pub(super) fn is_redirect(row: &Row) -> bool {
    row.outcome == Outcome::Redirect.as_str()
}
