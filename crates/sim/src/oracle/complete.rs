//! Is everything found that should be, as near as it is, with the outcome it should have, and nothing else?

use std::collections::{BTreeMap, BTreeSet};

use model::{Outcome, Purpose};
use store::{Entry, Store, StoreError};
use weburl::UrlKey;

use super::closure::{Expected, closure};
use super::{Check, Findings, content_of};
use crate::Scenario;
use crate::server::body_of;
use crate::time::TrueTime;
use crate::web::{AlwaysFails, Reply, site_text};

/// A page of a trap that was fetched is counted from this count on across restarts; below, counting begins again. The first page after each is
/// not counted, since nothing is remembered that it could repeat.
const COUNTS_LOST_MAX: u32 = 8 + 1;

/// URLs of a site that an outage may cost, where they are all that is left of it.
const LOST_OF_A_SITE_MAX: usize = 2;

/// The end of a crawl.
pub(super) struct AtEnd<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) store: &'a dyn Store,
    /// URLs that failed as often as they may, by outages in which their sites could be reached.
    pub(super) failed: &'a BTreeSet<UrlKey>,
    pub(super) interruptions: u32,
    pub(super) now: TrueTime,
}

impl AtEnd<'_> {
    pub(super) fn judge(&self, findings: &mut Findings) -> Result<(), StoreError> {
        let entries = self.store.scan(None, usize::MAX)?;
        let expected = closure(self.scenario, self.lost(&entries));
        let found: BTreeMap<&str, &Entry> = entries.iter().map(|entry| (entry.candidate.url.as_str(), entry)).collect();
        for (url, entry) in &found {
            // Where workers share a crawl, one leaves another's robots.txt to it by way of the queue.
            let is_left_to_owner = entry.candidate.purpose == Purpose::Robots && self.scenario.troubles.hand_overs > 0;
            match expected.get(*url) {
                None if is_left_to_owner => {}
                // Where what is near failed first, what is far may have come before it, and led on with fewer redirects.
                None if self.has_faults() && entry.candidate.redirects > 0 => {}
                None => findings.add(Check::Complete, self.now, format!("{url} should not be known")),
                Some(expected) => self.judge_entry(url, entry, expected, findings),
            }
        }
        if self.has_budget() {
            self.judge_budget(&entries, findings);
        } else {
            for url in expected.keys().filter(|url| !found.contains_key(url.as_str())) {
                // Where the calendar ends for the crawler is judged by its length.
                if !expected[url].is_calendar {
                    findings.add(Check::Complete, self.now, format!("{url} was not found"));
                }
            }
            self.judge_calendar(&expected, &found, findings);
        }
        self.judge_duplicates(&entries, findings)
    }

    /// The URLs that count as broken, since they failed as often as they may. That their sites were out of order each time cannot be told.
    fn lost(&self, entries: &[Entry]) -> BTreeMap<String, Outcome> {
        let may_fail = |entry: &&Entry| self.failed.contains(&entry.candidate.url.key());
        let lost = entries.iter().filter(may_fail).filter_map(|entry| {
            let outcome = entry.visit.as_ref()?.outcome;
            let is_failure = matches!(outcome, Outcome::HttpError | Outcome::Timeout | Outcome::ConnectionError);
            is_failure.then(|| (entry.candidate.url.as_str().to_owned(), outcome))
        });
        if self.scenario.outages.is_empty() {
            return BTreeMap::new();
        }
        let lost: BTreeMap<String, Outcome> = lost.collect();
        // Of a site that fails all it has left, no more than a few count as broken.
        let mut by_site: BTreeMap<&str, usize> = BTreeMap::new();
        lost.keys()
            .filter(|url| !self.never_answers(url))
            .for_each(|url| *by_site.entry(site_text(url)).or_default() += 1);
        let few = |url: &&String| by_site.get(site_text(url)).is_none_or(|count| *count <= LOST_OF_A_SITE_MAX);
        lost.iter().filter(|(url, _)| few(url)).map(|(url, outcome)| (url.clone(), *outcome)).collect()
    }

    fn has_faults(&self) -> bool {
        !self.scenario.outages.is_empty() || self.scenario.web.pages.values().any(|page| !page.faults.is_empty())
    }

    fn has_budget(&self) -> bool {
        self.scenario.wishes.pages_max.is_some() || self.scenario.wishes.pages_per_site_max.is_some()
    }

    fn judge_entry(&self, url: &str, entry: &Entry, expected: &Expected, findings: &mut Findings) {
        let candidate = &entry.candidate;
        let is_page = |purpose| matches!(purpose, Purpose::Page | Purpose::Robots);
        if candidate.purpose != expected.purpose && !(is_page(candidate.purpose) && is_page(expected.purpose)) {
            findings.add(Check::Outcome, self.now, format!("{url} is known as a {:?}", candidate.purpose));
        }
        let distance = (candidate.depth, candidate.redirects);
        let is_exact = self.scenario.wishes.depth_max.is_some() && !self.has_budget() && !expected.is_settled;
        if is_exact && distance != expected.distance && expected.purpose == Purpose::Page {
            let detail = format!("{url} has (links, redirects) {distance:?}, not {:?}", expected.distance);
            findings.add(Check::Depth, self.now, detail);
        }
        let Some(visit) = &entry.visit else {
            if !self.has_budget() {
                findings.add(Check::Complete, self.now, format!("{url} has no outcome"));
            }
            return;
        };
        let is_right = match visit.outcome {
            Outcome::Duplicate => expected.outcome.has_content(),
            Outcome::Trap if expected.is_calendar => true,
            // Where no other URL of its site is answered meanwhile, it is the site that fails.
            Outcome::GivenUp if self.never_answers(url) => true,
            outcome => outcome == expected.outcome,
        };
        if !is_right {
            let detail = format!("{url} ended as {} ({}), not {}", visit.outcome, visit.reason, expected.outcome);
            findings.add(Check::Outcome, self.now, detail);
        }
    }

    fn never_answers(&self, url: &str) -> bool {
        let reply = self.scenario.web.pages.get(url).map(|page| &page.reply);
        matches!(reply, Some(Reply::AlwaysBusy(_) | Reply::AlwaysFails(AlwaysFails::Lost | AlwaysFails::Broken)))
    }

    /// Of a calendar the first page is fetched and so many that repeat it as asked for, and the next one says why no more.
    fn judge_calendar(
        &self,
        expected: &BTreeMap<String, Expected>,
        found: &BTreeMap<&str, &Entry>,
        findings: &mut Findings,
    ) {
        let reachable = expected.values().filter(|expected| expected.is_calendar);
        let reachable = u32::try_from(reachable.filter(|expected| expected.outcome == Outcome::Html).count());
        let max = (1 + self.scenario.wishes.calendar_pages_max).min(reachable.unwrap_or(u32::MAX));
        let calendar = found.iter().filter(|(url, _)| expected.get(**url).is_some_and(|expected| expected.is_calendar));
        let fetched = calendar.filter(|(_, entry)| entry.visit.as_ref().is_some_and(|visit| visit.status == 200));
        let fetched = u32::try_from(fetched.count()).unwrap_or(u32::MAX);
        let (least, most) =
            (max.saturating_sub(self.interruptions), max.saturating_add(self.interruptions * COUNTS_LOST_MAX));
        if fetched < least || fetched > most {
            findings.add(Check::Complete, self.now, format!("{fetched} pages of a calendar, not {least} to {most}"));
        }
    }

    fn judge_budget(&self, entries: &[Entry], findings: &mut Findings) {
        let mut by_site: BTreeMap<&str, u64> = BTreeMap::new();
        for entry in entries.iter().filter(|entry| entry.candidate.purpose == Purpose::Page) {
            if entry.visit.as_ref().is_some_and(|visit| visit.outcome.is_fetched()) {
                *by_site.entry(site_text(entry.candidate.url.as_str())).or_default() += 1;
            }
        }
        let total = by_site.values().sum::<u64>();
        let wishes = &self.scenario.wishes;
        if wishes.pages_max.is_some_and(|max| total > max) {
            findings.add(Check::Budget, self.now, format!("{total} pages, not {:?}", wishes.pages_max));
        }
        for (site, count) in by_site {
            if wishes.pages_per_site_max.is_some_and(|max| count > max) {
                findings.add(Check::Budget, self.now, format!("{count} pages of {site}"));
            }
        }
    }

    /// Of all URLs with one content, one holds it, and the others name it. What broke off is no content: it may have gone on in any way.
    fn judge_duplicates(&self, entries: &[Entry], findings: &mut Findings) -> Result<(), StoreError> {
        let mut holders: BTreeMap<(bool, String), UrlKey> = BTreeMap::new();
        // A page is no duplicate of a sitemap.
        let is_sitemap = |entry: &Entry| entry.candidate.purpose == Purpose::Sitemap;
        let reply_of = |entry: &Entry| match &self.scenario.web.pages.get(entry.candidate.url.as_str())?.reply {
            Reply::Html(html) if html.breaks_after.is_none() => Some(format!("{html:?}")),
            Reply::Document(content) => Some(format!("document {content}")),
            Reply::Image(content) => Some(format!("image {content}")),
            Reply::StyleSheet { .. } => Some(format!("style sheet {:?}", entry.candidate.url)),
            Reply::Sitemap(urls) => Some(format!("sitemap {urls:?}")),
            Reply::SitemapIndex(urls) => Some(format!("index {urls:?}")),
            _ => None,
        };
        let payload_of = |entry: &Entry| Some((is_sitemap(entry), reply_of(entry)?));
        let fetched = |entry: &&Entry| entry.visit.as_ref().is_some_and(|visit| visit.status == 200);
        let fetched: Vec<&Entry> = entries.iter().filter(fetched).collect();
        for entry in &fetched {
            let (Some(visit), Some(payload)) = (&entry.visit, payload_of(entry)) else { continue };
            if visit.outcome != Outcome::Duplicate && holders.insert(payload, visit.key).is_some() {
                findings.add(Check::Duplicates, self.now, format!("{} is a second holder", entry.candidate.url));
            }
        }
        for entry in &fetched {
            let (Some(visit), Some(payload)) = (&entry.visit, payload_of(entry)) else { continue };
            if visit.outcome == Outcome::Duplicate && visit.duplicate_of != holders.get(&payload).copied() {
                let detail = format!("{} names {:?} as holder", entry.candidate.url, visit.duplicate_of);
                findings.add(Check::Duplicates, self.now, detail);
            }
            let body = self.scenario.web.pages.get(entry.candidate.url.as_str()).map(|page| body_of(&page.reply));
            if let Some(body) = body.filter(|_| visit.payload().is_known())
                && self.store.holder(content_of(entry, &body), visit.digest)? != holders.get(&payload).copied()
            {
                let detail = format!("the store has another holder of {}'s content", entry.candidate.url);
                findings.add(Check::Duplicates, self.now, detail);
            }
        }
        Ok(())
    }
}
