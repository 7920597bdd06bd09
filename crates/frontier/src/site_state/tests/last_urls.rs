//! The last URLs of a site that is down.

use super::*;

const PATIENCE: Duration = Duration::from_secs(600);

/// What became of a URL, and when.
#[derive(Debug, PartialEq)]
enum End {
    Answered,
    Failed { after_s: u64 },
}

/// The ends of the last URLs of a site which answered another page before they failed, or in between, and answers them after so many
/// seconds.
fn ends_of(urls: u32, is_answered_between: bool, down_s: u64, patience: Duration) -> Vec<End> {
    let politeness = Politeness::default();
    let mut site = state();
    site.set_robots(RobotsState::Known { rules: RobotsTxt::allow_all(), expires_at: Timestamp(u64::MAX) });
    let answer = |site: &mut SiteState, at: u64| {
        site.reached((Purpose::Page, 0), Duration::from_millis(1), S(at), &politeness);
        site.count_page();
    };
    (0..200).for_each(|_| answer(&mut site, 0));
    let mut queue: Vec<Queued> = (0..urls).map(|n| waiting(&format!("/{n}"), 1)).collect();
    let (mut now, mut ends, mut is_first_sweep) = (0, Vec::new(), true);
    while !queue.is_empty() {
        site.loaded(queue.clone(), true);
        while let Next::Fetch(taken) = site.next(&rules(), S(now)) {
            let url = taken.candidate.position().url;
            let place = queue.iter().position(|one| one.candidate.position().url == url).expect("it is queued");
            if now >= down_s {
                answer(&mut site, now);
                ends.push(End::Answered);
                queue.remove(place);
                site.committed(url);
                continue;
            }
            let failure = failed(Trouble::Answer, None, now);
            let attempts = site.url_failed((Purpose::Page, taken.attempts), &failure, &politeness);
            let is_spent = attempts >= site.attempts_max(&politeness);
            if is_spent && !site.tries_on(Purpose::Page, S(now), patience) {
                ends.push(End::Failed { after_s: now });
                queue.remove(place);
                site.committed(url);
            } else {
                site.leave_behind(url, attempts);
                queue[place].attempts = attempts;
            }
        }
        if std::mem::take(&mut is_first_sweep) && is_answered_between {
            answer(&mut site, now);
        }
        site.begin_sweep(S(now), &politeness);
        now = now.max(site.due_at().0 / 1_000_000);
    }
    ends
}

#[test]
fn the_last_urls_of_a_site_that_is_down_are_tried_as_long_as_patience_lasts() {
    for urls in 1..=7 {
        for down_s in [5, 75, 100, 400, 560] {
            let ends = ends_of(urls, false, down_s, PATIENCE);
            assert!(ends.iter().all(|end| *end == End::Answered), "{urls} {down_s}: {ends:?}");
        }
    }
}

#[test]
fn what_fails_for_longer_or_while_others_are_answered_has_its_end() {
    for (is_answered_between, patience_s, expect_s) in
        [(false, 600, 570), (false, 0, 73), (false, 60, 73), (true, 600, 73)]
    {
        for urls in 1..=7 {
            let ends = ends_of(urls, is_answered_between, u64::MAX, Duration::from_secs(patience_s));
            // From the fifth failure on, the site is given a second or more.
            let is_expected =
                |end: &End| matches!(end, End::Failed { after_s } if (expect_s..expect_s + 8).contains(after_s));
            assert!(ends.iter().all(is_expected), "{urls} {is_answered_between} {patience_s}: {ends:?}");
        }
    }
}
