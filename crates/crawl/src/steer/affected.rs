//! What a change would affect. URLs are counted in pieces: of a large state, what is counted so far is shown meanwhile.

use std::collections::BTreeMap;
use std::fmt;

use frontier::Filter;
use printable::counted;
use serde::Serialize;
use settings::options::Options;
use settings::plan::Plan;
use store::{CrawlView, Entry, StoreError};
use weburl::UrlKey;

use super::{Change, Removed, Retried, seeds_of};

/// URLs read from the state at once.
const ENTRIES_AT_ONCE: usize = 2_048;
/// Sites that are counted one by one; URLs of others only count for all.
const SITES_MAX: usize = 1_000;

/// What a change affects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Affected {
    /// The affected URLs in the queue.
    pub queued: u64,
    /// Matching URLs that were fetched already, and stay.
    pub fetched: u64,
    /// URLs that would be visited again.
    pub again: u64,
}

impl fmt::Display for Affected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fetched = match self.fetched {
            0 => String::new(),
            fetched => format!(
                "; {} that {} fetched already would stay",
                counted(fetched, "URL"),
                if fetched == 1 { "was" } else { "were" }
            ),
        };
        match self.again {
            0 => write!(f, "it would concern {} in the queue{fetched}", counted(self.queued, "URL")),
            again => write!(f, "it would visit {} again", counted(again, "URL")),
        }
    }
}

impl Affected {
    /// What a change would affect. It reads the whole state.
    ///
    /// # Errors
    /// The change cannot be used, or the state cannot be read.
    pub fn by(change: &Change, options: &Options, view: &dyn CrawlView) -> anyhow::Result<Self> {
        let mut counting = Counting::of(change, options, view)?;
        while !counting.is_complete() {
            counting.look_on(view)?;
        }
        Ok(counting.affected())
    }

    /// All of them.
    #[must_use]
    pub fn urls(&self) -> u64 {
        self.queued + self.fetched + self.again
    }
}

/// The URLs of a state that a change would affect, as far as they were looked at.
pub struct Counting {
    change: Change,
    before: Filter,
    after: Option<Filter>,
    retried: Option<Retried>,
    removed: Option<Removed>,
    affected: Affected,
    by_site: BTreeMap<String, Affected>,
    looked_at: u64,
    last: Option<UrlKey>,
    is_complete: bool,
}

impl Counting {
    /// Of no URL so far.
    ///
    /// # Errors
    /// The change cannot be used, or the state cannot be read.
    pub fn of(change: &Change, options: &Options, view: &dyn CrawlView) -> anyhow::Result<Self> {
        let before = Plan::new(options)?;
        if let Change::Seeds(texts) = change {
            seeds_of(options, texts)?;
        }
        let after = change.plan(&before.options)?.map(|plan| plan.settings.filter);
        let before = before.settings.filter;
        let seeds = view.seeds()?;
        let with_seeds = |mut filter: Filter| {
            for seed in &seeds {
                filter.scope.add_seed(seed);
            }
            filter
        };
        Ok(Counting {
            change: change.clone(),
            before: with_seeds(before),
            after: after.map(with_seeds),
            retried: if let Change::Retry(words) = change { Some(Retried::read(words)?) } else { None },
            removed: if let Change::Remove(words) = change { Some(Removed::read(words)?) } else { None },
            affected: Affected::default(),
            by_site: BTreeMap::new(),
            looked_at: 0,
            last: None,
            // New seeds affect no URL that is known.
            is_complete: matches!(change, Change::Seeds(_)),
        })
    }

    /// Looks at some more URLs, in key order. The view must be the one that it began with.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn look_on(&mut self, view: &dyn CrawlView) -> Result<(), StoreError> {
        let entries = view.scan(self.last, ENTRIES_AT_ONCE)?;
        let Some(last) = entries.last() else {
            self.is_complete = true;
            return Ok(());
        };
        self.last = Some(last.candidate.url.key());
        self.looked_at += entries.len() as u64;
        for entry in &entries {
            if self.concerns(entry) {
                self.count(entry);
            }
        }
        Ok(())
    }

    fn concerns(&self, entry: &Entry) -> bool {
        let url = &entry.candidate.url;
        let Counting { before, after, retried, removed, .. } = self;
        match (&self.change, after) {
            (Change::Hold(sites) | Change::Release(sites), _) => sites.iter().any(|site| site.names(&url.site())),
            (Change::DelayFor(delays), _) => delays.iter().any(|delay| delay.site.names(&url.site())),
            (Change::Exclude(_) | Change::Include(_) | Change::Set(_) | Change::Unset(_), Some(after))
                if after.include != before.include || after.exclude != before.exclude =>
            {
                before.judge(url).is_ok() != after.judge(url).is_ok()
            }
            (Change::Retry(_), _) => retried.as_ref().is_some_and(|retried| retried.names(entry)),
            (Change::Remove(_), _) => {
                entry.visit.is_none() && removed.as_ref().is_some_and(|all| all.pattern_of(url.as_str()).is_some())
            }
            _ => entry.visit.is_none(),
        }
    }

    fn count(&mut self, entry: &Entry) {
        let counter: fn(&mut Affected) -> &mut u64 = match &entry.visit {
            None => |affected| &mut affected.queued,
            Some(_) if self.retried.is_some() => |affected| &mut affected.again,
            Some(visit) if !visit.outcome.may_be_reopened() => |affected| &mut affected.fetched,
            Some(_) => return,
        };
        *counter(&mut self.affected) += 1;
        let site = entry.candidate.url.site();
        if let Some(of_site) = self.by_site.get_mut(site.as_str()) {
            *counter(of_site) += 1;
        } else if self.by_site.len() < SITES_MAX {
            *counter(self.by_site.entry(site.to_string()).or_default()) += 1;
        }
    }

    /// What the change affects among the URLs that were looked at.
    #[must_use]
    pub fn affected(&self) -> Affected {
        self.affected
    }

    /// The same of the `max` sites with the most such URLs, the most first.
    #[must_use]
    pub fn by_site(&self, max: usize) -> Vec<(String, Affected)> {
        let mut sites: Vec<_> = self.by_site.iter().collect();
        sites.sort_by_key(|(_, affected)| std::cmp::Reverse(affected.urls()));
        sites.into_iter().take(max).map(|(site, affected)| (site.clone(), *affected)).collect()
    }

    /// URLs that were looked at.
    #[must_use]
    pub fn looked_at(&self) -> u64 {
        self.looked_at
    }

    /// All URLs were looked at.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
}

#[cfg(test)]
mod tests {
    use model::{Candidate, Outcome, Timestamp, Visit};
    use store::{Batch, MemoryStore, Store};
    use weburl::{CanonicalRules, CanonicalUrl};

    use super::*;

    #[test]
    fn urls_are_counted_in_pieces_and_by_site() {
        let url = |text: &str| CanonicalUrl::parse(text, &CanonicalRules::default()).expect("a URL");
        let store = MemoryStore::new();
        let urls: Vec<_> =
            (0..3_000).map(|n| url(&format!("http://{}.test/p/{n}", if n < 2_000 { "a" } else { "b" }))).collect();
        let found = urls.iter().cloned().map(Candidate::seed).collect();
        let visits =
            urls[..10].iter().map(|url| Visit::without_fetch(url.key(), Outcome::Html, String::new(), Timestamp(1)));
        let seeds = vec![urls[0].clone(), urls[2_000].clone()];
        store.commit(&Batch { found, seeds, ..Batch::default() }).expect("a commit");
        store.commit(&Batch { visits: visits.collect(), ..Batch::default() }).expect("a commit");
        let change = Change::Exclude(vec!["*/p/*".to_owned()]);
        let mut counting = Counting::of(&change, &Options::default(), &store).expect("a change");
        counting.look_on(&store).expect("a state");
        assert_eq!((counting.looked_at(), counting.is_complete()), (ENTRIES_AT_ONCE as u64, false));
        while !counting.is_complete() {
            counting.look_on(&store).expect("a state");
        }
        let affected = Affected { queued: 2_990, fetched: 10, again: 0 };
        assert_eq!((counting.affected(), counting.looked_at()), (affected, 3_000));
        let of_a = Affected { queued: 1_990, fetched: 10, again: 0 };
        assert_eq!(counting.by_site(1), [("http://a.test".to_owned(), of_a)]);
        assert_eq!(counting.by_site(9).len(), 2);
        let seeds = Counting::of(&Change::Seeds(vec!["http://c.test/".to_owned()]), &Options::default(), &store);
        assert!(seeds.expect("a change").is_complete(), "no known URL is affected");
    }
}
