//! A look at all URLs of a site: how many there are of each outcome, and which kinds come near a trap rule's limit.

use std::collections::{BTreeMap, HashMap};

use frontier::TrapRules;
use frontier::yields::{Share, groups_of, is_key_of_group};
use model::{Purpose, SiteRecord};
use serde::Serialize;
use store::CrawlView;
use weburl::{SiteKey, UrlKey};

use dataset::rows::FRONTIER;

/// URLs looked at, at most.
const URLS_MAX: u64 = 200_000;

/// Entries read from the store at once.
const ENTRIES_AT_ONCE: usize = 1_000;

/// From which part of its limit on a kind of URLs is named: one half.
const NEAR: u32 = 2;

/// What there is of a site.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// URLs by outcome. Sitemaps are among them until they are read.
    pub(super) outcomes: BTreeMap<&'static str, u64>,
    pub(super) near_limits: Vec<NearLimit>,
    /// There are more URLs.
    pub(super) in_part: bool,
}

/// A kind of URLs of which only so many are fetched.
#[derive(Debug, Serialize)]
pub struct NearLimit {
    /// A URL of the kind.
    pub example: String,
    /// Fetched.
    pub fetched: u32,
    /// To be fetched at most.
    pub max: u32,
    /// What becomes of the others.
    pub rule: String,
}

impl Survey {
    /// Looks at the URLs of a site.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn of(store: &dyn CrawlView, record: &SiteRecord, traps: &TrapRules) -> anyhow::Result<Self> {
        let site = record.site.key();
        let mut survey = Survey::default();
        let mut shapes: HashMap<u64, u32> = record.shapes.iter().copied().collect();
        let has_low_groups = record.shapes.iter().any(|(key, _)| is_key_of_group(*key));
        let mut seen = 0;
        let mut after = before_all_of(site);
        loop {
            let entries = store.scan(after, ENTRIES_AT_ONCE)?;
            let Some(last) = entries.last() else { break };
            after = Some(last.candidate.url.key());
            let has_ended = last.candidate.url.key().site != site;
            for entry in entries.iter().filter(|entry| entry.candidate.url.key().site == site) {
                seen += 1;
                let outcome = entry.visit.as_ref().map_or(FRONTIER, |visit| visit.outcome.as_str());
                if entry.candidate.purpose == Purpose::Page || entry.visit.is_none() {
                    *survey.outcomes.entry(outcome).or_default() += 1;
                }
                let url = &entry.candidate.url;
                for group in groups_of(url).filter(|_| has_low_groups && traps.low_yield_pages_max > 0) {
                    let fetched = shapes.remove(&group.key()).map(|count| Share::of(count).fetched);
                    let fetched = fetched.filter(|fetched| *fetched > 0);
                    survey.near_limits.extend(fetched.map(|fetched| NearLimit {
                        example: url.to_string(),
                        fetched,
                        max: traps.low_yield_pages_max,
                        rule: traps.reason_of_low_yield(&group),
                    }));
                }
                let Some((shape, rule)) = traps.shape(url) else { continue };
                if let (Some(fetched), Some(max)) = (shapes.remove(&shape), traps.fetched_max(rule))
                    && fetched >= max / NEAR
                {
                    let example = url.to_string();
                    survey.near_limits.push(NearLimit { example, fetched, max, rule: traps.reason(rule) });
                }
            }
            survey.in_part = !has_ended && seen >= URLS_MAX;
            if has_ended || survey.in_part {
                break;
            }
        }
        survey.near_limits.sort_by_key(|near| std::cmp::Reverse(near.fetched));
        Ok(survey)
    }

    /// True where a URL of the site is known.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn has_urls(store: &dyn CrawlView, site: SiteKey) -> anyhow::Result<bool> {
        let first = store.scan(before_all_of(site), 1)?;
        Ok(first.first().is_some_and(|entry| entry.candidate.url.key().site == site))
    }
}

/// The key before the first that a URL of the site can have.
fn before_all_of(site: SiteKey) -> Option<UrlKey> {
    site.0.checked_sub(1).map(|before| UrlKey { site: SiteKey(before), url: u64::MAX })
}
