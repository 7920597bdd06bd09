//! URLs that fail, and sites in trouble.

use super::*;

const SECONDS_A_DAY: u64 = 24 * 3600;

#[test]
fn a_url_fails_by_its_own_fault_only_where_others_do_not() {
    let politeness = Politeness::default();
    let mut site = state();
    // Asked for the first time, it may be the site that fails.
    assert_eq!(site.url_failed((Purpose::Page, 0), &failed(Trouble::Answer, None, 1), &politeness), 1);
    assert_eq!((site.record().failures_in_a_row, site.due_at()), (1, S(1)));
    // Again, and nothing else was answered: it does not count.
    assert_eq!(site.url_failed((Purpose::Page, 1), &failed(Trouble::Answer, None, 2), &politeness), 1);
    assert_eq!(site.record().failures_in_a_row, 2);
    site.reached((Purpose::Page, 0), Duration::ZERO, S(3), &politeness);
    // Another one was answered.
    assert_eq!(site.url_failed((Purpose::Page, 1), &failed(Trouble::Answer, None, 4), &politeness), 2);
    assert_eq!((site.record().failures_in_a_row, site.due_at()), (0, S(4)));
    // A site that cannot be reached is never its fault.
    assert_eq!(site.url_failed((Purpose::Page, 2), &failed(Trouble::Unreached, None, 5), &politeness), 2);
    assert_eq!((site.record().failures_in_a_row, site.due_at()), (1, S(6)));
}

#[test]
fn what_fails_when_nothing_else_is_left_is_the_sites_failure_unless_it_is_little() {
    let politeness = Politeness::default();
    for (urls, expect) in [(1, Some(4)), (2, Some(4)), (3, None), (20, None)] {
        let mut site = state();
        site.set_robots(known(""));
        let mut queue: Vec<Queued> = (0..urls).map(|n| waiting(&format!("/{n}"), 1)).collect();
        let mut now = S(0);
        // One that is answered, and then no more.
        site.reached((Purpose::Page, 0), Duration::ZERO, now, &politeness);
        site.count_page();
        let mut most = 0;
        for _ in 0..8 {
            site.loaded(queue.clone(), true);
            while let Next::Fetch(taken) = site.next(&rules(), now) {
                let at = now.0 / 1_000_000;
                let attempts =
                    site.url_failed((Purpose::Page, taken.attempts), &failed(Trouble::Answer, None, at), &politeness);
                most = most.max(attempts);
                let url = taken.candidate.position().url;
                site.leave_behind(url, attempts);
                queue
                    .iter_mut()
                    .filter(|one| one.candidate.position().url == url)
                    .for_each(|one| one.attempts = attempts);
                if site.is_aside(now) || most >= 4 {
                    break;
                }
            }
            if site.is_aside(now) || most >= 4 {
                break;
            }
            site.begin_sweep(now, &politeness);
            if site.is_aside(now) {
                break;
            }
            now = now.max(site.due_at());
        }
        assert_eq!((most == 4).then_some(most), expect, "{urls} URLs");
        assert_eq!(site.is_aside(now), expect.is_none(), "{urls} URLs");
    }
}

/// How often a URL that fails always is requested until it ends, of so many of them, each between pages that are answered. `None` if the
/// site is put aside.
fn requests_of_those_between_others(urls: u32) -> Option<u8> {
    let politeness = Politeness::default();
    let mut site = state();
    site.set_robots(RobotsState::Known { rules: RobotsTxt::allow_all(), expires_at: Timestamp(u64::MAX) });
    let mut broken: Vec<Queued> = (0..urls).map(|n| waiting(&format!("/{n}"), 1)).collect();
    let mut now = S(0);
    for requests in 1..20 {
        site.loaded(broken.clone(), true);
        while let Next::Fetch(taken) = site.next(&rules(), now) {
            let failure = failed(Trouble::Answer, None, now.0 / 1_000_000);
            let attempts = site.url_failed((Purpose::Page, taken.attempts), &failure, &politeness);
            if attempts >= politeness.attempts_max {
                return Some(requests);
            }
            let url = taken.candidate.position().url;
            site.leave_behind(url, attempts);
            broken.iter_mut().filter(|one| one.candidate.position().url == url).for_each(|one| one.attempts = attempts);
            if requests == 1 {
                site.reached((Purpose::Page, 0), Duration::from_millis(1), now, &politeness);
                site.count_page();
            }
        }
        site.begin_sweep(now, &politeness);
        if site.aside().is_some() {
            return None;
        }
        now = now.max(site.due_at());
    }
    None
}

#[test]
fn urls_that_failed_while_others_were_answered_end_by_themselves_unless_they_are_many() {
    for (urls, expect) in [(1, Some(4)), (3, Some(4)), (7, Some(4)), (8, None), (20, None)] {
        assert_eq!(requests_of_those_between_others(urls), expect, "{urls} URLs");
    }
}

#[test]
fn a_site_in_trouble_is_put_aside_for_longer_and_longer_and_given_up_at_last() {
    let politeness = Politeness::default();
    let mut site = state();
    let mut at = 0;
    let mut waits = Vec::new();
    while !site.is_given_up() {
        site.failed(&failed(Trouble::Unreached, None, at), &politeness);
        waits.push(site.due_at().since(S(at)).as_secs());
        at = site.due_at().0 / 1_000_000;
        assert!(site.is_given_up() || site.is_aside(S(at - 1)) == (waits.len() >= 6), "{waits:?}");
    }
    assert_eq!(waits[..13], [1, 2, 4, 8, 16, 60, 300, 1_800, 7_200, 21_600, 86_400, 86_400, 86_400]);
    assert!(S(at).since(S(31)) >= politeness.give_up_after);
    let given_up = site.record().given_up.expect("it is given up");
    assert_eq!(given_up.detail, "in trouble for 7 days: ");
}

#[test]
fn a_site_that_is_given_up_after_minutes_says_so() {
    let politeness = Politeness { give_up_after: Duration::from_secs(120), ..Politeness::default() };
    let (mut site, mut at) = (state(), 0);
    while !site.is_given_up() {
        site.failed(&failed(Trouble::Unreached, None, at), &politeness);
        at = site.due_at().0 / 1_000_000;
    }
    assert_eq!(site.record().given_up.expect("it is given up").detail, "in trouble for 2 minutes: ");
}

#[test]
fn runs_that_ask_before_the_wait_is_over_do_not_bring_a_site_nearer_to_being_given_up() {
    let politeness = Politeness::default();
    let mut site = state();
    while site.aside().is_none() {
        site.failed(&failed(Trouble::Unreached, None, 0), &politeness);
    }
    let (aside, due) = (site.aside().cloned(), site.due_at());
    assert_eq!((aside.as_ref().map(|aside| aside.round), due), (Some(1), S(60)));
    for at in 1..40 {
        site = SiteState::new(SiteRecord { due_at: S(at), ..site.record() });
        site.failed(&failed(Trouble::Unreached, None, at), &politeness);
        assert_eq!(site.aside().cloned(), aside, "{at}");
        assert!(site.due_at() >= due, "it backs off as well");
    }
    let over = site.due_at().0 / 1_000_000;
    site.failed(&failed(Trouble::Unreached, None, over), &politeness);
    assert_eq!((site.aside().map(|aside| aside.round), site.due_at()), (Some(2), S(over + 300)));
}

#[test]
fn urls_left_behind_wait_since_they_failed_and_not_since_their_site_has_come_back() {
    let politeness = Politeness::default();
    for (attempts, has_answered) in [(0, false), (1, false), (1, true)] {
        for begins in [10, 11, 400] {
            let mut site = state();
            if has_answered {
                site.reached((Purpose::Page, 0), Duration::ZERO, S(9), &politeness);
            }
            let failure = failed(Trouble::Answer, None, 10);
            let attempts = site.url_failed((Purpose::Page, attempts), &failure, &politeness);
            site.leave_behind(1, attempts);
            site.loaded(Vec::new(), true);
            assert!(site.begin_sweep(S(begins), &politeness));
            assert_eq!(site.due_at(), S(11), "{attempts} {has_answered} {begins}");
        }
    }
}

#[test]
fn a_site_comes_back_from_aside_with_the_first_answer() {
    let politeness = Politeness::default();
    let mut site = state();
    let mut at = 0;
    while !site.is_aside(S(at)) {
        at = site.due_at().0 / 1_000_000;
        site.url_failed((Purpose::Page, 0), &failed(Trouble::Answer, None, at), &politeness);
    }
    assert_eq!((at, site.due_at()), (7, S(67)), "four without back-off, three with, and the eighth puts it aside");
    // One that was asked for before the site was put aside.
    site.url_failed((Purpose::Page, 0), &failed(Trouble::Answer, None, 9), &politeness);
    assert_eq!((site.aside().map(|aside| aside.round), site.due_at()), (Some(1), S(67)));
    // Some URLs may be broken for ever: not the first alone says that the site still is in trouble.
    let mut tried = 0;
    for at in (0..).map(|n| 70 + 10 * n) {
        site.url_failed((Purpose::Page, 0), &failed(Trouble::Answer, None, at), &politeness);
        tried += 1;
        if site.due_at() > S(at + 60) {
            break;
        }
    }
    assert_eq!((tried, site.aside().map(|aside| aside.round)), (4, Some(2)));
    site.reached((Purpose::Page, 0), Duration::ZERO, site.due_at(), &politeness);
    assert_eq!((site.aside().cloned(), site.record().failures_in_a_row), (None, 0));
}

#[test]
fn a_site_that_asks_for_a_long_wait_is_aside_until_then() {
    let politeness = Politeness::default();
    for (asked, expect) in [(59, None), (60, Some(1)), (3_600, Some(1))] {
        let mut site = state();
        site.url_failed((Purpose::Page, 0), &failed(Trouble::TooFast, Some(asked), 0), &politeness);
        assert_eq!((site.aside().map(|aside| aside.round), site.due_at()), (expect, S(asked)), "{asked}");
        // Where the URL alone is at fault, too.
        let mut site = state();
        site.url_failed((Purpose::Page, 1), &failed(Trouble::Answer, Some(asked), 0), &politeness);
        assert_eq!((site.aside().map(|aside| aside.round), site.due_at()), (expect, S(asked)), "{asked}");
    }
}

#[test]
fn the_record_of_a_site_aside_tells_how_long_the_site_itself_asked_to_be_left_alone() {
    let politeness = Politeness::default();
    let told = |site: &mut SiteState| {
        let record = site.record();
        record.aside.map(|aside| (aside.until, record.asked_until))
    };
    for (asked, expect) in [(None, Timestamp::default()), (Some(2), S(102)), (Some(3_600), S(3_700))] {
        let mut site = SiteState::new(SiteRecord { failures_in_a_row: 20, ..state().record() });
        site.failed(&failed(Trouble::TooFast, asked, 100), &politeness);
        assert_eq!(told(&mut site), Some((S(160), expect)), "{asked:?}");
        // It asks for more while it is aside.
        site.failed(&failed(Trouble::TooFast, Some(7_200), 101), &politeness);
        assert_eq!((told(&mut site), site.due_at()), (Some((S(160), S(7_301))), S(7_301)), "{asked:?}");
    }
}

#[test]
fn a_site_whose_few_urls_all_fail_is_put_aside_after_some_sweeps() {
    let politeness = Politeness::default();
    let mut site = state();
    site.set_robots(known(""));
    let mut sweeps = Vec::new();
    let mut now = 0;
    while !site.is_aside(S(now)) {
        site.loaded(vec![waiting("/", 0)], true);
        let Next::Fetch(taken) = site.next(&rules(), S(now)) else { panic!("a fetch") };
        let attempts = site.url_failed((Purpose::Page, 0), &failed(Trouble::Answer, None, now), &politeness);
        site.leave_behind(taken.candidate.position().url, attempts);
        assert!(site.begin_sweep(S(now), &politeness));
        sweeps.push(now);
        if site.aside().is_none() {
            now = site.due_at().0 / 1_000_000;
        }
    }
    assert_eq!((sweeps, site.due_at()), (vec![0, 1, 3, 7, 15, 31], S(91)));
}

#[test]
fn an_earlier_robots_txt_counts_while_a_new_one_cannot_be_had() {
    let politeness = Politeness::default();
    let mut site = state();
    site.loaded(vec![waiting("/private", 0), waiting("/", 1), waiting("/2", 2)], true);
    site.robots_asked();
    let known = RobotsTxt::parse(b"User-agent: *\nDisallow: /private", "argiope");
    site.robots_had(RobotsState::Known { rules: known, expires_at: S(100) });
    assert_eq!(site.next(&rules(), S(100)), Next::Robots, "expired");
    site.robots_asked();
    site.robots_failed(&failed(Trouble::Unreached, None, 100), &politeness);
    assert_eq!((site.record().failures_in_a_row, site.is_aside(S(100))), (0, false));
    assert!(matches!(site.next(&rules(), S(101)), Next::Settle(..)));
    assert!(matches!(site.next(&rules(), S(102)), Next::Fetch(_)));
    assert_eq!(site.next(&rules(), S(160)), Next::Robots, "asked for again after a minute");
    site.robots_asked();
    site.robots_failed(&failed(Trouble::Unreached, Some(3_600), 160), &politeness);
    let record = site.record();
    assert_eq!((record.failures_in_a_row, record.due_at), (1, S(3_760)), "the record tells that it was asked for");
    assert!(site.is_aside(S(3_759)) && !site.is_aside(S(3_760)), "a run does not wait for it longer than its patience");
    // Without one the site waits.
    let mut site = state();
    site.robots_asked();
    site.robots_failed(&failed(Trouble::Unreached, None, 0), &politeness);
    assert!(matches!(site.robots, RobotsState::Unknown));
    assert_eq!((site.record().failures_in_a_row, site.due_at()), (1, S(1)));
}

/// How a site goes on that answered so many pages before, and from now on a request for robots.txt each day and nothing else: the days until
/// a URL of it or the site itself counts as broken, and which.
fn days_with_robots_alone(pages: u32, urls: u32, trouble: Trouble) -> (u64, Option<Broken>) {
    let (rules, politeness) = (rules(), Politeness::default());
    let mut site = state();
    (0..pages).for_each(|_| site.count_page());
    let mut queue: Vec<Queued> = (0..urls).map(|n| waiting(&format!("/{n}"), 1)).collect();
    let mut now = 0;
    site.loaded(queue.clone(), true);
    for _ in 0..10_000 {
        now = now.max(site.due_at().0 / 1_000_000);
        match site.next(&rules, S(now)) {
            Next::Robots => {
                site.robots_asked();
                let expires_at = S(now + SECONDS_A_DAY);
                site.robots_had(RobotsState::Known { rules: RobotsTxt::allow_all(), expires_at });
            }
            Next::Fetch(taken) => {
                let attempts =
                    site.url_failed((Purpose::Page, taken.attempts), &failed(trouble, None, now), &politeness);
                let url = taken.candidate.position().url;
                site.leave_behind(url, attempts);
                let is_it = |one: &&mut Queued| one.candidate.position().url == url;
                queue.iter_mut().filter(is_it).for_each(|one| one.attempts = attempts);
                if attempts >= politeness.attempts_max {
                    return (now / SECONDS_A_DAY, Some(Broken::Url));
                }
            }
            _ if site.begin_sweep(S(now), &politeness) => site.loaded(queue.clone(), true),
            _ => now += 1,
        }
        if site.is_given_up() {
            return (now / SECONDS_A_DAY, Some(Broken::Site));
        }
    }
    (now / SECONDS_A_DAY, None)
}

#[test]
fn sitemaps_and_images_do_not_show_that_pages_work() {
    let politeness = Politeness::default();
    let busy = |purpose, attempts, at| ((purpose, attempts), failed(Trouble::Answer, None, at));
    for (answered, failing, expect) in [
        (Purpose::Sitemap, Purpose::Page, 1),
        (Purpose::Requisite, Purpose::Page, 1),
        (Purpose::Page, Purpose::Page, 2),
        (Purpose::Page, Purpose::Requisite, 2),
        (Purpose::Requisite, Purpose::Requisite, 2),
    ] {
        let mut site = state();
        let (url, failure) = busy(failing, 0, 1);
        assert_eq!(site.url_failed(url, &failure, &politeness), 1);
        site.reached((answered, 0), Duration::ZERO, S(2), &politeness);
        let (url, failure) = busy(failing, 1, 3);
        assert_eq!(site.url_failed(url, &failure, &politeness), expect, "{answered:?} {failing:?}");
        // Failures of pages that nothing but files interrupts are failures in a row.
        assert_eq!(site.record().failures_in_a_row, if expect == 1 { 2 } else { 0 }, "{answered:?} {failing:?}");
    }
}

#[derive(Debug, PartialEq)]
enum Broken {
    Site,
    Url,
}

#[test]
fn a_site_that_answers_with_robots_txt_alone_is_given_up_unless_it_is_few_urls_that_fail() {
    for (pages, urls, trouble, expect) in [
        (9, 1, Trouble::Unreached, (7, Some(Broken::Site))),
        (9, 50, Trouble::Unreached, (7, Some(Broken::Site))),
        (9, 1, Trouble::TooFast, (1, Some(Broken::Url))),
        (9, 50, Trouble::TooFast, (7, Some(Broken::Site))),
        (9, 1, Trouble::Answer, (1, Some(Broken::Url))),
        (9, 50, Trouble::Answer, (7, Some(Broken::Site))),
        // Where no page was ever answered, one that fails is no exception.
        (0, 1, Trouble::Answer, (7, Some(Broken::Site))),
        (0, 1, Trouble::TooFast, (7, Some(Broken::Site))),
    ] {
        assert_eq!(days_with_robots_alone(pages, urls, trouble), expect, "{pages} {urls} {trouble:?}");
    }
}

/// How often a URL is requested that always fails, of a site that answered another one before, until it ends. `None` if its site is put aside.
fn requests_of_a_failing(answered: Purpose, failing: Purpose) -> Option<u8> {
    let politeness = Politeness::default();
    let mut site = state();
    site.set_robots(RobotsState::Known { rules: RobotsTxt::allow_all(), expires_at: Timestamp(u64::MAX) });
    let (mut now, mut queued) = (S(0), waiting("/", 1));
    site.reached((answered, 0), Duration::from_millis(1), now, &politeness);
    for requests in 1.. {
        site.loaded(vec![queued.clone()], true);
        let Next::Fetch(taken) = site.next(&rules(), now) else { panic!("a fetch") };
        let failure = failed(Trouble::Answer, None, now.0 / 1_000_000);
        queued.attempts = site.url_failed((failing, taken.attempts), &failure, &politeness);
        if queued.attempts >= politeness.attempts_max {
            return Some(requests);
        }
        site.leave_behind(taken.candidate.position().url, queued.attempts);
        assert!(site.begin_sweep(now, &politeness));
        now = site.due_at();
        if site.aside().is_some() {
            return None;
        }
    }
    None
}

#[test]
fn a_url_that_always_fails_ends_where_others_like_it_were_answered() {
    for (answered, failing, ends) in [
        // As a page counts what is no success, too: redirects, and 404.
        (Purpose::Page, Purpose::Page, true),
        (Purpose::Page, Purpose::Requisite, true),
        (Purpose::Requisite, Purpose::Requisite, true),
        (Purpose::Sitemap, Purpose::Sitemap, true),
        (Purpose::Requisite, Purpose::Page, false),
    ] {
        assert_eq!(requests_of_a_failing(answered, failing).is_some(), ends, "{answered:?} {failing:?}");
    }
}

#[test]
fn files_that_are_answered_interrupt_the_failures_of_files_beside_a_failing_page() {
    let politeness = Politeness::default();
    for (trouble, outage) in [(Trouble::Answer, 0), (Trouble::Answer, 20), (Trouble::Unreached, 20)] {
        let mut site = state();
        site.url_failed((Purpose::Page, 0), &failed(Trouble::Answer, None, 0), &politeness);
        // For some time, nothing is answered.
        for at in 1..=outage {
            site.url_failed((Purpose::Requisite, 0), &failed(trouble, None, at), &politeness);
        }
        assert_eq!(site.aside().is_some(), outage > 0, "{trouble:?}");
        // Then each second file is.
        for at in (1..100).map(|n| 1_000 + 100 * n) {
            site.reached((Purpose::Requisite, 0), Duration::ZERO, S(at), &politeness);
            assert_eq!(site.aside().map(|aside| aside.round), None, "{trouble:?} {outage} {at}");
            site.url_failed((Purpose::Requisite, 0), &failed(trouble, None, at), &politeness);
            assert_eq!((site.record().failures_in_a_row, site.is_given_up()), (2, false), "{trouble:?} {outage} {at}");
        }
    }
}

#[test]
fn files_that_are_answered_do_not_end_the_trouble_of_pages() {
    let politeness = Politeness::default();
    let mut site = state();
    for at in (0..).map(|n| 100 * n).take(20) {
        site.url_failed((Purpose::Page, 0), &failed(Trouble::Answer, None, at), &politeness);
        site.reached((Purpose::Requisite, 0), Duration::ZERO, S(at + 1), &politeness);
        if site.aside().is_some() {
            break;
        }
    }
    assert_eq!(site.aside().map(|aside| aside.round), Some(1));
    // A wait that the server asks for is one, too.
    let mut site = state();
    site.url_failed((Purpose::Page, 0), &failed(Trouble::TooFast, Some(100), 0), &politeness);
    site.reached((Purpose::Requisite, 0), Duration::ZERO, S(101), &politeness);
    assert_eq!(site.aside().map(|aside| aside.round), Some(1));
}

/// A site whose pages fail and whose images are answered.
struct Half {
    site: SiteState,
    politeness: Politeness,
}

impl Half {
    fn new() -> Self {
        Half { site: state(), politeness: Politeness::default() }
    }

    fn page_fails(&mut self, at: u64) {
        self.site.url_failed((Purpose::Page, 0), &failed(Trouble::Answer, None, at), &self.politeness);
    }

    fn is_answered(&mut self, purpose: Purpose, at: u64) {
        self.site.reached((purpose, 0), Duration::from_millis(1), S(at), &self.politeness);
    }

    /// The end of a sweep that left something behind.
    fn sweep_ends(&mut self, at: u64) {
        self.site.loaded(Vec::new(), true);
        self.site.leave_behind(1, 1);
        assert!(self.site.begin_sweep(S(at), &self.politeness));
    }

    /// The number of its waits in trouble.
    fn round(&self) -> Option<u32> {
        self.site.aside().map(|aside| aside.round)
    }
}

#[test]
fn a_site_whose_pages_all_fail_is_given_up_whatever_else_it_answers_in_each_sweep() {
    let mut half = Half::new();
    let (mut at, mut rounds) = (0, Vec::new());
    while !half.site.is_given_up() && rounds.len() < 100 {
        half.page_fails(at);
        half.is_answered(Purpose::Requisite, at + 1);
        half.sweep_ends(at + 2);
        rounds.push(half.round());
        at = (at + 3).max(half.site.due_at().0 / 1_000_000);
    }
    assert!(half.site.is_given_up(), "{rounds:?}");
    assert_eq!(rounds[4..8], [None, Some(1), Some(2), Some(3)]);
}

#[test]
fn the_trouble_of_pages_goes_on_in_the_next_sweep() {
    for page_fails_first in [true, false] {
        let mut half = Half::new();
        (0..8).for_each(|at| half.page_fails(at));
        assert_eq!(half.round(), Some(1));
        half.page_fails(100);
        half.sweep_ends(101);
        if page_fails_first {
            half.page_fails(200);
        }
        half.is_answered(Purpose::Requisite, 201);
        let failures = half.site.failures_in_a_row();
        assert_eq!((half.round(), failures), (Some(1), if page_fails_first { 6 } else { 5 }));
        half.is_answered(Purpose::Page, 202);
        assert_eq!((half.round(), half.site.failures_in_a_row()), (None, 0));
    }
    // Pages that were answered before their trouble began do not end it.
    let mut half = Half::new();
    half.is_answered(Purpose::Page, 0);
    for at in (1..=8).map(|n| 10 * n) {
        half.page_fails(at);
        half.is_answered(Purpose::Requisite, at + 1);
    }
    assert_eq!(half.round(), Some(1));
    half.sweep_ends(200);
    half.is_answered(Purpose::Requisite, 300);
    assert_eq!(half.round(), Some(1));
}

#[test]
fn the_trouble_of_pages_ends_where_no_page_is_left() {
    let mut half = Half::new();
    (0..8).for_each(|at| half.page_fails(at));
    half.sweep_ends(100);
    half.is_answered(Purpose::Requisite, 200);
    half.sweep_ends(1_000);
    assert_eq!(half.round(), Some(1), "one may have been left");
    half.is_answered(Purpose::Requisite, 2_000);
    assert_eq!((half.round(), half.site.failures_in_a_row()), (None, 0));
}

#[test]
fn a_page_that_was_under_way_does_not_put_a_site_aside_for_its_sake() {
    let mut half = Half::new();
    half.site.url_failed((Purpose::Requisite, 0), &failed(Trouble::TooFast, Some(100), 0), &half.politeness);
    half.page_fails(1);
    assert_eq!(half.round(), Some(1));
    half.is_answered(Purpose::Requisite, 101);
    assert_eq!(half.round(), None);
}

#[test]
fn what_a_site_waits_for_its_delay_is_no_failure() {
    let politeness = Politeness { delay: Duration::from_secs(300), ..Politeness::default() };
    let mut site = state();
    for (n, expect) in (0..8).zip([0, 300, 600, 900, 1_200, 1_500, 1_800, 2_100]) {
        let at = 301 * n;
        site.failed(&failed(Trouble::Answer, None, at), &politeness);
        site.wait_until(S(at) + politeness.delay, Reason::Delay);
        assert_eq!(site.failing().map(|failing| failing.since), Some(S(expect)), "{n}");
    }
}

#[test]
fn a_site_that_was_reached_answers_until_it_fails_twice() {
    let politeness = Politeness::default();
    let mut site = state();
    assert!(!site.answers(), "it was never asked");
    site.reached((Purpose::Page, 0), Duration::from_millis(1), S(0), &politeness);
    let answers = [1, 2, 3].map(|at| {
        site.failed(&failed(Trouble::Answer, None, at), &politeness);
        site.answers()
    });
    assert_eq!(answers, [true, false, false]);
    site.reached((Purpose::Page, 0), Duration::from_millis(1), S(4), &politeness);
    assert!(site.answers());
}

#[test]
fn a_wait_that_ends_early_does_not_end_what_the_site_asked_for() {
    let politeness = Politeness::default();
    for (asked, expect) in [(None, 10), (Some(3_600), 3_600)] {
        let mut site = SiteState::new(SiteRecord { failures_in_a_row: 20, ..state().record() });
        site.failed(&failed(Trouble::TooFast, asked, 0), &politeness);
        site.end_wait(S(10));
        assert_eq!((site.due_at(), site.is_aside(S(11))), (S(expect), asked.is_some()), "{asked:?}");
    }
}
