//! Which pages of a crawl to visit next.

mod planner;

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::ops::RangeInclusive;
use std::time::Duration;

use engine::Settings;
use frontier::Filter;
use frontier::announced::{History, Trust, seconds_of};
use frontier::beliefs::SiteBeliefs;
use frontier::budget::{self, Budget, Outlook, SiteSample, TEST_ONE_IN};
use frontier::common_changes;
use frontier::revisit::{Belief, Prior, Seen, Test};
use frontier::signals;
use frontier::yields::groups_of;
use model::{Purpose, Round, SiteRecord, Timestamp, Visit, can_be_compared, essence};
use store::{CrawlView, Entry, Store, StoreError, Totals};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::again::{Beginning, going_on, is_left_to_browser, is_passed_by, may_be_visited, next_round, page_of};
use crate::chosen::Chosen;
use crate::importance::Important;
use crate::{Notice, Waits};

use planner::Pages;
pub use planner::Planner;

/// Entries read from the state at once.
const ENTRIES_AT_ONCE: usize = 2_048;
/// Pages of a site from which its rates are learned: as many as its part of the whole sample, within these limits.
const SITE_SAMPLE: RangeInclusive<usize> = 64..=4_096;
/// Pages of one shape among them from which the rates of the shape are learned.
const SHAPE_SAMPLE_MIN: usize = 4;
/// Pages of all sites together. Sites whose pages come later in the state count as those of which nothing is known.
const SAMPLE_MAX: usize = 32_768;
/// How feeds are declared.
const FEED_TYPES: [&str; 2] = ["application/rss+xml", "application/atom+xml"];
/// Visits of a page that count, the last ones.
const VISITS_MAX: usize = 64;
/// The first wait for a missing page; it doubles with each visit that does not find it.
const GONE_WAIT: Duration = Duration::from_secs(60 * 60);
/// The longest.
const GONE_WAIT_MAX: Duration = Duration::from_secs(30 * 86_400);

/// How long a site that was given up gets no request. Then one of its pages is chosen: if it is answered, the site is as any other.
const GIVEN_UP_REST: Duration = Duration::from_secs(86_400);

/// Chooses the pages whose visits are worth most.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// How important each is.
    pub important: Important,
    /// The largest number of visits.
    pub visits: usize,
    /// The time for which they are the budget. No page is visited again sooner. Zero: as soon as may be.
    pub every: Duration,
    /// The time from one visit of a site to the next.
    pub delay: Duration,
    /// The date.
    pub now: Timestamp,
}

/// The pages of a round that is to begin.
pub struct Picked {
    pages: BTreeSet<UrlKey>,
    waits: Waits,
    open: Open,
}

impl Picked {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Calls `each` with the pages and with what they need to be shown, part by part, in the order of their keys.
    fn each_part(
        &self,
        (view, settings): (&dyn CrawlView, &Settings),
        round: &Round,
        each: &mut dyn FnMut(Vec<UrlKey>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        if self.is_empty() {
            return Ok(());
        }
        if view.totals()?.requisites.is_empty() {
            let pages: Vec<UrlKey> = self.pages.iter().copied().collect();
            return pages.chunks(ENTRIES_AT_ONCE).try_for_each(|urls| each(urls.to_vec()));
        }
        let mut after = None;
        loop {
            let entries = view.scan(after, ENTRIES_AT_ONCE)?;
            let Some(last) = entries.last() else { return Ok(()) };
            after = Some(last.candidate.url.key());
            let is_chosen = |entry: &&Entry| {
                let is_of_page = page_of(entry).is_some_and(|page| self.pages.contains(&page))
                    && may_be_visited(entry, round)
                    && !is_left_to_browser(entry, settings)
                    && self.open.may_be_asked(&entry.candidate.url);
                is_of_page || self.pages.contains(&entry.candidate.url.key())
            };
            each(entries.iter().filter(is_chosen).map(|entry| entry.candidate.url.key()).collect())?;
        }
    }
}

/// What may be requested now.
struct Open {
    sites: Unusual,
    filter: Filter,
}

impl Open {
    /// How many pages may be chosen of the site of this one; none if it may not be requested itself.
    fn share_of(&self, url: &CanonicalUrl) -> Share {
        match self.filter.judge(url) {
            Ok(_) => self.sites.share_of(url.key().site),
            Err(_) => Share::None,
        }
    }

    /// The same of what a page needs.
    fn may_be_asked(&self, url: &CanonicalUrl) -> bool {
        self.sites.share_of(url.key().site) != Share::None && self.filter.judge_seed(url).is_ok()
    }
}

/// How many pages of a site may be chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    All,
    One,
    None,
}

/// Sites whose pages are not chosen as those of others.
#[derive(Default)]
struct Unusual {
    /// They get no request now: on hold, in trouble, or given up lately.
    closed: BTreeSet<SiteKey>,
    /// Given up some time ago.
    given_up: BTreeSet<SiteKey>,
}

/// What is believed of the pages of each site, and how often they are to be visited.
#[derive(Debug)]
struct Learned {
    of_sites: BTreeMap<SiteKey, LearnedSite>,
    of_others: Prior,
    budget: Budget,
}

/// What is believed of the pages of a site, and how they are visited.
#[derive(Debug)]
struct LearnedSite {
    beliefs: SiteBeliefs,
    /// How fast pages change by the shape of their path, where some pages of the sample have it.
    of_shapes: BTreeMap<u64, Prior>,
    /// How pages are visited by what tells that they change.
    outlook: Option<Outlook>,
    pages: usize,
    /// How often its pages are visited: less often than others, where they want more visits than the delay allows.
    budget: Budget,
}

impl LearnedSite {
    /// Learns from a sample how fast pages of a site change, and those of each shape among them.
    fn new(of_others: &Prior, Sample { pages, sampled: sample }: &Sample) -> Self {
        let histories: Vec<&History> = sample.iter().map(|page| &page.history).collect();
        let beliefs = SiteBeliefs::learn(of_others, &histories);
        let mut shapes: BTreeMap<u64, Vec<&History>> = BTreeMap::new();
        sample.iter().for_each(|page| shapes.entry(page.shape).or_default().push(&page.history));
        let is_some = |pages: &Vec<&History>| pages.len() >= SHAPE_SAMPLE_MIN && pages.len() < sample.len();
        let of_shapes = shapes.into_iter().filter(|(_, pages)| is_some(pages));
        let of_shapes = of_shapes.map(|(shape, pages)| (shape, beliefs.prior_of(&beliefs.prior, &pages))).collect();
        let outlook = match &beliefs.common {
            Some(common) => common_changes::Outlook::new(common).map(Outlook::Common),
            None => signals::Outlook::new(&beliefs.trust.signals).map(Outlook::Signals),
        };
        let budget = Budget { worth: 0.0, interval: 0.0 };
        LearnedSite { beliefs, of_shapes, outlook, pages: *pages, budget }
    }

    fn of(&self, shape: u64) -> &Prior {
        self.of_shapes.get(&shape).unwrap_or(&self.beliefs.prior)
    }

    /// How long a page waits that was visited last at this time, and the best test until then.
    fn wait_and_test(
        &self,
        history: &History,
        belief: &Belief,
        importance: f64,
        [last, now]: [f64; 2],
    ) -> (f64, Option<Test>) {
        let budget = &self.budget;
        match self.outlook.as_ref().filter(|_| self.beliefs.is_told(history)) {
            Some(Outlook::Signals(outlook)) => {
                let said_after = history.said_by(&self.beliefs.trust.believed);
                (budget.wait_with(outlook, belief, importance, said_after), None)
            }
            // All are different that wait: the more a visit is worth, the sooner it comes.
            Some(Outlook::Common(outlook))
                if self.beliefs.common.as_ref().is_some_and(|common| common.is_between(last, now)) =>
            {
                let age = now - last;
                (budget.at_most(age / budget.worth_after(outlook, belief, importance, age)), None)
            }
            Some(Outlook::Common(outlook)) => budget.wait_without(outlook, belief, importance),
            None => budget.wait_and_test(belief, importance),
        }
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
    history: History,
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

/// Whether the queue of a site has a URL that needs nothing of its budget of pages.
fn has_more_than_new_pages(store: &dyn Store, site: SiteKey) -> Result<bool, StoreError> {
    let mut after = None;
    loop {
        let queue = store.pending(site, after, ENTRIES_AT_ONCE)?;
        let Some(last) = queue.last() else { return Ok(false) };
        after = Some(last.candidate.position());
        if queue.iter().any(|queued| queued.again.is_some() || queued.candidate.purpose == Purpose::Requisite) {
            return Ok(true);
        }
    }
}

impl Unusual {
    fn share_of(&self, site: SiteKey) -> Share {
        match (self.closed.contains(&site), self.given_up.contains(&site)) {
            (true, _) => Share::None,
            (false, true) => Share::One,
            (false, false) => Share::All,
        }
    }
}

impl Schedule {
    /// Begins a round with the pages whose visits are worth most. It reads the state twice: once to learn how fast the pages of each site
    /// change, once to choose. Pages that cannot be requested now are not chosen: those of sites on hold or in trouble, and those that a
    /// rule has come to exclude. Of a site that was given up, one page is chosen each day. What a chosen page needs to be shown comes on
    /// top, with the page that it was found on. URLs that are left of the last round stay in the queue beside the new ones.
    ///
    /// # Errors
    /// The state cannot be read or written.
    pub fn begin(&self, store: &dyn Store, settings: &Settings) -> Result<Notice, StoreError> {
        self.begin_with(self.pick(store, settings)?, store, settings)
    }

    /// The pages with which [`Schedule::begin`] begins a round. Nothing changes.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn pick(&self, store: &dyn Store, settings: &Settings) -> Result<Picked, StoreError> {
        let open = self.open(store, settings)?;
        let (pages, waits) = self.choose(store, &|url| open.share_of(url))?;
        Ok(Picked { pages: pages.into_iter().collect(), waits, open })
    }

    fn open(&self, store: &dyn Store, settings: &Settings) -> Result<Open, StoreError> {
        let sites = self.unusual_sites(store, &settings.held_sites)?;
        let mut filter = settings.filter.clone();
        for seed in store.seeds()? {
            filter.scope.add_seed(&seed);
        }
        Ok(Open { sites, filter })
    }

    /// Begins a round with these pages.
    ///
    /// # Errors
    /// The state cannot be read or written.
    pub fn begin_with(&self, picked: Picked, store: &dyn Store, settings: &Settings) -> Result<Notice, StoreError> {
        let mut beginning = Beginning::new(store, settings, self.now)?;
        let round = beginning.round.clone();
        picked.each_part((store, settings), &round, &mut |chosen| beginning.choose(chosen))?;
        Ok(beginning.end()?.unwrap_or(Notice::NothingDue(picked.waits)))
    }

    /// What [`Schedule::begin`] would choose. Nothing changes.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn foreseen(&self, store: &dyn Store, settings: &Settings) -> Result<Chosen, StoreError> {
        let round = next_round(self.now, &store.totals()?.round);
        let mut chosen = Chosen::of_round(round.number);
        self.pick(store, settings)?.each_part((store, settings), &round, &mut |urls| {
            chosen.count(&urls);
            Ok(())
        })?;
        Ok(chosen)
    }

    /// The current round, if URLs of it are left that can be requested now. Those of sites on hold or in trouble keep no round from
    /// beginning.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn going_on(&self, store: &dyn Store, settings: &Settings) -> Result<Option<Notice>, StoreError> {
        let Some(Notice::RoundGoesOn { round, mut urls }) = going_on(store)? else { return Ok(None) };
        let Unusual { closed, given_up } = self.unusual_sites(store, &settings.held_sites)?;
        for site in closed.union(&given_up).copied() {
            urls = urls.saturating_sub(left_of(store, site)?);
        }
        Ok((urls > 0).then_some(Notice::RoundGoesOn { round, urls }))
    }

    /// Whether the last round is still to be gone on with: it has chosen its URLs, and some are left in the queue.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn goes_on(store: &dyn Store) -> Result<bool, StoreError> {
        let totals = store.totals()?;
        Ok(totals.pending > 0 && !totals.round.is_choosing)
    }

    /// Whether the round has received as many bytes as it may: a run that goes on with it ends at once.
    pub(crate) fn is_spent(settings: &Settings, totals: &Totals) -> bool {
        settings.bytes_max.is_some_and(|max| totals.bytes_of_round >= max)
    }

    /// Whether some site with URLs in the queue can have a turn now: one that is neither on hold nor in trouble, and has more than new pages
    /// for which its budget is spent.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn can_go_on(&self, store: &dyn Store, settings: &Settings) -> Result<bool, StoreError> {
        let totals = store.totals()?;
        if Schedule::is_spent(settings, &totals) {
            return Ok(false);
        }
        let has_known = totals.again > 0 || totals.requisites_pending > 0;
        let pages_max = settings.site_rules.pages_per_site_max.unwrap_or(u64::MAX);
        let mut after = None;
        loop {
            let sites = store.sites_with_pending(after, ENTRIES_AT_ONCE)?;
            let Some(last) = sites.last() else { return Ok(false) };
            after = Some(*last);
            for site in sites.iter().filter(|site| !settings.held_sites.contains(site)) {
                let record = store.site(*site)?;
                let is_in_trouble = |record: &SiteRecord| record.aside.is_some() && record.due_at > self.now;
                if record.as_ref().is_some_and(is_in_trouble) {
                    continue;
                }
                let fetched = record.as_ref().map_or(0, |record| record.pages_fetched);
                // The URLs of a site that is given up end without a request.
                let may_all = fetched < pages_max || record.is_some_and(|record| record.given_up.is_some());
                if may_all || has_known && has_more_than_new_pages(store, *site)? {
                    return Ok(true);
                }
            }
        }
    }

    fn unusual_sites(&self, store: &dyn Store, held: &BTreeSet<SiteKey>) -> Result<Unusual, StoreError> {
        let closed = held.clone();
        let (mut unusual, mut after) = (Unusual { closed, ..Unusual::default() }, None);
        loop {
            let sites = store.sites(after, ENTRIES_AT_ONCE)?;
            let Some(last) = sites.last() else { return Ok(unusual) };
            after = Some(last.site.key());
            for record in &sites {
                let is_in_trouble = record.aside.is_some() && record.due_at > self.now;
                let is_given_up = record.given_up.is_some();
                // A date in the future says by how much the clock was set back.
                if is_in_trouble || is_given_up && self.now.apart(record.due_at) < GIVEN_UP_REST {
                    unusual.closed.insert(record.site.key());
                } else if is_given_up {
                    unusual.given_up.insert(record.site.key());
                }
            }
        }
    }

    /// The URLs, of each site as many as its share, in no order, and those that wait.
    fn choose(
        &self,
        view: &dyn CrawlView,
        share_of: &dyn Fn(&CanonicalUrl) -> Share,
    ) -> Result<(Vec<UrlKey>, Waits), StoreError> {
        match self.visits {
            0 => Ok((Vec::new(), Waits::default())),
            _ => self.choose_by(view, &self.learn(view)?, share_of, None),
        }
    }

    /// The same by what was learned. If it is for later rounds too, all pages come into `pages`.
    fn choose_by(
        &self,
        view: &dyn CrawlView,
        learned: &Learned,
        share_of: &dyn Fn(&CanonicalUrl) -> Share,
        mut pages: Option<&mut Pages>,
    ) -> Result<(Vec<UrlKey>, Waits), StoreError> {
        let mut waits = Waits::default();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number of tests")]
        let tests_max = (self.visits as f64 / TEST_ONE_IN) as usize;
        let (mut due, mut tests) = (BinaryHeap::new(), BinaryHeap::new());
        let mut alone: BTreeMap<SiteKey, Candidate> = BTreeMap::new();
        each_page(view, &mut |entry, visits| {
            let Some(last) = visits.last() else { return };
            // A date in the future says by how much the clock was set back. It counts as one in the past, so that the page does not wait for it.
            let (age, rest) = (self.now.apart(last.at), self.rest(visits));
            if let Some(pages) = &mut pages {
                pages.plan(self, learned, entry, visits);
            }
            // What lasts until somebody changes it comes before what passes.
            let share = share_of(&entry.candidate.url);
            if share == Share::None {
                waits.closed += 1;
                return;
            }
            if age < rest {
                return waits.rest(last.at + rest);
            }
            let age = age.as_secs_f64();
            let (wait, test) = self.turn(learned, entry, visits);
            // Where more is due than may be visited, all wait longer by the same factor.
            let candidate = Candidate(age / wait, last.key);
            if share == Share::One {
                alone.entry(last.key.site).and_modify(|best| *best = candidate.max(*best)).or_insert(candidate);
                return;
            }
            keep(&mut due, candidate, self.visits);
            if let Some(test) = test.filter(|test| (test.wait..wait).contains(&age)) {
                keep(&mut tests, Candidate(test.gain, last.key), tests_max);
            }
        })?;
        alone.into_values().for_each(|candidate| keep(&mut due, candidate, self.visits));
        // The greatest first: `Reverse` has the least come last.
        let of = |heap: BinaryHeap<Reverse<Candidate>>| {
            heap.into_sorted_vec().into_iter().map(|Reverse(Candidate(_, key))| key).collect::<Vec<UrlKey>>()
        };
        let mut of_sites: BTreeMap<SiteKey, u128> = BTreeMap::new();
        let mut chosen = BTreeSet::new();
        for key in of(tests).into_iter().chain(of(due)) {
            let of_site = of_sites.entry(key.site).or_default();
            if chosen.len() < self.visits && *of_site < self.of_site_max() && chosen.insert(key) {
                *of_site += 1;
            }
        }
        Ok((chosen.into_iter().collect(), waits))
    }

    /// Learns how fast the pages of each site change, and what a visit must be worth.
    fn learn(&self, view: &dyn CrawlView) -> Result<Learned, StoreError> {
        let (mut samples, mut of_all): (BTreeMap<SiteKey, Sample>, usize) = (BTreeMap::new(), 0);
        let mut others = 0;
        let site_samples = site_samples(view)?;
        each_page(view, &mut |entry, visits| {
            let site = entry.candidate.url.key().site;
            if visits.last().is_some_and(|last| is_listing(entry, last)) {
                return;
            }
            if of_all >= SAMPLE_MAX && !samples.contains_key(&site) {
                others += 1;
                return;
            }
            let sample = samples.entry(site).or_default();
            sample.pages += 1;
            let sample_max = site_samples.get(&site).copied().unwrap_or(*SITE_SAMPLE.start());
            if sample.sampled.len() < sample_max && of_all < SAMPLE_MAX {
                of_all += 1;
                let (history, importance) = (History::of(visits), self.important.of(entry));
                sample.sampled.push(Sampled { history, importance, shape: shape_of(&entry.candidate.url) });
            }
        })?;
        let blind = Trust::default();
        let sampled = samples.values().flat_map(|sample| &sample.sampled);
        let all: Vec<Seen> = sampled.map(|page| blind.seen(&page.history)).collect();
        let of_others = Prior::learn(&Prior::default(), &all);
        let rate_max = 1.0 / self.delay.as_secs_f64().max(1e-6);
        let mut sites = vec![SiteSample {
            pages: vec![budget::Sampled {
                belief: Belief::new(&of_others, &Seen::default()),
                importance: 1.0,
                stands_for: f64::from(others),
                is_told: false,
            }],
            rate_max: f64::INFINITY,
            outlook: None,
        }];
        let mut of_sites = BTreeMap::new();
        for (site, sample) in samples {
            let learned = LearnedSite::new(&of_others, &sample);
            let stands_for = sample.pages as f64 / sample.sampled.len().max(1) as f64;
            let pages = sample.sampled.iter().map(|Sampled { history, importance, shape }| budget::Sampled {
                belief: Belief::new(learned.of(*shape), &learned.beliefs.seen(history)),
                importance: *importance,
                stands_for,
                is_told: learned.beliefs.is_told(history),
            });
            sites.push(SiteSample { pages: pages.collect(), rate_max, outlook: learned.outlook.clone() });
            of_sites.insert(site, learned);
        }
        let (budget, budgets) = Budget::solve(&sites, self.visits as f64 / self.every.as_secs_f64().max(1e-6));
        of_sites.values_mut().zip(budgets.into_iter().skip(1)).for_each(|(site, budget)| site.budget = budget);
        Ok(Learned { of_sites, of_others, budget })
    }

    /// How long a page waits, and the best test until then.
    fn turn(&self, learned: &Learned, entry: &Entry, visits: &[Visit]) -> (f64, Option<Test>) {
        let listing = visits.last().filter(|last| is_listing(entry, last));
        match listing {
            Some(last) => (learned.listing_wait(last.key.site), None),
            None => learned.wait_and_test(&entry.candidate.url, visits, self.important.of(entry), self.now),
        }
    }

    /// Pages of a site in a round, at most: more would keep the round from its end for longer than it may take.
    fn of_site_max(&self) -> u128 {
        match self.every.as_micros() {
            0 => u128::MAX,
            every => every.div_ceil(self.delay.as_micros().max(1)),
        }
    }

    /// How long a page is left alone after its last visit.
    fn rest(&self, visits: &[Visit]) -> Duration {
        let missed = visits.iter().rev().take_while(|visit| !visit.outcome.is_fetched()).count();
        match u32::try_from(missed).unwrap_or(u32::MAX) {
            0 => self.every,
            missed => GONE_WAIT.saturating_mul(1 << (missed - 1).min(20)).min(GONE_WAIT_MAX).max(self.every),
        }
    }
}

impl Learned {
    /// How long a page waits, and the best test until then.
    fn wait_and_test(
        &self,
        url: &CanonicalUrl,
        visits: &[Visit],
        importance: f64,
        now: Timestamp,
    ) -> (f64, Option<Test>) {
        let (history, prior) = (History::of(visits), self.prior(url));
        let Some(site) = self.of_sites.get(&url.key().site) else {
            return self.budget.wait_and_test(&Belief::new(prior, &Trust::default().seen(&history)), importance);
        };
        let belief = Belief::new(prior, &site.beliefs.seen(&history));
        let now = seconds_of(now);
        let last = visits.iter().rev().find(|visit| can_be_compared(visit)).map_or(now, |visit| seconds_of(visit.at));
        site.wait_and_test(&history, &belief, importance, [last, now])
    }

    /// What is known of pages like this one.
    fn prior(&self, url: &CanonicalUrl) -> &Prior {
        self.of_sites.get(&url.key().site).map_or(&self.of_others, |site| site.of(shape_of(url)))
    }

    /// How long a sitemap or feed of a site waits.
    fn listing_wait(&self, site: SiteKey) -> f64 {
        let site = self.of_sites.get(&site);
        site.map_or(self.budget.interval, |site| {
            site.budget.listing_wait(site.pages as f64, site.beliefs.trust.signals.tell())
        })
    }
}

/// How large the sample of each site is, by its part of the pages.
fn site_samples(view: &dyn CrawlView) -> Result<BTreeMap<SiteKey, usize>, StoreError> {
    let (mut pages, mut after) = (Vec::new(), None);
    loop {
        let sites = view.sites(after, ENTRIES_AT_ONCE)?;
        let Some(last) = sites.last() else { break };
        after = Some(last.site.key());
        pages.extend(sites.iter().map(|site| (site.site.key(), site.pages_fetched)));
    }
    let all: u64 = pages.iter().map(|(_, pages)| *pages).sum();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped to the limits")]
    let size = |pages: u64| (SAMPLE_MAX as f64 * pages as f64 / all.max(1) as f64) as usize;
    let clamped = |pages: u64| size(pages).clamp(*SITE_SAMPLE.start(), *SITE_SAMPLE.end());
    Ok(pages.into_iter().map(|(site, pages)| (site, clamped(pages))).collect())
}

/// Whether a URL lists pages, and says when they changed.
fn is_listing(entry: &Entry, last: &Visit) -> bool {
    let declared = essence(last.content_type.as_deref().unwrap_or_default());
    entry.candidate.purpose == Purpose::Sitemap || FEED_TYPES.iter().any(|feed| declared.eq_ignore_ascii_case(feed))
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

/// Visits the requested pages and sitemaps, each with its last visits, the oldest first.
fn each_page(view: &dyn CrawlView, each: &mut dyn FnMut(&Entry, &[Visit])) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let entries = view.scan(after, ENTRIES_AT_ONCE)?;
        let Some(last) = entries.last() else { return Ok(()) };
        after = Some(last.candidate.url.key());
        for entry in &entries {
            if let Some(visits) = visits_of(entry, view)? {
                each(entry, &visits);
            }
        }
    }
}

/// The last visits of a page or sitemap, the oldest first. `None` if it was not requested, or is passed by.
fn visits_of(entry: &Entry, view: &dyn CrawlView) -> Result<Option<Vec<Visit>>, StoreError> {
    let last = entry.visit.as_ref().filter(|last| last.attempts > 0 || last.content_at.is_some());
    let Some(last) = last.filter(|_| matches!(entry.candidate.purpose, Purpose::Page | Purpose::Sitemap)) else {
        return Ok(None);
    };
    if is_passed_by(entry, view)? {
        return Ok(None);
    }
    let mut visits = if last.past.visits > 0 { view.earlier(last.key)? } else { Vec::new() };
    visits.drain(..visits.len().saturating_sub(VISITS_MAX - 1));
    visits.push(last.clone());
    Ok(Some(visits))
}

#[cfg(test)]
mod tests;
