//! What is left of a running crawl: its queue, its failures, the disk that it needs, and for how long it goes on at least.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use model::Outcome;
use serde::Serialize;
use store::Totals;

/// What is left of a crawl, as of its last commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
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
    /// How long the queue takes at the rate of this run, at least. None before the first visit of the run.
    pub ends_in: Option<Duration>,
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
            kept_out: count(&|outcome| Outcome::REFUSED.contains(&outcome)),
            disk_bytes: disk.used,
            disk_bytes_left: disk.left,
            disk_bytes_expected: times(disk.used, waiting, visited),
            ends_in: times(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX), waiting, of_run)
                .map(Duration::from_millis),
        }
    }

    /// Whether the disk has less than the queue will add.
    #[must_use]
    pub fn is_disk_short(&self) -> bool {
        self.disk_bytes_expected.is_some_and(|expected| expected > self.disk_bytes_left)
    }
}

/// URLs that were requested.
#[must_use]
pub fn visited(totals: &Totals) -> u64 {
    totals.outcomes.iter().filter(|(outcome, _)| !Outcome::REFUSED.contains(outcome)).map(|(_, count)| count).sum()
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
    fn what_is_left_is_told_by_what_was_done() {
        let mut done =
            totals(300, &[(Outcome::Html, 90), (Outcome::Timeout, 10), (Outcome::Disallowed, 7), (Outcome::Trap, 3)]);
        let disk = Disk { used: 1_000, left: 2_999 };
        // 100 visits, 60 of them before this run: 40 took 20 seconds.
        let outlook = Outlook::of(&done, 60, Duration::from_secs(20), disk);
        assert_eq!((outlook.waiting, outlook.failed, outlook.kept_out), (300, 10, 10));
        assert_eq!((outlook.disk_bytes, outlook.disk_bytes_expected), (1_000, Some(3_000)));
        assert_eq!(outlook.ends_in, Some(Duration::from_secs(150)));
        assert!(outlook.is_disk_short());
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
