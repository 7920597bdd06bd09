//! A web that changes: sites, pages, how fast and in which manner they change, and how fresh copies could be at best.

use std::sync::LazyLock;

use frontier::revisit::value;

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

/// In which manner pages change.
#[derive(Clone, Copy, PartialEq)]
pub enum Manner {
    /// By themselves, at any time.
    Poisson,
    /// Five times in a tenth of the time, then not for long.
    Bursts,
    /// In eight hours of each day.
    Daily,
    /// Half of all changes come to all pages of a site at once.
    Together,
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
    pub is_pareto: bool,
}

/// The median time between changes, in days.
const MEDIAN_DAYS: f64 = 30.0;
/// The same in seconds.
const MEDIAN: f64 = MEDIAN_DAYS * 86_400.0;

/// The web.
pub struct Web {
    pub kind: Kind,
    pub rates: Vec<f64>,
    pub importances: Vec<f64>,
    pub sites: Vec<u32>,
    /// The part of all visits that a site may have.
    pub site_part: f64,
    /// When all pages of a site change, in order.
    events: Vec<Vec<f64>>,
}

/// Pages of a site, on average.
const SITE_PAGES: usize = 100;
/// The part of all visits that one site may have: the greatest ones want more.
const SITE_PART: f64 = 0.03;

impl Web {
    pub fn new(kind: Kind, pages: usize, seconds: f64) -> Self {
        let mut random = Random(7);
        let rates: Vec<f64> = (0..pages).map(|_| 1.0 / 86_400.0 / kind.rates.days(&mut random)).collect();
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
        let sites = (0..pages).map(|_| site(&mut random)).collect();
        let events = match kind.manner {
            Manner::Together => (0..count)
                .map(|_| {
                    let rate = 0.5 / MEDIAN;
                    let mut at = 0.0;
                    std::iter::from_fn(|| {
                        at += random.wait(rate);
                        (at < 2.0 * seconds).then_some(at)
                    })
                    .collect()
                })
                .collect(),
            _ => Vec::new(),
        };
        Web { kind, rates, importances, sites, site_part: SITE_PART.max(3.0 / count as f64), events }
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
            return visited_at + 86_400.0 * random.part();
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
        match self.kind.manner {
            Manner::Poisson => from + random.wait(rate),
            Manner::Bursts => in_windows(from, 5.0 / rate, 0.1, page as f64 * 0.618_034, random.wait(rate)),
            Manner::Daily => {
                in_windows(from, 86_400.0, 1.0 / 3.0, f64::from(self.sites[page]) * 0.618_034, random.wait(rate))
            }
            Manner::Together => {
                let events = &self.events[self.sites[page] as usize];
                let next = events.get(events.partition_point(|at| *at <= from)).copied().unwrap_or(f64::INFINITY);
                next.min(from + random.wait(rate / 2.0))
            }
        }
    }

    /// The freshness of the best schedule that knows all rates, for so many visits a second: each page is visited when a visit is worth
    /// `Λ`, which the budget sets, and greater for sites that may not be asked so often.
    pub fn optimum(&self, visits_per_second: f64) -> f64 {
        let rate_of = |page: usize, worth: f64| {
            let part = worth * self.rates[page] / self.importances[page];
            if part >= 1.0 { 0.0 } else { self.rates[page] / expected(part) }
        };
        let cap = self.site_part * visits_per_second;
        let mut of_sites = vec![Vec::new(); self.site_count()];
        self.sites.iter().enumerate().for_each(|(page, site)| of_sites[*site as usize].push(page));
        let demand = |site: &Vec<usize>, worth: f64| -> f64 { site.iter().map(|page| rate_of(*page, worth)).sum() };
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
            let fresh = |page: &usize| {
                let visits = rate_of(*page, worth);
                let ratio = self.rates[*page] / visits;
                if visits > 0.0 { self.importances[*page] * (1.0 - (-ratio).exp()) / ratio } else { 0.0 }
            };
            site.iter().map(fresh).sum()
        };
        of_sites.iter().map(fresh).sum::<f64>() / self.importances.iter().sum::<f64>()
    }
}

/// The end of so much waiting, where time counts in a part of each period alone, and there so much more.
fn in_windows(from: f64, period: f64, part: f64, phase: f64, wait: f64) -> f64 {
    let position = (from / period + phase).rem_euclid(1.0) * period;
    let active = part * period;
    // Time that counts, since the period began.
    let mut left = wait * part + position.min(active);
    let whole = (left / active).floor();
    left -= whole * active;
    from - position + whole * period + left
}

/// Changes expected between two visits, and what a visit is worth then, for one change a second.
static EXPECTED: LazyLock<Vec<(f64, f64)>> = LazyLock::new(|| {
    let expected = |n: u32| 1e-5 * (f64::from(n) / 200.0).exp();
    (0..3_200).map(|n| (expected(n), value(1.0, expected(n)))).collect()
});

/// The changes expected between two visits, where `value(1, x)` is to be so much.
fn expected(part: f64) -> f64 {
    let table = &*EXPECTED;
    let high = table.partition_point(|(_, value)| *value < part).clamp(1, table.len() - 1);
    let ((low_x, low), (high_x, high)) = (table[high - 1], table[high]);
    low_x + ((part - low) / (high - low).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0) * (high_x - low_x)
}
