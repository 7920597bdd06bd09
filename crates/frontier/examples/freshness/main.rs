//! How fresh the copies of a changing web are by several rules, beside the analytic optimum.
//!
//! `cargo xtask bench freshness [PAGES] [VISITS] [ONLY...]`, where ONLY is a web, a rule, an importance, or the days of a budget: of each kind
//! all, if none is given. `choosing` measures what choosing costs.
//!
//! No rule knows the rates but the last. Every rule has the same visits in each round, and no site has more than a few
//! in a hundred of them, as its delay would have it. In the second half of the time the share of copies that are right is averaged, weighed
//! by importance. Nutch's rule is that of AdaptiveFetchSchedule (interval × 1.4 or × 0.8, by nutch-default.xml), StormCrawler's that of
//! AdaptiveScheduler (× 1.5 or × 0.5); both are scaled to the budget by visiting first what is due first. The optimum visits each page
//! at equal intervals, by its rate and by the manner in which it changes. It does not know when bursts and days begin.

#![expect(clippy::print_stdout, reason = "its output is a table")]
#![expect(clippy::disallowed_methods, reason = "it measures time")]

mod ideal;
mod manner;
mod rules;
mod web;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::LazyLock;
use std::time::Instant;

use frontier::budget::{Budget, Tests};
use frontier::calendar::Calendar;
use frontier::common_changes::{self, Common, Visited};
use frontier::revisit::{Belief, Prior};
use frontier::signals::Dating;
use manner::{DAY, Manner};
use rules::{Given, Intervals, Ours, Rule};
use web::{Caches, Dates, Kind, Random, Rates, Says, Web};

/// Pages, unless told otherwise.
const PAGES: usize = 100_000;
/// Visits of each on average, unless told otherwise. The second half is measured.
const VISITS: f64 = 60.0;
/// Pages among which is chosen to see what that costs.
const CHOSEN_OF: u32 = 10_000_000;
/// Rounds in which a page is visited once on average.
const ROUNDS_PER_VISIT: f64 = 50.0;

/// The freshness that a rule comes to.
fn run(web: &Web, per_second: f64, seconds: f64, rule: &mut dyn Rule) -> f64 {
    let pages = web.rates.len();
    let (mut random, mut of_signals, mut of_dates) = (Random(11), Random(13), Random(17));
    let mut visited_at = vec![0.0_f64; pages];
    let mut changes_at: Vec<f64> = (0..pages).map(|page| web.next_change(page, 0.0, &mut random)).collect();
    // Changes that were announced since the last visits of pages.
    let mut signals: Vec<BinaryHeap<Reverse<(u64, usize, u64)>>> = vec![BinaryHeap::new(); web.site_count()];
    let mut read_at = vec![0.0; web.site_count()];
    let mut visits = vec![0_u64; pages];
    let mut listen = |signals: &mut Vec<BinaryHeap<_>>, page: usize, visit: u64, now: f64, changes_at: f64| {
        let at = web.next_signal(page, now, changes_at, &mut of_signals);
        if at < seconds {
            signals[web.sites[page] as usize].push(Reverse(((1e3 * at) as u64, page, visit)));
        }
    };
    (0..pages).for_each(|page| listen(&mut signals, page, 0, 0.0, changes_at[page]));
    let mut dated: Vec<f64> = web.rates.iter().map(|rate| -of_dates.wait(*rate)).collect();
    let is_dated = |page: usize| web.dates(web.sites[page] as usize);
    (0..pages).filter(|page| is_dated(*page)).for_each(|page| rule.dated(page, -dated[page]));
    let begin = seconds / 2.0;
    let fresh_in = |page: usize, from: f64, to: f64| (to - from.max(begin)).max(0.0) * web.importances[page];
    let mut fresh = 0.0;
    let round = pages as f64 / per_second / ROUNDS_PER_VISIT;
    let (mut now, mut allowed) = (0.0, 0.0);
    // What a site may have in this round, and its pages that could not be visited in the last one.
    let mut sites: Vec<(f64, VecDeque<usize>)> = vec![Default::default(); web.site_count()];
    let mut parked = Vec::new();
    while now < seconds {
        now += round;
        allowed += round * per_second;
        for (site, (left, waiting)) in sites.iter_mut().enumerate() {
            *left = left.min(1.0) + web.site_part * round * per_second;
            (0..waiting.len().min(*left as usize)).for_each(|_| parked.push(site));
        }
        for site in 0..sites.len() {
            let Some(every) = rule.reads_every(site).filter(|_| web.says(site) && read_at[site] <= now) else {
                continue;
            };
            read_at[site] = now + every;
            sites[site].0 -= 1.0;
            allowed -= 1.0;
            while signals[site].peek().is_some_and(|Reverse((at, ..))| *at as f64 <= 1e3 * now) {
                let said = signals[site].pop().filter(|Reverse((_, page, visit))| visits[*page] == *visit);
                said.into_iter().for_each(|Reverse((at, page, _))| {
                    rule.signalled(page, at as f64 / 1e3 - visited_at[page], now - visited_at[page]);
                });
            }
        }
        while allowed >= 1.0 {
            let page = match parked.pop() {
                Some(site) => sites[site].1.pop_front(),
                None => rule.take(now, &|site| sites[site].0 >= 1.0),
            };
            let Some(page) = page else { break };
            let (left, waiting) = &mut sites[web.sites[page] as usize];
            if *left < 1.0 {
                waiting.push_back(page);
                continue;
            }
            *left -= 1.0;
            allowed -= 1.0;
            fresh += fresh_in(page, visited_at[page], now.min(changes_at[page]));
            let date = web.date(page, dated[page], now, changes_at[page], &mut of_dates);
            let dating = Dating { ago: now - date, is_new: date.total_cmp(&dated[page]).is_ne() };
            dated[page] = date;
            let (age, has_changed) = (now - visited_at[page], changes_at[page] <= now);
            rule.visited(page, now, age, (has_changed, is_dated(page).then_some(dating)));
            visited_at[page] = now;
            changes_at[page] = web.next_change(page, now, &mut random);
            visits[page] += 1;
            listen(&mut signals, page, visits[page], now, changes_at[page]);
            if rule.begins_again() {
                parked.clear();
                sites.iter_mut().for_each(|(_, waiting)| waiting.clear());
            }
        }
        parked.clear();
    }
    for page in 0..pages {
        fresh += fresh_in(page, visited_at[page], now.min(changes_at[page]));
    }
    fresh / (now - begin) / web.importances.iter().sum::<f64>()
}

/// A web with a name: how often its pages change, in which manner, and what their sites say of it.
type Named = (&'static str, Rates, Manner, Says, Dates, Caches);

const WEBS: [Named; 15] = [
    ("lognormal", Rates::Lognormal(2.0), Manner::Poisson, Says::Nothing, Dates::Nothing, Caches::Nothing),
    ("wide", Rates::Lognormal(4.0), Manner::Poisson, Says::Nothing, Dates::Nothing, Caches::Nothing),
    ("two-kinds", Rates::TwoKinds, Manner::Poisson, Says::Nothing, Dates::Nothing, Caches::Nothing),
    ("any-rate", Rates::Uniform, Manner::Poisson, Says::Nothing, Dates::Nothing, Caches::Nothing),
    ("bursts", Rates::Lognormal(2.0), Manner::Bursts, Says::Nothing, Dates::Nothing, Caches::Nothing),
    ("daily", Rates::Lognormal(2.0), Manner::Daily, Says::Nothing, Dates::Nothing, Caches::Nothing),
    ("together", Rates::Lognormal(2.0), Manner::Together, Says::Nothing, Dates::Nothing, Caches::Nothing),
    ("mixed", Rates::Lognormal(2.0), Manner::Mixed, Says::Nothing, Dates::Nothing, Caches::Nothing),
    ("signals", Rates::Lognormal(2.0), Manner::Poisson, Says::Truth, Dates::Nothing, Caches::Nothing),
    ("noisy-signals", Rates::Lognormal(2.0), Manner::Poisson, Says::MostlyTruth, Dates::Nothing, Caches::Nothing),
    ("lying-signals", Rates::Lognormal(2.0), Manner::Poisson, Says::Lies, Dates::Nothing, Caches::Nothing),
    ("caches", Rates::Lognormal(2.0), Manner::Poisson, Says::Nothing, Dates::Nothing, Caches::Truth),
    ("lying-caches", Rates::Lognormal(2.0), Manner::Poisson, Says::Nothing, Dates::Nothing, Caches::Lies),
    ("dates", Rates::Lognormal(2.0), Manner::Poisson, Says::Nothing, Dates::Truth, Caches::Nothing),
    ("lying-dates", Rates::Lognormal(2.0), Manner::Poisson, Says::Nothing, Dates::Lies, Caches::Nothing),
];
/// Days from one visit of a page to the next, on average: the budgets.
const BUDGETS: [f64; 4] = [28.0, 14.0, 7.0, 3.5];

/// The rules, by what the table calls them.
const RULES: [&str; 6] = [UNIFORM, NUTCH, STORM_CRAWLER, "argiope", BY_MAX_AGE, KNOWN];
const UNIFORM: &str = "uniform";
const NUTCH: &str = "Nutch";
const STORM_CRAWLER: &str = "StormCrawler";
const KNOWN: &str = "rates-known";
/// Ours, where the pages of a site that state the same time have a prior of their own. The program does not do that.
const BY_MAX_AGE: &str = "by-max-age";
/// How important pages are.
const IMPORTANCES: [&str; 2] = ["flat", PARETO];
const PARETO: &str = "Pareto";

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let mut number = || arguments.next_if(|argument| argument.parse::<f64>().is_ok())?.parse::<f64>().ok();
    let (pages, visits) = (number().map_or(PAGES, |pages| pages as usize), number().unwrap_or(VISITS));
    let only = Only(arguments.collect());
    println!("{pages} pages, {visits} visits of each on average; freshness, and its part of the optimum\n");
    let is_wanted = |rule: &&str| only.admits(rule, &RULES) && (*rule != BY_MAX_AGE || only.names(rule));
    let rules: Vec<&str> = RULES.into_iter().filter(is_wanted).collect();
    println!("| web | importance | days | optimum | {} |", rules.join(" | "));
    println!("|---|---|---|---|{}", "---|".repeat(rules.len()));
    let names = WEBS.map(|(name, ..)| name);
    let webs = WEBS.into_iter().filter(|(name, ..)| only.admits(name, &names) && !only.is_choosing());
    for ((name, rates, manner, says, dates, caches), importance) in
        webs.flat_map(|web| IMPORTANCES.map(|importance| (web, importance)))
    {
        for days in BUDGETS {
            if !only.admits(importance, &IMPORTANCES)
                || !only.admits(&days.to_string(), &BUDGETS.map(|days| days.to_string()))
            {
                continue;
            }
            let interval = days * DAY;
            let (per_second, seconds) = (pages as f64 / interval, visits * interval);
            let web =
                Web::new(Kind { rates, manner, says, dates, caches, is_pareto: importance == PARETO }, pages, seconds);
            let optimum = web.optimum(per_second);
            print!("| {name} | {importance} | {days} | {optimum:.3} |");
            let run = |name: &str| run(&web, per_second, seconds, &mut *rule(name, &web, interval));
            std::thread::scope(|scope| {
                let runs: Vec<_> = rules.iter().map(|name| scope.spawn(|| run(name))).collect();
                // One that panics has said so.
                for fresh in runs.into_iter().filter_map(|run| run.join().ok()) {
                    print!(" {fresh:.3} ({:.3}) |", fresh / optimum);
                }
            });
            println!();
        }
    }
    if only.0.is_empty() || only.is_choosing() {
        choosing(CHOSEN_OF);
    }
}

/// What of the table is wanted.
struct Only(Vec<String>);

impl Only {
    /// Whether this is wanted of these: it is named, or none of them is.
    fn admits(&self, this: &str, of: &[impl AsRef<str>]) -> bool {
        self.names(this) || !of.iter().any(|name| self.names(name.as_ref()))
    }

    fn names(&self, this: &str) -> bool {
        self.0.iter().any(|only| only == this)
    }

    /// No table at all.
    fn is_choosing(&self) -> bool {
        self.names("choosing")
    }
}

fn rule<'a>(name: &str, web: &'a Web, interval: f64) -> Box<dyn Rule + 'a> {
    let pages = web.rates.len();
    let intervals = |shrinks, grows, bounds| Box::new(Intervals::new(pages, interval, shrinks, grows, bounds));
    match name {
        UNIFORM => intervals(1.0, 1.0, (0.0, f64::INFINITY)),
        NUTCH => intervals(0.8, 1.4, (60.0, 365.0 * DAY)),
        STORM_CRAWLER => intervals(0.5, 1.5, (DAY / 24.0, 14.0 * DAY)),
        name => Box::new(Ours::new(
            web,
            pages as f64 / interval,
            Given { rates: name == KNOWN, max_ages: name == BY_MAX_AGE },
        )),
    }
}

/// What choosing costs with so many pages.
fn choosing(pages: u32) {
    let (budget, mut tests) = (Budget { worth: 10.0 * DAY, interval: 30.0 * DAY }, Tests::default());
    let belief = |page: u64| Belief::of_rate(1.0 / (60.0 * (1.0 + (page % 1_000_003) as f64)));
    let mut calendar = Calendar::default();
    for page in 0..u64::from(pages) {
        calendar.put(page, 0, (page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 39) as u32);
    }
    let beliefs: Vec<Belief> = (0..1_024).map(|page| belief(page * 977)).collect();
    let mut micros_of = |wait: &mut dyn FnMut(&Belief) -> f64| {
        let began = processor_seconds();
        for _ in 0..pages {
            let Some(due) = calendar.take() else { break };
            calendar.put(due.url, due.site, wait(&beliefs[due.url as usize % beliefs.len()]) as u32);
        }
        (processor_seconds() - began) * 1e6 / f64::from(pages)
    };
    let micros = micros_of(&mut |belief| tests.wait(&budget, belief, 1.0));
    let of_common = |outlook: common_changes::Outlook| {
        micros_of(&mut |belief| tests.choose(budget.wait_without(&outlook, belief, 1.0)))
    };
    let micros_common = common_outlook().map_or(f64::NAN, of_common);
    let bytes = calendar.bytes() as f64 / f64::from(pages);
    println!(
        "\nchoosing among {pages} pages: {micros:.2} µs of processor a visit, {micros_common:.2} µs where all pages of a site change at \
         once, {bytes:.1} bytes a page in memory, none on disk"
    );
}

/// That of a site whose pages change once in twenty days, all at once.
fn common_outlook() -> Option<common_changes::Outlook> {
    let visit = |page: u32, n: u32| {
        let before = f64::from(10 * n) + f64::from(page) / 10.0;
        let event = |day: f64| (day / 20.0).floor();
        Visited { before: before * DAY, at: (before + 10.0) * DAY, has_changed: event(before) < event(before + 10.0) }
    };
    let pages: Vec<Vec<Visited>> = (0..100).map(|page| (0..30).map(|n| visit(page, n)).collect()).collect();
    common_changes::Outlook::new(&Common::learn(&Prior::default(), &pages))
}

/// Seconds of processor that this thread has taken: on a busy machine the clock says little. Those of the clock where the system does not say.
fn processor_seconds() -> f64 {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let clock = BEGAN.elapsed().as_secs_f64();
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos: Option<f64> = said.and_then(|said| said.split_whitespace().next()?.parse().ok());
    nanos.map_or(clock, |nanos| nanos / 1e9)
}
