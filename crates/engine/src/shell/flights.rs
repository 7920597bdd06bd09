//! Operations on tasks of their own. A task that panics, or exceeds its time, is reported as lost, so nothing waits for it for ever.

use std::any::Any;
use std::collections::HashMap;
use std::time::Duration;

use model::{Failure, FailureKind, TaskId};
use tokio::task::{AbortHandle, Id, JoinSet};
use weburl::{SiteKey, UrlKey};

use crate::Event;

/// What a task is for. It ends normally only when it has sent its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Job {
    /// [`crate::Command::Fetch`].
    Fetch(TaskId),
    /// [`crate::Command::Resolve`].
    Resolve(SiteKey),
    /// [`crate::Command::ResolveTarget`].
    ResolveTarget(UrlKey),
    /// [`crate::Command::ReadRules`].
    ReadRules(SiteKey),
}

impl Job {
    /// The event in place of the one that did not come.
    fn lost(self, detail: String) -> Event {
        let detail = format!("internal error: {detail}");
        let failed = |detail| Failure { kind: FailureKind::Internal, detail };
        match self {
            Job::Fetch(task) => Event::Lost { task, detail },
            Job::Resolve(site) => Event::Resolved { site, found: Err(failed(detail)) },
            Job::ResolveTarget(url) => Event::TargetResolved { url, addresses: Err(failed(detail)) },
            Job::ReadRules(site) => Event::RulesRead { site, rules: None },
        }
    }
}

/// The tasks under way, and a watch over their age.
#[derive(Default)]
pub(super) struct Flights {
    tasks: JoinSet<()>,
    jobs: HashMap<Id, Flight>,
    /// Time that counts, since the crawl began: while requests may be sent and the machine is awake.
    age: Duration,
    lost: Vec<Event>,
}

struct Flight {
    job: Job,
    /// The time of [`Flights::age`] at which it is given up for lost.
    deadline: Duration,
    task: AbortHandle,
}

impl Flights {
    /// Starts a task, which may take so long.
    pub(super) fn spawn(&mut self, job: Job, time_max: Duration, work: impl Future<Output = ()> + Send + 'static) {
        let task = self.tasks.spawn(work);
        self.jobs.insert(task.id(), Flight { job, deadline: self.age.saturating_add(time_max), task });
    }

    /// Takes note of tasks that have ended.
    pub(super) fn note_ended(&mut self) {
        while let Some(ended) = self.tasks.try_join_next_with_id() {
            let (id, broken) = match ended {
                Ok((id, ())) => (id, None),
                Err(error) => (error.id(), Some(error)),
            };
            if let (Some(flight), Some(error)) = (self.jobs.remove(&id), broken) {
                let detail = match error.try_into_panic() {
                    Ok(panic) => format!("panicked: {}", message(&*panic)),
                    Err(error) => error.to_string(),
                };
                self.lost.push(flight.job.lost(detail));
            }
        }
    }

    /// Lets time pass that counts. Tasks that are older than they may be are ended.
    pub(super) fn pass(&mut self, time: Duration) {
        self.age = self.age.saturating_add(time);
        let age = self.age;
        let overdue = self.jobs.extract_if(|_, flight| flight.deadline <= age);
        for (_, flight) in overdue {
            flight.task.abort();
            self.lost.push(flight.job.lost("came to no end within all of its limits".to_owned()));
        }
    }

    /// The events in place of those that did not come.
    pub(super) fn take_lost(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.lost)
    }

    /// Drops them all: their events are not needed.
    pub(super) fn abandon(&mut self) {
        self.tasks.abort_all();
        self.jobs.clear();
    }

    /// Drops them all, and waits until nothing is left of them.
    pub(super) async fn end(&mut self) {
        self.tasks.shutdown().await;
    }
}

/// The words of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn brief(events: Vec<Event>) -> Vec<String> {
        let of = |event| match event {
            Event::Lost { task, detail } => format!("fetch {}: {detail}", task.0),
            Event::Resolved { site, found: Err(failure) } => {
                format!("site {site}: {:?} {}", failure.kind, failure.detail)
            }
            other => format!("{other:?}"),
        };
        events.into_iter().map(of).collect()
    }

    /// Lets all tasks that can end come to their end.
    async fn settle(flights: &mut Flights) {
        while flights.jobs.values().any(|flight| flight.task.is_finished()) || !flights.tasks.is_empty() {
            flights.note_ended();
            tokio::task::yield_now().await;
            if flights.jobs.values().all(|flight| !flight.task.is_finished()) && !flights.jobs.is_empty() {
                break;
            }
        }
    }

    #[tokio::test]
    async fn what_panics_is_lost_and_what_ends_is_not() {
        let mut flights = Flights::default();
        flights.spawn(Job::Fetch(TaskId(1)), HOUR, async {});
        flights.spawn(Job::Fetch(TaskId(2)), HOUR, async { panic!("a {}", "bug") });
        settle(&mut flights).await;
        flights.spawn(Job::Resolve(SiteKey(3)), HOUR, async { panic!("another") });
        settle(&mut flights).await;
        let lost = brief(flights.take_lost());
        assert_eq!(lost[0], "fetch 2: internal error: panicked: a bug");
        assert_eq!(lost[1], format!("site {}: Internal internal error: panicked: another", SiteKey(3)));
        assert_eq!(lost.len(), 2);
        assert!(flights.jobs.is_empty());
    }

    #[tokio::test]
    async fn what_comes_to_no_end_is_lost_after_its_time_and_no_sooner() {
        let mut flights = Flights::default();
        flights.pass(HOUR);
        flights.spawn(Job::Fetch(TaskId(1)), HOUR, std::future::pending());
        flights.spawn(Job::Fetch(TaskId(2)), HOUR * 2, std::future::pending());
        flights.pass(HOUR - Duration::from_secs(1));
        assert!(flights.take_lost().is_empty());
        flights.pass(Duration::from_secs(1));
        let expect = ["fetch 1: internal error: came to no end within all of its limits"];
        assert_eq!(brief(flights.take_lost()), expect);
        tokio::task::yield_now().await;
        flights.note_ended();
        assert!(flights.take_lost().is_empty(), "it is lost once");
        assert_eq!(flights.jobs.len(), 1);
    }

    #[tokio::test]
    async fn what_is_abandoned_is_not_lost() {
        let mut flights = Flights::default();
        flights.spawn(Job::Fetch(TaskId(1)), HOUR, std::future::pending());
        flights.abandon();
        flights.pass(HOUR * 9);
        tokio::task::yield_now().await;
        flights.note_ended();
        assert!(flights.take_lost().is_empty());
    }
}
