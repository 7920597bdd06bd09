//! What a change would affect, estimated from a sample of the URLs.
//!
//! Keys are hashes. So the URLs of a site with the lowest keys are a random sample of that site, and the first sites in key order are a random
//! sample of the sites. If the sample has its part of every site, the error is that of a count of independent URLs. If time ran out before, it
//! is that of a ratio between sites, which differ: there must be many of them, and those of the sample as large as the others.

use store::{CrawlView, Mark, Outline, Slice, StoreError, Totals};
use weburl::SiteKey;

use super::criterion::Criterion;
use super::tally::{Affected, Tally};

/// URLs of a crawl that is counted at once, without a sample.
const COUNTED_AT_ONCE_MAX: u64 = 100_000;
/// URLs of a sample.
const SAMPLE_URLS: u64 = 20_000;
/// URLs of a site in the sample, on average: with fewer, look-ups would cost more than what they find.
const OF_A_SITE_MIN: u64 = 16;
/// URLs read at once.
const URLS_AT_ONCE: usize = 256;
/// Sites from which an estimate for all sites can be made.
const SITES_MIN: f64 = 30.0;
/// By how much the size of the sampled sites may differ from that of all.
const SIZE_RATIO_MAX: f64 = 1.25;
/// Standard errors on each side of an estimate: 95 % of a normal distribution lie between.
const STANDARD_ERRORS: f64 = 1.96;
/// What this many independent URLs or sites may have been missed, with the same confidence, if a few or none were seen.
const UNSEEN: f64 = STANDARD_ERRORS * STANDARD_ERRORS;
/// Sites with affected URLs from which on their differences tell the error.
const AFFECTED_SITES_MIN: f64 = 10.0;

/// A number of URLs that was not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimated {
    /// The estimate.
    pub about: u64,
    /// How far it may be from the number, with 95 % confidence.
    pub error: u64,
}

/// What a change would affect, by a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// URLs of the sample.
    pub sampled: u64,
    /// URLs in the queue.
    pub queued: Estimated,
    /// URLs that were fetched already, and stay.
    pub fetched: Estimated,
    /// URLs that would be visited again.
    pub again: Estimated,
    /// The sample has its part of every site.
    pub of_all_sites: bool,
    sites: Tally,
    /// One URL of so many is in the sample, of each site.
    parts: u64,
}

impl std::fmt::Display for Estimated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "about {} ± {}", self.about, self.error)
    }
}

impl Estimate {
    /// The `max` sites of the sample with the most such URLs, the most first: in the queue, fetched, to be visited again.
    #[must_use]
    pub fn by_site(&self, max: usize) -> Vec<(String, [Estimated; 3])> {
        let of_site =
            |(site, affected): (String, Affected)| (site, kinds(affected).map(|n| independent(n, self.parts)));
        self.sites.by_site(max).into_iter().map(of_site).collect()
    }
}

fn kinds(Affected { queued, fetched, again, .. }: Affected) -> [u64; 3] {
    [queued, fetched, again]
}

/// The estimate of a number of which one of `parts` was seen `n` times.
fn independent(n: u64, parts: u64) -> Estimated {
    let (seen, parts_seen) = (float(n), float(parts));
    let unseen = 1.0 - 1.0 / parts_seen;
    let error = parts_seen * (STANDARD_ERRORS * (seen * unseen).sqrt() + UNSEEN * unseen);
    Estimated { about: n.saturating_mul(parts), error: whole(error) }
}

fn float(n: u64) -> f64 {
    n as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate, which is not negative")]
fn whole(n: f64) -> u64 {
    n.ceil() as u64
}

/// A sample that is being taken.
pub(super) struct Sample {
    known: u64,
    /// One URL of so many.
    parts: u64,
    tally: Tally,
    looked_at: u64,
    sums: Sums,
    site: Option<OneSite>,
}

/// URLs of a site in the sample, and how many of them are affected.
struct OneSite {
    key: SiteKey,
    urls: u64,
    affected: Affected,
}

/// Sums over the sites of a sample, for their ratio (a ratio estimator of clusters).
#[derive(Clone, Copy, Default)]
struct Sums {
    sites: f64,
    urls: f64,
    urls_squared: f64,
    kinds: [OfKind; 3],
}

#[derive(Clone, Copy, Default)]
struct OfKind {
    sites: f64,
    sum: f64,
    squared: f64,
    with_urls: f64,
}

impl Sums {
    fn add(&mut self, site: &OneSite) {
        let urls = float(site.urls);
        self.sites += 1.0;
        self.urls += urls;
        self.urls_squared += urls * urls;
        for (kind, n) in self.kinds.iter_mut().zip(kinds(site.affected).map(float)) {
            kind.sites += if n > 0.0 { 1.0 } else { 0.0 };
            kind.sum += n;
            kind.squared += n * n;
            kind.with_urls += n * urls;
        }
    }

    /// The estimate for `known` URLs, if the sites in the sample are this part of all.
    fn estimated(&self, kind: OfKind, known: f64, part: f64) -> Estimated {
        let ratio = kind.sum / self.urls;
        let differences = kind.squared - 2.0 * ratio * kind.with_urls + ratio * ratio * self.urls_squared;
        let variance = differences.max(0.0) * self.sites / (self.sites - 1.0) * (1.0 - part);
        let by_difference = STANDARD_ERRORS * variance.sqrt() * known / self.urls;
        let unseen = if kind.sites < AFFECTED_SITES_MIN { UNSEEN * known / self.sites } else { 0.0 };
        Estimated { about: whole((ratio * known).floor()), error: whole(by_difference.max(unseen)) }
    }
}

impl Sample {
    /// `None` of a crawl that is counted at once.
    pub(super) fn of(totals: &Totals) -> Option<Self> {
        let known = totals.urls;
        let of_a_site = known / totals.sites.max(1);
        let parts = (known / SAMPLE_URLS).min(of_a_site / OF_A_SITE_MIN).max(1);
        (known > COUNTED_AT_ONCE_MAX).then(|| Sample {
            known,
            parts,
            tally: Tally::default(),
            looked_at: 0,
            sums: Sums::default(),
            site: None,
        })
    }

    /// Takes it, as far as there is time, and says what it tells.
    pub(super) fn taken(
        mut self,
        criterion: &Criterion,
        view: &dyn CrawlView,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<Estimate>, StoreError> {
        let slice = Slice::one_of(self.parts);
        let mut from: Option<Mark> = None;
        loop {
            let Some(outlines) = view.outlines(Some(slice), from.as_ref(), URLS_AT_ONCE)? else { return Ok(None) };
            for outline in &outlines.urls {
                self.look_at(outline, criterion.affected(outline));
            }
            from = outlines.next;
            if from.is_none() || !goes_on() {
                return Ok(if from.is_none() { Some(self.of_all_sites()) } else { self.of_some_sites() });
            }
        }
    }

    fn look_at(&mut self, outline: &Outline, affected: Affected) {
        let key = outline.key.site;
        if self.site.as_ref().is_none_or(|site| site.key != key) {
            let next = OneSite { key, urls: 0, affected: Affected::default() };
            if let Some(before) = self.site.replace(next) {
                self.sums.add(&before);
            }
        }
        if let Some(site) = &mut self.site {
            site.urls += 1;
            site.affected += affected;
        }
        self.looked_at += 1;
        self.tally.count(outline, affected);
    }

    fn of_all_sites(self) -> Estimate {
        let [queued, fetched, again] = kinds(self.tally.affected).map(|n| independent(n, self.parts));
        self.estimate([queued, fetched, again], true)
    }

    /// The last site was not looked at to its end, and does not count.
    fn of_some_sites(self) -> Option<Estimate> {
        let (known, last) = (float(self.known), float(self.site.as_ref()?.key.0));
        let part = last / float(u64::MAX);
        let size_ratio = self.sums.urls * float(self.parts) / (part * known);
        let is_like_all = size_ratio < SIZE_RATIO_MAX && size_ratio > 1.0 / SIZE_RATIO_MAX;
        if self.sums.sites < SITES_MIN || !is_like_all {
            return None;
        }
        let estimated = self.sums.kinds.map(|kind| self.sums.estimated(kind, known, part));
        Some(self.estimate(estimated, false))
    }

    fn estimate(self, [queued, fetched, again]: [Estimated; 3], of_all_sites: bool) -> Estimate {
        Estimate { sampled: self.looked_at, queued, fetched, again, of_all_sites, sites: self.tally, parts: self.parts }
    }
}

#[cfg(test)]
mod tests {
    use model::Purpose;
    use settings::options::Options;
    use store::MemoryStore;
    use weburl::UrlKey;

    use super::*;
    use crate::steer::{Change, Counting, Taker};

    /// Of 20 estimates with 95 % confidence, fewer are right once in sixty times.
    const RIGHT_MIN: u32 = 17;

    /// A URL of a made crawl: its key, its site and its number there.
    type Made = (UrlKey, usize, u64);

    /// Numbers as hashes give them (`SplitMix64`).
    fn mixed(n: u64) -> u64 {
        let n = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        n ^ (n >> 31)
    }

    /// The URLs of sites of these sizes, in key order.
    fn made(sizes: &[u64]) -> Vec<Made> {
        let site = |at: usize| SiteKey(mixed(at as u64));
        let key = |at: usize, n: u64| UrlKey { site: site(at), url: mixed(mixed(at as u64) ^ n) };
        let urls = sizes.iter().enumerate().flat_map(|(at, size)| (0..*size).map(move |n| (key(at, n), at, n)));
        let mut urls: Vec<Made> = urls.collect();
        urls.sort_unstable();
        urls
    }

    /// Looks at a crawl in which `is_affected` says which URLs are affected; the time is over after `windows`. The number of affected URLs,
    /// and the estimate, which may be of all sites.
    fn estimated(
        urls: &[Made],
        is_affected: &dyn Fn(usize, u64) -> bool,
        windows: usize,
    ) -> (u64, Option<(Estimated, bool)>) {
        let mut sites: Vec<usize> = urls.iter().map(|(_, site, _)| *site).collect();
        sites.dedup();
        let totals = Totals { urls: urls.len() as u64, sites: sites.len() as u64, ..Totals::default() };
        let mut sample = Sample::of(&totals).expect("a large crawl");
        let slice = Slice::one_of(sample.parts);
        let mut left = urls.iter().filter(|(key, ..)| slice.has(*key)).peekable();
        for (key, site, n) in left.by_ref().take(windows.saturating_mul(URLS_AT_ONCE)) {
            let url = "http://a.test/".to_owned();
            let outline = Outline { key: *key, url, purpose: Purpose::Page, outcome: None, again: false };
            let affected = if is_affected(*site, *n) { Affected::QUEUED } else { Affected::default() };
            sample.look_at(&outline, affected);
        }
        let estimate = if left.peek().is_none() { Some(sample.of_all_sites()) } else { sample.of_some_sites() };
        let affected = urls.iter().filter(|(_, site, n)| is_affected(*site, *n)).count() as u64;
        (affected, estimate.map(|estimate| (estimate.queued, estimate.of_all_sites)))
    }

    fn contains(Estimated { about, error }: Estimated, number: u64) -> bool {
        number.abs_diff(about) <= error
    }

    #[test]
    fn a_sample_of_every_site_is_as_good_as_it_says() {
        let (urls, mut right) = (made(&[110_000, 50_000, 9_000]), 0);
        for one_of in 2..22 {
            let (affected, estimate) = estimated(&urls, &|_, n| n % one_of == 0, usize::MAX);
            let (queued, of_all_sites) = estimate.expect("an estimate");
            assert!(of_all_sites && queued.error < affected / 5, "{affected}: {queued}");
            right += u32::from(contains(queued, affected));
        }
        assert!(right >= RIGHT_MIN, "{right} of 20 estimates of 95 % confidence are right");
    }

    #[test]
    fn a_sample_of_some_sites_is_as_good_as_it_says() {
        let urls = made(&(0..12_000).map(|site| 5 + site % 11).collect::<Vec<_>>());
        let mut right = 0;
        for seed in 0..20 {
            // Each site has a share of its own.
            let is_affected = |site: usize, n: u64| (n * 7 + seed).is_multiple_of(2 + (site as u64 * 31 + seed) % 9);
            let (affected, estimate) = estimated(&urls, &is_affected, 60);
            let (queued, of_all_sites) = estimate.expect("an estimate");
            assert!(!of_all_sites && queued.error < affected / 4, "{affected}: {queued}");
            right += u32::from(contains(queued, affected));
        }
        assert!(right >= RIGHT_MIN, "{right} of 20 estimates of 95 % confidence are right");
    }

    #[test]
    fn no_estimate_is_made_where_the_sample_does_not_tell() {
        let few = made(&[6_000; 20]);
        assert_eq!(estimated(&few, &|_, _| true, 2).1, None, "two windows of 20 sites");
        // One site has nine of ten URLs.
        let mut sizes = vec![10; 2_000];
        sizes.push(180_000);
        let skewed = made(&sizes);
        let (_, estimate) = estimated(&skewed, &|site, _| site == 2_000, 2);
        assert_eq!(estimate, None, "the large site is not in the sample");
        assert!(Sample::of(&Totals { urls: COUNTED_AT_ONCE_MAX, ..Totals::default() }).is_none());
    }

    #[test]
    fn nothing_seen_is_not_nothing() {
        let (affected, estimate) = estimated(&made(&[200_000]), &|_, n| n == 77, usize::MAX);
        let (queued, _) = estimate.expect("an estimate");
        assert!(contains(queued, affected) && queued.error > 0, "{queued}");
    }

    #[test]
    fn a_state_without_a_way_to_sample_is_counted_only() {
        struct Plain(MemoryStore);
        impl store::Layer for Plain {
            fn below(&self) -> &dyn CrawlView {
                &self.0
            }
        }
        let plain = Plain(MemoryStore::new());
        let change = Change::Exclude(vec!["*".to_owned()]);
        let criterion = Criterion::of(&change, &Options::default(), &plain).expect("a change");
        let totals = Totals { urls: 1_000_000, sites: 10, ..Totals::default() };
        let taken =
            |view: &dyn CrawlView| Sample::of(&totals).expect("a large crawl").taken(&criterion, view, &|| true);
        assert_eq!(taken(&plain).expect("a state"), None);
        assert!(taken(&plain.0).expect("a state").is_some());
        let mut counting = Counting::of(&change, &Options::default(), &plain, Taker::Run).expect("a change");
        while !counting.is_complete() {
            counting.look_on(&plain).expect("a state");
        }
        assert_eq!(counting.looked_at(), 0);
    }
}
