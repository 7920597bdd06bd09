//! The oracle put to the test: each rule broken on purpose must be noticed by the check that is there for it.

use sim::{Check, Report, Sabotage, Scenario, simulate};

/// Seeds tried, at most. Not every crawl meets every rule.
const SEEDS_MAX: u64 = 1_000;

/// What came of a crawl with a broken rule.
fn broken(sabotage: Sabotage, seed: u64) -> Report {
    let scenario = Scenario::from_seed(seed).broken_by(sabotage);
    let has_archive = sabotage == Sabotage::DamageArchive;
    let explains = sabotage == Sabotage::ForgetAddresses;
    let scenario = Scenario { has_archive, explains, ..scenario };
    simulate(scenario, false).expect("a simulation")
}

fn check(sabotage: Sabotage, expect: Check) {
    let is_noticed = (0..SEEDS_MAX).any(|seed| broken(sabotage, seed).breaks(expect));
    assert!(is_noticed, "{sabotage:?}: {expect:?} noticed nothing in {SEEDS_MAX} seeds");
}

macro_rules! broken_rules {
    ($($name:ident: $sabotage:ident => $check:ident;)*) => {
        $(#[test]
        fn $name() {
            check(Sabotage::$sabotage, Check::$check);
        })*

        /// What the rules below are noticed by.
        const CHECKED: &[Check] = &[$(Check::$check),*];
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
    a_change_ignored_is_noticed: KeepCourse => Steered;
    a_robots_txt_asked_for_twice_is_noticed: AskTwice => RobotsOnce;
    a_fetch_too_many_is_noticed: MoreFetches => Bounded;
    a_distance_that_is_wrong_is_noticed: FurtherAway => Depth;
    a_payload_with_two_holders_is_noticed: ForgetPayloads => Duplicates;
    a_batch_committed_twice_is_noticed: CommitTwice => RecordedOnce;
    an_answer_that_is_lost_is_noticed: LoseAnswers => Ends;
    a_run_without_patience_is_noticed: NoPatience => Patience;
    a_site_given_up_at_once_is_noticed: GiveUpAtOnce => Outcome;
    a_site_in_trouble_that_is_forgotten_is_noticed: ForgetAsides => Durable;
    requests_without_a_network_are_noticed: Hammer => Quiet;
    a_url_blamed_for_its_site_is_noticed: BlameUrls => Attempts;
    places_that_are_kept_are_noticed: KeepPlaces => Fair;
    a_front_without_end_is_noticed: EndlessFront => Front;
    an_explanation_without_addresses_is_noticed: ForgetAddresses => Explained;
    a_page_left_out_of_a_round_is_noticed: ForgetPages => Revisited;
    a_server_that_is_believed_though_it_was_wrong_is_noticed: Believe => Conditional;
    a_change_that_is_missed_is_noticed: SayUnmodified => Current;
    a_missing_page_requested_too_early_is_noticed: ForgetEarlier => Rested;
}

#[test]
fn every_check_notices_something() {
    assert_eq!(Check::ALL.len(), Check::Rested as usize + 1, "the last check is the last of all");
    let missing: Vec<&Check> = Check::ALL.iter().filter(|check| !CHECKED.contains(check)).collect();
    assert!(missing.is_empty(), "no broken rule is there for {missing:?}");
}
