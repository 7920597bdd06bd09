//! The story of a URL.

use std::path::PathBuf;

use dataset::Layout;
use dataset::rows::{FRONTIER, Row, Rows};
use model::{Change, Limit, Visit, can_be_compared};
use replay::Replay;
use serde::Serialize;
use store::{CrawlView, Entry};
use weburl::{CanonicalUrl, Rejected, without_user_info};

use super::crawl::Crawl;
use super::found::{Step, way_to};
use super::linked::LinkedAs;
use super::queued::waiting_for;
use super::rules::{self, Rule};
use super::waiting::{SiteNow, Why};

/// Everything there is to say of a URL.
#[derive(Debug, Serialize)]
pub struct UrlStory {
    /// As it was asked for.
    pub given: String,
    /// The canonical form; `null` if it is no URL for a crawler.
    pub url: Option<String>,
    /// Why there is none.
    pub not_crawlable: Option<String>,
    /// The crawl found it.
    pub known: bool,
    /// What is known of it.
    pub row: Option<Row>,
    /// From a seed to it.
    pub found: Vec<Step>,
    /// What other pages call it.
    pub linked_as: LinkedAs,
    /// The limits and trap rules that kept something of it out of the crawl.
    pub limits: Vec<&'static str>,
    /// Requests made for it.
    pub attempts: u8,
    /// All of its visits, the oldest first, where there are several.
    pub visits: Vec<Past>,
    /// When it was fetched, or judged without a fetch.
    pub at: Option<String>,
    /// Where a redirect leads, or the URL that the page names as canonical.
    pub target: Option<Target>,
    /// Where the response lies.
    pub record: Option<RecordPlace>,
    /// It was fetched, but the archive does not have its response.
    pub record_is_missing: bool,
    /// The response repeats one that the archive does not have: its content is lost.
    pub content_is_missing: bool,
    /// What the rules say now.
    pub rules: Vec<Rule>,
    /// What it waits for, or what would become of it.
    pub why: Vec<Why>,
    /// What was changed from outside, with its date.
    pub changes: Vec<String>,
    /// How many changes are left out, earlier ones.
    pub changes_earlier: u64,
}

/// A visit of the URL.
#[derive(Debug, Serialize)]
pub struct Past {
    /// When, as a date.
    pub at: String,
    /// The round of the crawl.
    pub round: u32,
    /// The outcome.
    pub outcome: &'static str,
    /// The status of the answer.
    pub status: Option<u16>,
    /// How it differs from the visit before; `None` where no visit told what was there, and this one is no page.
    pub change: Option<&'static str>,
}

/// A URL that a page leads to in the name of itself.
#[derive(Debug, Serialize)]
pub struct Target {
    /// The URL.
    pub url: String,
    /// What became of it; `null` if the crawl does not know it.
    pub outcome: Option<&'static str>,
}

/// Where a record lies.
#[derive(Debug, Serialize)]
pub struct RecordPlace {
    /// The WARC file.
    pub path: PathBuf,
    /// Where the record begins, in bytes.
    pub offset: u64,
    /// Its length, compressed, in bytes.
    pub length: u64,
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
            content_is_missing: false,
            rules: Vec::new(),
            why: Vec::new(),
            changes: Vec::new(),
            changes_earlier: 0,
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
    pub(super) fn of(crawl: &Crawl<'_>, given: &str, url: &CanonicalUrl) -> anyhow::Result<Self> {
        let store = crawl.store();
        let entry = store.get(url.key())?;
        let site = SiteNow::new(&crawl.asked, &url.site(), store.site(url.key().site)?)?;
        let is_seed = store.seeds()?.contains(url);
        let mut story = UrlStory::new(given);
        story.url = Some(url.to_string());
        let visits = entry.as_ref().map_or(Ok(Vec::new()), |entry| visits_of(crawl.store(), entry))?;
        let told = crawl.asked.changes_of(&url.site(), Some((url, &visits)));
        (story.changes, story.changes_earlier) = (told.in_words(), told.earlier);
        if visits.len() > 1 {
            story.visits = Past::of(&visits);
        }
        story.linked_as = LinkedAs::of(&Layout::at(crawl.dir.dataset()), url.key())?;
        story.rules = rules::judge(url, is_seed, entry.as_ref().map(|entry| &entry.candidate), &site);
        story.rules.extend(crawl.patterns_unread.as_deref().map(rules::unread));
        match &entry {
            None => story.why = story.what_would_be(crawl, &crawl.similar(url)?),
            Some(entry) => {
                story.learn(crawl, entry)?;
                story.why = waiting_for(&crawl.asked, entry, &site)?;
            }
        }
        Ok(story)
    }

    fn learn(&mut self, crawl: &Crawl<'_>, entry: &Entry) -> anyhow::Result<()> {
        let store = crawl.store();
        self.known = true;
        self.row = Some(Rows::new(store, true)?.row(entry)?);
        self.found = way_to(store, entry)?;
        self.attempts = entry.attempts;
        let Some(visit) = &entry.visit else { return Ok(()) };
        self.attempts = self.attempts.max(visit.attempts);
        self.limits = visit.limits.iter().map(Limit::as_str).collect();
        self.at = Some(visit.at.to_rfc3339());
        self.target = target_of(store, visit)?;
        self.record = place_of(crawl, visit)?;
        self.record_is_missing = crawl.keeps_archive && visit.status > 0 && self.record.is_none();
        let archive = crawl.dir.archive();
        let mut replay = Replay::new(store, &archive, crawl.settings().limits.body_bytes_max);
        // A record that is damaged is for the check to name.
        self.content_is_missing = replay.is_payload_lost(visit).unwrap_or(false);
        Ok(())
    }

    /// What would become of a URL that was not found.
    fn what_would_be(&self, crawl: &Crawl<'_>, similar: &[CanonicalUrl]) -> Vec<Why> {
        let mut why = vec![Why::Unfound];
        why.extend(similar.iter().map(|url| Why::Similar { url: url.to_string() }));
        why.extend(crawl.settings().depth_max.map(|max| Why::DepthLimit { max }));
        let refusing = self.rules.iter().filter(|rule| rule.allows == Some(false));
        why.push(Why::IfFound { refused_by: refusing.map(|rule| rule.rule).collect() });
        why
    }
}

/// All visits of a URL, the oldest first.
fn visits_of(store: &dyn CrawlView, entry: &Entry) -> anyhow::Result<Vec<Visit>> {
    let Some(last) = &entry.visit else { return Ok(Vec::new()) };
    let mut visits = if last.past.visits > 0 { store.earlier(last.key)? } else { Vec::new() };
    visits.push(last.clone());
    Ok(visits)
}

impl Past {
    /// All visits of a URL, the oldest first.
    #[must_use]
    pub fn of(visits: &[Visit]) -> Vec<Past> {
        let past = visits.iter().enumerate().map(|(n, visit)| {
            let before = n.checked_sub(1).map(|n| &visits[n]);
            let is_known = visits[..n].iter().any(can_be_compared) || visit.outcome.is_fetched();
            Past {
                at: visit.at.to_rfc3339(),
                round: visit.round,
                outcome: visit.outcome.as_str(),
                status: Some(visit.status).filter(|status| *status > 0),
                change: is_known.then(|| Change::between(before, visit).as_str()),
            }
        });
        past.collect()
    }
}

fn target_of(store: &dyn CrawlView, visit: &Visit) -> anyhow::Result<Option<Target>> {
    let Some(url) = visit.target.clone() else { return Ok(None) };
    let entry = match CanonicalUrl::from_canonical(&url) {
        Some(url) => store.get(url.key())?,
        None => None,
    };
    let outcome = entry.map(|entry| entry.visit.map_or(FRONTIER, |visit| visit.outcome.as_str()));
    Ok(Some(Target { url, outcome }))
}

fn place_of(crawl: &Crawl<'_>, visit: &Visit) -> anyhow::Result<Option<RecordPlace>> {
    let Some(location) = visit.location else { return Ok(None) };
    let segments = crawl.store().segments()?;
    let segment = segments.into_iter().find(|segment| segment.serial == location.segment);
    Ok(segment.map(|segment| RecordPlace {
        path: crawl.dir.archive().join(segment.name),
        offset: location.offset,
        length: location.length,
    }))
}
