//! Which pages of a crawl to visit next.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use engine::Settings;
use frontier::budget::{self, Budget, SiteSample, TEST_ONE_IN};
use frontier::revisit::{Belief, Prior, Seen};
use frontier::yields::groups_of;
use model::{Purpose, SiteRecord, Timestamp, Visit};
use store::{CrawlView, Entry, Store, StoreError};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::again::{Beginning, going_on, may_be_visited, page_of};
use crate::{Notice, Waits};

/// Entries read from the state at once.
const ENTRIES_AT_ONCE: usize = 2_048;
/// Pages of a site from which its rates are learned: as many as its part of the whole sample, within these limits.
const SITE_SAMPLE: RangeInclusive<usize> = 64..=4_096;
/// Pages of one shape among them from which the rates of the shape are learned.
const SHAPE_SAMPLE_MIN: usize = 4;
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
    of_sites: BTreeMap<SiteKey, LearnedSite>,
    of_others: Prior,
    budget: Budget,
}

/// What is believed of the pages of a site.
struct LearnedSite {
    prior: Prior,
    /// By shape of path, where some pages of the sample have it.
    of_shapes: BTreeMap<u64, Prior>,
    /// How often its pages are visited: less often than others, where they want more visits than the delay allows.
    budget: Budget,
}

impl LearnedSite {
    /// Learns from a sample how fast pages of a site change, and those of each shape among them.
    fn new(of_others: &Prior, sample: &[Sampled], budget: Budget) -> Self {
        let of = |pages: &[&Sampled]| -> Vec<Seen> { pages.iter().map(|page| page.seen.clone()).collect() };
        let prior = Prior::learn(of_others, &of(&sample.iter().collect::<Vec<_>>()));
        let mut shapes: BTreeMap<u64, Vec<&Sampled>> = BTreeMap::new();
        sample.iter().for_each(|page| shapes.entry(page.shape).or_default().push(page));
        let is_some = |pages: &Vec<&Sampled>| pages.len() >= SHAPE_SAMPLE_MIN && pages.len() < sample.len();
        let of_shapes = shapes.into_iter().filter(|(_, pages)| is_some(pages));
        let of_shapes = of_shapes.map(|(shape, pages)| (shape, Prior::learn(&prior, &of(&pages)))).collect();
        LearnedSite { prior, of_shapes, budget }
    }

    fn of(&self, shape: u64) -> &Prior {
        self.of_shapes.get(&shape).unwrap_or(&self.prior)
    }
}

/// Pages of a site.
#[derive(Default)]
struct Sample {
    pages: usize,
    sampled: Vec<Sampled>,
}

/// A page of a sample.
struct Sampled {
    seen: Seen,
    importance: f64,
    shape: u64,
}

/// The shape of a URL's path: its directory, or its path with the names of its parameters.
fn shape_of(url: &CanonicalUrl) -> u64 {
    groups_of(url).next().map_or(0, |group| group.key())
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

/// URLs of a site that are left of the round.
fn left_of(store: &dyn Store, site: SiteKey) -> Result<u64, StoreError> {
    let (mut left, mut after) = (0, None);
    loop {
        let queue = store.pending(site, after, ENTRIES_AT_ONCE)?;
        let Some(last) = queue.last() else { return Ok(left) };
        after = Some(last.candidate.position());
        left += queue.iter().filter(|queued| queued.again.is_some()).count() as u64;
    }
}

impl Schedule {
    /// Begins a round with the pages whose visits are worth most. It reads the state twice: once to learn how fast the pages of each site
    /// change, once to choose. Pages that cannot be requested now are not chosen: those of sites on hold or in trouble, and those that a
    /// rule has come to exclude. What a chosen page needs to be shown comes on top, with the page that it was found on. URLs that are left of
    /// the last round stay in the queue beside the new ones.
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
        let may_be_asked = |url: &CanonicalUrl| !closed.contains(&url.key().site) && filter.judge_seed(url).is_ok();
        choose_requisites(store, &chosen.into_iter().collect(), &may_be_asked, &mut beginning)?;
        Ok(match beginning.end()? {
            Notice::RoundOfNothing => Notice::NothingDue(waits),
            notice => notice,
        })
    }

    /// The current round, if URLs of it are left that can be requested now. Those of sites on hold or in trouble keep no round from
    /// beginning.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn going_on(&self, store: &dyn Store, settings: &Settings) -> Result<Option<Notice>, StoreError> {
        let Some(Notice::RoundGoesOn { round, mut urls }) = going_on(store)? else { return Ok(None) };
        for site in self.closed_sites(store, settings)? {
            urls = urls.saturating_sub(left_of(store, site)?);
        }
        Ok((urls > 0).then_some(Notice::RoundGoesOn { round, urls }))
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
            let (prior, budget) = learned.of(&entry.candidate.url);
            let belief = Belief::new(prior, &Seen::of(visits));
            let (wait, test) = budget.wait_and_test(&belief, self.importance_of(entry));
            // Where more is due than may be visited, all wait longer by the same factor.
            keep(&mut due, Candidate(age / wait, last.key), self.visits);
            if let Some(test) = test.filter(|test| (test.wait..wait).contains(&age)) {
                keep(&mut tests, Candidate(test.gain, last.key), tests_max);
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
        let sites = usize::try_from(view.totals()?.sites).unwrap_or(usize::MAX);
        let site_sample_max = (SAMPLE_MAX / sites.max(1)).clamp(*SITE_SAMPLE.start(), *SITE_SAMPLE.end());
        each_page(view, &mut |entry, visits| {
            let site = entry.candidate.url.key().site;
            if of_all >= SAMPLE_MAX && !samples.contains_key(&site) {
                others += 1;
                return;
            }
            let sample = samples.entry(site).or_default();
            sample.pages += 1;
            if sample.sampled.len() < site_sample_max && of_all < SAMPLE_MAX {
                of_all += 1;
                let (seen, importance) = (Seen::of(visits), self.importance_of(entry));
                sample.sampled.push(Sampled { seen, importance, shape: shape_of(&entry.candidate.url) });
            }
        })?;
        let all: Vec<Seen> =
            samples.values().flat_map(|sample| &sample.sampled).map(|page| page.seen.clone()).collect();
        let of_others = Prior::learn(&Prior::default(), &all);
        let rate_max = 1.0 / self.delay.as_secs_f64().max(1e-6);
        let mut sites = vec![SiteSample {
            pages: vec![budget::Sampled {
                belief: Belief::new(&of_others, &Seen::default()),
                importance: 1.0,
                stands_for: f64::from(others),
            }],
            rate_max: f64::INFINITY,
        }];
        let mut of_sites = BTreeMap::new();
        for (site, Sample { pages, sampled }) in samples {
            let learned = LearnedSite::new(&of_others, &sampled, Budget { worth: 0.0, interval: 0.0 });
            let stands_for = pages as f64 / sampled.len().max(1) as f64;
            let pages = sampled.iter().map(|Sampled { seen, importance, shape }| {
                let belief = Belief::new(learned.of(*shape), seen);
                budget::Sampled { belief, importance: *importance, stands_for }
            });
            sites.push(SiteSample { pages: pages.collect(), rate_max });
            of_sites.insert(site, learned);
        }
        let (budget, budgets) = Budget::solve(&sites, self.visits as f64 / self.every.as_secs_f64().max(1e-6));
        of_sites.values_mut().zip(budgets.into_iter().skip(1)).for_each(|(site, budget)| site.budget = budget);
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
    /// What is known of pages like this one, and how often they are visited.
    fn of(&self, url: &CanonicalUrl) -> (&Prior, &Budget) {
        let site = self.of_sites.get(&url.key().site);
        site.map_or((&self.of_others, &self.budget), |site| (site.of(shape_of(url)), &site.budget))
    }
}

/// Chooses what these pages need to be shown.
fn choose_requisites(
    store: &dyn Store,
    pages: &BTreeSet<UrlKey>,
    may_be_asked: &dyn Fn(&CanonicalUrl) -> bool,
    beginning: &mut Beginning<'_>,
) -> Result<(), StoreError> {
    if pages.is_empty() || store.totals()?.requisites.is_empty() {
        return Ok(());
    }
    let round = beginning.round.clone();
    let mut after = None;
    loop {
        let entries = store.scan(after, ENTRIES_AT_ONCE)?;
        let Some(last) = entries.last() else { return Ok(()) };
        after = Some(last.candidate.url.key());
        let of_pages = entries.iter().filter(|entry| {
            page_of(entry).is_some_and(|page| pages.contains(&page))
                && may_be_visited(entry, &round)
                && may_be_asked(&entry.candidate.url)
        });
        beginning.choose(of_pages.map(|entry| entry.candidate.url.key()).collect())?;
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

    fn schedule(visits: usize, now: Timestamp, delay: Duration) -> Schedule {
        Schedule { importance: Importance::Equal, visits, every: Duration::from_secs(60), delay, now }
    }

    fn choose(store: &MemoryStore, visits: usize, now: Timestamp, delay: Duration) -> Vec<String> {
        let mut chosen: Vec<String> = schedule(visits, now, delay)
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
    fn a_page_begins_with_what_is_known_of_its_shape_and_site() {
        let (changes, stays): (Vec<u8>, Vec<u8>) = ((1..13).collect(), vec![1; 12]);
        let mut pages = Vec::new();
        for n in 0..8 {
            pages.push((format!("news/{n}"), &changes[..]));
            pages.push((format!("archive/{n}"), &stays[..]));
        }
        let store = store(&pages.iter().map(|(path, contents)| (path.as_str(), *contents)).collect::<Vec<_>>());
        let learned = schedule(10, Timestamp(14 * HOUR), Duration::ZERO).learn(&store).expect("a state");
        // How likely a page that was visited once is the same after an hour.
        let same = |path: &str| Belief::new(learned.of(&url(path)).0, &Seen::default()).freshness(3_600.0);
        assert!(same("news/new") < 0.2 && same("archive/new") > 0.8, "{} {}", same("news/new"), same("archive/new"));
        // Of other paths it is known how the pages of the site are, both kinds.
        assert!((0.2..0.8).contains(&same("other")), "{}", same("other"));
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
        let schedule = schedule(1, moment_before, Duration::ZERO);
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
