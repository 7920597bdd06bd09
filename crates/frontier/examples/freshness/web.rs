//! A web that changes: sites, pages, how fast and in which manner they change, and how fresh copies could be at best.

use super::ideal::Curve;
use super::manner::{BURST_CHANGES, BURSTS, DAILY, DAY, Manner};

/// Random numbers (splitmix64), the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn part(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (radius, angle) = ((-2.0 * self.part().max(1e-300).ln()).sqrt(), std::f64::consts::TAU * self.part());
        radius * angle.cos()
    }

    /// The time until something happens that happens so often.
    pub fn wait(&mut self, rate: f64) -> f64 {
        -self.part().max(1e-300).ln() / rate
    }
}

/// What half of the sites say of changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Says {
    /// Nothing.
    Nothing,
    /// Nine changes in ten, as they come; and one wrong signal for ten changes.
    Truth,
    /// Eight changes in ten; and three wrong signals for ten changes.
    MostlyTruth,
    /// As often as the page changes, but at other times. Every second of these sites: each day, of all pages.
    Lies,
}

impl Says {
    /// The part of the changes that are said, and how many wrong signals come with each change.
    fn parts(self) -> Option<(f64, f64)> {
        match self {
            Says::Nothing => None,
            Says::Truth => Some((0.9, 0.1)),
            Says::MostlyTruth => Some((0.8, 0.3)),
            Says::Lies => Some((0.0, 1.0)),
        }
    }
}

/// What the dates of contents are worth (`Last-Modified`) that half of the sites send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dates {
    /// There are none.
    Nothing,
    /// They say when the page changed last.
    Truth,
    /// Some sites give the date of the request, some always the same, and some a new one now and then, whatever the page does.
    Lies,
}

/// What half of the sites say of how long a copy may be used (`Cache-Control`, `Expires`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Caches {
    /// Nothing.
    Nothing,
    /// The time between changes, as well as sites know it: for a third of the pages it is wrong by a factor of three or more.
    Truth,
    /// Any time, whatever the page does.
    Lies,
}

/// How wrong sites are about the time between changes: the deviation of its logarithm.
const CACHES_DEVIATION: f64 = 1.1;
/// What they may say, in days: nothing, an hour, a day, a week, a month, a year.
const MAX_AGES: [f64; 6] = [0.01, 1.0 / 24.0, 1.0, 7.0, 30.0, 365.0];
/// A site states the first of these times that is not shorter than its own divided by this.
const MAX_AGE_STEP: f64 = 2.5;

/// How the times between changes are distributed over pages.
#[derive(Clone, Copy)]
pub enum Rates {
    /// Lognormal around [`MEDIAN_DAYS`]; the deviation of the logarithm.
    Lognormal(f64),
    /// One page in five changes every two days, the others every 300.
    TwoKinds,
    /// Their logarithm is uniform from an hour to ten years.
    Uniform,
}

impl Rates {
    /// The time between changes of a page, in days.
    fn days(self, random: &mut Random) -> f64 {
        match self {
            Rates::Lognormal(deviation) => MEDIAN_DAYS * (deviation * random.normal()).exp(),
            Rates::TwoKinds if random.part() < 0.2 => 2.0,
            Rates::TwoKinds => 300.0,
            Rates::Uniform => (87_660.0_f64.ln() * random.part()).exp() / 24.0,
        }
    }
}

/// What a web is like.
#[derive(Clone, Copy)]
pub struct Kind {
    pub rates: Rates,
    pub manner: Manner,
    pub says: Says,
    pub dates: Dates,
    pub caches: Caches,
    pub is_pareto: bool,
}

/// The median time between changes, in days.
const MEDIAN_DAYS: f64 = 30.0;
/// The same in seconds.
const MEDIAN: f64 = MEDIAN_DAYS * DAY;

/// The web.
pub struct Web {
    pub kind: Kind,
    pub rates: Vec<f64>,
    pub importances: Vec<f64>,
    pub sites: Vec<u32>,
    /// The part of all visits that a site may have.
    pub site_part: f64,
    /// How long a copy of each page may be used, as its site states it: a place in [`MAX_AGES`].
    pub max_ages: Vec<u8>,
    /// When all pages of a site change, in order.
    events: Vec<Vec<f64>>,
    /// How often that is.
    event_rates: Vec<f64>,
}

/// Pages of a site, on average.
const SITE_PAGES: usize = 100;
/// The part of all visits that one site may have: the greatest ones want more.
const SITE_PART: f64 = 0.03;
/// How much sites differ in how often all their pages change: the deviation of the logarithm.
const EVENTS_DEVIATION: f64 = 1.0;

impl Web {
    pub fn new(kind: Kind, pages: usize, seconds: f64) -> Self {
        let mut random = Random(7);
        let mut rates: Vec<f64> = (0..pages).map(|_| 1.0 / DAY / kind.rates.days(&mut random)).collect();
        let importance =
            |random: &mut Random| if kind.is_pareto { random.part().max(1e-6).powf(-1.0 / 1.5) } else { 1.0 };
        let importances = (0..pages).map(|_| importance(&mut random)).collect();
        // Sizes by Zipf: site `n` is `1/n` of the greatest.
        let count = (pages / SITE_PAGES).max(2);
        let harmonic: f64 = (1..=count).map(|n| 1.0 / n as f64).sum();
        let mut ends: Vec<f64> = Vec::new();
        (1..=count).for_each(|n| ends.push(ends.last().unwrap_or(&0.0) + 1.0 / (n as f64 * harmonic)));
        let site = |random: &mut Random| {
            let place = random.part();
            ends.partition_point(|end| *end < place).min(count - 1) as u32
        };
        let sites: Vec<u32> = (0..pages).map(|_| site(&mut random)).collect();
        let event_rate = |site: usize| match kind.manner.of_site(site as u32) {
            Manner::Together => 0.5 / MEDIAN * (EVENTS_DEVIATION * random.normal()).exp(),
            _ => 0.0,
        };
        let event_rates: Vec<f64> = (0..count).map(event_rate).collect();
        for (rate, site) in rates.iter_mut().zip(&sites) {
            let of_site = event_rates[*site as usize];
            if of_site > 0.0 {
                *rate = *rate / 2.0 + of_site;
            }
        }
        let mut events = |rate: &f64| -> Vec<f64> {
            let mut at = 0.0;
            let next = || {
                at += random.wait(*rate);
                (at < 2.0 * seconds).then_some(at)
            };
            std::iter::from_fn(next).collect()
        };
        let events = event_rates.iter().map(&mut events).collect();
        let mut max_age = |page: usize| {
            let days = match kind.caches {
                _ if !sites[page].is_multiple_of(2) => 0.0,
                Caches::Nothing => 0.0,
                Caches::Truth => 1.0 / rates[page] / DAY * (CACHES_DEVIATION * random.normal()).exp(),
                Caches::Lies => MAX_AGES[(MAX_AGES.len() as f64 * random.part()) as usize],
            };
            MAX_AGES.partition_point(|age| *age * MAX_AGE_STEP < days).min(MAX_AGES.len() - 1) as u8
        };
        let max_ages = (0..pages).map(&mut max_age).collect();
        let site_part = SITE_PART.max(3.0 / count as f64);
        Web { kind, rates, importances, sites, site_part, max_ages, events, event_rates }
    }

    /// In which manner a page changes.
    fn manner(&self, page: usize) -> Manner {
        self.kind.manner.of_site(self.sites[page])
    }

    pub fn site_count(&self) -> usize {
        self.sites.iter().max().map_or(0, |most| *most as usize + 1)
    }

    /// Whether a site says anything of changes.
    pub fn says(&self, site: usize) -> bool {
        self.says_anything() && site.is_multiple_of(2)
    }

    pub fn says_anything(&self) -> bool {
        self.kind.says != Says::Nothing
    }

    /// When the next change of a page is announced, if it was visited at this time and changes at that.
    pub fn next_signal(&self, page: usize, visited_at: f64, changes_at: f64, random: &mut Random) -> f64 {
        let site = self.sites[page];
        let Some((right, wrong)) = self.kind.says.parts().filter(|_| self.says(site as usize)) else {
            return f64::INFINITY;
        };
        if self.kind.says == Says::Lies && site.is_multiple_of(4) {
            return visited_at + DAY * random.part();
        }
        // If not this change, then one of the next ones.
        let is_said = random.part() < right;
        let said_at = if is_said { changes_at } else { changes_at + random.wait(right * self.rates[page]) };
        said_at.min(visited_at + random.wait(wrong * self.rates[page]))
    }

    /// Whether a site dates its contents.
    pub fn dates(&self, site: usize) -> bool {
        self.kind.dates != Dates::Nothing && site.is_multiple_of(2)
    }

    /// The date of a page that was dated so, at a visit now; it changed first after the visit before at this time.
    pub fn date(&self, page: usize, before: f64, now: f64, changed_at: f64, random: &mut Random) -> f64 {
        let rate = self.rates[page];
        match (self.kind.dates, self.sites[page] / 2 % 3) {
            // The last change, not the first one.
            (Dates::Truth, _) if changed_at <= now => (now - random.wait(rate)).max(changed_at),
            (Dates::Lies, 0) => now,
            (Dates::Lies, 1) => Some(now - random.wait(rate)).filter(|date| *date > before).unwrap_or(before),
            _ => before,
        }
    }

    /// When a page changes next.
    pub fn next_change(&self, page: usize, from: f64, random: &mut Random) -> f64 {
        let rate = self.rates[page];
        match self.manner(page) {
            Manner::Poisson | Manner::Mixed => from + random.wait(rate),
            Manner::Bursts => BURSTS.end(from, BURST_CHANGES / rate, page as f64 * 0.618_034, random.wait(rate)),
            Manner::Daily => DAILY.end(from, DAY, f64::from(self.sites[page]) * 0.618_034, random.wait(rate)),
            Manner::Together => {
                let site = self.sites[page] as usize;
                let events = &self.events[site];
                let next = events.get(events.partition_point(|at| *at <= from)).copied().unwrap_or(f64::INFINITY);
                next.min(from + random.wait(rate - self.event_rates[site]))
            }
        }
    }

    /// The freshness of the best schedule that knows all rates and manners, but neither when bursts and days begin nor what visits of other
    /// pages find. For so many visits a second: each page is visited when a visit is worth `Λ`, which the budget sets, and greater for sites
    /// that may not be asked so often.
    pub fn optimum(&self, visits_per_second: f64) -> f64 {
        let curves: Vec<&Curve> =
            self.rates.iter().enumerate().map(|(page, rate)| Curve::of(self.manner(page), *rate)).collect();
        let visits = |page: usize, worth: f64| curves[page].visits(worth * self.rates[page] / self.importances[page]);
        let cap = self.site_part * visits_per_second;
        let mut of_sites = vec![Vec::new(); self.site_count()];
        self.sites.iter().enumerate().for_each(|(page, site)| of_sites[*site as usize].push(page));
        let demand = |site: &Vec<usize>, worth: f64| -> f64 {
            site.iter().map(|page| self.rates[*page] * visits(*page, worth).0).sum()
        };
        let halve = |most: f64, demand: &dyn Fn(f64) -> f64| {
            let (mut low, mut high) = (1e-6_f64, 1e14_f64);
            for _ in 0..70 {
                let middle = (low * high).sqrt();
                if demand(middle) > most { low = middle } else { high = middle }
            }
            high
        };
        let worth = halve(visits_per_second, &|worth| of_sites.iter().map(|site| demand(site, worth).min(cap)).sum());
        let fresh = |site: &Vec<usize>| -> f64 {
            let worth = if demand(site, worth) > cap { halve(cap, &|worth| demand(site, worth)) } else { worth };
            site.iter().map(|page| self.importances[*page] * visits(*page, worth).1).sum()
        };
        of_sites.iter().map(fresh).sum::<f64>() / self.importances.iter().sum::<f64>()
    }
}
