//! Answers that read much of a crawl, kept as long as they hold.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crawl::opened::Opened;
use crawl::standing::Standing;
use engine::clock::Clock;
use model::Timestamp;

/// An answer about a moment holds this many times as long as it took. So viewers read a crawl for a small part of the time only.
const HOLDS_TIMES: u32 = 10;

/// The last answer to one question.
pub(crate) struct Kept<T> {
    answer: Mutex<Option<(Of, Arc<T>)>>,
    clock: Clock,
}

/// What an answer is of.
enum Of {
    /// A commit of a crawl that rests. An answer keeps nothing open: it may be what keeps others from crawling.
    Commit(Weak<Opened>),
    /// A moment of a run, or of a state of which nobody knows whether it is another by now, as in a database. It holds until then.
    Moment { of_run: bool, until: Timestamp },
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept { answer: Mutex::default(), clock: Clock::start() }
    }
}

impl<T> Kept<T> {
    /// The answer to `question`, which is asked if the last answer does not hold any more. Others wait meanwhile, and get the same.
    pub(crate) fn answer(
        &self,
        crawl: &Standing,
        opened: &Arc<Opened>,
        question: impl FnOnce(&Opened) -> anyhow::Result<T>,
    ) -> anyhow::Result<Arc<T>> {
        let mut kept = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        let began = self.clock.now();
        if let Some((of, answer)) = &*kept
            && of.holds(crawl, opened, began)
        {
            return Ok(answer.clone());
        }
        let answer = Arc::new(question(opened)?);
        let ended = self.clock.now();
        let holds_for: Duration = ended.since(began) * HOLDS_TIMES;
        let of = match crawl.keeps(opened) {
            true => Of::Commit(Arc::downgrade(opened)),
            false => Of::Moment { of_run: opened.is_running(), until: ended + holds_for },
        };
        *kept = Some((of, answer.clone()));
        Ok(answer)
    }

    /// Whether there is an answer.
    #[cfg(test)]
    pub(crate) fn is_there(&self) -> bool {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The next question is asked.
    pub(crate) fn forget(&self) {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Of {
    fn holds(&self, crawl: &Standing, opened: &Arc<Opened>, now: Timestamp) -> bool {
        match self {
            Of::Commit(of) => Weak::as_ptr(of) == Arc::as_ptr(opened),
            Of::Moment { of_run, until } => *of_run == opened.is_running() && now < *until && !crawl.keeps(opened),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::SeqCst;

    use crawl::CrawlDir;
    use engine::clock::Readings;
    use settings::options::Options;
    use store::Batch;

    use super::*;

    #[test]
    fn an_answer_keeps_nobody_from_crawling() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = CrawlDir::at(root.path());
        dir.create().expect("made");
        dir.write_options(&Options::default()).expect("written");
        drop(dir.open_store(&Options::default()).expect("a state"));
        // As a crawl is open that cannot be read while another process commits.
        let opened = Arc::new(Opened::new(root.path()).expect("a crawl"));
        let (kept, crawl) = (Kept::default(), Standing::new(root.path().to_owned()));
        for _ in 0..2 {
            assert_eq!(*kept.answer(&crawl, &opened, |_| Ok(1)).expect("an answer"), 1);
        }
        drop(opened);
        assert!(dir.open_store(&Options::default()).is_ok(), "the state is free");
        let again = Arc::new(Opened::new(root.path()).expect("a crawl"));
        assert_eq!(*kept.answer(&crawl, &again, |_| Ok(2)).expect("an answer"), 2, "it is of what was open before");
    }

    static AWAKE: AtomicU64 = AtomicU64::new(0);

    #[test]
    fn an_answer_that_takes_long_holds_for_others_until_another_commit_or_for_a_while() {
        /// How long an answer takes here.
        const TOOK: u64 = 60;
        let root = tempfile::tempdir().expect("a directory");
        let dir = CrawlDir::at(root.path());
        dir.create().expect("made");
        dir.write_options(&Options::default()).expect("written");
        drop(dir.open_store(&Options::default()).expect("a state"));
        let crawl = Standing::new(root.path().to_owned());
        let readings = Readings { date: Timestamp::default, awake: || Duration::from_secs(AWAKE.load(SeqCst)) };
        // How many times the question is asked, of what this opens.
        let asked = |kept: &Kept<()>, open: &dyn Fn() -> Arc<Opened>| {
            let asked = Cell::new(0);
            let question = |_: &Opened| {
                AWAKE.fetch_add(TOOK, SeqCst);
                asked.set(asked.get() + 1);
                Ok(())
            };
            kept.answer(&crawl, &open(), question).expect("an answer");
            asked.get()
        };
        let kept = || Kept { clock: Clock::reading(readings), ..Kept::default() };
        // Each request opens the state again, as one in a database.
        let (of_moment, again) = (kept(), || Arc::new(Opened::new(root.path()).expect("a crawl")));
        assert_eq!([asked(&of_moment, &again), asked(&of_moment, &again)], [1, 0]);
        AWAKE.fetch_add(TOOK * u64::from(HOLDS_TIMES), SeqCst);
        assert_eq!(asked(&of_moment, &again), 1);
        // Each request gets the same until another commit.
        let (of_commit, same) = (kept(), || crawl.now().expect("a crawl"));
        assert_eq!([asked(&of_commit, &same), asked(&of_commit, &same)], [1, 0]);
        AWAKE.fetch_add(TOOK * u64::from(HOLDS_TIMES), SeqCst);
        assert_eq!(asked(&of_commit, &same), 0);
        let store = dir.open_store(&Options::default()).expect("a state");
        store.commit(&Batch::default()).expect("a commit");
        drop(store);
        assert_eq!(asked(&of_commit, &same), 1);
    }
}
