//! Changes from outside to a crawl in a directory, whether it runs, is watched or rests.

use std::time::Duration;

use engine::clock::Clock;
use printable::counted;

use crate::opened::{Opened, is_in_use};
use crate::steer::{Affected, Change, Counting, TakeBack, steer_stopped, take_back_stopped};
use crate::{CrawlDir, Unready, live, watch_lock};

/// How long a change is tried: a crawl that begins or ends holds the state, and does not answer.
const BUSY_MAX: Duration = Duration::from_secs(10);
/// The time between two tries.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// From when on a change counts that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// From now on.
    InForce,
    /// The watch ends, between two rounds.
    WatchEnds,
    /// From the next round of the watch on.
    WithNextRound,
    /// From the next run on.
    WithNextRun,
    /// Now: so many URLs of a crawl that does not run are in its queue again.
    Queued(u64),
    /// Now: so many URLs have left the queue of a crawl that does not run.
    Removed(u64),
}

impl Made {
    /// This in words, of a crawl in this directory.
    #[must_use]
    pub fn in_words(self, dir: &CrawlDir) -> String {
        match self {
            Made::InForce => "in force".to_owned(),
            Made::WatchEnds => "the watch ends now, between two rounds".to_owned(),
            Made::WithNextRound => "noted; it counts from the watch's next round".to_owned(),
            Made::WithNextRun => format!("noted; it counts when `argiope crawl -o {}` goes on", dir.root().display()),
            Made::Queued(0) => {
                "nothing to visit again: no URL that failed or was refused is one of these, or each waits already"
                    .to_owned()
            }
            Made::Removed(0) => "nothing to take out: no URL in the queue matches".to_owned(),
            Made::Queued(urls) => {
                let urls = counted(urls, "URL");
                format!("in force; {urls} to visit again when `argiope crawl -o {}` goes on", dir.root().display())
            }
            Made::Removed(urls) => format!("in force; {} taken out of the queue", counted(urls, "URL")),
        }
    }
}

/// Makes a change, of the running crawl or of its directory. It may take fifteen seconds, and blocks the thread.
///
/// # Errors
/// The change cannot be used or needs a running crawl, several workers crawl, the directory is in use, or the disk fails.
pub fn make(dir: &CrawlDir, change: &Change) -> anyhow::Result<Made> {
    dir.refuse_of_workers()?;
    // The watch gets the order in any case: a round at its end heeds nothing any more.
    let ends_watch = matches!(change, Change::Stop) && watch_lock::stop(dir)?;
    until_free(|| {
        if live::steer(dir.root(), change)? {
            return Ok(Made::InForce);
        }
        if ends_watch {
            return Ok(Made::WatchEnds);
        }
        Ok(match (steer_stopped(dir, change)?, change) {
            (Some(urls), Change::Remove(_)) => Made::Removed(urls),
            (Some(urls), _) => Made::Queued(urls),
            (None, _) => at_rest(dir),
        })
    })
}

/// Takes a change back, as [`make`] makes one. `None` if what takes it back is something else by now: nothing was done then.
///
/// # Errors
/// As [`make`].
pub fn take_back(dir: &CrawlDir, order: &TakeBack) -> anyhow::Result<Option<Made>> {
    dir.refuse_of_workers()?;
    let made = until_free(|| {
        if live::take_back(dir.root(), order)? {
            return Ok(Made::InForce);
        }
        take_back_stopped(dir, order)?;
        Ok(at_rest(dir))
    });
    match made {
        Err(error) if matches!(error.downcast_ref(), Some(Unready::Outdated)) => Ok(None),
        made => made.map(Some),
    }
}

/// From when on a change of settings counts that was made of a crawl that does not run.
fn at_rest(dir: &CrawlDir) -> Made {
    if watch_lock::is_watched(dir) { Made::WithNextRound } else { Made::WithNextRun }
}

/// Tries something until it finds the directory free, or time is up.
fn until_free(mut tried: impl FnMut() -> anyhow::Result<Made>) -> anyhow::Result<Made> {
    let clock = Clock::start();
    let began = clock.now();
    loop {
        match tried() {
            Err(error) if is_in_use(&error) && clock.now().since(began) < BUSY_MAX => std::thread::sleep(ASK_EVERY),
            tried => return tried,
        }
    }
}

/// Whether something goes on that can be paused or stopped: a run, or a watch between two rounds.
#[must_use]
pub fn goes_on(dir: &CrawlDir) -> bool {
    live::runs(dir.root()) || watch_lock::is_watched(dir)
}

/// What a change would affect.
///
/// # Errors
/// The change cannot be used or needs a running crawl, or the directory cannot be read.
pub fn affected(opened: &Opened, change: &Change) -> anyhow::Result<Affected> {
    let mut counting = counting(opened, change)?;
    while !counting.is_complete() {
        counting.look_on(opened.view())?;
    }
    Ok(counting.affected())
}

/// Begins to count what a change would affect.
///
/// # Errors
/// As [`affected`].
pub fn counting(opened: &Opened, change: &Change) -> anyhow::Result<Counting> {
    opened.dir.refuse_of_workers()?;
    let runs = if *change == Change::Stop { goes_on(&opened.dir) } else { opened.is_running() };
    if let (false, Some(unready)) = (runs, change.unready_without_run(&opened.dir)) {
        return Err(unready.into());
    }
    let options = opened.dir.secrets()?.put_into(opened.dir.options()?);
    Counting::of(change, &options, opened.view())
}
