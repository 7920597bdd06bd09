//! The server whose crawl is shown: questions to it, and the words for a server that gives no answer.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use api::{PictureRequest, PictureResponse, ReportRequest, StatsRequest, StatsResponse};
use ask::picture::{Drawn, Picture};
use engine::clock::Clock;
use model::Outcome;
use report::Statistics;
use service::client::{Client, EARLIER, said};
use settings::units::human_bytes;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use tonic::{Code, Response, Status};

use crate::FILES_MAX;
use crate::answers::{Answers, Words};
use crate::awaited::{Turn, made_in_time};
use crate::failure::Failure;
use crate::graph_page::Shown;
use crate::live::{Live, Sample};
use crate::wording::on_page;

use super::effect::Answer;
use super::kept::Kept;
use super::watching::Watch;

/// The longest that the answer to a small question or an order may take. A change waits for the workers for 10 seconds.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);
/// The words for an order without an answer. The server carries it out though nobody waits for it.
const ORDER_GOES_ON: &str =
    "; it may still do what was ordered: see the pages Steer, URLs and Workers before you order it again";
/// Questions at a time that workers answer together, or that read the whole state; others wait for their turn.
const LARGE_QUESTIONS_MAX: usize = 2;
/// How long the last numbers hold, at least.
const NUMBERS_HOLD_MIN: Duration = Duration::from_millis(500);
/// How long a picture or a report holds, at least: what one page shows, and the files that it leads to, are of one moment.
const WHOLE_HOLDS_MIN: Duration = Duration::from_secs(10);

/// What the screens share.
#[derive(Clone)]
pub(super) struct Server {
    client: Client,
    name: Arc<str>,
    numbers: Arc<Numbers>,
    live: Arc<Live>,
    large: Arc<Semaphore>,
    files: Arc<Semaphore>,
    pictures: Arc<Pictures>,
    statistics: Arc<Kept<Statistics>>,
    /// Held while a report is counted for a page.
    counting: Turn,
    watch: Arc<Watch>,
    /// What came of the last forms.
    answers: Arc<Answers<Answer>>,
    /// The count of what the last change would affect, if it goes on.
    counts: Arc<Mutex<Option<AbortHandle>>>,
}

/// The numbers of the crawl, asked for once for all who watch.
struct Numbers {
    client: Client,
    name: Arc<str>,
    kept: Kept<StatsResponse>,
}

/// The last picture of each kind.
type Pictures = [OfKind; Shown::ALL.len()];

struct OfKind {
    kept: Kept<Picture>,
    /// Held while it is drawn.
    drawing: Turn,
}

impl Default for OfKind {
    fn default() -> Self {
        OfKind { kept: Kept::holding(WHOLE_HOLDS_MIN), drawing: Arc::default() }
    }
}

impl Server {
    pub(super) fn new(client: Client, name: &str) -> Self {
        let name: Arc<str> = name.into();
        let kept = Kept::holding(NUMBERS_HOLD_MIN);
        let numbers = Arc::new(Numbers { client: client.clone(), name: name.clone(), kept });
        let sampled = numbers.clone();
        let live = Arc::new(Live::by(Box::new(move || {
            let numbers = sampled.clone();
            Box::pin(async move { Ok(numbers.sample().await) })
        })));
        let [large, files] = [LARGE_QUESTIONS_MAX, FILES_MAX].map(|max| Arc::new(Semaphore::new(max)));
        let statistics = Arc::new(Kept::holding(WHOLE_HOLDS_MIN));
        Server {
            client,
            name,
            numbers,
            live,
            large,
            files,
            pictures: Arc::default(),
            statistics,
            counting: Arc::default(),
            watch: Arc::default(),
            answers: Arc::default(),
            counts: Arc::default(),
        }
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
        in_time((&self.name, ""), ANSWER_TIME_MAX, question(self.client.clone())).await
    }

    /// The answer to what changes the crawl.
    pub(super) async fn order<T, F>(&self, order: impl FnOnce(Client) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        in_time((&self.name, ORDER_GOES_ON), ANSWER_TIME_MAX, order(self.client.clone())).await
    }

    /// The same for a question that may take long, when it has its turn. Who leaves ends it.
    pub(super) async fn ask_all<T, F>(&self, question: impl FnOnce(Client) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let _turn = self.large.acquire().await;
        self.ask_long(question).await
    }

    /// The same without a turn, for what is asked once at a time anyway, and takes longest: it keeps no other question waiting.
    async fn ask_long<T, F>(&self, question: impl FnOnce(Client) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let answer = question(self.client.clone()).await;
        answer.map(Response::into_inner).map_err(|status| failure((&self.name, ""), &status))
    }

    /// The numbers of the crawl.
    pub(super) async fn stats(&self) -> Result<Arc<StatsResponse>, Failure> {
        self.numbers.now().await
    }

    /// A change was made, which the next numbers have.
    pub(super) async fn forget(&self) {
        self.numbers.kept.forget().await;
    }

    /// A connection of its own for what goes on.
    pub(super) fn client(&self) -> Client {
        self.client.clone()
    }

    /// What came of the last forms.
    pub(super) fn answers(&self) -> &Answers<Answer> {
        &self.answers
    }

    /// Keeps what was done in words, and leads to its page.
    pub(super) fn lead_to(&self, words: Words) -> axum::response::Response {
        self.answers.lead_to(Answer::Words(words))
    }

    /// A count of what a change would affect has begun: the last one ends.
    pub(super) fn counts(&self, count: AbortHandle) {
        if let Some(last) = self.counts.lock().unwrap_or_else(PoisonError::into_inner).replace(count) {
            last.abort();
        }
    }

    /// The rounds by a clock.
    pub(super) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// The places for files that are downloaded at a time.
    pub(super) fn files(&self) -> Arc<Semaphore> {
        self.files.clone()
    }

    /// The graph as a picture; `None` while it is being drawn. It is drawn to its end then, for the next request.
    pub(super) async fn picture(&self, shown: Shown) -> Result<Option<Arc<Picture>>, Failure> {
        let server = self.clone();
        made_in_time(&self.pictures[shown as usize].drawing, async move {
            let request = PictureRequest { of: shown.vertices().to_owned(), max: shown.vertices_max() as u32 };
            let draw = async {
                let answer = server.ask_all(async |mut client| client.picture(request).await).await?;
                Ok(picture(answer))
            };
            server.pictures[shown as usize].kept.answer(draw).await
        })
        .await
    }

    /// What the crawl came to; `None` while it is being counted.
    pub(super) async fn statistics_in_time(&self) -> Result<Option<Arc<Statistics>>, Failure> {
        let server = self.clone();
        made_in_time(&self.counting, async move { server.statistics().await }).await
    }

    /// What the crawl came to.
    pub(super) async fn statistics(&self) -> Result<Arc<Statistics>, Failure> {
        let count = async {
            let answer = self.ask_long(async |mut client| client.report(ReportRequest {}).await).await?;
            let statistics = serde_json::from_str(&answer.statistics);
            statistics.map_err(|error| Failure::Unanswered(format!("the server at {}: its report: {error}", self.name)))
        };
        self.statistics.answer(count).await
    }

    /// The server gave an answer that makes no sense: what it has.
    pub(super) fn nonsense(&self, what: &str) -> Failure {
        Failure::Unanswered(format!("the server at {} answers with {what}", self.name))
    }

    /// What went wrong with an answer in several parts.
    pub(super) fn failure(&self, status: &Status) -> Failure {
        failure((&self.name, ""), status)
    }
}

impl Numbers {
    /// The numbers. Others who ask meanwhile wait, and get the same.
    async fn now(&self) -> Result<Arc<StatsResponse>, Failure> {
        let mut client = self.client.clone();
        self.kept.answer(in_time((&self.name, ""), ANSWER_TIME_MAX, client.stats(StatsRequest {}))).await
    }

    /// A sample of numbers that are new. While the server gives none, the crawl rests as far as is known.
    async fn sample(&self) -> Sample {
        sleep(self.kept.holds_for().await).await;
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

/// A picture as it is shown.
fn picture(answer: PictureResponse) -> Picture {
    let PictureResponse { vertices, links, communities, vertices_left_out, links_left_out } = answer;
    let drawn =
        |api::Drawn { name, rank, linked_by, community, x, y }| Drawn { name, rank, linked_by, community, at: [x, y] };
    // A link to a point that is not there would end the script.
    let are_there = |source: u32, target: u32| source.max(target) < u32::try_from(vertices.len()).unwrap_or(u32::MAX);
    let links =
        links.into_iter().map(|link| (link.source, link.target)).filter(|(source, target)| are_there(*source, *target));
    Picture {
        links: links.collect(),
        vertices: vertices.into_iter().map(drawn).collect(),
        communities,
        left_out: [vertices_left_out, links_left_out].map(|count| usize::try_from(count).unwrap_or(usize::MAX)),
    }
}

/// Pages and documents that were fetched successfully.
pub(super) fn fetched(stats: &StatsResponse) -> u64 {
    let of = |outcome: &Outcome| stats.outcomes.get(outcome.as_str()).copied().unwrap_or_default();
    Outcome::ALL.iter().filter(|outcome| outcome.is_fetched()).map(of).sum()
}

/// The answer of a server, which is called so, within a time. `if_none` is added where there is none.
async fn in_time<T>(
    (name, if_none): (&str, &str),
    time_max: Duration,
    answer: impl Future<Output = Result<Response<T>, Status>>,
) -> Result<T, Failure> {
    match timeout(time_max, answer).await {
        Ok(answer) => answer.map(Response::into_inner).map_err(|status| failure((name, if_none), &status)),
        Err(_) => {
            let seconds = time_max.as_secs();
            Err(Failure::Unanswered(format!(
                "the server at {name} gives no answer: nothing in {seconds} seconds{if_none}"
            )))
        }
    }
}

fn failure((name, if_none): (&str, &str), status: &Status) -> Failure {
    let said = on_page(&said(status));
    // What the library says of a connection has a cause; what a server says has none.
    let is_answer = status.source().is_none();
    match status.code() {
        Code::InvalidArgument => Failure::Unusable(said),
        Code::Unimplemented => Failure::Unanswered(format!("the server at {name} {EARLIER}")),
        Code::NotFound => Failure::NotFound(said),
        Code::FailedPrecondition | Code::ResourceExhausted => Failure::Unready(said),
        _ if is_answer => Failure::Unanswered(format!("the server at {name}: {said}")),
        _ => Failure::Unanswered(format!("the server at {name} gives no answer: {said}{if_none}")),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use service::access::Proof;
    use service::client::connect;

    use super::*;

    /// Longer than any of these takes.
    const TIME_MAX: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn a_report_waits_for_no_turn_of_other_questions() {
        // It answers nobody.
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let name = listener.local_addr().expect("an address").to_string();
        std::thread::spawn(move || listener.incoming().for_each(drop));
        let server = Server::new(connect(&name, &Proof::default()).await.expect("a connection"), &name);
        let _turns = server.large.acquire_many(LARGE_QUESTIONS_MAX as u32).await.expect("all turns");
        let report = timeout(TIME_MAX, server.statistics()).await.expect("it waits for a turn");
        assert!(report.is_err_and(|failure| matches!(failure, Failure::Unanswered(_))));
    }

    #[tokio::test]
    async fn an_order_without_an_answer_may_be_carried_out_still() {
        let wait = |if_none| in_time::<()>(("a:1", if_none), Duration::ZERO, std::future::pending());
        for (if_none, expect) in [
            ("", "the server at a:1 gives no answer: nothing in 0 seconds"),
            (
                ORDER_GOES_ON,
                "the server at a:1 gives no answer: nothing in 0 seconds; it may still do what was ordered: \
                 see the pages Steer, URLs and Workers before you order it again",
            ),
        ] {
            assert_eq!(wait(if_none).await.expect_err("no answer").text(), expect);
        }
        let refused = failure(("a:1", ORDER_GOES_ON), &Status::unavailable("the server ends: nothing was done"));
        assert_eq!(refused.text(), "the server at a:1: the server ends: nothing was done");
    }
}
