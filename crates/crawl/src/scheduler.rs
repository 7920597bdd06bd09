//! The scheduler of a run, to be asked from outside.

use std::time::Duration;

use engine::{Pace, Prospect, Question, SiteWaits, Wait};
use frontier::Reason;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};
use weburl::{SiteKey, UrlKey};

use crate::latest::{Latest, LatestSink};
use crate::stream::Gauge;
use crate::survey::Surveys;

pub use crate::latest::LATEST_MAX;

/// Questions that wait for the scheduler, at most. Further clients wait.
const QUESTIONS_MAX: usize = 64;

/// A question of another process.
#[derive(Serialize, Deserialize)]
pub(crate) enum Asked {
    /// What is next for a site.
    Site(SiteKey),
    /// What holds the sites of the crawl up.
    Waits,
    /// How the process is, and what it did last.
    Process,
    /// The last survey of the state, if it still holds.
    Survey,
    /// To keep what a survey found for so many milliseconds.
    KeepSurvey { found: String, for_ms: u64 },
}

/// The process of a run, and what it did last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningProcess {
    /// Bytes of memory that it has; `None` if the system does not tell.
    pub memory_bytes: Option<u64>,
    /// The URLs that it visited last, the last one first: at most [`LATEST_MAX`].
    pub latest: Vec<UrlKey>,
}

/// The scheduler of a run. It gives no answer if the run has ended.
#[derive(Clone, Debug)]
pub struct Scheduler {
    asking: mpsc::Sender<Question>,
    latest: Latest,
    surveys: Surveys,
    stream: Gauge,
}

impl Scheduler {
    /// The two ends: to ask, and for [`engine::Shell`].
    #[must_use]
    pub(crate) fn new(stream: Gauge) -> (Self, mpsc::Receiver<Question>) {
        let (asking, questions) = mpsc::channel(QUESTIONS_MAX);
        (Scheduler { asking, latest: Latest::default(), surveys: Surveys::default(), stream }, questions)
    }

    /// Takes note of what is visited.
    pub(crate) fn latest(&self) -> LatestSink {
        LatestSink(self.latest.clone())
    }

    /// What is next for a site.
    pub async fn prospect(&self, site: SiteKey) -> Option<Prospect> {
        let prospect = self.ask(|answer| Question::Site(site, answer)).await;
        prospect.map(|prospect| self.stored(prospect))
    }

    /// What holds the sites of the crawl up.
    pub async fn waits(&self) -> Option<SiteWaits> {
        self.ask(Question::Waits).await.map(|waits| self.all_waits(waits))
    }

    /// How fast sites can be visited; `None` of one that is not visited until somebody changes it.
    pub async fn paces(&self, sites: Vec<SiteKey>) -> Option<Vec<Option<Pace>>> {
        self.ask(|answer| Question::Paces(sites, answer)).await
    }

    /// Changes that the run has made.
    pub(crate) fn changes(&self) -> u64 {
        self.surveys.changes()
    }

    /// The run has made a change.
    pub(crate) fn changed(&self) {
        self.surveys.changed();
    }

    /// Answers a question of another process, on a thread of no runtime. The view of that process has the first `changes` of the run. `None` if it
    /// is no question.
    pub(crate) fn answer(&self, asked: &str, changes: u64) -> Option<String> {
        match serde_json::from_str(asked).ok()? {
            Asked::Site(site) => {
                let prospect = self.ask_on_thread(|answer| Question::Site(site, answer))?;
                serde_json::to_string(&self.stored(prospect)).ok()
            }
            Asked::Waits => serde_json::to_string(&self.all_waits(self.ask_on_thread(Question::Waits)?)).ok(),
            Asked::Process => {
                let process = RunningProcess { memory_bytes: memory_bytes(), latest: self.latest.keys() };
                serde_json::to_string(&process).ok()
            }
            Asked::Survey => serde_json::to_string(&self.surveys.last()).ok(),
            Asked::KeepSurvey { found, for_ms } => {
                self.surveys.keep(found, Duration::from_millis(for_ms), changes);
                serde_json::to_string(&()).ok()
            }
        }
    }

    async fn ask<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.asking.send(question(answer)).await.ok()?;
        answered.await.ok()
    }

    fn ask_on_thread<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.asking.blocking_send(question(answer)).ok()?;
        answered.blocking_recv().ok()
    }

    /// What is next for a site, given that results may wait for the reader of the stream: the step does not know why.
    fn stored(&self, prospect: Prospect) -> Prospect {
        let waits_for_room = prospect.held.is_none_or(|held| matches!(held.reason, Reason::UnderWay | Reason::Busy));
        match waits_for_room && self.stream.is_full() {
            true => Prospect { held: Some(Reason::Reader.into()), ..prospect },
            false => prospect,
        }
    }

    /// What holds the crawl up, the reader of the stream included.
    fn all_waits(&self, mut waits: SiteWaits) -> SiteWaits {
        if self.stream.is_full() {
            waits.0.insert(Reason::Reader, Wait { sites: 1, until: None });
        }
        waits
    }
}

/// The memory of this process, as Linux tells it (proc(5), `VmRSS`).
fn memory_bytes() -> Option<u64> {
    resident_bytes(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// The resident memory in the text of a process's status, whose unit is always 1,024 bytes.
fn resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kibibytes.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_the_system_writes_it() {
        let status = "Name:\tVmRSS\nVmHWM:\t    9 kB\nVmRSS:\t   12345 kB\nThreads:\t1\n";
        assert_eq!(resident_bytes(status), Some(12_345 * 1_024));
        for other in ["", "VmRSS:\t12", "VmRSS:\t12 MB", "VmRSS:\t-1 kB", "VmRSS:\t99999999999999999999 kB"] {
            assert_eq!(resident_bytes(other), None, "{other}");
        }
        assert!(memory_bytes().is_none_or(|bytes| bytes > 100_000));
    }

    #[test]
    fn the_process_answers_without_the_scheduler() {
        let (scheduler, _questions) = Scheduler::new(Gauge::default());
        let asked = serde_json::to_string(&Asked::Process).expect("JSON");
        let process: RunningProcess =
            serde_json::from_str(&scheduler.answer(&asked, 0).expect("an answer")).expect("JSON");
        assert_eq!(process.latest, []);
        assert_eq!(scheduler.answer("\"Colour\"", 0), None, "a question of a later version");
    }

    #[test]
    fn a_survey_is_kept_for_the_next_question() {
        let (scheduler, _questions) = Scheduler::new(Gauge::default());
        let ask = |asked: &Asked| scheduler.answer(&serde_json::to_string(asked).expect("JSON"), 0).expect("an answer");
        assert_eq!(ask(&Asked::Survey), "null");
        assert_eq!(ask(&Asked::KeepSurvey { found: "[1]".to_owned(), for_ms: 60_000 }), "null");
        let kept: Option<crate::survey::KeptSurvey> = serde_json::from_str(&ask(&Asked::Survey)).expect("JSON");
        assert_eq!(kept.map(|kept| kept.found), Some("[1]".to_owned()));
    }
}
