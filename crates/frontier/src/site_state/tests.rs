//! The behaviour of one site in front.

use model::{Candidate, FailureKind, Purpose};
use weburl::{CanonicalRules, CanonicalUrl, Site};

use super::shapes::{SHAPE_COUNT_KEPT_MIN, SHAPES_MAX};
use super::*;
use crate::politeness::Trouble;
use crate::{Features, Novelty};

mod trouble;

#[test]
fn rules_in_the_store_are_read_before_anything_is_asked_for_and_their_delay_holds_meanwhile() {
    let mut site = state();
    site.loaded(vec![waiting("/private", 0), waiting("/", 1)], true);
    site.robots_had(RobotsState::Stored { crawl_delay: None, expires_at: S(100) });
    assert_eq!(site.next(&rules(), S(1)), Next::ReadRules);
    site.rules_read(Some(RobotsTxt::parse(b"User-agent: *\nCrawl-delay: 7\nDisallow: /private", "argiope")));
    assert!(matches!(site.next(&rules(), S(1)), Next::Settle(..)));
    site.store_rules();
    assert_eq!((site.crawl_delay(), site.next(&rules(), S(2))), (Some(Duration::from_secs(7)), Next::ReadRules));
    assert_eq!(site.next(&rules(), S(100)), Next::Robots, "expired");
    // They stay valid while new ones cannot be fetched.
    site.robots_asked();
    site.robots_failed(&failed(Trouble::Unreached, None, 100), &Politeness::default());
    assert_eq!((site.crawl_delay(), site.next(&rules(), S(101))), (Some(Duration::from_secs(7)), Next::ReadRules));
    site.rules_read(None);
    assert_eq!(site.next(&rules(), S(101)), Next::Robots, "the store has lost them");
}

/// A window of few URLs.
const S: fn(u64) -> Timestamp = |seconds| Timestamp(seconds * 1_000_000);

/// A failure, at a second of the run.
fn failed(trouble: Trouble, retry_after_s: Option<u64>, at: u64) -> Failed<'static> {
    static FAILURE: Failure = Failure { kind: FailureKind::Busy, detail: String::new() };
    Failed { trouble, failure: &FAILURE, retry_after: retry_after_s.map(Duration::from_secs), at: S(at) }
}

const WINDOW: usize = 64;

fn state() -> SiteState {
    SiteState::new(SiteRecord::new(Site::from_text("http://a.test").expect("a site")))
}

fn waiting(path: &str, depth: u32) -> Queued {
    let url = CanonicalUrl::parse(&format!("http://a.test{path}"), &CanonicalRules::default()).expect(path);
    Queued::first(Candidate { depth, ..Candidate::seed(url) })
}

fn rules() -> SiteRules {
    SiteRules {
        politeness: Politeness::default(),
        traps: TrapRules::default(),
        matching: Some(Matching::LongestMatch),
        pages_per_site_max: None,
        sitemaps_per_site_max: 1,
    }
}

fn known(robots_txt: &str) -> RobotsState {
    let rules = RobotsTxt::parse(robots_txt.as_bytes(), "argiope");
    RobotsState::Known { rules, expires_at: Timestamp(u64::MAX) }
}

#[test]
fn robots_txt_comes_before_everything_and_expires() {
    let mut site = state();
    site.loaded(vec![waiting("/", 0)], true);
    assert_eq!(site.next(&rules(), Timestamp(0)), Next::Robots);
    site.robots_asked();
    assert_eq!(site.next(&rules(), Timestamp(0)), Next::Held(Reason::Robots));
    site.set_robots(RobotsState::Known { rules: RobotsTxt::allow_all(), expires_at: Timestamp(10) });
    assert_eq!(site.next(&rules(), Timestamp(10)), Next::Robots);
    site.set_robots(RobotsState::Known { rules: RobotsTxt::allow_all(), expires_at: Timestamp(10) });
    assert_eq!(site.next(&rules(), Timestamp(9)), Next::Fetch(waiting("/", 0)));
}

#[test]
fn a_disallowed_url_is_settled_with_the_line() {
    let mut site = state();
    site.set_robots(known("User-agent: *\nDisallow: /private"));
    site.loaded(vec![waiting("/private/x", 0)], true);
    let Next::Settle(_, settled) = site.next(&rules(), Timestamp(0)) else { panic!("settled") };
    assert_eq!(
        (settled.outcome, settled.reason.as_str()),
        (Outcome::Disallowed, "robots.txt line 2: Disallow: /private")
    );
}

#[test]
fn a_site_given_up_ends_all_its_urls_without_asking_for_robots_txt() {
    for (kind, expect) in [
        (FailureKind::NameNotFound, Outcome::DomainError),
        (FailureKind::Connect, Outcome::GivenUp),
        (FailureKind::Tls, Outcome::TlsError),
    ] {
        let mut site = state();
        site.give_up(Timestamp::default(), Failure { kind, detail: "why".to_owned() });
        site.loaded(vec![waiting("/", 0)], true);
        assert_eq!(
            site.next(&rules(), Timestamp(0)),
            Next::Settle(waiting("/", 0), Settled::new(expect, "why".to_owned()))
        );
    }
}

#[test]
fn the_budget_counts_what_is_in_flight() {
    let mut site = state();
    site.set_robots(known(""));
    site.loaded(vec![waiting("/1", 0), waiting("/2", 0)], true);
    let rules = SiteRules { pages_per_site_max: Some(1), ..rules() };
    assert!(matches!(site.next(&rules, Timestamp(0)), Next::Fetch(_)));
    site.in_flight = 1;
    assert_eq!(site.next(&rules, Timestamp(0)), Next::Held(Reason::SiteBudget));
    site.in_flight = 0;
    site.count_page();
    assert_eq!(site.next(&rules, Timestamp(0)), Next::Held(Reason::SiteBudget));
}

/// A URL found on a page.
fn linked(path: &str, depth: u32) -> Queued {
    let mut queued = waiting(path, depth);
    queued.candidate.via = model::Via::Link;
    queued
}

/// What is next, and a fetch of it: a copy of another page.
fn fetch_copy(site: &mut SiteState, rules: &SiteRules) -> Next {
    thread_local!(static NOVELTY: std::cell::RefCell<Novelty> = std::cell::RefCell::default());
    let copy = || Features { payload: Some(1), ..Features::default() };
    let mut novelty = NOVELTY.take();
    novelty.shows(site.key, copy());
    let next = site.next(rules, Timestamp(0));
    if let Next::Fetch(Queued { candidate, .. }) = &next {
        site.judge_novelty(candidate, rules.traps.shape(&candidate.url), Some(copy()), &mut novelty, &rules.traps);
    }
    NOVELTY.set(novelty);
    next
}

/// Of ten months that wait, how many are fetched, where three that repeat others may be.
fn months_fetched(month: impl Fn(&str, u32) -> Queued, features: Option<Features>) -> usize {
    let mut site = state();
    site.set_robots(known(""));
    let rules = SiteRules { traps: TrapRules { calendar_pages_max: 3, ..TrapRules::default() }, ..rules() };
    site.loaded((2000..2010).map(|year| month(&format!("/cal/{year}/1/"), 0)).collect(), true);
    let mut novelty = Novelty::default();
    let mut fetched = 0;
    while let Next::Fetch(Queued { candidate, .. }) = site.next(&rules, Timestamp(0)) {
        let shape = rules.traps.shape(&candidate.url);
        site.judge_novelty(&candidate, shape, features.clone(), &mut novelty, &rules.traps);
        fetched += 1;
    }
    fetched
}

#[test]
fn only_what_repeats_others_and_no_list_of_the_site_names_is_counted() {
    let copy = || Some(Features { payload: Some(1), ..Features::default() });
    assert_eq!(months_fetched(linked, copy()), 4, "the first, and three that repeat it");
    assert_eq!(months_fetched(linked, None), 10, "as without a dataset");
    assert_eq!(months_fetched(linked, Some(Features::default())), 10, "pages without text");
    assert_eq!(months_fetched(waiting, copy()), 10, "seeds");
    let in_sitemap = |path: &str, depth| {
        let mut queued = waiting(path, depth);
        queued.candidate.via = model::Via::Sitemap;
        queued
    };
    assert_eq!(months_fetched(in_sitemap, copy()), 10, "URLs of a sitemap");
}

#[test]
fn a_shape_has_its_share_and_no_more() {
    let mut site = state();
    site.set_robots(known(""));
    let rules = SiteRules { traps: TrapRules { calendar_pages_max: 3, ..TrapRules::default() }, ..rules() };
    site.loaded((2000..2010).map(|year| linked(&format!("/cal/{year}/1/"), 0)).collect(), true);
    let ends: Vec<Next> = (0..10).map(|_| fetch_copy(&mut site, &rules)).collect();
    assert_eq!(ends.iter().filter(|next| matches!(next, Next::Fetch(_))).count(), 3);
    let is_trap = |next: &&Next| {
        let Next::Settle(_, settled) = next else { return false };
        settled.outcome == Outcome::Trap && settled.limits == Limit::Calendar.into()
    };
    assert_eq!(ends.iter().filter(is_trap).count(), 7);
}

/// Fetches so many URLs of each of some shapes, of which some more wait in memory.
fn counted(shapes: usize, urls: u32) -> SiteState {
    let mut site = state();
    site.set_robots(known(""));
    let path = |shape: usize, n: u32| format!("/{}?n={n}", letters(shape));
    let all = (0..urls).flat_map(|n| (0..shapes).map(move |shape| linked(&path(shape, n), n)));
    site.loaded(all.collect(), true);
    site.insert(waiting("/last", u32::MAX - 1), usize::MAX / 4);
    for _ in 0..shapes * urls as usize {
        assert!(matches!(fetch_copy(&mut site, &rules()), Next::Fetch(_)));
    }
    site
}

/// A word for a number, with no digit.
fn letters(n: usize) -> String {
    n.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

#[test]
fn a_restart_keeps_the_counters_of_shapes_to_within_a_factor_of_two() {
    for urls in 1..40 {
        let mut site = state();
        site.set_robots(known(""));
        let mut kept = std::collections::BTreeMap::new();
        site.loaded((0..=urls).map(|n| linked(&format!("/page?n={n}"), n)).collect(), true);
        for _ in 0..urls {
            assert!(matches!(fetch_copy(&mut site, &rules()), Next::Fetch(_)));
            kept.extend(site.record().shapes);
        }
        let after_crash = kept.values().sum::<u32>();
        assert!(
            after_crash <= urls && (after_crash * 2 > urls || urls < SHAPE_COUNT_KEPT_MIN),
            "{after_crash} of {urls}"
        );
        // It may leave the front: the count is written as it is.
        assert!(matches!(fetch_copy(&mut site, &rules()), Next::Fetch(_)));
        kept.extend(site.record().shapes);
        let after_leaving = if urls + 1 < SHAPE_COUNT_KEPT_MIN { 0 } else { urls + 1 };
        assert_eq!(kept.values().sum::<u32>(), after_leaving);
        assert_eq!(site.record().shapes, [], "each once");
        let again = SiteState::new(SiteRecord { shapes: kept.into_iter().collect(), ..site.record() });
        assert_eq!(again.shapes.values().map(|counted| counted.count).sum::<u32>(), after_leaving);
    }
}

#[test]
fn a_record_has_only_the_counters_of_shapes_that_are_to_be_written() {
    let mut site = counted(SHAPES_MAX, 9);
    assert_eq!(site.shapes.len(), SHAPES_MAX);
    let first = site.record().shapes;
    assert_eq!((first.len(), first.iter().all(|(_, count)| *count == 9)), (SHAPES_MAX, true));
    assert_eq!(site.record().shapes, []);
    // No more of them are counted than there may be.
    site.insert(linked("/another?n=1", 0), usize::MAX / 4);
    assert!(matches!(fetch_copy(&mut site, &rules()), Next::Fetch(_)));
    assert_eq!(site.shapes.len(), SHAPES_MAX);
}

#[test]
fn memory_holds_a_window_of_the_queue_and_reads_on_behind_it() {
    let mut site = state();
    site.set_robots(known(""));
    site.loaded(vec![], true);
    let mut all: Vec<Queued> = (0..1000).map(|n| waiting(&format!("/{n}"), n % 5)).collect();
    for waiting in &all {
        site.insert(waiting.clone(), WINDOW);
        assert!(site.queue.len() <= WINDOW * 2);
    }
    all.sort_by_key(|waiting| waiting.candidate.position());
    let mut out = Vec::new();
    loop {
        if site.wants_load(WINDOW) {
            let behind: Vec<Queued> =
                all.iter().filter(|waiting| Some(waiting.candidate.position()) > site.loaded_to()).cloned().collect();
            let window: Vec<Queued> = behind.iter().take(WINDOW).cloned().collect();
            site.loaded(window, behind.len() <= WINDOW);
        }
        match site.next(&rules(), Timestamp(0)) {
            Next::Fetch(waiting) => out.push(waiting),
            _ => break,
        }
    }
    assert_eq!(out, all, "each URL once, in order, though nothing was committed meanwhile");
}

#[test]
fn a_url_taken_is_not_taken_again_until_its_end_is_committed() {
    let mut site = state();
    site.set_robots(known(""));
    site.loaded(vec![waiting("/1", 1)], true);
    let Next::Fetch(taken) = site.next(&rules(), Timestamp(0)) else { panic!("a fetch") };
    site.insert(waiting("/1", 0), WINDOW);
    assert_eq!(site.next(&rules(), Timestamp(0)), Next::Held(Reason::Nothing), "relaxed while in flight");
    site.committed(taken.candidate.position().url);
    site.insert(
        Queued { visited: Some(model::Visited { outcome: Outcome::Html, outlinks: vec![] }), ..waiting("/1", 0) },
        WINDOW,
    );
    assert!(matches!(site.next(&rules(), Timestamp(0)), Next::JudgeAgain(_)));
}

#[test]
fn a_url_that_others_have_moved_is_given_out_once() {
    let mut site = state();
    site.set_robots(known(""));
    site.loaded(["/1", "/2", "/3"].map(|path| waiting(path, 4)).into(), true);
    for (path, depth) in [("/1", 2), ("/2", 1), ("/3", 0)] {
        // Another worker moved it to depth 3, and no hint told of it.
        site.remove(waiting(path, 3).candidate.position());
        site.insert(waiting(path, depth), WINDOW);
    }
    for expect in ["/3", "/2", "/1"] {
        let Next::Fetch(taken) = site.next(&rules(), Timestamp(0)) else { panic!("a fetch") };
        assert_eq!(taken.candidate.url.path(), expect);
        site.committed(taken.candidate.position().url);
    }
    assert_eq!(site.next(&rules(), Timestamp(0)), Next::Held(Reason::Nothing));
}

/// A site whose queue holds so many URLs at a depth, with the first window of them in memory and all but the last few
/// given out.
fn running_low(all: &[Queued]) -> SiteState {
    let mut site = state();
    site.set_robots(known(""));
    site.loaded(all[..WINDOW].to_vec(), false);
    while !site.wants_load(WINDOW) {
        site.next(&rules(), Timestamp(0));
    }
    site
}

fn in_order(depth: u32, count: usize) -> Vec<Queued> {
    let mut all: Vec<Queued> = (0..count).map(|n| waiting(&format!("/{depth}/{n}"), depth)).collect();
    all.sort_by_key(|waiting| waiting.candidate.position());
    all
}

#[test]
fn what_was_read_before_the_window_was_cut_leaves_no_gap() {
    let far = in_order(5, WINDOW + 10);
    let mut site = running_low(&far);
    let asked_from = site.loaded_to();
    for near in in_order(2, WINDOW * 2) {
        site.insert(near, WINDOW);
    }
    assert!(site.loaded_to() < asked_from, "the window was cut");
    site.loaded(far[WINDOW..].to_vec(), true);
    assert!(!site.all_loaded && site.loaded_to() < asked_from, "what was cut off must be read again");
}

#[test]
fn what_fails_comes_behind_all_others_and_in_its_new_place() {
    let mut site = state();
    site.set_robots(known(""));
    site.loaded(vec![waiting("/1", 1), waiting("/2", 2), waiting("/3", 3)], true);
    let Next::Fetch(taken) = site.next(&rules(), Timestamp(0)) else { panic!("a fetch") };
    site.leave_behind(taken.candidate.position().url, 1);
    assert!(!site.begin_sweep(Timestamp(0), &Politeness::default()), "others have not had their turn");
    for other in ["/2", "/3"] {
        let Next::Fetch(taken) = site.next(&rules(), Timestamp(0)) else { panic!("a fetch") };
        assert_eq!(taken.candidate.url.path(), other);
        site.committed(taken.candidate.position().url);
    }
    assert!(!site.is_finished(), "one is left");
    assert!(site.begin_sweep(Timestamp(0), &Politeness::default()));
    assert!(site.wants_load(WINDOW) && site.loaded_to().is_none(), "the queue is read from its start");
    site.loaded(vec![Queued { attempts: 1, ..waiting("/1", 0) }], true);
    let Next::Fetch(again) = site.next(&rules(), Timestamp(0)) else { panic!("a fetch") };
    assert_eq!((again.candidate.depth, again.attempts), (0, 1));
    site.committed(again.candidate.position().url);
    assert!(site.is_finished());
}

#[test]
fn what_failed_before_the_site_came_to_front_comes_behind_all_others_too() {
    let mut site = state();
    site.set_robots(known(""));
    site.loaded(vec![Queued { attempts: 1, ..waiting("/1", 0) }, waiting("/2", 2)], true);
    for expect in ["/2", "/1"] {
        let Next::Fetch(taken) = site.next(&rules(), Timestamp(0)) else { panic!("a fetch") };
        assert_eq!(taken.candidate.url.path(), expect);
        site.committed(taken.candidate.position().url);
        if site.begin_sweep(Timestamp(0), &Politeness::default()) {
            assert_eq!(site.due_at(), Timestamp(0), "nothing failed just now");
            site.loaded(vec![Queued { attempts: 1, ..waiting("/1", 0) }], true);
        }
    }
    assert!(site.is_finished());
}

#[test]
fn what_was_left_behind_is_not_read_again_until_the_next_sweep() {
    let mut site = state();
    site.set_robots(known(""));
    site.loaded(vec![waiting("/1", 1)], true);
    let Next::Fetch(taken) = site.next(&rules(), Timestamp(0)) else { panic!("a fetch") };
    site.leave_behind(taken.candidate.position().url, 1);
    site.reload(false);
    site.loaded(vec![waiting("/1", 1)], true);
    assert_eq!(site.next(&rules(), Timestamp(0)), Next::Held(Reason::Nothing));
    site.insert(waiting("/1", 0), WINDOW);
    assert_eq!(site.next(&rules(), Timestamp(0)), Next::Held(Reason::Nothing), "though a shorter way to it was found");
}

#[test]
fn what_brings_only_more_of_itself_comes_behind_the_others_and_before_what_failed() {
    let politeness = Politeness::default();
    let group = crate::yields::Group::Directory("/r/").key();
    let mut queue: Vec<Queued> = (0..40).map(|n| waiting(&format!("/r/{n}"), 1)).collect();
    queue.iter_mut().for_each(|waiting| waiting.candidate.via = model::Via::Link);
    queue.extend([waiting("/other", 2), waiting("/fails", 3)]);
    let mut site = state();
    site.robots = known("");
    site.heed_yield(group, crate::Yield::Low(crate::yields::Lines::default()));
    site.loaded(queue.clone(), true);
    let mut order = Vec::new();
    while !site.is_finished() && order.len() < 50 {
        let Next::Fetch(taken) = site.next(&rules(), Timestamp(0)) else {
            let behind = site.begin_sweep(Timestamp(0), &politeness);
            assert!(behind && site.wants_load(WINDOW), "what is left has its turn");
            assert_eq!(
                site.due_at() > Timestamp(0),
                !order.is_empty() && queue.len() == 1,
                "only for what failed it waits"
            );
            site.loaded(queue.clone(), true);
            continue;
        };
        let (url, path) = (taken.candidate.url.key().url, taken.candidate.url.path().to_owned());
        if path == "/fails" && !order.contains(&path) {
            site.leave_behind(url, 1);
        } else {
            site.committed(url);
            queue.retain(|waiting| waiting.candidate.url.key().url != url);
        }
        order.push(path);
    }
    let place = |path: &str| order.iter().position(|other| other == path).expect("it has its turn");
    let early = place("/other");
    assert!(early < 10 && order[..early].iter().all(|path| path.starts_with("/r/")), "{order:?}");
    assert_eq!((place("/fails"), order.len(), order.last().map(String::as_str)), (early + 1, 43, Some("/fails")));
    assert_eq!(site.record().failures_in_a_row, 0);
    let has_share = |(key, count): (u64, u32)| key == group && count == 41;
    assert!(site.unwritten_shapes().into_iter().chain(site.record().shapes).all(has_share));
}

#[test]
fn a_url_left_behind_a_cut_waits_in_the_store() {
    let far = in_order(5, WINDOW + 10);
    let mut site = running_low(&far);
    for near in in_order(2, WINDOW * 2) {
        site.insert(near, WINDOW);
    }
    let loaded_to = site.loaded_to();
    site.leave_behind(far[0].candidate.position().url, 1);
    for near in in_order(1, WINDOW * 2) {
        site.insert(near, WINDOW);
    }
    assert!(site.loaded_to() <= loaded_to, "nothing between the window and it may be taken for read");
}

#[test]
fn few_sites_share_a_large_window_and_many_have_a_small_one_each() {
    for (all, sites, window) in [
        (32_768, 0, 1_024),
        (32_768, 1, 1_024),
        (32_768, 50, 655),
        (32_768, 1_000, 32),
        (32_768, 50_000, 16),
        (0, 1, 16),
    ] {
        assert_eq!(window_urls(all, sites), window, "{sites} sites");
    }
}

#[test]
fn a_site_stays_with_the_address_in_use_while_its_name_has_it() {
    let of = |last: &[u8]| last.iter().map(|last| IpAddr::from([10, 0, 0, *last])).collect::<Vec<_>>();
    let mut site = state();
    for (resolved, goes_on, expect) in [
        (&[1, 2, 3][..], true, &[2, 3, 1][..]),
        (&[1, 2, 3], false, &[2, 3, 1]),
        (&[4, 5], true, &[5, 4]),
        (&[5], true, &[5]),
    ] {
        site.resolved(of(resolved));
        if goes_on {
            site.try_next_address();
        }
        assert_eq!(site.addresses, Some(of(expect)), "{resolved:?}");
    }
}

#[test]
fn the_bytes_of_a_site_are_those_of_what_it_has() {
    let mut site = state();
    let empty = site.bytes();
    let urls: Vec<Queued> = (0..100).map(|n| waiting(&format!("/{n}"), 1)).collect();
    site.loaded(urls.clone(), true);
    let all = site.queue_bytes();
    let each = all / urls.len();
    assert!((180..400).contains(&each), "{each} bytes a URL");
    assert_eq!(site.bytes(), empty + site.queue_bytes());
    site.insert(urls[0].clone(), 1_000);
    assert_eq!(site.queue_bytes(), all, "a URL is there once");
    site.set_robots(known("User-agent: *\nDisallow: /private"));
    let RobotsState::Known { rules, .. } = site.robots().clone() else { panic!("rules") };
    assert_eq!(site.bytes(), empty + site.queue_bytes() + rules.heap_bytes());
    site.robots_asked();
    let kept = rules.heap_bytes() + size_of::<RobotsState>();
    assert_eq!(site.bytes(), empty + site.queue_bytes() + kept, "they go on to count");
    site.cut_window(10);
    assert!(site.queue_bytes().abs_diff(10 * each) <= each && site.wants_load(100));
    let last = site.queue.last_position().expect("ten URLs");
    site.remove(last);
    assert!(site.queue_bytes() < 10 * each);
    site.reload(false);
    assert_eq!(site.queue_bytes(), 0);
}
