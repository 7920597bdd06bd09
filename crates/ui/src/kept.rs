//! Answers that read much of a crawl, kept as long as they hold.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crawl::opened::Opened;
use engine::clock::Clock;
use model::Timestamp;

/// An answer about a running crawl holds this many times as long as it took. So viewers read a crawl for a small part of the time only.
const HOLDS_TIMES: u32 = 10;

/// The last answer to one question.
pub(crate) struct Kept<T> {
    answer: Mutex<Option<(Of, Arc<T>)>>,
    clock: Clock,
}

/// What an answer is of.
enum Of {
    /// A crawl that rests, at one commit. An answer keeps nothing open: it may be what keeps others from crawling.
    Rest(Weak<Opened>),
    /// A running crawl; it holds until then.
    Run(Timestamp),
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
        opened: &Arc<Opened>,
        question: impl FnOnce(&Opened) -> anyhow::Result<T>,
    ) -> anyhow::Result<Arc<T>> {
        let mut kept = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        let began = self.clock.now();
        if let Some((of, answer)) = &*kept
            && of.holds(opened, began)
        {
            return Ok(answer.clone());
        }
        let answer = Arc::new(question(opened)?);
        let ended = self.clock.now();
        let holds_for: Duration = ended.since(began) * HOLDS_TIMES;
        let of = if opened.is_running() { Of::Run(ended + holds_for) } else { Of::Rest(Arc::downgrade(opened)) };
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
    fn holds(&self, opened: &Arc<Opened>, now: Timestamp) -> bool {
        match self {
            Of::Rest(of) => Weak::as_ptr(of) == Arc::as_ptr(opened),
            Of::Run(until) => opened.is_running() && now < *until,
        }
    }
}

#[cfg(test)]
mod tests {
    use crawl::CrawlDir;
    use settings::options::Options;

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
        let kept = Kept::default();
        for _ in 0..2 {
            assert_eq!(*kept.answer(&opened, |_| Ok(1)).expect("an answer"), 1);
        }
        drop(opened);
        assert!(dir.open_store(&Options::default()).is_ok(), "the state is free");
        let again = Arc::new(Opened::new(root.path()).expect("a crawl"));
        assert_eq!(*kept.answer(&again, |_| Ok(2)).expect("an answer"), 2, "it is of what was open before");
    }
}
