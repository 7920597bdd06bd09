//! Changes from outside to a crawl in a directory, whether it runs, is watched or rests.

use std::time::{Duration, UNIX_EPOCH};

use engine::clock::Clock;
use model::Timestamp;
use printable::counted;
use settings::options::Options;

use crate::live::{self, InForce};
use crate::opened::{Opened, is_in_use};
use crate::socket::SOCKET;
use crate::steer::{self, AtRest, Change, Counting, OrderId, TakeBack, Taker, steer_stopped, take_back_stopped};
use crate::{CrawlDir, Unready, watch_lock};

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
    /// The same of a crawl that runs.
    QueuedInRun(u64),
    /// Now: so many URLs have left the queue.
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
            Made::Queued(0) | Made::QueuedInRun(0) => visited_again(0),
            Made::Queued(urls) => {
                format!("in force; {} when `argiope crawl -o {}` goes on", visited_again(urls), dir.root().display())
            }
            Made::QueuedInRun(urls) => format!("in force; {}", visited_again(urls)),
            Made::Removed(0) => taken_out(0),
            Made::Removed(urls) => format!("in force; {}", taken_out(urls)),
        }
    }
}

/// What a retry of so many URLs comes to, in words.
#[must_use]
pub fn visited_again(urls: u64) -> String {
    match urls {
        0 => "nothing to visit again: no URL that failed or was refused is one of these, or each waits already"
            .to_owned(),
        _ => format!("{} to visit again", counted(urls, "URL")),
    }
}

/// What comes of taking so many URLs out of the queue, in words.
#[must_use]
pub fn taken_out(urls: u64) -> String {
    match urls {
        0 => "nothing to take out: no URL in the queue matches".to_owned(),
        _ => format!("{} taken out of the queue", counted(urls, "URL")),
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
    // All tries are the same order.
    let order = OrderId::new();
    until_free(dir, || {
        if let Some(InForce { urls }) = live::steer(dir.root(), &order, change)? {
            return Ok(match (urls, change) {
                (Some(urls), Change::Remove(_)) => Made::Removed(urls),
                (Some(urls), _) => Made::QueuedInRun(urls),
                (None, _) => Made::InForce,
            });
        }
        if ends_watch {
            return Ok(Made::WatchEnds);
        }
        Ok(match (steer_stopped(dir, &order, change)?, change) {
            (AtRest::Changed(urls), Change::Remove(_)) => Made::Removed(urls),
            (AtRest::Changed(urls), _) => Made::Queued(urls),
            (AtRest::DoneBefore, Change::Retry(_) | Change::Remove(_) | Change::Seeds(_) | Change::Stop) => {
                Made::InForce
            }
            (AtRest::Noted | AtRest::DoneBefore, _) => at_rest(dir),
        })
    })
}

/// The same, in words. Of seeds it says which were known, since nothing comes of those.
///
/// # Errors
/// As [`make`].
pub fn make_in_words(dir: &CrawlDir, change: &Change) -> anyhow::Result<String> {
    let notes = match change {
        // The change waits longer for a directory in use than this remark.
        Change::Seeds(_) => Opened::ask(dir.root(), |opened| foreseen(opened, change)).unwrap_or_default(),
        _ => Vec::new(),
    };
    let mut words = vec![make(dir, change)?.in_words(dir)];
    words.extend(notes);
    Ok(words.join("; "))
}

/// Takes a change back, as [`make`] makes one. `None` if what takes it back is something else by now: nothing was done then.
///
/// # Errors
/// As [`make`].
pub fn take_back(dir: &CrawlDir, order: &TakeBack) -> anyhow::Result<Option<Made>> {
    dir.refuse_of_workers()?;
    let id = OrderId::new();
    let made = until_free(dir, || {
        if live::take_back(dir.root(), &id, order)?.is_some() {
            return Ok(Made::InForce);
        }
        take_back_stopped(dir, &id, order)?;
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
fn until_free(dir: &CrawlDir, mut tried: impl FnMut() -> anyhow::Result<Made>) -> anyhow::Result<Made> {
    let clock = Clock::start();
    let began = clock.now();
    loop {
        match tried() {
            Err(error) if is_in_use(&error) && clock.now().since(began) < BUSY_MAX => std::thread::sleep(ASK_EVERY),
            tried => return tried.map_err(|error| unasked(dir).map_or(error, Into::into)),
        }
    }
}

/// Why a crawl that runs cannot be asked: this user may not.
fn unasked(dir: &CrawlDir) -> Option<Unready> {
    let forbidden = Some(Unready::in_use(dir.root())).filter(|unready| matches!(unready, Unready::Forbidden { .. }))?;
    // A socket may be left of a crawl that was killed.
    let read = dir.options().and_then(|options| dir.open_to_read(&options));
    read.is_err_and(|error| is_in_use(&error)).then_some(forbidden)
}

/// Whether something goes on that can be paused or stopped: a run, or a watch between two rounds.
#[must_use]
pub fn goes_on(dir: &CrawlDir) -> bool {
    live::runs(dir.root()) || watch_lock::is_watched(dir)
}

/// What a change would come to, in words.
///
/// # Errors
/// The change cannot be used or needs a running crawl, or the directory cannot be read.
pub fn dry_run(opened: &Opened, change: &Change) -> anyhow::Result<String> {
    let mut counting = counting(opened, change)?;
    while !counting.is_complete() {
        counting.look_on(opened.view())?;
    }
    let mut words = vec![counting.affected().to_string()];
    words.extend(foreseen(opened, change)?);
    Ok(words.join("; "))
}

/// What it would bring besides the URLs that it concerns, in sentences.
///
/// # Errors
/// As [`dry_run`].
pub fn foreseen(opened: &Opened, change: &Change) -> anyhow::Result<Vec<String>> {
    let lasts = if opened.is_running() { lasts(opened) } else { None };
    steer::foreseen(change, &options_of(opened)?, opened.view(), (taker_of(opened), lasts))
}

/// How long the run has lasted, which made its socket when it began.
fn lasts(opened: &Opened) -> Option<Duration> {
    let made_at = std::fs::symlink_metadata(opened.dir.root().join(SOCKET)).ok()?.modified().ok()?;
    let made_at = Timestamp::default() + made_at.duration_since(UNIX_EPOCH).ok()?;
    Some(Clock::start().date().since(made_at))
}

/// Begins to count what a change would affect.
///
/// # Errors
/// As [`dry_run`].
pub fn counting(opened: &Opened, change: &Change) -> anyhow::Result<Counting> {
    opened.dir.refuse_of_workers()?;
    let runs = if *change == Change::Stop { goes_on(&opened.dir) } else { opened.is_running() };
    if let (false, Some(unready)) = (runs, change.unready_without_run(&opened.dir)) {
        return Err(unready.into());
    }
    Counting::of(change, &options_of(opened)?, opened.view(), taker_of(opened))
}

fn taker_of(opened: &Opened) -> Taker {
    if opened.is_running() { Taker::Run } else { Taker::NextRun }
}

/// The options of a crawl, with its secrets.
fn options_of(opened: &Opened) -> anyhow::Result<Options> {
    Ok(opened.dir.secrets()?.put_into(opened.dir.options()?))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use store::{MemoryStore, Store};

    use super::*;
    use crate::live::{Answers, Live, Ordered};
    use crate::steer::{Changed, TakeBack, Undo};

    /// A run that carries orders out and is gone before it answers, as one that is killed then. The crawl rests from then on.
    fn run_that_never_answers(dir: &CrawlDir) -> (Option<Live>, Arc<AtomicU32>) {
        let (orders, own) = (Arc::new(AtomicU32::new(0)), dir.clone());
        let counted = orders.clone();
        let steer: live::Steer = Box::new(move |live::Order { id, what }| {
            counted.fetch_add(1, Ordering::Relaxed);
            match what {
                Ordered::Make(change) => drop(steer_stopped(&own, id, change)?),
                Ordered::TakeBack(back) => take_back_stopped(&own, id, back)?,
            }
            Err(Unready::Ending.into())
        });
        let view = Box::new(|| MemoryStore::new().view());
        let answers = Answers { view, publish: None, steer: Some(steer), scheduler: None };
        (Live::listen(dir.root(), answers), orders)
    }

    #[test]
    fn an_order_that_a_run_did_not_confirm_is_carried_out_once() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = CrawlDir::at(root.path());
        dir.create().expect("made");
        dir.write_options(&Options::default()).expect("written");
        drop(dir.open_store(&Options::default()).expect("a state"));
        let (_live, orders) = run_that_never_answers(&dir);
        let pattern = || vec!["*/x/*".to_owned()];
        for change in [Change::Exclude(pattern()), Change::Pause, Change::Retry(Vec::new()), Change::Remove(pattern())]
        {
            let queues = matches!(change, Change::Retry(_) | Change::Remove(_));
            let made = make(&dir, &change).expect("made");
            assert_eq!(made, if queues { Made::InForce } else { Made::WithNextRun }, "{change}");
        }
        let journal = || Changed::all_of(&dir).expect("changes");
        let words = journal().iter().map(|changed| changed.change.to_string()).collect::<Vec<_>>();
        assert_eq!(words, ["exclude */x/*", "pause", "retry", "remove */x/*"]);
        assert_eq!(orders.load(Ordering::Relaxed), 4, "the run had each");

        let excluded = journal().remove(0);
        let Undo::By(by) = excluded.undo(&dir.options().expect("options")) else { panic!("it is in force") };
        let back = TakeBack { changed: excluded, by };
        assert_eq!(take_back(&dir, &back).expect("taken back"), Some(Made::WithNextRun));
        assert_eq!(journal().len(), 4 + back.by.len());
        assert_eq!(dir.options().expect("options").exclude, Vec::<String>::new());
    }
}
