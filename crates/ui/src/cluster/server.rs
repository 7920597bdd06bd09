//! The server whose crawl is shown: questions to it, and the words for a server that gives no answer.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use api::{StatsRequest, StatsResponse};
use engine::clock::Clock;
use model::{Outcome, Timestamp};
use service::client::{Client, Text, said};
use settings::units::human_bytes;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::{sleep, timeout};
use tonic::{Code, Response, Status};

use crate::failure::Failure;
use crate::live::{Live, Sample};

/// The longest that the answer to a small question may take. A change waits for the workers for 10 seconds.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);
/// Questions at a time that workers answer together, or that read the whole state; others wait for their turn.
const LARGE_QUESTIONS_MAX: usize = 2;
/// How long the last numbers hold, at least, and as a multiple of the time that they took. So viewers take a small part of the database's time.
const HOLDS_MIN: Duration = Duration::from_millis(500);
const HOLDS_TIMES: u32 = 10;

/// What the screens share.
#[derive(Clone)]
pub(super) struct Server {
    client: Client,
    name: Arc<str>,
    numbers: Arc<Numbers>,
    live: Arc<Live>,
    large: Arc<Semaphore>,
}

/// The numbers of the crawl, asked for once for all who watch.
struct Numbers {
    client: Client,
    name: Arc<str>,
    last: Mutex<Option<Known>>,
    clock: Clock,
}

struct Known {
    stats: Arc<StatsResponse>,
    until: Timestamp,
}

impl Server {
    pub(super) fn new(client: Client, name: &str) -> Self {
        let name: Arc<str> = name.into();
        let (last, clock) = (Mutex::default(), Clock::start());
        let numbers = Arc::new(Numbers { client: client.clone(), name: name.clone(), last, clock });
        let sampled = numbers.clone();
        let live = Arc::new(Live::by(Box::new(move || {
            let numbers = sampled.clone();
            Box::pin(async move { Ok(numbers.sample().await) })
        })));
        Server { client, name, numbers, live, large: Arc::new(Semaphore::new(LARGE_QUESTIONS_MAX)) }
    }

    /// Its address, as the user gave it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The numbers, second by second.
    pub(super) fn live(&self) -> &Arc<Live> {
        &self.live
    }

    /// The answer to a small question.
    pub(super) async fn ask<T, F>(&self, question: impl FnOnce(Client) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        in_time(&self.name, question(self.client.clone())).await
    }

    /// The same for a question that may take long, when it has its turn. Who leaves ends it.
    pub(super) async fn ask_all<T, F>(&self, question: impl FnOnce(Client) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let _turn = self.large.acquire().await;
        let answer = question(self.client.clone()).await;
        answer.map(Response::into_inner).map_err(|status| failure(&self.name, &status))
    }

    /// The numbers of the crawl.
    pub(super) async fn stats(&self) -> Result<Arc<StatsResponse>, Failure> {
        self.numbers.now().await
    }

    /// A change was made, which the next numbers have.
    pub(super) async fn forget(&self) {
        self.numbers.last.lock().await.take();
    }

    /// What went wrong with an answer in several parts.
    pub(super) fn failure(&self, status: &Status) -> Failure {
        failure(&self.name, status)
    }
}

impl Numbers {
    /// The numbers. Others who ask meanwhile wait, and get the same.
    async fn now(&self) -> Result<Arc<StatsResponse>, Failure> {
        let mut last = self.last.lock().await;
        let began = self.clock.now();
        if let Some(known) = &*last
            && began < known.until
        {
            return Ok(known.stats.clone());
        }
        let mut client = self.client.clone();
        let stats = Arc::new(in_time(&self.name, client.stats(StatsRequest {})).await?);
        let ended = self.clock.now();
        let holds_for = HOLDS_MIN.max(ended.since(began) * HOLDS_TIMES);
        *last = Some(Known { stats: stats.clone(), until: ended + holds_for });
        Ok(stats)
    }

    /// A sample of numbers that are new. While the server gives none, the crawl rests as far as is known.
    async fn sample(&self) -> Sample {
        let holds_for = self.last.lock().await.as_ref().map(|known| known.until.since(self.clock.now()));
        sleep(holds_for.unwrap_or_default()).await;
        let answer = self.now().await;
        let at_rest = Sample::at_rest(Clock::start().date().0 / 1_000_000);
        let Ok(stats) = answer else { return at_rest };
        let fetched = fetched(&stats);
        Sample {
            running: true,
            fetched,
            visited: fetched,
            waiting: stats.waiting.saturating_sub(stats.left_of_round),
            again: stats.left_of_round,
            urls: stats.urls,
            sites: stats.sites,
            bytes: stats.bytes,
            size: human_bytes(stats.bytes),
            ..at_rest
        }
    }
}

/// Pages and documents that were fetched successfully.
pub(super) fn fetched(stats: &StatsResponse) -> u64 {
    let of = |outcome: &Outcome| stats.outcomes.get(outcome.as_str()).copied().unwrap_or_default();
    Outcome::ALL.iter().filter(|outcome| outcome.is_fetched()).map(of).sum()
}

/// An answer as `argiope client` prints it.
pub(super) fn text(answer: &impl Text) -> String {
    let mut text = Vec::new();
    // Writing to a vector cannot fail.
    let _ = answer.write_text(&mut text);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}

async fn in_time<T>(name: &str, answer: impl Future<Output = Result<Response<T>, Status>>) -> Result<T, Failure> {
    match timeout(ANSWER_TIME_MAX, answer).await {
        Ok(answer) => answer.map(Response::into_inner).map_err(|status| failure(name, &status)),
        Err(_) => {
            let seconds = ANSWER_TIME_MAX.as_secs();
            Err(Failure::Unanswered(format!("the server at {name} gives no answer: nothing in {seconds} seconds")))
        }
    }
}

fn failure(name: &str, status: &Status) -> Failure {
    let said = said(status);
    // What the library says of a connection has a cause; what a server says has none.
    let is_answer = status.source().is_none();
    match status.code() {
        Code::InvalidArgument => Failure::Unusable(said),
        Code::NotFound => Failure::NotFound(said),
        Code::FailedPrecondition | Code::ResourceExhausted => Failure::Unready(said),
        _ if is_answer => Failure::Unanswered(format!("the server at {name}: {said}")),
        _ => Failure::Unanswered(format!("the server at {name} gives no answer: {said}")),
    }
}
