//! How fresh the pages of a crawl are, how fast they change, and what visits have brought: estimates from the visits so far.
//!
//! Each page has a belief about its rate of change, learned from its visits and those of its site ([`frontier::revisit`]). A crawl with many
//! URLs is sampled.

use std::collections::BTreeMap;
use std::fmt;

use frontier::announced::{History, Trust, seconds_of};
use frontier::beliefs::{Copied, SiteBeliefs};
use frontier::revisit::{Belief, Prior, Seen};
use model::{Change, Purpose, Timestamp, Visit, can_be_compared};
use printable::{Printable, counted};
use serde::{Deserialize, Serialize};
use store::{CrawlView, Entry, StoreError, current_visit};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

/// Entries read from the state at once.
const ENTRIES_AT_ONCE: usize = 1_000;
/// Places in the order of the sites at which a crawl is read that has more URLs than are read from all these places.
const PLACES: u64 = 200;
/// Pages that the estimate is made from, at most.
const PAGES_MAX: usize = 32_768;
/// Pages of one site among them, at most.
const SITE_PAGES_MAX: usize = 256;
/// Sites and paths that are named, at most: those with most pages.
const NAMED_MAX: usize = 100;
/// Sites whose rates are in the text.
const RATES_SHOWN: usize = 5;
/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// An estimate of the pages and documents that were there at their last visits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Freshness {
    /// Pages that were there, all of them. In a crawl with more URLs than are read, it is the count of its pages and documents.
    pub pages: u64,
    /// Those that were read for the estimate. The others count as those of their site.
    pub read: u64,
    /// The estimated share of pages that are identical to the live web.
    pub fresh: f64,
    /// The mean time since the last visit that told what was there, in days.
    pub visited_days_ago: f64,
    /// The mean of the estimated times since a page became different from its copy, in days; zero for fresh pages (Cho and Garcia-Molina,
    /// *Synchronizing a database to improve freshness*, SIGMOD 2000).
    pub age_days: f64,
    /// Visits of the pages that were read after the first that told what was there.
    pub visits_again: u64,
    /// Of those, the visits that found a change.
    pub changes: u64,
    /// Change rates by site.
    pub sites: Vec<Rate>,
    /// Change rates by site and first part of the path.
    pub paths: Vec<Rate>,
}

/// How fast the pages of a group change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// The site, or the beginning of the URLs.
    pub of: String,
    /// Pages read.
    pub pages: u64,
    /// The estimated typical time between two changes of a page, in days (geometric mean).
    pub days_between_changes: f64,
    /// The estimated share of pages that are identical to the live web.
    pub fresh: f64,
    /// Visits of these pages after the first that told what was there.
    pub visits_again: u64,
    /// Of those, the visits that found a change.
    pub changes: u64,
}

impl Freshness {
    /// The estimate at a time; `None` if no page was visited a second time, since one visit tells nothing of changes.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn of(view: &dyn CrawlView, now: Timestamp) -> Result<Option<Self>, StoreError> {
        Freshness::read(view, now, PLACES, ENTRIES_AT_ONCE)
    }

    /// The same, from at most so many entries at each of so many places.
    fn read(view: &dyn CrawlView, now: Timestamp, places: u64, at_once: usize) -> Result<Option<Self>, StoreError> {
        let mut sites: BTreeMap<SiteKey, Site> = BTreeMap::new();
        let mut pages = 0;
        let totals = view.totals()?;
        let is_whole = totals.urls <= places * at_once as u64;
        let mut after = None;
        let mut place = 0;
        while is_whole || pages < PAGES_MAX {
            let entries = view.scan(after, at_once)?;
            for entry in &entries {
                let of_site = sites.entry(entry.candidate.url.key().site).or_default();
                if pages < PAGES_MAX && of_site.read.len() < SITE_PAGES_MAX {
                    let page = Page::read(view, entry, now)?;
                    of_site.pages += u64::from(page.is_some());
                    pages += usize::from(page.is_some());
                    of_site.read.extend(page);
                } else {
                    of_site.pages += u64::from(is_there(view, entry)?);
                }
            }
            place += 1;
            after = match entries.last() {
                Some(last) if is_whole => Some(last.candidate.url.key()),
                // Where a site has many URLs, or there are few sites, the next place has been read already.
                Some(last) if place < places => {
                    let next = UrlKey { site: SiteKey(u64::MAX / places * place), url: 0 };
                    Some(next.max(last.candidate.url.key()))
                }
                _ => break,
            };
        }
        let counted = sites.values().map(|site| site.pages).sum::<u64>();
        let all = if is_whole { counted } else { totals.fetched().max(counted) };
        Ok(estimate(sites).map(|estimate| Freshness { pages: all, ..estimate }))
    }

    /// The share of later visits that found a change; `None` without a later visit.
    #[must_use]
    pub fn visit_yield(&self) -> Option<f64> {
        (self.visits_again > 0).then(|| self.changes as f64 / self.visits_again as f64)
    }
}

/// In lines of text.
impl fmt::Display for Freshness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Freshness { pages, read, fresh, visited_days_ago, age_days, visits_again, changes, sites, .. } = self;
        let (percent, is_sample) = (fresh * 100.0, read < pages);
        let pages = counted(*pages, "page");
        let (visited, age) = (lasting(*visited_days_ago), lasting(*age_days));
        let sample = if is_sample { format!("{read} of them read; ") } else { String::new() };
        writeln!(
            f,
            "freshness: an estimated {percent:.1} % of {pages} are as on the web ({sample}visited {visited} ago, outdated for {age}, on average)"
        )?;
        let of_these = if is_sample { format!(" of these {read}") } else { String::new() };
        let visits = counted(*visits_again, "visit");
        writeln!(f, "  {changes} of {visits}{of_these} after the first found a change")?;
        for Rate { of, days_between_changes, .. } in sites.iter().take(RATES_SHOWN) {
            writeln!(f, "  {}: a page changes about every {}", Printable(of), lasting(*days_between_changes))?;
        }
        Ok(())
    }
}

/// A number of days, in the largest unit of which it is one at least.
fn lasting(days: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1.0, "days"), (24.0, "hours"), (24.0 * 60.0, "minutes")];
    let unit = UNITS.iter().find(|(a_day, _)| days * a_day >= 1.0);
    let (a_day, name) = unit.unwrap_or(&(DAY, "seconds"));
    format!("{:.1} {name}", days * a_day)
}

/// The pages of a site that are there.
#[derive(Default)]
struct Site {
    pages: u64,
    read: Vec<Page>,
}

/// A page, as far as the estimate needs it.
struct Page {
    url: CanonicalUrl,
    history: History,
    /// By the last visit that told what was there.
    copied: Copied,
    visits_again: u64,
    changes: u64,
}

impl Page {
    /// `None` if the URL is not a page that was there.
    fn read(view: &dyn CrawlView, entry: &Entry, now: Timestamp) -> Result<Option<Self>, StoreError> {
        let Some(last) = visited(entry) else { return Ok(None) };
        let mut visits = if last.past.visits > 0 { view.earlier(last.key)? } else { Vec::new() };
        let is_there = current_visit(last, &visits).outcome.is_fetched();
        visits.push(last.clone());
        let told = |visit: &&Visit| visit.outcome.is_fetched();
        let Some(told) = visits.iter().rev().find(told).filter(|_| is_there) else { return Ok(None) };
        let history = History::of(&visits);
        let (visits_again, changes) = compared(&visits);
        let copied = Copied { at: seconds_of(now) - now.apart(told.at).as_secs_f64(), now: seconds_of(now) };
        Ok(Some(Page { url: entry.candidate.url.clone(), history, copied, visits_again, changes }))
    }
}

/// The last visit of a page, if there was one that asked for it.
fn visited(entry: &Entry) -> Option<&Visit> {
    let last = entry.visit.as_ref().filter(|_| entry.candidate.purpose == Purpose::Page);
    last.filter(|last| last.attempts > 0 || last.content_at.is_some())
}

/// Whether the URL is a page that was there: its earlier visits are read only where the last tells nothing.
fn is_there(view: &dyn CrawlView, entry: &Entry) -> Result<bool, StoreError> {
    let Some(last) = visited(entry) else { return Ok(false) };
    if can_be_compared(last) || last.content_at.is_none() {
        return Ok(last.outcome.is_fetched());
    }
    Ok(current_visit(last, &view.earlier(last.key)?).outcome.is_fetched())
}

/// How many visits were compared with the one before, and how many of them found a change. Their dates do not matter: the clock may have
/// been set back.
fn compared(visits: &[Visit]) -> (u64, u64) {
    let told: Vec<&Visit> = visits.iter().filter(|visit| can_be_compared(visit)).collect();
    let is_change = |pair: &&[&Visit]| Change::between(Some(pair[0]), pair[1]) != Change::Unchanged;
    (told.windows(2).count() as u64, told.windows(2).filter(is_change).count() as u64)
}

/// A group of pages, while they are added up.
#[derive(Default)]
struct Sum {
    pages: u64,
    fresh: f64,
    ln_interval: f64,
    visits_again: u64,
    changes: u64,
}

impl Sum {
    fn add(&mut self, page: &Page, interval: f64, fresh: f64) {
        self.pages += 1;
        self.fresh += fresh;
        self.ln_interval += interval.ln();
        self.visits_again += page.visits_again;
        self.changes += page.changes;
    }

    fn rate(self, of: String) -> Rate {
        let Sum { pages, fresh, ln_interval, visits_again, changes } = self;
        let count = pages.max(1) as f64;
        let days_between_changes = (ln_interval / count).exp() / DAY;
        Rate { of, pages, days_between_changes, fresh: fresh / count, visits_again, changes }
    }
}

/// The estimate from the pages that were read. Each counts for as many pages of its site as there are for one that was read.
fn estimate(sites: BTreeMap<SiteKey, Site>) -> Option<Freshness> {
    let blind = Trust::default();
    let all: Vec<Seen> = sites.values().flat_map(|site| &site.read).map(|page| blind.seen(&page.history)).collect();
    let of_all = Prior::learn(&Prior::default(), &all);
    let (mut whole, mut weights, mut fresh_pages, mut ages, mut visited) = (Sum::default(), 0.0, 0.0, 0.0, 0.0);
    let (mut of_sites, mut of_paths) = (Vec::new(), Vec::new());
    for Site { pages: all, read: pages } in sites.into_values().filter(|site| !site.read.is_empty()) {
        let weight = all as f64 / pages.len() as f64;
        let histories: Vec<&History> = pages.iter().map(|page| &page.history).collect();
        let beliefs = SiteBeliefs::learn(&of_all, &histories);
        let (mut of_site, mut by_path) = (Sum::default(), BTreeMap::<String, Sum>::new());
        for page in &pages {
            let belief = Belief::new(&beliefs.prior, &beliefs.seen(&page.history));
            let fresh = beliefs.freshness(&belief, &page.history, page.copied);
            let interval = beliefs.interval(&belief);
            weights += weight;
            fresh_pages += weight * fresh;
            ages += weight * beliefs.age(&belief, page.copied);
            visited += weight * (page.copied.now - page.copied.at);
            [&mut whole, &mut of_site, by_path.entry(path_of(&page.url)).or_default()]
                .into_iter()
                .for_each(|sum| sum.add(page, interval, fresh));
        }
        of_sites.push(of_site.rate(pages[0].url.site().to_string()));
        of_paths.extend(by_path.into_iter().map(|(path, sum)| sum.rate(path)));
    }
    if whole.visits_again == 0 {
        return None;
    }
    for rates in [&mut of_sites, &mut of_paths] {
        rates.sort_by_key(|rate| std::cmp::Reverse(rate.pages));
        rates.truncate(NAMED_MAX);
    }
    Some(Freshness {
        pages: whole.pages,
        read: whole.pages,
        fresh: fresh_pages / weights,
        visited_days_ago: visited / weights / DAY,
        age_days: ages / weights / DAY,
        visits_again: whole.visits_again,
        changes: whole.changes,
        sites: of_sites,
        paths: of_paths,
    })
}

/// The site and the first part of the path: `https://example.org/news/`.
fn path_of(url: &CanonicalUrl) -> String {
    let path = url.path();
    let end = path.char_indices().skip(1).find(|(_, c)| *c == '/').map_or(1, |(at, _)| at + 1);
    format!("{}{}", url.site(), &path[..end.min(path.len())])
}

#[cfg(test)]
mod tests {
    use model::{Candidate, Outcome, PayloadDigest};
    use store::{Batch, MemoryStore, Store};

    use super::*;

    const DAY_US: u64 = 86_400_000_000;

    /// A store with pages and the contents that visits found, one a day; 0 where the page was gone.
    fn store(pages: &[(&str, &[u8])]) -> MemoryStore {
        let store = MemoryStore::new();
        for (path, contents) in pages {
            let url = CanonicalUrl::from_canonical(&format!("http://a.test{path}")).expect("a URL");
            let key = url.key();
            store.commit(&Batch { found: vec![Candidate::seed(url)], ..Batch::default() }).expect("a commit");
            let (mut changes, mut before) = (0, None);
            for (day, content) in (0u32..).zip(*contents) {
                let (outcome, status) = if *content == 0 { (Outcome::HttpError, 404) } else { (Outcome::Html, 200) };
                let at = Timestamp(u64::from(day) * DAY_US);
                let digest = (*content > 0).then_some(PayloadDigest([*content; 20]));
                changes += u32::from(before.is_some_and(|before| before != *content));
                before = Some(*content);
                let visit = Visit::without_fetch(key, outcome, String::new(), at);
                let mut visit = Visit { status, digest, attempts: 1, round: day + 1, ..visit };
                (visit.past.visits, visit.past.changes) = (day, changes);
                visit.content_at = (*content == 0).then_some(Timestamp(0));
                store.commit(&Batch { again: vec![key], ..Batch::default() }).expect("a commit");
                store.commit(&Batch { visits: vec![visit], ..Batch::default() }).expect("a commit");
            }
        }
        store
    }

    #[test]
    fn short_times_are_no_part_of_a_day() {
        let cases =
            [(40.0, "40.0 days"), (1.0, "1.0 days"), (0.5, "12.0 hours"), (0.02, "28.8 minutes"), (0.0, "0.0 seconds")];
        for (days, expect) in cases {
            assert_eq!(lasting(days), expect);
        }
    }

    #[test]
    fn pages_that_change_are_less_fresh_than_those_that_do_not() {
        let (fast, slow): (Vec<u8>, Vec<u8>) = ((1..=20).collect(), vec![1; 20]);
        let mut pages: Vec<(String, &[u8])> = (0..10).map(|n| (format!("/news/{n}"), &fast[..])).collect();
        pages.extend((0..10).map(|n| (format!("/docs/{n}"), &slow[..])));
        pages.push(("/gone".to_owned(), &[1, 0]));
        let pages: Vec<(&str, &[u8])> = pages.iter().map(|(path, contents)| (path.as_str(), *contents)).collect();
        let store = store(&pages);
        let freshness = Freshness::of(&store, Timestamp(20 * DAY_US)).expect("a state").expect("an estimate");
        // The page that is gone is no copy.
        assert_eq!((freshness.pages, freshness.visits_again, freshness.changes), (20, 20 * 19, 10 * 19));
        assert_eq!(freshness.visit_yield(), Some(0.5));
        assert!((freshness.visited_days_ago - 1.0).abs() < 1e-9, "{freshness:?}");
        assert!((0.4..0.7).contains(&freshness.fresh) && (0.0..1.0).contains(&freshness.age_days), "{freshness:?}");
        let paths: Vec<(&str, u64)> = freshness.paths.iter().map(|rate| (rate.of.as_str(), rate.pages)).collect();
        assert_eq!(paths, [("http://a.test/docs/", 10), ("http://a.test/news/", 10)]);
        let [docs, news] = [&freshness.paths[0], &freshness.paths[1]];
        assert!(docs.fresh > 0.9 && news.fresh < 0.4, "{freshness:?}");
        assert!(docs.days_between_changes > 20.0 && news.days_between_changes < 1.0, "{freshness:?}");
        assert_eq!((freshness.sites[0].of.as_str(), freshness.sites.len()), ("http://a.test", 1));
        // Later, less is fresh.
        let later = Freshness::of(&store, Timestamp(40 * DAY_US)).expect("a state").expect("an estimate");
        assert!(later.fresh < freshness.fresh && later.age_days > freshness.age_days, "{later:?}");
    }

    #[test]
    fn a_page_of_a_large_crawl_is_read_once() {
        let paths: Vec<String> = (0..60).map(|n| format!("/{n}/page")).collect();
        let pages: Vec<(&str, &[u8])> = paths.iter().map(|path| (path.as_str(), &[1, 1][..])).collect();
        let store = store(&pages);
        // One site, so most places are before or behind it.
        let freshness = Freshness::read(&store, Timestamp(2 * DAY_US), 50, 1).expect("a state").expect("an estimate");
        assert_eq!(freshness.read, freshness.paths.len() as u64, "{freshness:?}");
        assert_eq!(freshness.pages, 60, "all of them");
        assert!(freshness.paths.iter().all(|rate| rate.pages == 1), "{freshness:?}");
    }

    #[test]
    fn a_sample_says_of_how_many_pages_it_is() {
        let few = (0..3).map(|n| format!("/{n}")).collect::<Vec<_>>();
        let many = (0..SITE_PAGES_MAX as u64 + 45).map(|n| format!("/{n}")).collect::<Vec<_>>();
        for (paths, expect) in [
            (few, ["% of 3 pages are as on the web (visited", "\n  3 of 3 visits after the first found a change\n"]),
            (
                many,
                [
                    "% of 301 pages are as on the web (256 of them read; visited",
                    "\n  256 of 256 visits of these 256 after the first found a change\n",
                ],
            ),
        ] {
            let pages: Vec<(&str, &[u8])> = paths.iter().map(|path| (path.as_str(), &[1, 2][..])).collect();
            let freshness =
                Freshness::of(&store(&pages), Timestamp(2 * DAY_US)).expect("a state").expect("an estimate");
            let text = freshness.to_string();
            assert!(expect.iter().all(|part| text.contains(part)), "{text}");
            assert_eq!(freshness.pages, pages.len() as u64);
        }
    }

    #[test]
    fn each_page_of_a_large_site_counts() {
        // One site whose pages are all fresh, and a small one whose pages are not: in the sample of the large one is only a part.
        let store = MemoryStore::new();
        let mut pages = vec![("http://b.test/0".to_owned(), true)];
        pages.extend((0..2 * SITE_PAGES_MAX).map(|n| (format!("http://a.test/{n}"), false)));
        pages.extend((1..SITE_PAGES_MAX).map(|n| (format!("http://b.test/{n}"), true)));
        for (url, is_fast) in pages {
            let url = CanonicalUrl::from_canonical(&url).expect("a URL");
            let key = url.key();
            store.commit(&Batch { found: vec![Candidate::seed(url)], ..Batch::default() }).expect("a commit");
            for day in 0..4_u8 {
                let content = if is_fast { day } else { 0 };
                let at = Timestamp(u64::from(day) * DAY_US);
                let visit = Visit::without_fetch(key, Outcome::Html, String::new(), at);
                let digest = Some(PayloadDigest([content; 20]));
                let mut visit = Visit { status: 200, digest, attempts: 1, round: u32::from(day) + 1, ..visit };
                visit.past.visits = u32::from(day);
                store.commit(&Batch { again: vec![key], ..Batch::default() }).expect("a commit");
                store.commit(&Batch { visits: vec![visit], ..Batch::default() }).expect("a commit");
            }
        }
        let freshness = Freshness::of(&store, Timestamp(4 * DAY_US)).expect("a state").expect("an estimate");
        let [a, b] = ["http://a.test", "http://b.test"]
            .map(|of| freshness.sites.iter().find(|site| site.of == of).expect("a site").fresh);
        assert!(a - b > 0.3, "{freshness:?}");
        let all = 2.0 / 3.0 * a + b / 3.0;
        assert!((freshness.fresh - all).abs() < 1e-9, "{all}: {freshness:?}");
        assert_eq!((freshness.pages, freshness.read), (3 * SITE_PAGES_MAX as u64, 2 * SITE_PAGES_MAX as u64));
    }

    #[test]
    fn visits_count_also_where_the_clock_was_set_back() {
        let store = store(&[("/", &[1, 2, 2, 3])]);
        let key = CanonicalUrl::from_canonical("http://a.test/").expect("a URL").key();
        let last = store.get(key).expect("a state").and_then(|entry| entry.visit).expect("a visit");
        // Its date is before those of the others.
        let fifth = Visit { at: Timestamp(1), round: 5, ..last };
        let mut fifth = Visit { digest: Some(PayloadDigest([4; 20])), ..fifth };
        fifth.past.visits = 4;
        store.commit(&Batch { again: vec![key], ..Batch::default() }).expect("a commit");
        store.commit(&Batch { visits: vec![fifth], ..Batch::default() }).expect("a commit");
        let freshness = Freshness::of(&store, Timestamp(5 * DAY_US)).expect("a state").expect("an estimate");
        assert_eq!((freshness.visits_again, freshness.changes), (4, 3));
    }

    #[test]
    fn one_visit_tells_nothing_of_changes() {
        assert_eq!(Freshness::of(&store(&[("/", &[1])]), Timestamp(DAY_US)).expect("a state"), None);
        assert_eq!(Freshness::of(&store(&[]), Timestamp(DAY_US)).expect("a state"), None);
    }
}
