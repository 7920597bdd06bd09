//! What is left of a running crawl: its queue, its failures, the disk that it needs, and for how long it goes on at least.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use engine::{Pace, SiteWaits, Wait};
use frontier::Reason;
use model::{Outcome, Timestamp};
use printable::counted;
use serde::{Serialize, Serializer};
use store::Totals;

use crate::moment;

/// What is left of a crawl, as of its last commit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outlook {
    /// URLs in the queue.
    pub waiting: u64,
    /// URLs that ended in a failure.
    pub failed: u64,
    /// URLs that rules kept out: robots.txt, patterns, traps.
    pub kept_out: u64,
    /// Bytes of the crawl's directory.
    pub disk_bytes: u64,
    /// Bytes that its disk has left.
    pub disk_bytes_left: u64,
    /// Bytes that the URLs in the queue will add, if they are like those before. Links that they bring are not in it. None before the first
    /// visit.
    pub disk_bytes_expected: Option<u64>,
    /// How long the queue takes, at least: at the rate of this run while it was not paused, and as politeness allows for the site with the
    /// longest queue. Sites on hold do not count. None while the crawl is paused or has spent its budget, where all sites with long queues
    /// are on hold, and before anything is known.
    #[serde(rename = "ends_in_seconds", serialize_with = "in_seconds")]
    pub ends_in: Option<Duration>,
    /// What holds its sites up.
    #[serde(serialize_with = "dated")]
    pub waits: SiteWaits,
}

/// What holds sites up, for a log or an answer: its times by RFC 3339. [`SiteWaits`] has another form, between processes.
pub struct DatedWaits<'a>(pub &'a SiteWaits);

#[derive(Serialize)]
struct DatedWait {
    sites: u64,
    until: Option<String>,
}

impl Serialize for DatedWaits<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.0.iter().map(|(reason, Wait { sites, until })| {
            (reason, DatedWait { sites: *sites, until: until.map(Timestamp::to_rfc3339) })
        }))
    }
}

fn dated<S: Serializer>(waits: &SiteWaits, to: S) -> Result<S::Ok, S::Error> {
    DatedWaits(waits).serialize(to)
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn in_seconds<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(to)
}

/// The disk of a crawl's directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disk {
    /// Bytes of the directory.
    pub used: u64,
    /// Bytes that the disk has left for this user.
    pub left: u64,
}

impl Outlook {
    /// The outlook after these totals. The run visited all but `before` of their URLs, and took `elapsed` for it.
    #[must_use]
    pub fn of(totals: &Totals, before: u64, elapsed: Duration, disk: Disk) -> Self {
        let count = |of: &dyn Fn(Outcome) -> bool| {
            totals.outcomes.iter().filter(|(outcome, _)| of(**outcome)).map(|(_, count)| count).sum::<u64>()
        };
        let visited = visited(totals);
        let (waiting, of_run) = (totals.pending, visited.saturating_sub(before));
        Outlook {
            waiting,
            failed: count(&Outcome::is_failure),
            kept_out: count(&Outcome::is_refused),
            disk_bytes: disk.used,
            disk_bytes_left: disk.left,
            // What sitemaps and the tables of an empty crawl take does not grow with the pages.
            disk_bytes_expected: times(disk.used.min(totals.bytes), waiting, visited),
            ends_in: times(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX), waiting, of_run)
                .map(Duration::from_millis),
            waits: SiteWaits::default(),
        }
    }

    /// The same, with what holds the sites up. Of the longest queues it takes how many URLs wait, and how fast the site can be visited.
    #[must_use]
    pub(crate) fn with(self, waits: SiteWaits, queues: &[(u64, Option<Pace>)]) -> Self {
        let ends_in = ends_in(self.ends_in, self.waiting, queues).filter(|_| {
            let nobody_knows = [Reason::Paused, Reason::CrawlBudget];
            !nobody_knows.iter().any(|reason| waits.0.contains_key(reason))
        });
        Outlook { waits, ends_in, ..self }
    }

    /// Whether the disk has less than the queue will add.
    #[must_use]
    pub fn is_disk_short(&self) -> bool {
        self.disk_bytes_expected.is_some_and(|expected| expected > self.disk_bytes_left)
    }
}

/// What holds sites up where only this is known: a pause, how many are on hold, how many are in trouble and until when, and of how many the budget
/// is spent.
#[must_use]
pub fn waits_of_sites(is_paused: bool, on_hold: u64, in_trouble: Wait, spent: u64) -> SiteWaits {
    let without_end = |sites| Wait { sites, until: None };
    let all = [
        (Reason::Paused, without_end(u64::from(is_paused))),
        (Reason::Hold, without_end(on_hold)),
        (Reason::Aside, in_trouble),
        (Reason::SiteBudget, without_end(spent)),
    ];
    SiteWaits(all.into_iter().filter(|(_, wait)| wait.sites > 0).collect())
}

/// What holds the sites of a crawl up, in words of now; `None` if nothing does.
#[must_use]
pub fn waits_in_words(waits: &SiteWaits, now: Timestamp) -> Option<String> {
    let words: Vec<String> = waits.0.iter().filter_map(|(reason, wait)| wait_in_words(*reason, *wait, now)).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn wait_in_words(reason: Reason, Wait { sites, until }: Wait, now: Timestamp) -> Option<String> {
    let what = match reason {
        Reason::Nothing | Reason::UnderWay | Reason::End => return None,
        Reason::Paused => return Some("the end of the pause".to_owned()),
        Reason::CrawlBudget => return Some("a larger budget of the crawl".to_owned()),
        Reason::Network => return Some("this machine's network".to_owned()),
        Reason::Reader => return Some("the reader of its stream (--stream)".to_owned()),
        Reason::Hold => "on hold",
        Reason::Elsewhere => "of other workers",
        Reason::SiteBudget => "whose budget is spent",
        Reason::Place => "without a place in memory",
        Reason::Aside => "in trouble",
        Reason::BackOff => "that failed",
        Reason::Vanished => "with vanished pages",
        Reason::Delay => "for their delay",
        Reason::AddressDelay => "for the delay of their address",
        Reason::Rate => "for the rate of all requests",
        Reason::Address => "for others on their address",
        Reason::Name => "for their name",
        Reason::Robots => "for robots.txt",
        Reason::Share => "for requests or look-ups of their domain or address",
        Reason::Busy => "for a free request",
    };
    // Other waits are short.
    let until = until.filter(|_| matches!(reason, Reason::Aside | Reason::BackOff | Reason::Vanished));
    let until = until.map_or_else(String::new, |until| format!(" until {}", moment::shown(until, now)));
    Some(format!("{} {what}{until}", counted(sites, "site")))
}

/// URLs that were requested.
#[must_use]
pub fn visited(totals: &Totals) -> u64 {
    totals.outcomes.iter().filter(|(outcome, _)| !outcome.is_refused()).map(|(_, count)| count).sum()
}

/// How long the queue takes, at least, given how long all of it takes at the rate of the run.
fn ends_in(at_rate: Option<Duration>, waiting: u64, queues: &[(u64, Option<Pace>)]) -> Option<Duration> {
    if !queues.is_empty() && queues.iter().all(|(_, pace)| pace.is_none()) {
        return None;
    }
    let held: u64 = queues.iter().filter(|(_, pace)| pace.is_none()).map(|(urls, _)| urls).sum();
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let at_rate = at_rate.and_then(|time| times(millis(time), waiting.saturating_sub(held), waiting));
    let allowed = queues.iter().filter_map(|(urls, pace)| {
        let Pace { interval, visits_max } = (*pace)?;
        // The first visit may begin now.
        let waits = (*urls).min(visits_max.unwrap_or(u64::MAX)).saturating_sub(1);
        Some(millis(interval).saturating_mul(waits))
    });
    at_rate.into_iter().chain(allowed).max().map(Duration::from_millis)
}

/// `of · share / whole`.
fn times(of: u64, share: u64, whole: u64) -> Option<u64> {
    let product = u128::from(of) * u128::from(share);
    product.checked_div(u128::from(whole)).map(|result| u64::try_from(result).unwrap_or(u64::MAX))
}

impl Disk {
    /// Looks at a directory. Files that go away meanwhile count as nothing; symbolic links are not followed.
    #[must_use]
    pub fn of(dir: &Path) -> Self {
        let left = rustix::fs::statvfs(dir).map_or(0, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
        Disk { used: bytes_of(dir), left }
    }
}

/// The unit of `st_blocks` (stat(3type)), in bytes.
const BLOCK_BYTES: u64 = 512;

fn bytes_of(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().map_while(Result::ok);
    let bytes = entries.filter_map(|entry| {
        let metadata = entry.metadata().ok()?;
        // Not lengths: the state's journals are sparse files.
        Some(if metadata.is_dir() { bytes_of(&entry.path()) } else { metadata.blocks() * BLOCK_BYTES })
    });
    bytes.sum()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn totals(pending: u64, outcomes: &[(Outcome, u64)]) -> Totals {
        Totals { pending, outcomes: BTreeMap::from_iter(outcomes.iter().copied()), ..Totals::default() }
    }

    #[test]
    fn times_are_dates_and_lengths_of_time_are_seconds() {
        let wait = Wait { sites: 2, until: Some(Timestamp(1_500_000)) };
        let waits = SiteWaits(BTreeMap::from([(Reason::Aside, wait), (Reason::Hold, Wait { sites: 1, until: None })]));
        let outlook = Outlook { ends_in: Some(Duration::from_millis(2_500)), waits, ..Outlook::default() };
        let told = serde_json::to_value(&outlook).expect("JSON");
        assert_eq!(told["ends_in_seconds"], 2.5);
        assert_eq!(told["waits"]["aside"], serde_json::json!({ "sites": 2, "until": "1970-01-01T00:00:01.500Z" }));
        assert_eq!(told["waits"]["hold"], serde_json::json!({ "sites": 1, "until": null }));
    }

    #[test]
    fn sites_are_held_up_by_what_is_known_of_them() {
        let in_trouble = |sites| Wait { sites, until: Some(Timestamp(1_500_000)) };
        let words = |waits: &SiteWaits| waits_in_words(waits, Timestamp(0));
        assert_eq!(words(&waits_of_sites(false, 0, in_trouble(0), 0)), None);
        let all = words(&waits_of_sites(true, 2, in_trouble(3), 1)).expect("words");
        for held in
            ["the end of the pause", "2 sites on hold", "3 sites in trouble until ", "1 site whose budget is spent"]
        {
            assert!(all.contains(held), "{held}: {all}");
        }
    }

    #[test]
    fn what_is_left_is_told_by_what_was_done() {
        let mut done =
            totals(300, &[(Outcome::Html, 90), (Outcome::Timeout, 10), (Outcome::Disallowed, 7), (Outcome::Trap, 3)]);
        done.bytes = 4_000;
        let disk = Disk { used: 1_000, left: 2_999 };
        // 100 visits, 60 of them before this run: 40 took 20 seconds.
        let outlook = Outlook::of(&done, 60, Duration::from_secs(20), disk);
        assert_eq!((outlook.waiting, outlook.failed, outlook.kept_out), (300, 10, 10));
        assert_eq!((outlook.disk_bytes, outlook.disk_bytes_expected), (1_000, Some(3_000)));
        assert_eq!(outlook.ends_in, Some(Duration::from_secs(150)));
        assert!(outlook.is_disk_short());
        // The directory has large sitemaps, too.
        let with_sitemaps = Outlook::of(&done, 60, Duration::from_secs(20), Disk { used: 9_000_000, ..disk });
        assert_eq!(with_sitemaps.disk_bytes_expected, Some(12_000));
        assert!(!Outlook::of(&done, 60, Duration::from_secs(20), Disk { left: 3_000, ..disk }).is_disk_short());
        assert_eq!(
            Outlook::of(&done, 100, Duration::from_secs(20), disk).ends_in,
            None,
            "nothing was visited in this run"
        );
        done.pending = 0;
        assert_eq!(Outlook::of(&done, 0, Duration::from_secs(1), disk).disk_bytes_expected, Some(0));
        let nothing = Outlook::of(&totals(5, &[]), 0, Duration::ZERO, Disk::default());
        assert_eq!((nothing.disk_bytes_expected, nothing.is_disk_short()), (None, false));
    }

    #[test]
    fn a_crawl_goes_on_at_least_as_long_as_its_rate_and_politeness_say() {
        let every = |seconds| Some(Pace { interval: Duration::from_secs(seconds), visits_max: None });
        let budget = Some(Pace { visits_max: Some(11), ..every(1).expect("a pace") });
        let check = |at_rate: Option<u64>, queues: &[(u64, Option<Pace>)], expect: Option<u64>| {
            let found = ends_in(at_rate.map(Duration::from_secs), 1_000, queues);
            assert_eq!(found, expect.map(Duration::from_secs), "{at_rate:?} {queues:?}");
        };
        check(None, &[], None);
        check(Some(150), &[], Some(150));
        // Of many sites none is slower than the crawl was.
        check(Some(150), &[(100, every(1)), (90, every(1))], Some(150));
        // One site has most of the queue, or a long delay.
        check(Some(150), &[(901, every(1)), (50, every(1))], Some(900));
        check(Some(150), &[(901, every(0)), (50, every(60))], Some(49 * 60));
        check(None, &[(901, every(1))], Some(900));
        check(None, &[(1, every(3_600))], Some(0));
        // Its budget leaves only some of it.
        check(Some(5), &[(901, budget)], Some(10));
        // Sites on hold are not waited for.
        check(Some(150), &[(800, None), (101, every(1))], Some(100));
        check(Some(150), &[(800, None), (11, every(1))], Some(30));
        check(Some(150), &[(800, None), (11, None)], None);
    }

    #[test]
    fn no_end_is_told_while_nobody_knows_when_the_crawl_goes_on() {
        let all = Outlook { waiting: 1_000, ends_in: Some(Duration::from_secs(150)), ..Outlook::default() };
        let queues = [(901, Some(Pace { interval: Duration::from_secs(1), visits_max: None }))];
        let until = Some(Timestamp(1));
        for (reason, expect) in [
            (Reason::Paused, None),
            (Reason::CrawlBudget, None),
            (Reason::Delay, Some(900)),
            (Reason::Aside, Some(900)),
            (Reason::Hold, Some(900)),
        ] {
            let waits = SiteWaits(BTreeMap::from([(reason, Wait { sites: 1, until })]));
            let with = all.clone().with(waits.clone(), &queues);
            assert_eq!((with.ends_in, with.waits), (expect.map(Duration::from_secs), waits), "{reason:?}");
        }
    }

    #[test]
    fn each_reason_has_its_words() {
        let (now, until) = (Timestamp::from_millis(1_793_536_700_000), Some(Timestamp::from_millis(1_793_536_800_000)));
        let tomorrow = until.map(|until| until + Duration::from_secs(86_400));
        for (reason, sites, until, expect) in [
            (Reason::Aside, 3, until, "3 sites in trouble until 12:40 UTC"),
            (Reason::Aside, 3, tomorrow, "3 sites in trouble until 2026-11-02 12:40 UTC"),
            (Reason::Delay, 120, until, "120 sites for their delay"),
            (Reason::AddressDelay, 1, until, "1 site for the delay of their address"),
            (Reason::Hold, 2, None, "2 sites on hold"),
            (Reason::Paused, 7, None, "the end of the pause"),
        ] {
            let waits = SiteWaits(BTreeMap::from([(reason, Wait { sites, until })]));
            assert_eq!(waits_in_words(&waits, now).as_deref(), Some(expect), "{reason:?}");
        }
        let waits = [(Reason::Aside, Wait { sites: 3, until }), (Reason::Delay, Wait { sites: 120, until: None })];
        let both = waits_in_words(&SiteWaits(BTreeMap::from(waits)), now);
        assert_eq!(both.as_deref(), Some("3 sites in trouble until 12:40 UTC, 120 sites for their delay"));
        assert_eq!(waits_in_words(&SiteWaits::default(), now), None);
    }

    #[test]
    fn a_directory_is_measured_by_the_blocks_of_the_files_below_it() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(dir.path().join("below")).expect("made");
        std::fs::write(dir.path().join("a"), vec![1; 700_000]).expect("written");
        let sparse = std::fs::File::create(dir.path().join("below/b")).expect("made");
        sparse.set_len(1 << 30).expect("longer");
        let disk = Disk::of(dir.path());
        assert!((700_000..2_000_000).contains(&disk.used) && disk.left > 0, "{disk:?}");
    }
}
