//! What a URL waits for: its place in the queue of its site, and what holds the site up.

use frontier::Behind;
use model::{Purpose, Queued};
use store::{Entry, StoreError};
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
    let Place { before, at_least, is_behind } = Place::of(asked, url.key(), &site.behind())?;
    let is_next = site.next_url().map_or(before == 0 && !at_least, |next| next == url);
    let mut why = vec![if is_next { Why::Next } else { Why::Queued { before, at_least } }];
    if entry.candidate.purpose == Purpose::Page && entry.attempts > 0 {
        let politeness = &asked.settings.site_rules.politeness;
        let max = Some(politeness.attempts_max).filter(|max| entry.attempts < *max);
        let vanished_max = entry.again.then(|| politeness.vanished_attempts());
        why.push(Why::Tried { attempts: entry.attempts, max, vanished_max, is_behind });
    }
    why.extend(site.low_group(url));
    why.extend(site.end_of(url));
    why.extend(site.why(before + 1, at_least));
    Ok(why)
}

/// The head of a site's queue: so many URLs, those first that come first.
///
/// # Errors
/// The state cannot be read.
pub(super) fn head(asked: &Asked<'_>, site: SiteKey, behind: &Behind, urls: usize) -> anyhow::Result<Vec<String>> {
    let (mut head, mut later) = (Vec::new(), Vec::new());
    each_queued(asked, site, &mut |queued| {
        let into = if behind.has(queued) { &mut later } else { &mut head };
        if into.len() < urls {
            into.push(queued.candidate.url.to_string());
        }
        head.len() < urls
    })?;
    head.extend(later);
    head.truncate(urls);
    Ok(head)
}

/// The place of a URL in the queue of its site.
struct Place {
    /// URLs that come before it.
    before: u64,
    /// There may be more.
    at_least: bool,
    /// It comes behind the others.
    is_behind: bool,
}

impl Place {
    /// The store has the URLs in another order than the scheduler takes them in: those that failed have their turn behind the others.
    fn of(asked: &Asked<'_>, key: UrlKey, behind: &Behind) -> anyhow::Result<Self> {
        let (mut others, mut behind_before, mut is_found, mut is_behind) = (0, 0, false, false);
        let is_through = each_queued(asked, key.site, &mut |queued| {
            let comes_behind = behind.has(queued);
            if queued.candidate.url.key() == key {
                (is_found, is_behind) = (true, comes_behind);
            } else if !comes_behind {
                others += 1;
            } else if !is_found {
                behind_before += 1;
            }
            !is_found || is_behind
        })?;
        let before = others + if is_behind || !is_found { behind_before } else { 0 };
        Ok(Place { before, at_least: !is_found || is_behind && !is_through, is_behind })
    }
}

/// Goes through the queue of a site as long as `goes_on`, and not beyond what is looked at. True if it came to its end.
fn each_queued(asked: &Asked<'_>, site: SiteKey, goes_on: &mut dyn FnMut(&Queued) -> bool) -> Result<bool, StoreError> {
    let (mut seen, mut after) = (0, None);
    while seen < asked.looks.queued_max {
        let queue = asked.view.pending(site, after, QUEUED_AT_ONCE)?;
        let Some(last) = queue.last() else { return Ok(true) };
        (seen, after) = (seen + queue.len(), Some(last.candidate.position()));
        if !queue.iter().all(&mut *goes_on) {
            return Ok(false);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use engine::Spent;
    use model::Candidate;
    use settings::options::Options;
    use settings::plan::Plan;
    use store::{Batch, CrawlView, MemoryStore, Store};
    use weburl::CanonicalUrl;

    use super::*;

    #[test]
    fn urls_that_failed_come_behind_the_others() {
        let store = MemoryStore::new();
        let url = |n: u32| CanonicalUrl::from_canonical(&format!("http://a.test/{n}")).expect("a URL");
        let found = (0..4).map(|n| Candidate::seed(url(n))).collect();
        store.commit(&Batch { found, ..Batch::default() }).expect("a commit");
        let site = url(0).key().site;
        let queue = || -> Vec<CanonicalUrl> {
            store.pending(site, None, 9).expect("read").into_iter().map(|queued| queued.candidate.url).collect()
        };
        let in_store = queue();
        let attempts = [0, 2].map(|n: usize| (in_store[n].key(), Purpose::Page, 1)).into();
        store.commit(&Batch { attempts, ..Batch::default() }).expect("a commit");
        assert_eq!(queue(), in_store, "the store keeps their places");

        let settings = Plan::new(&Options::default()).expect("a plan").settings;
        let asked = Asked::of_workers(&store, settings, 1, Vec::new(), Vec::new(), Spent::default());
        for (n, expect) in [(0, Some(2)), (1, None), (2, Some(3)), (3, Some(1))] {
            let entry = store.get(in_store[n].key()).expect("read").expect("known");
            let why = asked.waiting_for(&entry).expect("reasons");
            let place = expect.map_or(Why::Next, |before| Why::Queued { before, at_least: false });
            assert_eq!(why[0], place, "{n}");
            let is_behind = why.iter().any(|why| matches!(why, Why::Tried { is_behind: true, .. }));
            assert_eq!(is_behind, n % 2 == 0, "{n}: {why:?}");
        }
        let head = head(&asked, site, &Behind::default(), 3).expect("read");
        assert_eq!(head, [1, 3, 0].map(|n: usize| in_store[n].to_string()));
    }
}
