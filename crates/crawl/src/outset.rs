//! What the user should know of a crawl as it goes on: who can lead it where, what stays excluded, and whether the clock was set.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use engine::clock::Clock;
use fetch::{DenyPrivate, is_globally_routable};
use model::{Outcome, Timestamp};
use settings::options::Options;
use settings::plan::Plan;
use store::{Store, StoreError};
use weburl::{CanonicalUrl, Site};

use crate::history::Moment;
use crate::{CrawlDir, Notice};

/// Sites of seeds whose addresses are looked up in the state, at most. The others are judged by their names.
const LOOKED_UP_MAX: usize = 1_000;
/// Sites that the notice names, at most.
const NAMED_MAX: usize = 3;
/// How far a clock may go back without a notice: it is set by small steps.
const BACK_MIN: Duration = Duration::from_secs(5 * 60);
/// The time between two runs from which on the clock may have been set forward.
const FORWARD_MIN: Duration = Duration::from_secs(366 * 24 * 3600);
const MICROS_A_SECOND: u64 = 1_000_000;

/// The notices of a run by this plan with these seeds, before the settings of the plan are stored.
///
/// # Errors
/// The state or the settings cannot be read.
pub(crate) fn notices<'a>(
    dir: &CrawlDir,
    plan: &Plan,
    store: &dyn Store,
    seeds: impl Iterator<Item = &'a CanonicalUrl>,
    retry: &[Outcome],
) -> anyhow::Result<Vec<Notice>> {
    let mixed = mixed(plan, store, seeds)?;
    let excluded = store.totals()?.count(Outcome::Excluded);
    let is_widened = dir.holds_crawl() && excluded > 0 && is_widened(&dir.options()?, &plan.options);
    let stays = (is_widened && !retry.contains(&Outcome::Excluded))
        .then(|| Notice::ExcludedStay { urls: excluded, root: dir.root().to_owned() });
    // It shows people what was when; a run does not depend on it.
    let set = last_date(dir).and_then(|last| clock_set(last, Clock::start().date()));
    Ok(mixed.into_iter().chain(stays).chain(set).collect())
}

/// Whether the seeds name private addresses beside public ones: a public page may lead the crawl to the private ones.
fn mixed<'a>(
    plan: &Plan,
    store: &dyn Store,
    seeds: impl Iterator<Item = &'a CanonicalUrl>,
) -> Result<Option<Notice>, StoreError> {
    // Without the rule they may lead anywhere, and with it nowhere; other addresses are given by hand.
    if plan.fetch.deny_private != DenyPrivate::Auto || !plan.fetch.connect_to.is_empty() {
        return Ok(None);
    }
    let sites: BTreeSet<Site> = seeds.map(CanonicalUrl::site).collect();
    let (mut private, mut has_public) = (Vec::new(), false);
    for (at, site) in sites.into_iter().enumerate() {
        let by_name = is_private(&site);
        let known = match by_name {
            None if at < LOOKED_UP_MAX => store.site(site.key())?.and_then(|record| record.address),
            _ => None,
        };
        match by_name.or_else(|| known.map(|address| !is_globally_routable(address))) {
            Some(true) => private.push(site),
            Some(false) | None => has_public = true,
        }
    }
    let more = private.len().saturating_sub(NAMED_MAX);
    let is_mixed = has_public && !private.is_empty();
    private.truncate(NAMED_MAX);
    Ok(is_mixed.then_some(Notice::MixedSeeds { private, more }))
}

/// Whether a site is at a private address, as far as its host says.
fn is_private(site: &Site) -> Option<bool> {
    let host = site.host();
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => Some(!is_globally_routable(address)),
        Err(_) => (host == "localhost" || host.ends_with(".localhost")).then_some(true),
    }
}

/// Whether the rules now may admit what the rules before refused.
fn is_widened(before: &Options, now: &Options) -> bool {
    let dropped = before.exclude.iter().any(|pattern| !now.exclude.contains(pattern));
    let dropped_file = before.exclude_file.is_some() && before.exclude_file != now.exclude_file;
    let included = !before.include.is_empty()
        && (now.include.is_empty() || now.include.iter().any(|pattern| !before.include.contains(pattern)));
    dropped || dropped_file || included
}

/// The last date of the runs before. The file may be damaged, or somebody else's: any number can be in it.
fn last_date(dir: &CrawlDir) -> Option<Timestamp> {
    let moments = Moment::all_of(dir).unwrap_or_default();
    moments.last().map(|moment| Timestamp(moment.at.saturating_mul(MICROS_A_SECOND)))
}

/// Whether the clock was set since the last run, by its last date.
fn clock_set(last: Timestamp, now: Timestamp) -> Option<Notice> {
    let (back, forward) = (last.since(now), now.since(last));
    if back >= BACK_MIN {
        return Some(Notice::ClockBack { by: back, last });
    }
    (forward >= FORWARD_MIN).then_some(Notice::ClockForward { by: forward, last })
}

#[cfg(test)]
mod tests {
    use store::MemoryStore;
    use weburl::CanonicalRules;

    use super::*;

    #[test]
    fn private_seeds_beside_public_ones_are_named() {
        let check = |seeds: &[&str], expect: &[&str]| {
            let seeds: Vec<CanonicalUrl> =
                seeds.iter().map(|seed| CanonicalUrl::parse(seed, &CanonicalRules::default()).expect(seed)).collect();
            let plan = Plan::new(&Options::default()).expect("a plan");
            let private = match mixed(&plan, &MemoryStore::default(), seeds.iter()).expect("read") {
                Some(Notice::MixedSeeds { private, more: 0 }) => private.iter().map(Site::to_string).collect(),
                _ => Vec::new(),
            };
            assert_eq!(private, expect, "{seeds:?}");
        };
        check(&["http://a.test/", "http://10.1.1.1/x", "http://10.1.1.1/y"], &["http://10.1.1.1"]);
        check(&["http://8.8.8.8/", "http://[::1]:81/"], &["http://[::1]:81"]);
        check(&["http://a.test/", "http://localhost/"], &["http://localhost"]);
        check(&["http://a.test/", "http://8.8.8.8/"], &[]);
        check(&["http://10.1.1.1/", "http://127.0.0.1/"], &[]);
    }

    #[test]
    fn rules_are_wider_where_they_may_admit_more() {
        let of = |include: &[&str], exclude: &[&str]| Options {
            include: include.iter().map(|&pattern| pattern.to_owned()).collect(),
            exclude: exclude.iter().map(|&pattern| pattern.to_owned()).collect(),
            ..Options::default()
        };
        let check = |before: &Options, now: &Options, expect| assert_eq!(is_widened(before, now), expect, "{now:?}");
        check(&of(&["a"], &[]), &of(&[], &[]), true);
        check(&of(&["a"], &[]), &of(&["a", "b"], &[]), true);
        check(&of(&["a", "b"], &[]), &of(&["a"], &[]), false);
        check(&of(&[], &[]), &of(&["a"], &[]), false);
        check(&of(&[], &["a"]), &of(&[], &[]), true);
        check(&of(&[], &["a"]), &of(&[], &["a", "b"]), false);
    }

    #[test]
    fn any_date_of_a_history_is_read() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = CrawlDir::at(root.path());
        let mut lines = String::new();
        for (at, expect) in [(1_800_000_000, 1_800_000_000 * MICROS_A_SECOND), (u64::MAX, u64::MAX)] {
            let moment = r#""pages":1,"bytes":1,"in_flight":0,"sites_waiting":0,"sites_aside":0,"paused":false"#;
            lines.push_str(&format!("{{\"at\":{at},{moment}}}\n"));
            std::fs::write(dir.history(), &lines).expect("written");
            assert_eq!(last_date(&dir), Some(Timestamp(expect)), "{at}");
        }
    }

    #[test]
    fn a_clock_that_was_set_is_noticed() {
        let last = Timestamp(1_800_000_000 * MICROS_A_SECOND);
        let hours = |hours: u64| Duration::from_secs(hours * 3600);
        assert_eq!(clock_set(last, last + hours(24 * 300)), None);
        assert_eq!(clock_set(last + Duration::from_secs(30), last), None);
        assert_eq!(clock_set(last + hours(1), last), Some(Notice::ClockBack { by: hours(1), last: last + hours(1) }));
        assert_eq!(clock_set(last, last + hours(9_000)), Some(Notice::ClockForward { by: hours(9_000), last }));
    }
}
