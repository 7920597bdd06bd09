//! What a log must look like.

use std::collections::BTreeMap;
use std::time::Duration;

use testweb::LogEntry;

/// The clocks of crawler and server count whole microseconds, each from its own start.
const CLOCKS_APART: Duration = Duration::from_micros(10);

/// The site that was asked.
pub fn site_of(entry: &LogEntry) -> String {
    format!("{}://{}", entry.scheme, entry.host)
}

/// The address that was asked.
pub fn address_of(entry: &LogEntry) -> String {
    entry.local.ip().to_string()
}

/// The visits: requests for robots.txt are left out, HEAD and GET of one URL are one.
pub fn visits(log: &[LogEntry]) -> Vec<LogEntry> {
    let mut visits: Vec<LogEntry> = Vec::new();
    for entry in log.iter().filter(|entry| entry.target != "/robots.txt") {
        let same = |head: &&mut LogEntry| {
            head.method == "HEAD"
                && entry.method == "GET"
                && head.target == entry.target
                && site_of(head) == site_of(entry)
        };
        match visits.iter_mut().rev().find(|visit| site_of(visit) == site_of(entry)).filter(same) {
            Some(head) => *head = LogEntry { start_us: head.start_us, ..entry.clone() },
            None => visits.push(entry.clone()),
        }
    }
    visits
}

/// Between the end of a reply and the next arrival of the same group lies at least `gap`. HEAD with its GET counts as one.
pub fn check_gaps(log: &[LogEntry], group_of: fn(&LogEntry) -> String, gap: Duration) {
    let mut last: BTreeMap<String, &LogEntry> = BTreeMap::new();
    for entry in log {
        let Some(before) = last.insert(group_of(entry), entry) else { continue };
        let one_visit = before.method == "HEAD" && entry.method == "GET" && before.target == entry.target;
        let ended = before.end_us.unwrap_or_else(|| panic!("no end: {before:?}"));
        let between = Duration::from_micros(entry.start_us.saturating_sub(ended));
        assert!(one_visit || between + CLOCKS_APART >= gap, "only {between:?} between\n{before:?}\n{entry:?}");
    }
}

/// Each site is asked for robots.txt once, before anything else.
pub fn check_robots_first(log: &[LogEntry]) {
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    for entry in log {
        let times = asked.entry(site_of(entry)).or_default();
        if entry.target == "/robots.txt" {
            *times += 1;
        }
        assert!(*times > 0, "before robots.txt: {entry:?}");
    }
    assert!(asked.values().all(|times| *times == 1), "{asked:?}");
}

/// The most requests that were under way at once.
pub fn overlapping_max(log: &[LogEntry]) -> usize {
    let under_way =
        |at: u64| log.iter().filter(|entry| entry.start_us <= at && entry.end_us.is_none_or(|end| end > at)).count();
    log.iter().map(|entry| under_way(entry.start_us)).max().unwrap_or(0)
}
