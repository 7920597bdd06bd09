//! The scheduler of a run, to be asked from outside.

use engine::{Prospect, Question, Waits};
use tokio::sync::{mpsc, oneshot};
use weburl::SiteKey;

/// Questions that wait for the scheduler, at most. Who asks more waits.
const QUESTIONS_MAX: usize = 64;

/// The scheduler of a run. It gives no answer if the run has ended.
#[derive(Clone, Debug)]
pub struct Scheduler(mpsc::Sender<Question>);

impl Scheduler {
    /// The two ends: to ask, and for [`engine::Shell`].
    #[must_use]
    pub fn new() -> (Self, mpsc::Receiver<Question>) {
        let (asking, questions) = mpsc::channel(QUESTIONS_MAX);
        (Scheduler(asking), questions)
    }

    /// What is next for a site.
    pub async fn prospect(&self, site: SiteKey) -> Option<Prospect> {
        self.ask(|answer| Question::Site(site, answer)).await
    }

    /// What holds the sites of the crawl up.
    pub async fn waits(&self) -> Option<Waits> {
        self.ask(Question::Waits).await
    }

    /// The same as [`Scheduler::prospect`], on a thread of no runtime.
    pub(crate) fn prospect_on_thread(&self, site: SiteKey) -> Option<Prospect> {
        self.ask_on_thread(|answer| Question::Site(site, answer))
    }

    /// The same as [`Scheduler::waits`], on a thread of no runtime.
    pub(crate) fn waits_on_thread(&self) -> Option<Waits> {
        self.ask_on_thread(Question::Waits)
    }

    async fn ask<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.0.send(question(answer)).await.ok()?;
        answered.await.ok()
    }

    fn ask_on_thread<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.0.blocking_send(question(answer)).ok()?;
        answered.blocking_recv().ok()
    }
}
