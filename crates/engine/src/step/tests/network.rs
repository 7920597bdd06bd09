//! The machine's own network.

use std::collections::BTreeMap;
use std::time::Duration;

use model::{FailureKind, Resolved};

use super::driven::Driven;
use super::settings;
use crate::{End, Event, Settings, Waiting};

const SECOND: Duration = Duration::from_secs(1);
const SITES: [&str; 3] = ["http://a.test/", "http://b.test/", "http://c.test/"];

/// Three sites, of which each has answered once, and is asked again.
fn three_sites() -> Driven {
    let further = SITES.map(|seed| format!("{seed}2"));
    let seeds: Vec<&str> = SITES.into_iter().chain(further.iter().map(String::as_str)).collect();
    let mut crawl = Driven::begin(settings(), &seeds);
    for (seed, last) in SITES.iter().zip(1..) {
        crawl.resolved(seed, Ok(&[last]));
    }
    for _ in 0..2 {
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            crawl.answered(&asked, 404, &[], "");
        }
        crawl.wait(SECOND);
    }
    assert_eq!(crawl.asked().len(), SITES.len(), "{:?}", crawl.asked());
    crawl
}

#[test]
fn where_nothing_comes_back_from_any_site_the_network_is_down_until_something_does() {
    for kind in [FailureKind::Connect, FailureKind::Timeout] {
        let mut crawl = three_sites();
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            assert_eq!(crawl.state.network_down_since(), None, "{kind:?}");
            crawl.failed(&asked, kind);
            crawl.wait(SECOND);
        }
        // Others may have failed again meanwhile; one thing is tried now.
        while crawl.state.network_down_since().is_none() {
            let asked = crawl.asked().first().expect("something is asked").to_string();
            crawl.failed(&asked, kind);
            crawl.wait(SECOND);
        }
        crawl.alarm = None;
        crawl.wait(SECOND * 2);
        assert!(crawl.alarm.is_none_or(|alarm| alarm > crawl.now), "the end of the probe is waited for");
        let asked = crawl.asked().first().expect("a probe").to_string();
        crawl.answered(&asked, 200, &[], "");
        assert_eq!(crawl.state.network_down_since(), None, "{kind:?}");
    }
}

/// One was never reached, one has nothing left to do, and one was reached and is out of order for long: the others tell of the network.
#[test]
fn an_outage_is_noticed_beside_sites_that_were_out_of_order_before_or_are_finished() {
    let (dead, done, broken) = ("http://dead.test/", "http://done.test/", "http://broken.test/");
    let further: Vec<String> = SITES.iter().flat_map(|site| (0..300).map(move |n| format!("{site}{n}"))).collect();
    let mut seeds: Vec<&str> = further.iter().map(String::as_str).chain([dead, done, broken]).collect();
    let more: Vec<String> = (0..50).map(|n| format!("{broken}{n}")).collect();
    seeds.extend(more.iter().map(String::as_str));
    let mut crawl = Driven::begin(Settings { patience: SECOND * 3_600, ..settings() }, &seeds);
    let mut went_down = None;
    for second in 0..300 {
        for name in crawl.names.iter().map(|name| format!("{name}/")).collect::<Vec<_>>() {
            let all = [SITES[0], SITES[1], SITES[2], dead, done, broken];
            let at = all.iter().position(|site| *site == name).expect("one of them") as u8;
            crawl.resolved(&name, Ok(&[at + 1]));
        }
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            let fails = asked.starts_with(dead) || second >= 200 || asked.starts_with(broken) && second >= 60;
            match fails {
                true => crawl.failed(&asked, FailureKind::Connect),
                false if asked.ends_with("/robots.txt") => crawl.answered(&asked, 404, &[], ""),
                false => crawl.answered(&asked, 200, &[], ""),
            }
        }
        went_down = went_down.or(crawl.state.network_down_since().is_some().then_some(second));
        crawl.wait(SECOND);
    }
    assert!(went_down.is_some_and(|second| (201..215).contains(&second)), "{went_down:?}");
}

#[test]
fn a_network_that_is_back_is_noticed_though_names_hold_for_less_than_the_wait_for_a_probe() {
    let seeds: Vec<String> =
        (0..10).flat_map(|n| (0..400).map(move |page| format!("http://s{n}.test/{page}"))).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let mut crawl = Driven::begin(Settings { patience: Duration::from_secs(600), ..settings() }, &seeds);
    let (mut went_down, mut came_back) = (None, None);
    for second in 0..600u64 {
        let is_up = !(60..300).contains(&second);
        for name in std::mem::take(&mut crawl.names) {
            let last = name.host()[1..2].parse::<u8>().expect("a digit");
            let addresses = vec![std::net::IpAddr::from([10, 0, 0, last])];
            // A name server nearby knows it.
            let found = Ok(Resolved { addresses, holds: Duration::from_secs(30) });
            crawl.happen(Event::Resolved { site: name.key(), found });
        }
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            match is_up {
                true if asked.ends_with("/robots.txt") => crawl.answered(&asked, 404, &[], ""),
                true => crawl.answered(&asked, 200, &[], ""),
                false => crawl.failed(&asked, FailureKind::Timeout),
            }
        }
        let is_down = crawl.state.network_down_since().is_some();
        went_down = went_down.or(is_down.then_some(second));
        came_back = came_back.or((went_down.is_some() && !is_down).then_some(second));
        crawl.wait(SECOND);
    }
    let (went_down, came_back) = (went_down.expect("it went down"), came_back.expect("it came back"));
    assert!((60..90).contains(&went_down) && (300..=363).contains(&came_back), "{went_down} {came_back}");
}

/// How many seconds a run goes on whose only seed fails like this, though its robots.txt is answered.
fn seconds_of_a_run(fail: impl Fn(&mut Driven, &str)) -> u64 {
    let mut crawl = Driven::begin(settings(), &["http://a.test/"]);
    crawl.resolved("http://a.test/", Ok(&[1]));
    for second in 0..1_000 {
        if let Some(end) = &crawl.end {
            let End::Waiting(Waiting { due, has_answers, .. }) = end else { panic!("{end:?}") };
            assert_ne!(due.is_some(), *has_answers, "its robots.txt was answered, so the site can be reached");
            return second;
        }
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            match asked.ends_with("/robots.txt") {
                true => crawl.answered(&asked, 404, &[], ""),
                false => fail(&mut crawl, &asked),
            }
        }
        crawl.wait(SECOND);
    }
    1_000
}

#[test]
fn a_run_without_a_page_ends_after_a_minute_where_all_sites_fail() {
    let busy = seconds_of_a_run(|crawl, asked| crawl.answered(asked, 503, &[], ""));
    let asks_to_wait = seconds_of_a_run(|crawl, asked| crawl.answered(asked, 429, &[("retry-after", "50")], ""));
    let silent = seconds_of_a_run(|crawl, asked| crawl.failed(asked, FailureKind::Timeout));
    for seconds in [busy, asks_to_wait, silent] {
        assert!((20..=65).contains(&seconds), "{busy} {asks_to_wait} {silent}");
    }
}

#[test]
fn a_run_that_reaches_nothing_ends_after_a_minute_whatever_is_under_way() {
    let mut crawl = Driven::begin(settings(), &["http://a.test/", "http://b.test/"]);
    for (seed, last) in [("http://a.test/", 1), ("http://b.test/", 2)] {
        crawl.resolved(seed, Ok(&[last]));
    }
    let mut under_way: BTreeMap<String, u64> = BTreeMap::new();
    let ended = (0..1_000).find(|_| {
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            let seconds = under_way.entry(asked.clone()).or_default();
            *seconds += 1;
            if *seconds == 29 {
                under_way.remove(&asked);
                crawl.failed(&asked, FailureKind::Timeout);
            }
        }
        crawl.wait(SECOND);
        crawl.end.is_some()
    });
    assert!(matches!(crawl.end, Some(End::Waiting(_))), "{:?}", crawl.end);
    assert!(
        !under_way.is_empty() && ended.is_some_and(|second| (58..=61).contains(&second)),
        "{ended:?} {under_way:?}"
    );
}

#[test]
fn an_answer_that_comes_is_waited_for_beyond_that_minute() {
    let mut crawl = Driven::begin(settings(), &["http://a.test/"]);
    crawl.resolved("http://a.test/", Ok(&[1]));
    for second in 0..200 {
        match second {
            29 => crawl.failed("http://a.test/robots.txt", FailureKind::Timeout),
            40 => crawl.state.answer_has_begun(),
            _ => {}
        }
        crawl.wait(SECOND);
    }
    assert_eq!((&crawl.end, crawl.asked()), (&None, vec!["http://a.test/robots.txt"]));
}

/// The pages of a run with this many pages on one site that are requested, the first first. Each request gets an answer with what `status` says.
fn pages_of_a_run(settings: Settings, pages: usize, status: impl Fn(usize) -> u16) -> Vec<String> {
    let seeds: Vec<String> = (0..pages).map(|n| format!("http://a.test/{n}")).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let mut crawl = Driven::begin(settings, &seeds);
    let mut requested = Vec::new();
    for _ in 0..1_000 {
        if !crawl.names.is_empty() {
            crawl.resolved("http://a.test/", Ok(&[1]));
        }
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            if asked.ends_with("/robots.txt") {
                crawl.answered(&asked, 404, &[], "");
                continue;
            }
            let status = status(requested.len());
            requested.push(asked.clone());
            crawl.answered(&asked, status, &[], "");
        }
        crawl.wait(SECOND);
    }
    requested
}

#[test]
fn one_failure_after_a_minute_without_a_page_does_not_end_a_run() {
    for status in [429, 503] {
        let requested = pages_of_a_run(settings(), 100, |before| if before == 80 { status } else { 404 });
        assert_eq!(requested.len(), 101, "{status}: the one that failed is requested again");
    }
}

#[test]
fn a_site_with_a_long_delay_has_a_minute_after_its_first_request_too() {
    let mut settings = settings();
    for (delay, first) in [(70, 503), (40, 429)] {
        settings.site_rules.politeness.delay = SECOND * delay;
        let requested = pages_of_a_run(settings.clone(), 2, |before| if before == 0 { first } else { 200 });
        assert_eq!(requested.len(), 3, "{delay}: the one that failed is requested again");
    }
}

#[test]
fn sites_that_the_store_still_has_are_tried_before_a_run_ends_of_which_all_others_fail() {
    // Half of the places are taken: no more is looked for.
    let settings = Settings { sites_in_front_max: 4, ..settings() };
    let mut crawl = Driven::resumed(settings, &[&SITES[..2], &SITES[2..]]);
    for _ in 0..1_000 {
        for (seed, last) in SITES.iter().zip(1..) {
            if crawl.names.iter().any(|name| format!("{name}/") == *seed) {
                crawl.resolved(seed, Ok(&[last]));
            }
        }
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            match asked.as_str() {
                asked if asked.ends_with("/robots.txt") => crawl.answered(asked, 404, &[], ""),
                asked if asked == SITES[2] => return,
                _ => crawl.answered(&asked, 429, &[("retry-after", "50")], ""),
            }
        }
        assert_eq!(crawl.end, None, "after {:?}", crawl.now.since(super::NOW));
        crawl.wait(SECOND);
    }
    panic!("the third site is never asked");
}

#[test]
fn what_this_program_breaks_says_nothing_of_the_network() {
    let mut crawl = three_sites();
    for _ in 0..20 {
        if let Some(asked) = crawl.asked().first().map(ToString::to_string) {
            crawl.failed(&asked, FailureKind::Internal);
        }
        crawl.wait(SECOND);
    }
    assert_eq!(crawl.state.network_down_since(), None);
}

#[test]
fn sites_of_the_same_addresses_are_at_one_place_whichever_is_in_use() {
    let seeds: Vec<String> = (0..8).flat_map(|n| (0..9).map(move |page| format!("http://s{n}.test/{page}"))).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let mut crawl = Driven::begin(settings(), &seeds);
    for second in 0..100 {
        for name in crawl.names.iter().map(|name| format!("{name}/")).collect::<Vec<_>>() {
            crawl.resolved(&name, Ok(&[1, 2, 3]));
        }
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            match second < 40 {
                true if asked.ends_with("/robots.txt") => crawl.answered(&asked, 404, &[], ""),
                true => crawl.answered(&asked, 200, &[], ""),
                false => crawl.failed(&asked, FailureKind::Connect),
            }
        }
        assert_eq!(
            crawl.state.network_down_since(),
            None,
            "after {second} seconds: it may be the machine of the sites"
        );
        crawl.wait(SECOND);
    }
}

#[test]
fn a_site_whose_name_a_probe_found_has_its_turn_as_soon_as_its_address_is_free() {
    let sites: Vec<String> = (0..10).map(|n| format!("http://s{n}.test/")).collect();
    let (busy, found) = (&sites[0], &sites[9]);
    let seeds: Vec<String> = sites.iter().flat_map(|site| (0..99).map(move |page| format!("{site}{page}"))).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let mut crawl = Driven::begin(Settings { patience: SECOND * 3_600, ..settings() }, &seeds);
    // The name of the last one is not found yet. Then no site answers; one does not even fail.
    for (site, last) in sites[..9].iter().zip(1..) {
        crawl.resolved(site, Ok(&[last]));
    }
    for second in 0..70 {
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            match second < 10 {
                true if asked.ends_with("/robots.txt") => crawl.answered(&asked, 404, &[], ""),
                true => crawl.answered(&asked, 200, &[], ""),
                false if asked.starts_with(busy) => {}
                false => crawl.failed(&asked, FailureKind::Timeout),
            }
        }
        crawl.wait(SECOND);
    }
    let is_down = crawl.state.network_down_since().is_some();
    assert!(is_down && crawl.alarm.is_some_and(|probe| probe > crawl.now + SECOND * 30), "{:?}", crawl.alarm);
    let under_way = crawl.asked().first().expect("the busy one").to_string();
    assert!(under_way.starts_with(busy), "{under_way}");
    crawl.resolved(found, Ok(&[1]));
    assert_eq!(crawl.asked(), [&*under_way], "at the same address");
    crawl.failed(&under_way, FailureKind::Timeout);
    assert!(crawl.alarm.is_some_and(|turn| turn < crawl.now + SECOND * 2), "{:?}", crawl.alarm);
    crawl.wait(SECOND * 2);
    assert_eq!(crawl.asked(), [format!("{found}robots.txt")]);
}

#[test]
fn a_site_that_asks_to_be_left_alone_for_a_minute_is_asked_again_before_a_run_without_a_page_ends() {
    // What fails of 100 pages, how, and how many requests the run comes to within how many seconds since then.
    for (fails, status, wait, requests, seconds) in [
        (81..82, 429, "60", 101, 62..100),
        (81..82, 503, "60", 101, 62..100),
        (81..999, 429, "60", 82, 59..63),
        // Where nothing can come within that minute, nothing is waited for.
        (81..999, 429, "90", 81, 0..1),
    ] {
        let seeds: Vec<String> = (0..100).map(|n| format!("http://a.test/{n}")).collect();
        let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
        let mut crawl = Driven::begin(settings(), &seeds);
        let (mut requested, mut failed_at, mut ended_at) = (0, None, None);
        for second in 0..400 {
            if !crawl.names.is_empty() {
                crawl.resolved(SITES[0], Ok(&[1]));
            }
            for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
                requested += u32::from(!asked.ends_with("/robots.txt"));
                if fails.contains(&requested) {
                    failed_at.get_or_insert(second);
                    crawl.answered(&asked, status, &[("retry-after", wait)], "");
                } else {
                    crawl.answered(&asked, 404, &[], "");
                }
            }
            ended_at = ended_at.or(crawl.end.is_some().then_some(second));
            crawl.wait(SECOND);
        }
        let took = ended_at.expect("it ended") - failed_at.expect("it failed");
        assert_eq!(requested, requests, "{fails:?} {status} {wait}");
        assert!(seconds.contains(&took), "{fails:?} {status} {wait}: {took}");
    }
}

/// How long a run goes on whose sites all fall silent at once: each request fails after so many seconds, until this one. From then on the first is broken
/// off, and the others are answered. Gives the seconds and the answers.
fn run_cut_off(silent_for: u64, until: u64) -> (Option<u64>, usize) {
    let mut crawl = three_sites();
    let (mut under_way, mut answered, mut is_back) = (BTreeMap::<String, u64>::new(), 0, false);
    for second in 0..1_000 {
        if crawl.end.is_some() {
            return (Some(second), answered);
        }
        for name in crawl.names.iter().map(|name| format!("{name}/")).collect::<Vec<_>>() {
            let at = SITES.iter().position(|site| *site == name).expect("one of them") as u8;
            crawl.resolved(&name, Ok(&[at + 1]));
        }
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            if second >= until {
                answered += usize::from(is_back);
                match std::mem::replace(&mut is_back, true) {
                    true => crawl.answered(&asked, 200, &[], ""),
                    false => crawl.failed(&asked, FailureKind::Disconnected),
                }
                continue;
            }
            let seconds = under_way.entry(asked.clone()).or_default();
            *seconds += 1;
            if *seconds == silent_for {
                under_way.remove(&asked);
                crawl.failed(&asked, FailureKind::Timeout);
            }
        }
        crawl.wait(SECOND);
    }
    (None, answered)
}

#[test]
fn a_run_without_a_network_ends_however_long_requests_take() {
    let ends: Vec<_> = (1..30).map(|silent_for| (silent_for, run_cut_off(silent_for, u64::MAX).0)).collect();
    assert!(ends.iter().all(|(_, end)| end.is_some_and(|end| end < 200)), "{ends:?}");
}

#[test]
fn a_network_that_is_back_has_sites_asked_again_however_late_it_comes() {
    // The last probe of the run is sent a minute after the last answer.
    let answers: Vec<_> = (60..70).map(|until| (until, run_cut_off(10, until).1)).collect();
    assert!(answers.iter().all(|(_, answered)| *answered == SITES.len()), "{answers:?}");
}
