//! What a URL waits for: its place in the queue of its site, and what holds the site up.

use model::Purpose;
use store::Entry;
use weburl::{SiteKey, UrlKey};

use super::asked::Asked;
use super::waiting::{SiteNow, Why};

/// Queue entries read at once.
const QUEUED_AT_ONCE: usize = 1_000;

impl Asked<'_> {
    /// What a URL waits for that the crawl knows; nothing if it does not wait.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn waiting_for(&self, entry: &Entry) -> anyhow::Result<Vec<Why>> {
        let url = &entry.candidate.url;
        waiting_for(self, entry, &SiteNow::new(self, &url.site(), self.view.site(url.key().site)?)?)
    }
}

/// The same, with its site.
pub(super) fn waiting_for(asked: &Asked<'_>, entry: &Entry, site: &SiteNow<'_>) -> anyhow::Result<Vec<Why>> {
    if entry.visit.is_none() {
        return in_queue(asked, entry, site);
    }
    if !entry.again {
        return Ok(Vec::new());
    }
    let seeds = asked.seeds()?;
    let excluded = asked.settings.excluded_since(&entry.candidate, |key| seeds.iter().any(|seed| seed.key() == key));
    let mut why = vec![excluded.map_or(Why::Again, |by| Why::Kept { excluded_by: by.to_string() })];
    why.extend(in_queue(asked, entry, site)?);
    Ok(why)
}

fn in_queue(asked: &Asked<'_>, entry: &Entry, site: &SiteNow<'_>) -> anyhow::Result<Vec<Why>> {
    let url = &entry.candidate.url;
    let queued_max = asked.looks.queued_max as u64;
    let before = place_in_queue(asked, url.key())?;
    // The scheduler may have left others behind that failed.
    let is_next = site.next_url().map_or(before == Some(0), |next| next == url);
    let mut why = vec![match before {
        _ if is_next => Why::Next,
        Some(before) => Why::Queued { before, at_least: false },
        None => Why::Queued { before: queued_max, at_least: true },
    }];
    if entry.candidate.purpose == Purpose::Page && entry.attempts > 0 {
        let max = asked.settings.site_rules.politeness.attempts_max;
        why.push(Why::Tried { attempts: entry.attempts, max: Some(max).filter(|max| entry.attempts < *max) });
    }
    why.extend(site.low_group(url));
    why.extend(site.end_of(url));
    why.extend(site.why(before.unwrap_or(queued_max) + 1, before.is_none()));
    Ok(why)
}

/// How many URLs of its site come before a URL.
fn place_in_queue(asked: &Asked<'_>, key: UrlKey) -> anyhow::Result<Option<u64>> {
    let site: SiteKey = key.site;
    let mut before = 0;
    let mut after = None;
    while before < asked.looks.queued_max {
        let queue = asked.view.pending(site, after, QUEUED_AT_ONCE)?;
        let Some(last) = queue.last() else { break };
        after = Some(last.candidate.position());
        match queue.iter().position(|queued| queued.candidate.url.key() == key) {
            Some(at) => return Ok(Some((before + at) as u64)),
            None => before += queue.len(),
        }
    }
    Ok(None)
}
