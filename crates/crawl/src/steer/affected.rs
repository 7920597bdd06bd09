//! What a change would affect. URLs are counted in pieces: of a large state, what is counted so far is shown meanwhile.

use settings::options::Options;
use store::{CrawlView, Entry, Mark, Outline, StoreError};
use weburl::UrlKey;

use super::Change;
use super::criterion::Criterion;
use super::estimate::{Estimate, Sample};
use super::foreseen::{Seeds, Taker};
use super::tally::{Affected, Tally};

/// URLs read from the state at once.
const URLS_AT_ONCE: usize = 2_048;

impl Affected {
    /// What a change would affect. It reads the whole state.
    ///
    /// # Errors
    /// The change cannot be used, or the state cannot be read.
    pub fn by(change: &Change, options: &Options, view: &dyn CrawlView, taker: Taker) -> anyhow::Result<Self> {
        let mut counting = Counting::of(change, options, view, taker)?;
        while !counting.is_complete() {
            counting.look_on(view)?;
        }
        Ok(counting.affected())
    }
}

/// The URLs of a state that a change would affect, as far as they were looked at.
pub struct Counting {
    criterion: Criterion,
    tally: Tally,
    looked_at: u64,
    next: Next,
}

/// Where the next URLs are.
enum Next {
    /// In the order that the state reads fastest.
    Outlines(Option<Mark>),
    /// In key order.
    Entries(Option<UrlKey>),
    /// Nowhere.
    End,
}

impl Counting {
    /// Of no known URL so far.
    ///
    /// # Errors
    /// The change cannot be used, or the state cannot be read.
    pub fn of(change: &Change, options: &Options, view: &dyn CrawlView, taker: Taker) -> anyhow::Result<Self> {
        let criterion = Criterion::of(change, options, view)?;
        let next = if matches!(criterion, Criterion::None) { Next::End } else { Next::Outlines(None) };
        let mut tally = Tally::default();
        if let Change::Seeds(texts) = change {
            tally.affected.added = Seeds::judged(texts, options, view, taker)?.added;
        }
        Ok(Counting { criterion, tally, looked_at: 0, next })
    }

    /// Estimates from a sample what all URLs would give, while `goes_on` and until the sample is large enough. It changes nothing in the
    /// count. `None` where no sample tells: a small crawl, a state without a way to sample, or sites too few or too different.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn estimate(&self, view: &dyn CrawlView, goes_on: &dyn Fn() -> bool) -> Result<Option<Estimate>, StoreError> {
        if self.is_complete() {
            return Ok(None);
        }
        Sample::of(&view.totals()?).map_or(Ok(None), |sample| sample.taken(&self.criterion, view, goes_on))
    }

    /// Looks at some more URLs. The view must be the one that it began with.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn look_on(&mut self, view: &dyn CrawlView) -> Result<(), StoreError> {
        let urls = match &self.next {
            Next::End => return Ok(()),
            Next::Outlines(from) => match view.outlines(None, from.as_ref(), URLS_AT_ONCE)? {
                None => {
                    self.next = Next::Entries(None);
                    return Ok(());
                }
                Some(outlines) => {
                    self.next = outlines.next.map_or(Next::End, |next| Next::Outlines(Some(next)));
                    outlines.urls
                }
            },
            Next::Entries(after) => {
                let entries = view.scan(*after, URLS_AT_ONCE)?;
                let last = entries.last().map(|last| last.candidate.url.key());
                self.next = last.map_or(Next::End, |last| Next::Entries(Some(last)));
                entries.into_iter().map(outline).collect()
            }
        };
        self.looked_at += urls.len() as u64;
        for outline in &urls {
            self.tally.count(outline, self.criterion.affected(outline));
        }
        Ok(())
    }

    /// What the change affects among the URLs that were looked at.
    #[must_use]
    pub fn affected(&self) -> Affected {
        self.tally.affected
    }

    /// The same of the `max` sites with the most such URLs, the most first.
    #[must_use]
    pub fn by_site(&self, max: usize) -> Vec<(String, Affected)> {
        self.tally.by_site(max)
    }

    /// URLs that were looked at.
    #[must_use]
    pub fn looked_at(&self) -> u64 {
        self.looked_at
    }

    /// All URLs were looked at.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self.next, Next::End)
    }
}

fn outline(entry: Entry) -> Outline {
    let url = entry.candidate.url;
    Outline {
        key: url.key(),
        url: url.to_string(),
        purpose: entry.candidate.purpose,
        outcome: entry.visit.map(|visit| visit.outcome),
        again: entry.again,
    }
}

#[cfg(test)]
mod tests {
    use model::{Candidate, Outcome, Round, Timestamp, Visit};
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
        let mut counting = Counting::of(&change, &Options::default(), &store, Taker::Run).expect("a change");
        counting.look_on(&store).expect("a state");
        assert_eq!((counting.looked_at(), counting.is_complete()), (URLS_AT_ONCE as u64, false));
        while !counting.is_complete() {
            counting.look_on(&store).expect("a state");
        }
        let affected = Affected { queued: 2_990, fetched: 10, ..Affected::default() };
        assert_eq!((counting.affected(), counting.looked_at()), (affected, 3_000));
        let of_a = Affected { queued: 1_990, fetched: 10, ..Affected::default() };
        assert_eq!(counting.by_site(1), [("http://a.test".to_owned(), of_a)]);
        assert_eq!(counting.by_site(9).len(), 2);
    }

    #[test]
    fn urls_that_wait_for_another_visit_are_in_the_queue() {
        let url =
            |n: usize| CanonicalUrl::parse(&format!("http://a.test/p/{n}"), &CanonicalRules::default()).expect("a URL");
        let urls: Vec<_> = (0..10).map(url).collect();
        let store = MemoryStore::new();
        let found = urls.iter().cloned().map(Candidate::seed).collect();
        store.commit(&Batch { found, seeds: urls[..1].to_vec(), ..Batch::default() }).expect("a commit");
        let visit = |url: &CanonicalUrl| Visit {
            attempts: 1,
            ..Visit::without_fetch(url.key(), Outcome::Html, String::new(), Timestamp(1))
        };
        store.commit(&Batch { visits: urls[..8].iter().map(visit).collect(), ..Batch::default() }).expect("a commit");
        // Five of eight are to be visited again; two wait for their first visit.
        let round = Some(Round { number: 2, began_at: Timestamp(2), is_choosing: false });
        let again = urls[..5].iter().map(CanonicalUrl::key).collect();
        store.commit(&Batch { round, again, ..Batch::default() }).expect("a commit");
        let pattern = || vec!["*/p/*".to_owned()];
        let sites = || vec!["a.test".parse().expect("a site")];
        for (change, queued, fetched) in [
            (Change::Remove(pattern()), 7, 0),
            (Change::Exclude(pattern()), 7, 3),
            (Change::Hold(sites()), 7, 3),
            (Change::Set("max-pages = 5\n".to_owned()), 7, 0),
            (Change::Pause, 7, 0),
        ] {
            let affected = Affected::by(&change, &Options::default(), &store, Taker::Run).expect("a change");
            assert_eq!(affected, Affected { queued, fetched, ..Affected::default() }, "{change}");
        }
        let excluded = Options { exclude: pattern(), ..Options::default() };
        let change = Change::Unset(vec!["exclude".to_owned()]);
        let affected = Affected::by(&change, &excluded, &store, Taker::Run).expect("a change");
        assert_eq!(affected, Affected { queued: 7, fetched: 3, ..Affected::default() });
        // That is what the change does.
        let (_, taken) =
            crate::steer::Removed::read(&pattern()).expect("patterns").commit(&store, Timestamp(3)).expect("a state");
        assert_eq!(taken, 7);
    }
}
