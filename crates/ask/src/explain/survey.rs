//! A look at all URLs of a site: how many there are of each outcome, and which kinds come near a trap rule's limit.

use std::collections::{BTreeMap, HashMap};

use frontier::TrapRules;
use frontier::yields::{Share, groups_of, is_key_of_group};
use model::{Purpose, SiteRecord};
use serde::Serialize;
use store::CrawlView;
use weburl::{SiteKey, UrlKey};

use dataset::rows::FRONTIER;

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
    /// URLs looked at, the first by their keys.
    pub(super) seen: usize,
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
    /// Looks at the URLs of a site, at most so many.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn of(
        store: &dyn CrawlView,
        record: &SiteRecord,
        traps: &TrapRules,
        urls_max: usize,
    ) -> anyhow::Result<Self> {
        let site = record.site.key();
        let mut survey = Survey::default();
        let mut shapes: HashMap<u64, u32> = record.shapes.iter().copied().collect();
        let has_low_groups = record.shapes.iter().any(|(key, _)| is_key_of_group(*key));
        let mut after = before_all_of(site);
        loop {
            // One more tells whether there are more.
            let entries = store.scan(after, ENTRIES_AT_ONCE.min(urls_max - survey.seen + 1))?;
            let Some(last) = entries.last() else { break };
            after = Some(last.candidate.url.key());
            let has_ended = last.candidate.url.key().site != site;
            for entry in entries.iter().filter(|entry| entry.candidate.url.key().site == site) {
                if survey.seen == urls_max {
                    survey.in_part = true;
                    break;
                }
                survey.seen += 1;
                let outcome = entry.visit.as_ref().map_or(FRONTIER, |visit| visit.outcome.as_str());
                if entry.candidate.purpose == Purpose::Page || entry.visit.is_none() {
                    *survey.outcomes.entry(outcome).or_default() += 1;
                }
                // Kinds of URLs are worked out only while there are counters of some.
                if shapes.is_empty() {
                    continue;
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

#[cfg(test)]
mod tests {
    use model::{Candidate, Outcome, Timestamp, Visit};
    use store::{Batch, MemoryStore, Store};
    use weburl::CanonicalUrl;

    use super::*;

    #[test]
    fn of_a_large_site_a_part_is_counted() {
        const URLS: usize = 12;
        let store = MemoryStore::new();
        let url = |host: &str, n| CanonicalUrl::from_canonical(&format!("http://{host}.test/{n}")).expect("a URL");
        let all = ["a", "b", "c"].iter().flat_map(|host| (0..URLS).map(move |n| url(host, n)));
        let found = all.map(Candidate::seed).collect();
        store.commit(&Batch { found, ..Batch::default() }).expect("a commit");
        let visit = Visit::without_fetch(url("b", 3).key(), Outcome::Html, String::new(), Timestamp(1));
        store.commit(&Batch { visits: vec![visit], ..Batch::default() }).expect("a commit");
        let record = SiteRecord::new(url("b", 0).site());
        for (urls_max, seen, in_part) in [(0, 0, true), (5, 5, true), (11, 11, true), (12, 12, false), (50, 12, false)]
        {
            let survey = Survey::of(&store, &record, &TrapRules::default(), urls_max).expect("a survey");
            assert_eq!((survey.seen, survey.in_part), (seen, in_part), "{urls_max}");
            assert_eq!(survey.outcomes.values().sum::<u64>(), seen as u64, "{urls_max}");
        }
    }
}
