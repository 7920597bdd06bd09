//! The disk of a crawl's directory, looked at for all who watch.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crawl::outlook::Disk;
use engine::clock::Clock;
use model::Timestamp;

/// How long a look holds, at least.
const HOLDS_MIN: Duration = Duration::from_secs(1);
/// A look holds this many times as long as it took: it counts all files of the directory.
const HOLDS_TIMES: u32 = 10;

/// The last look at a disk.
pub(crate) struct LastDisk {
    last: Mutex<Option<(Timestamp, Disk)>>,
    clock: Clock,
}

impl Default for LastDisk {
    fn default() -> Self {
        LastDisk { last: Mutex::default(), clock: Clock::start() }
    }
}

impl LastDisk {
    /// The disk of a directory, which is always the same one. Others who ask meanwhile wait, and get the same.
    pub(crate) fn of(&self, root: &Path) -> Disk {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let began = self.clock.now();
        if let Some((until, disk)) = *last
            && began < until
        {
            return disk;
        }
        let disk = Disk::of(root);
        let ended = self.clock.now();
        *last = Some((ended + HOLDS_MIN.max(ended.since(began) * HOLDS_TIMES), disk));
        disk
    }
}
