//! The oracle put to the test: each rule broken on purpose must be noticed by the check that is there for it.

use sim::{Check, Report, Sabotage, Scenario, simulate};

/// Seeds tried. Not every crawl meets every rule.
const SEEDS: u64 = 60;

/// The reports of crawls with a broken rule that were noticed.
fn noticed(sabotage: Sabotage) -> Vec<Report> {
    let run = |seed| {
        let scenario = Scenario::from_seed(seed).broken_by(sabotage);
        let scenario = Scenario { has_archive: sabotage == Sabotage::DamageArchive, ..scenario };
        simulate(scenario, false).expect("a simulation")
    };
    (0..SEEDS).map(run).filter(|report| !report.violations.is_empty()).collect()
}

fn check(sabotage: Sabotage, expect: Check) {
    let reports = noticed(sabotage);
    let found = reports.iter().filter(|report| report.breaks(expect)).count();
    assert!(found > 0, "{sabotage:?}: {expect:?} noticed nothing in {SEEDS} seeds; others: {reports:?}");
}

macro_rules! broken_rules {
    ($($name:ident: $sabotage:ident => $check:ident;)*) => {
        $(#[test]
        fn $name() {
            check(Sabotage::$sabotage, Check::$check);
        })*
    };
}

broken_rules! {
    no_delay_is_noticed: NoDelay => Delay;
    no_delay_per_address_is_noticed: NoAddressDelay => AddressDelay;
    retry_after_ignored_is_noticed: NoRetryAfter => ComeLater;
    a_connection_too_many_is_noticed: MoreConnections => Connections;
    more_than_a_share_is_noticed: NoShares => Share;
    robots_txt_not_asked_for_is_noticed: NoRobots => RobotsFirst;
    robots_txt_ignored_is_noticed: NoRobots => RobotsObeyed;
    a_link_too_deep_is_noticed: DepthOffByOne => Complete;
    a_budget_exceeded_is_noticed: NoBudget => Budget;
    a_found_url_forgotten_is_noticed: ForgetFound => Complete;
    half_a_batch_is_noticed: HalfBatches => Complete;
    a_lost_batch_is_noticed: ForgetAcknowledged => Durable;
    an_outcome_forgotten_is_noticed: ForgetVisits => Durable;
    a_url_fetched_again_is_noticed: ForgetVisits => FetchedOnce;
    a_request_sent_twice_is_noticed: AskTwice => FetchedOnce;
    a_robots_txt_forgotten_is_noticed: ForgetSites => Durable;
    a_damaged_archive_is_noticed: DamageArchive => Archive;
    redirects_of_robots_txt_followed_at_once_are_noticed: FollowRobots => AddressDelay;
    waiting_by_a_clock_that_is_set_is_noticed: OneClock => Delay;
    a_site_of_another_is_noticed: KeepSites => Owned;
}
