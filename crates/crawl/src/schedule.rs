//! Which pages of a crawl to visit next.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::str::FromStr;
use std::time::Duration;

use engine::Settings;
use frontier::budget::{Budget, Sampled, SiteSample, TEST_ONE_IN};
use frontier::revisit::{Belief, INFORMATION_MIN, Prior, Seen};
use model::{Purpose, SiteRecord, Timestamp, Visit};
use store::{CrawlView, Entry, Store, StoreError};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::again::Beginning;
use crate::{Notice, Waits};

/// Entries read from the state at once.
const ENTRIES_AT_ONCE: usize = 2_048;
/// Pages of a site from which its rates are learned.
const SITE_SAMPLE_MAX: usize = 64;
/// Pages of all sites together. Sites whose pages come later in the state count as those of which nothing is known.
const SAMPLE_MAX: usize = 32_768;
/// Visits of a page that count, the last ones.
const VISITS_MAX: usize = 64;
/// The first wait for a missing page; it doubles with each visit that does not find it.
const GONE_WAIT: Duration = Duration::from_secs(60 * 60);
/// The longest.
const GONE_WAIT_MAX: Duration = Duration::from_secs(30 * 86_400);

/// The importance of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Importance {
    /// All alike.
    #[default]
    Equal,
    /// The nearer to a seed the more: one over one more than the depth.
    Depth,
}

impl Importance {
    /// All of them.
    pub const ALL: [Importance; 2] = [Importance::Equal, Importance::Depth];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Importance::Equal => "equal",
            Importance::Depth => "depth",
        }
    }
}

impl FromStr for Importance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words = Importance::ALL.map(Importance::as_str).join(", ");
        let known = Importance::ALL.into_iter().find(|importance| importance.as_str() == text);
        known.ok_or_else(|| format!("`{text}` is no importance; there are {words}"))
    }
}

/// Chooses the pages whose visits are worth most.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// How important each is.
    pub importance: Importance,
    /// The largest number of visits.
    pub visits: usize,
    /// The time for which they are the budget. No page is visited again sooner. Zero: as soon as may be.
    pub every: Duration,
    /// The time from one visit of a site to the next.
    pub delay: Duration,
    /// The date.
    pub now: Timestamp,
}

/// What is believed of the pages of each site, and how often they are to be visited.
struct Learned {
    of_sites: BTreeMap<SiteKey, (Prior, f64)>,
    of_others: Prior,
    budget: Budget,
}

/// Pages of a site.
#[derive(Default)]
struct Sample {
    pages: usize,
    seen: Vec<(Seen, f64)>,
}

/// A page and what speaks for it.
#[derive(Clone, Copy, Debug)]
struct Candidate(f64, UrlKey);

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

impl Schedule {
    /// Begins a round with the pages whose visits are worth most. It reads the state twice: once to learn how fast the pages of each site
    /// change, once to choose. Pages that cannot be requested now are not chosen: those of sites on hold or in trouble, and those that a
    /// rule has come to exclude. URLs that are left of the last round stay in the queue beside the new ones.
    ///
    /// # Errors
    /// The state cannot be read or written.
    pub fn begin(&self, store: &dyn Store, settings: &Settings) -> Result<Notice, StoreError> {
        let closed = self.closed_sites(store, settings)?;
        let mut filter = settings.filter.clone();
        for seed in store.seeds()? {
            filter.scope.add_seed(&seed);
        }
        let is_open = |url: &CanonicalUrl| !closed.contains(&url.key().site) && filter.judge(url).is_ok();
        let mut beginning = Beginning::new(store, settings)?;
        let (chosen, waits) = self.choose(store, &is_open)?;
        for urls in chosen.chunks(ENTRIES_AT_ONCE) {
            beginning.choose(urls.to_vec())?;
        }
        Ok(match beginning.end()? {
            Notice::RoundOfNothing => Notice::NothingDue(waits),
            notice => notice,
        })
    }

    /// Sites that get no request now.
    fn closed_sites(&self, store: &dyn Store, settings: &Settings) -> Result<BTreeSet<SiteKey>, StoreError> {
        let mut closed: BTreeSet<SiteKey> = settings.held_sites.iter().copied().collect();
        let mut after = None;
        loop {
            let sites = store.sites(after, ENTRIES_AT_ONCE)?;
            let Some(last) = sites.last() else { return Ok(closed) };
            after = Some(last.site.key());
            let is_closed = |site: &&SiteRecord| {
                site.aside.as_ref().is_some_and(|_| site.due_at > self.now) || site.given_up.is_some()
            };
            closed.extend(sites.iter().filter(is_closed).map(|site| site.site.key()));
        }
    }

    /// The URLs among those that `is_open` admits, in no order, and those that wait.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn choose(
        &self,
        view: &dyn CrawlView,
        is_open: &dyn Fn(&CanonicalUrl) -> bool,
    ) -> Result<(Vec<UrlKey>, Waits), StoreError> {
        let mut waits = Waits::default();
        if self.visits == 0 {
            return Ok((Vec::new(), waits));
        }
        let learned = self.learn(view)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number of tests")]
        let tests_max = (self.visits as f64 / TEST_ONE_IN) as usize;
        let (mut due, mut tests) = (BinaryHeap::new(), BinaryHeap::new());
        each_page(view, &mut |entry, visits| {
            let Some(last) = visits.last() else { return };
            // A date in the future says by how much the clock was set back. It counts as one in the past, so that the page does not wait for it.
            let (age, rest) = (self.now.apart(last.at), self.rest(visits));
            if age < rest {
                return waits.rest(last.at + rest);
            }
            if !is_open(&entry.candidate.url) {
                waits.closed += 1;
                return;
            }
            let age = age.as_secs_f64();
            let (prior, factor) = learned.of(last.key.site);
            let belief = Belief::new(prior, &Seen::of(visits));
            let importance = self.importance_of(entry) / factor;
            // Whose time came first comes first.
            let wait = learned.budget.wait(&belief, importance);
            keep(&mut due, Candidate(age - wait, last.key), self.visits);
            let tests_at = learned.budget.worth / importance;
            let nats = belief.information(tests_at);
            if (tests_at..wait).contains(&age) && nats > INFORMATION_MIN {
                keep(&mut tests, Candidate(importance * nats, last.key), tests_max);
            }
        })?;
        // The greatest first: `Reverse` has the least come last.
        let of = |heap: BinaryHeap<Reverse<Candidate>>| {
            heap.into_sorted_vec().into_iter().map(|Reverse(Candidate(_, key))| key).collect::<Vec<UrlKey>>()
        };
        // More of a site would keep the round from its end for longer than it may take.
        let of_site_max = match self.every.as_micros() {
            0 => u128::MAX,
            every => every.div_ceil(self.delay.as_micros().max(1)),
        };
        let mut of_sites: BTreeMap<SiteKey, u128> = BTreeMap::new();
        let mut chosen = BTreeSet::new();
        for key in of(tests).into_iter().chain(of(due)) {
            let of_site = of_sites.entry(key.site).or_default();
            if chosen.len() < self.visits && *of_site < of_site_max && chosen.insert(key) {
                *of_site += 1;
            }
        }
        Ok((chosen.into_iter().collect(), waits))
    }

    /// Learns how fast the pages of each site change, and what a visit must be worth.
    fn learn(&self, view: &dyn CrawlView) -> Result<Learned, StoreError> {
        let (mut samples, mut of_all): (BTreeMap<SiteKey, Sample>, usize) = (BTreeMap::new(), 0);
        let mut others = 0;
        each_page(view, &mut |entry, visits| {
            let site = entry.candidate.url.key().site;
            if of_all >= SAMPLE_MAX && !samples.contains_key(&site) {
                others += 1;
                return;
            }
            let sample = samples.entry(site).or_default();
            sample.pages += 1;
            if sample.seen.len() < SITE_SAMPLE_MAX && of_all < SAMPLE_MAX {
                of_all += 1;
                sample.seen.push((Seen::of(visits), self.importance_of(entry)));
            }
        })?;
        let all: Vec<Seen> = samples.values().flat_map(|sample| &sample.seen).map(|(seen, _)| seen.clone()).collect();
        let of_others = Prior::learn(&Prior::default(), &all);
        let rate_max = 1.0 / self.delay.as_secs_f64().max(1e-6);
        let mut sites = vec![SiteSample {
            pages: vec![Sampled {
                belief: Belief::new(&of_others, &Seen::default()),
                importance: 1.0,
                stands_for: f64::from(others),
            }],
            rate_max: f64::INFINITY,
        }];
        let mut priors = Vec::new();
        for (site, Sample { pages, seen }) in samples {
            let of_site: Vec<Seen> = seen.iter().map(|(seen, _)| seen.clone()).collect();
            let prior = Prior::learn(&of_others, &of_site);
            let stands_for = pages as f64 / seen.len().max(1) as f64;
            let sampled = seen.into_iter().map(|(seen, importance)| {
                let belief = Belief::new(&prior, &seen);
                Sampled { belief, importance, stands_for }
            });
            sites.push(SiteSample { pages: sampled.collect(), rate_max });
            priors.push((site, prior));
        }
        let (budget, factors) = Budget::solve(&sites, self.visits as f64 / self.every.as_secs_f64().max(1e-6));
        let of_sites = priors.into_iter().zip(factors.into_iter().skip(1));
        let of_sites = of_sites.map(|((site, prior), factor)| (site, (prior, factor))).collect();
        Ok(Learned { of_sites, of_others, budget })
    }

    /// How long a page is left alone after its last visit.
    fn rest(&self, visits: &[Visit]) -> Duration {
        let missed = visits.iter().rev().take_while(|visit| !visit.outcome.is_fetched()).count();
        match u32::try_from(missed).unwrap_or(u32::MAX) {
            0 => self.every,
            missed => GONE_WAIT.saturating_mul(1 << (missed - 1).min(20)).min(GONE_WAIT_MAX).max(self.every),
        }
    }

    fn importance_of(&self, entry: &Entry) -> f64 {
        match self.importance {
            Importance::Equal => 1.0,
            Importance::Depth => 1.0 / (f64::from(entry.candidate.depth) + 1.0),
        }
    }
}

impl Learned {
    /// What is known of the pages of a site, and by how much more a visit must be worth there.
    fn of(&self, site: SiteKey) -> (&Prior, f64) {
        self.of_sites.get(&site).map_or((&self.of_others, 1.0), |(prior, factor)| (prior, *factor))
    }
}

/// Keeps this many of the greatest.
fn keep(kept: &mut BinaryHeap<Reverse<Candidate>>, candidate: Candidate, max: usize) {
    if kept.len() < max {
        kept.push(Reverse(candidate));
    } else if kept.peek().is_some_and(|Reverse(least)| *least < candidate) {
        kept.pop();
        kept.push(Reverse(candidate));
    }
}

/// Visits the requested pages, each with its last visits, the oldest first.
fn each_page(view: &dyn CrawlView, each: &mut dyn FnMut(&Entry, &[Visit])) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let entries = view.scan(after, ENTRIES_AT_ONCE)?;
        let Some(last) = entries.last() else { return Ok(()) };
        after = Some(last.candidate.url.key());
        for entry in entries.iter().filter(|entry| entry.candidate.purpose == Purpose::Page) {
            let Some(last) = entry.visit.as_ref().filter(|last| last.attempts > 0 || last.content_at.is_some()) else {
                continue;
            };
            let mut visits = if last.past.visits > 0 { view.earlier(last.key)? } else { Vec::new() };
            visits.drain(..visits.len().saturating_sub(VISITS_MAX - 1));
            visits.push(last.clone());
            each(entry, &visits);
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Outcome, PayloadDigest};
    use store::{Batch, MemoryStore};
    use weburl::CanonicalUrl;

    use super::*;

    const HOUR: u64 = 3_600_000_000;

    fn url(path: &str) -> CanonicalUrl {
        CanonicalUrl::from_canonical(&format!("http://a.test/{path}")).expect("a URL")
    }

    /// A store with pages and the contents that visits found, one an hour; 0 where it was gone.
    fn store(pages: &[(&str, &[u8])]) -> MemoryStore {
        let store = MemoryStore::new();
        for (path, contents) in pages {
            store
                .commit(&Batch { found: vec![model::Candidate::seed(url(path))], ..Batch::default() })
                .expect("a commit");
            for (hour, content) in (0u32..).zip(*contents) {
                let (outcome, status) = if *content == 0 { (Outcome::HttpError, 404) } else { (Outcome::Html, 200) };
                let at = Timestamp(u64::from(hour) * HOUR);
                let visit = Visit::without_fetch(url(path).key(), outcome, String::new(), at);
                let digest = (*content > 0).then_some(PayloadDigest([*content; 20]));
                let mut visit = Visit { status, digest, attempts: 1, round: hour + 1, ..visit };
                visit.past.visits = hour;
                visit.content_at = (*content == 0).then_some(Timestamp(0));
                store.commit(&Batch { again: vec![visit.key], ..Batch::default() }).expect("a commit");
                store.commit(&Batch { visits: vec![visit], ..Batch::default() }).expect("a commit");
            }
        }
        store
    }

    fn chosen(store: &MemoryStore, visits: usize, hours: u64) -> Vec<String> {
        choose(store, visits, Timestamp(hours * HOUR), Duration::ZERO)
    }

    fn choose(store: &MemoryStore, visits: usize, now: Timestamp, delay: Duration) -> Vec<String> {
        let schedule = Schedule { importance: Importance::Equal, visits, every: Duration::from_secs(60), delay, now };
        let mut chosen: Vec<String> = schedule
            .choose(store, &|_| true)
            .expect("a state")
            .0
            .into_iter()
            .map(|key| store.get(key).expect("a state").expect("known").candidate.url.path().to_owned())
            .collect();
        chosen.sort();
        chosen
    }

    #[test]
    fn pages_that_change_come_before_those_that_do_not() {
        let (changes, stays): (Vec<u8>, Vec<u8>) = ((0..12).map(|n| 1 + n / 3).collect(), vec![1; 12]);
        let pages: Vec<(String, &[u8])> =
            (0..20).map(|n| (n.to_string(), if n < 5 { &changes[..] } else { &stays[..] })).collect();
        let pages: Vec<(&str, &[u8])> = pages.iter().map(|(path, contents)| (path.as_str(), *contents)).collect();
        let store = store(&pages);
        assert_eq!(chosen(&store, 5, 14), ["/0", "/1", "/2", "/3", "/4"]);
        // All have their turn where there are visits for all, and none twice.
        assert_eq!(chosen(&store, 100, 14).len(), 20);
        assert_eq!(chosen(&store, 40, 14).len(), 20);
        assert_eq!(chosen(&store, 0, 14), Vec::<String>::new());
    }

    #[test]
    fn pages_that_are_gone_are_asked_for_ever_more_rarely() {
        let store = store(&[("gone", &[1, 0, 0, 0]), ("there", &[1, 1, 1, 1])]);
        // Visited last after three hours; three times in vain, so it waits four.
        assert_eq!(chosen(&store, 10, 6), ["/there"]);
        assert_eq!(chosen(&store, 10, 7), ["/gone", "/there"]);
    }

    #[test]
    fn pages_of_a_clock_that_was_ahead_do_not_wait_for_their_dates() {
        let store = store(&[("a", &[1, 1]), ("b", &[1, 2])]);
        // Visited last after one hour, by a clock that has been set back since: to long before, or to a little before.
        assert_eq!(chosen(&store, 1, 0).len(), 1);
        let moment_before = Timestamp(HOUR - 1_000_000);
        let schedule = Schedule {
            importance: Importance::Equal,
            visits: 1,
            every: Duration::from_secs(60),
            delay: Duration::ZERO,
            now: moment_before,
        };
        let (chosen, waits) = schedule.choose(&store, &|_| true).expect("a state");
        assert_eq!(chosen, []);
        assert_eq!(waits, Waits { resting: 2, until: Some(Timestamp(HOUR + 60_000_000)), closed: 0 });
        let (chosen, waits) =
            Schedule { now: Timestamp(9 * HOUR), ..schedule }.choose(&store, &|_| false).expect("a state");
        assert_eq!((chosen, waits), (Vec::new(), Waits { resting: 0, until: None, closed: 2 }));
    }

    #[test]
    fn what_waits_longest_has_its_turn_whatever_it_is_worth() {
        // It changes whenever somebody looks: no visit is worth much. The others change now and then.
        let (hopeless, useful): (Vec<u8>, Vec<u8>) = ((1..40).collect(), (0..40).map(|n| 1 + n / 8).collect());
        let mut pages: Vec<(String, &[u8])> = (0..100).map(|n| (n.to_string(), &useful[..])).collect();
        pages.push(("hopeless".to_owned(), &hopeless[..]));
        let pages: Vec<(&str, &[u8])> = pages.iter().map(|(path, contents)| (path.as_str(), *contents)).collect();
        let store = store(&pages);
        assert!(chosen(&store, 40, 60).contains(&"/hopeless".to_owned()), "it was visited an hour before the others");
    }

    #[test]
    fn a_site_has_no_more_visits_in_a_round_than_its_delay_allows() {
        let pages: Vec<(String, &[u8])> = (0..20).map(|n| (n.to_string(), &[1, 2][..])).collect();
        let pages: Vec<(&str, &[u8])> = pages.iter().map(|(path, contents)| (path.as_str(), *contents)).collect();
        let store = store(&pages);
        for (seconds, visits) in [(60, 1), (20, 3), (7, 9), (1, 20)] {
            let chosen = choose(&store, 100, Timestamp(10 * HOUR), Duration::from_secs(seconds));
            assert_eq!(chosen.len(), visits, "{seconds}");
        }
    }
}
