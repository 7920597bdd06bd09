//! How long a run goes on while all that is left fails.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::{Aside, Failure, FailureKind, SiteRecord};

use super::driven::{Driven, url};
use super::settings;
use crate::content::Page;
use crate::{End, Event, Finding, Settings};

const SECOND: Duration = Duration::from_secs(1);
const GOOD: &str = "http://good.test/";

/// A request or a look-up without an answer takes so long.
const SILENT_S: u64 = 10;

/// How a site fails.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fails {
    /// It does not.
    Not,
    /// It refuses connections until this second.
    RefusesUntil(u64),
    /// Nothing comes back.
    Silent,
    /// Its name is not answered for.
    Name,
    /// Its robots.txt is answered with a 503.
    Robots,
    /// Its robots.txt redirects to a site that does not answer.
    RobotsElsewhere,
    /// Its pages are answered with a 503.
    Pages,
}

/// A run of some sites beside one that answers, each at the address of its number.
struct Run {
    crawl: Driven,
    fails: BTreeMap<String, (u8, Fails)>,
    /// For how long each request and each look-up has been under way.
    under_way: BTreeMap<String, u64>,
    fetched: Vec<String>,
}

impl Run {
    fn begin(settings: Settings, sites: &[(u8, Fails)]) -> Self {
        let mut fails: BTreeMap<String, (u8, Fails)> =
            sites.iter().zip(1..).map(|(site, n)| (format!("http://s{n}.bad.test/"), *site)).collect();
        fails.insert(GOOD.to_owned(), (0, Fails::Not));
        let seeds: Vec<&str> = fails.keys().map(String::as_str).collect();
        Run { crawl: Driven::begin(settings, &seeds), fails, under_way: BTreeMap::new(), fetched: Vec::new() }
    }

    /// The seconds until its end.
    fn seconds(&mut self) -> Option<u64> {
        for second in 0..20_000 {
            if let Some(end) = &self.crawl.end {
                assert!(matches!(end, End::Waiting(waiting) if waiting.due.is_some()), "{end:?}");
                return Some(second);
            }
            self.answer(second);
            self.crawl.wait(SECOND);
        }
        None
    }

    fn answer(&mut self, second: u64) {
        for name in self.crawl.names.iter().map(|name| format!("{name}/")).collect::<Vec<_>>() {
            let (address, fails) = self.fails[&name];
            match fails {
                Fails::Name if self.takes(&name) => {}
                Fails::Name => self.crawl.resolved(&name, Err(FailureKind::NameServer)),
                _ => self.crawl.resolved(&name, Ok(&[address])),
            }
        }
        for target in self.crawl.targets.clone() {
            self.crawl.target_resolved(target.as_str(), Ok(&[99]));
        }
        for asked in self.crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            let site = asked.trim_end_matches("robots.txt");
            let is_robots = asked != site;
            let (_, fails) = self.fails.get(site).copied().unwrap_or((0, Fails::RefusesUntil(u64::MAX)));
            match fails {
                Fails::RefusesUntil(until) if second < until => self.crawl.failed(&asked, FailureKind::Connect),
                Fails::Silent if self.takes(&asked) => {}
                Fails::Silent => self.crawl.failed(&asked, FailureKind::Timeout),
                Fails::Robots => self.crawl.answered(&asked, 503, &[], ""),
                Fails::RobotsElsewhere if is_robots => {
                    self.crawl.answered(&asked, 302, &[("location", "http://dead.test/robots.txt")], "");
                }
                Fails::Pages if !is_robots => self.crawl.answered(&asked, 503, &[], ""),
                _ if is_robots => self.crawl.answered(&asked, 404, &[], ""),
                _ => {
                    self.crawl.found(&asked, Finding::Page(Page::default()));
                    self.fetched.push(asked);
                }
            }
        }
    }

    /// Whether this goes on for another second.
    fn takes(&mut self, what: &str) -> bool {
        let seconds = self.under_way.entry(what.to_owned()).or_default();
        *seconds += 1;
        let goes_on = *seconds < SILENT_S;
        if !goes_on {
            self.under_way.remove(what);
        }
        goes_on
    }
}

fn patient(minutes: u64) -> Settings {
    Settings { patience: SECOND * 60 * u32::try_from(minutes).expect("few"), sites_in_front_max: 1_000, ..settings() }
}

#[test]
fn a_run_ends_when_its_sites_have_failed_for_as_long_as_its_patience() {
    let mut too_long = Vec::new();
    let at_one_address = |sites: usize, fails: Fails| vec![(1, fails); sites];
    for (what, minutes, sites) in [
        ("a site that refuses", 10, at_one_address(1, Fails::RefusesUntil(u64::MAX))),
        ("its third wait is longer than what is left", 30, at_one_address(1, Fails::RefusesUntil(u64::MAX))),
        ("a silent site", 10, at_one_address(1, Fails::Silent)),
        ("ten silent ports", 10, at_one_address(10, Fails::Silent)),
        ("more silent sites than an address can be asked for meanwhile", 10, at_one_address(300, Fails::Silent)),
        ("silent sites at ten addresses", 10, (1..11).map(|address| (address, Fails::Silent)).collect()),
        ("names of a domain whose name server is silent", 10, at_one_address(500, Fails::Name)),
        ("robots.txt that fails", 10, at_one_address(10, Fails::Robots)),
        ("robots.txt on a site that is dead", 10, at_one_address(10, Fails::RobotsElsewhere)),
        ("pages that fail", 10, at_one_address(10, Fails::Pages)),
        ("no patience", 0, at_one_address(10, Fails::Silent)),
    ] {
        let mut run = Run::begin(patient(minutes), &sites);
        // The first seconds are those of the page that is answered. Each address is tried: two at once, since all are of one domain.
        let addresses: BTreeSet<u8> = sites.iter().map(|(address, _)| *address).collect();
        let max = (60 * minutes).max(120) + SILENT_S * (addresses.len() as u64).div_ceil(2) + SILENT_S + 5;
        let seconds = run.seconds();
        if seconds.is_none_or(|seconds| seconds > max) || run.fetched != [GOOD] {
            too_long.push(format!("{what}: {seconds:?} s, of {max}; {:?}", run.fetched));
        }
    }
    assert!(too_long.is_empty(), "{too_long:#?}");
}

#[test]
fn what_answers_within_patience_is_fetched() {
    // Until when a site refuses connections beside ten that never answer, and whether its next turn comes before patience ends.
    for (until, is_fetched) in [(20, true), (80, true), (380, true), (500, true), (560, true), (700, false)] {
        let mut sites = vec![(1, Fails::Silent); 10];
        sites.push((2, Fails::RefusesUntil(until)));
        let mut run = Run::begin(patient(10), &sites);
        let seconds = run.seconds();
        assert!(seconds.is_some(), "{until}");
        assert_eq!(run.fetched.len(), 1 + usize::from(is_fetched), "{until}: {:?} after {seconds:?}", run.fetched);
    }
}

/// Sites aside are asked again where the process stood still for longer than patience lasts: nobody could answer meanwhile.
#[test]
fn a_process_that_stood_still_goes_on_with_what_is_left() {
    // The second in which it stands still, and for how long: as its sites have requests under way, and as they are aside.
    for (second, stood_still) in [(3, 3_600), (80, 3_600)] {
        let mut run = Run::begin(patient(10), &[(1, Fails::RefusesUntil(second + 20)), (2, Fails::Silent)]);
        for at in 0..second {
            run.answer(at);
            run.crawl.wait(SECOND);
        }
        run.crawl.now = run.crawl.now + SECOND * stood_still;
        run.crawl.state.stood_still(run.crawl.now);
        run.crawl.happen(Event::Wake);
        for at in second..second + 500 {
            assert!(run.crawl.end.is_none() || run.fetched.len() == 2, "{second}: it ends at {at}");
            run.answer(at);
            run.crawl.wait(SECOND);
        }
        assert_eq!(run.fetched.len(), 2, "{second}: {:?}", run.fetched);
    }
}

#[test]
fn sites_aside_are_asked_once_more_before_patience_ends_unless_they_asked_to_be_left_alone() {
    let connect = [0, 1, 3, 7, 15, 31, 91, 391, 572];
    for (retry_after, expect) in [(None, &connect[..]), (Some("3600"), &[0])] {
        let bad = "http://bad.test/";
        let mut crawl = Driven::begin(patient(10), &[GOOD, bad]);
        let (mut requests, mut foreseen) = (Vec::new(), None);
        for second in 0..2_000_u64 {
            for (n, name) in crawl.names.iter().map(|name| format!("{name}/")).enumerate().collect::<Vec<_>>() {
                crawl.resolved(&name, Ok(&[n as u8]));
            }
            for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
                match (asked.as_str(), retry_after) {
                    (asked, _) if asked.ends_with("robots.txt") => crawl.answered(asked, 404, &[], ""),
                    (GOOD, _) => crawl.found(GOOD, Finding::Page(Page::default())),
                    (bad, None) => crawl.failed(bad, FailureKind::Connect),
                    (bad, Some(wait)) => crawl.answered(bad, 503, &[("retry-after", wait)], ""),
                }
                if asked == bad {
                    requests.push(second);
                    foreseen = crawl.state.prospect(crawl.now, url(bad).site().key()).held.and_then(|held| held.until);
                }
            }
            if requests.len() + 1 == connect.len() && crawl.asked().contains(&bad) {
                assert_eq!(foreseen, Some(crawl.now), "the forecast of a site holds");
            }
            if crawl.end.is_some() {
                break;
            }
            crawl.wait(SECOND);
        }
        let since: Vec<u64> = requests.iter().map(|second| second - requests[0]).collect();
        let is_near = since.len() == expect.len() && since.iter().zip(expect).all(|(is, at)| is.abs_diff(*at) <= 5);
        assert!(is_near && matches!(crawl.end, Some(End::Waiting(_))), "{since:?}, not {expect:?}: {:?}", crawl.end);
    }
}

#[test]
fn what_a_site_waits_for_its_delay_is_no_failure() {
    let mut settings = patient(10);
    settings.site_rules.politeness.crawl_delay_max = SECOND * 300;
    let slow: Vec<String> = (0..6).map(|n| format!("http://slow.test/{n}")).collect();
    let seeds: Vec<&str> = slow.iter().map(String::as_str).chain([GOOD]).collect();
    let mut crawl = Driven::begin(settings, &seeds);
    let (mut requests, mut fetched) = (0, 0);
    for _ in 0..4_000 {
        for name in crawl.names.iter().map(|name| format!("{name}/")).collect::<Vec<_>>() {
            crawl.resolved(&name, Ok(&[if name == GOOD { 1 } else { 2 }]));
        }
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            match asked.as_str() {
                "http://slow.test/robots.txt" => crawl.answered(&asked, 200, &[], "User-agent: *\nCrawl-delay: 300"),
                asked if asked.ends_with("robots.txt") => crawl.answered(asked, 404, &[], ""),
                GOOD => crawl.found(GOOD, Finding::Page(Page::default())),
                _ => {
                    requests += 1;
                    // The first three fail.
                    if requests <= 3 {
                        crawl.answered(&asked, 503, &[], "");
                    } else {
                        crawl.found(&asked, Finding::Page(Page::default()));
                        fetched += 1;
                    }
                }
            }
        }
        crawl.wait(SECOND);
    }
    assert_eq!((fetched, &crawl.end), (slow.len(), &Some(End::Done)));
}

#[test]
fn a_site_that_does_not_fail_is_waited_for_however_long_its_delay_is() {
    let mut settings = patient(10);
    settings.site_rules.politeness.delay = SECOND * 3_600;
    let dead = "http://dead.test/";
    let further = format!("{GOOD}2");
    let mut crawl = Driven::begin(settings, &[GOOD, &further, dead]);
    let mut fetched = 0;
    for _ in 0..4_000 {
        for name in crawl.names.iter().map(|name| format!("{name}/")).collect::<Vec<_>>() {
            // They share an address.
            crawl.resolved(&name, Ok(&[1]));
        }
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            match asked.as_str() {
                asked if asked.starts_with(dead) => crawl.failed(asked, FailureKind::Timeout),
                asked if asked.ends_with("robots.txt") => crawl.answered(asked, 404, &[], ""),
                _ => {
                    crawl.found(&asked, Finding::Page(Page::default()));
                    fetched += 1;
                }
            }
        }
        if fetched < 2 {
            assert_eq!(crawl.end, None, "after {:?}", crawl.now.since(super::NOW));
        }
        crawl.wait(SECOND);
    }
    assert_eq!(fetched, 2);
}

#[test]
fn what_is_under_way_is_waited_for_and_nothing_is_due_meanwhile() {
    let mut crawl = Driven::begin(patient(0), &[GOOD, "http://hangs.test/", "http://refuses.test/"]);
    let mut has_failed = false;
    for second in 0..1_000 {
        for (n, name) in crawl.names.iter().map(|name| format!("{name}/")).enumerate().collect::<Vec<_>>() {
            crawl.resolved(&name, Ok(&[n as u8]));
        }
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            match asked.as_str() {
                asked if asked.starts_with(GOOD) && asked.ends_with("robots.txt") => {
                    crawl.answered(asked, 404, &[], "");
                }
                GOOD => crawl.found(GOOD, Finding::Page(Page::default())),
                // The second request to it never ends.
                asked if asked.starts_with("http://hangs") && has_failed => {}
                asked => {
                    has_failed |= asked.starts_with("http://hangs");
                    crawl.failed(asked, FailureKind::Connect);
                }
            }
        }
        crawl.alarm = None;
        crawl.wait(SECOND);
        assert!(crawl.alarm.is_none_or(|alarm| alarm > crawl.now), "after {second} s: it would be woken at once again");
    }
    assert_eq!((&crawl.end, crawl.asked()), (&None, vec!["http://hangs.test/robots.txt"]));
    crawl.failed("http://hangs.test/robots.txt", FailureKind::Timeout);
    assert!(matches!(crawl.end, Some(End::Waiting(_))), "{:?}", crawl.end);
}

#[test]
fn a_site_in_trouble_without_urls_is_not_waited_for() {
    let mut settings = patient(10);
    settings.site_rules.politeness.attempts_max = 1;
    let busy = "http://busy.test/";
    let mut crawl = Driven::begin(settings, &[GOOD, busy]);
    for _ in 0..5 {
        for (n, name) in crawl.names.iter().map(|name| format!("{name}/")).enumerate().collect::<Vec<_>>() {
            crawl.resolved(&name, Ok(&[n as u8]));
        }
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            match asked.as_str() {
                asked if asked.ends_with("robots.txt") => crawl.answered(asked, 404, &[], ""),
                asked if asked == busy => crawl.answered(asked, 503, &[("retry-after", "300")], ""),
                _ => crawl.found(&asked, Finding::Page(Page::default())),
            }
        }
        crawl.wait(SECOND);
    }
    assert_eq!((&crawl.end, crawl.state.sites_aside()), (&Some(End::Done), 0));
}

#[test]
fn a_site_in_trouble_that_comes_without_urls_is_not_waited_for() {
    let mut crawl = Driven::begin(patient(10), &[GOOD]);
    let site = url("http://busy.test/").site();
    let until = super::NOW + SECOND * 300;
    let reason = Failure { kind: FailureKind::Busy, detail: String::new() };
    let aside = Some(Aside { until, round: 2, reason });
    crawl.stored(SiteRecord { due_at: until, aside, failures_in_a_row: 8, ..SiteRecord::new(site.clone()) }, &[]);
    crawl.happen(Event::SitesChanged { sites: vec![site.key()], taken_over: false });
    assert_eq!((crawl.loads.last(), crawl.state.sites_aside()), (Some(&site.key()), 0));
}
