//! The scheduler of a run, to be asked from outside.

use engine::{Prospect, Question, SiteWaits};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};
use weburl::SiteKey;

/// Questions that wait for the scheduler, at most. Further clients wait.
const QUESTIONS_MAX: usize = 64;

/// A question of another process.
#[derive(Serialize, Deserialize)]
pub(crate) enum Asked {
    /// What is next for a site.
    Site(SiteKey),
    /// What holds the sites of the crawl up.
    Waits,
}

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
    pub async fn waits(&self) -> Option<SiteWaits> {
        self.ask(Question::Waits).await
    }

    /// Answers a question of another process, on a thread of no runtime. `None` if it is no question.
    pub(crate) fn answer(&self, asked: &str) -> Option<String> {
        match serde_json::from_str(asked).ok()? {
            Asked::Site(site) => self.answer_on_thread(|answer| Question::Site(site, answer)),
            Asked::Waits => self.answer_on_thread(Question::Waits),
        }
    }

    async fn ask<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.0.send(question(answer)).await.ok()?;
        answered.await.ok()
    }

    fn answer_on_thread<T: Serialize>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> Option<String> {
        let (answer, answered) = oneshot::channel();
        self.0.blocking_send(question(answer)).ok()?;
        serde_json::to_string(&answered.blocking_recv().ok()?).ok()
    }
}
