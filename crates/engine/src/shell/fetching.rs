//! A fetch from its task to its event: the fetch itself, the look into what came, a browser where one is to show it, and a process
//! where it is a document to be read.

use std::sync::Arc;
use std::time::Duration;

use fetch::Fetcher;
use login::Logins;
use model::{FetchOutcome, FetchTask, Purpose, Rendering};
use tokio::sync::{Semaphore, mpsc};
use weburl::CanonicalUrl;

use super::turns::Turns;
use crate::browsing::Showing;
use crate::clock::Clock;
use crate::content::look_into_answer;
use crate::document::ToRead;
use crate::{Browsing, Event, Fetch, Hooks, Settings};

/// Bodies from this size on are looked into beside the network threads, of which there may be one: it would do nothing else for the
/// better part of a millisecond. For small ones the way there and back costs more than it gains.
const BESIDE_BYTES_MIN: usize = 64 * 1024;

/// What all fetches share.
pub(super) struct Fetching {
    pub(super) fetcher: Arc<Fetcher>,
    pub(super) logins: Option<Arc<Logins>>,
    pub(super) browsing: Option<Arc<Browsing>>,
    pub(super) hooks: Hooks,
    /// Whose turn it is to be looked into beside the network threads.
    pub(super) beside: Turns,
    /// Permits to read large robots.txt files, which may take long: pages do not wait for them.
    pub(super) reading_rules: Arc<Semaphore>,
    /// A permit for each document that is read at once.
    pub(super) reading_documents: Arc<Semaphore>,
    /// How many these are.
    pub(super) documents_at_once: usize,
    pub(super) settings: Arc<Settings>,
    pub(super) events: mpsc::Sender<Event>,
    pub(super) clock: Clock,
}

impl Fetching {
    /// The longest that the limits let a task take.
    pub(super) fn time_max(&self, task: &FetchTask) -> Duration {
        let fetched = self.fetcher.time_max(task.purpose, task.head_first);
        let shown = self.browsing.as_ref().filter(|_| task.purpose == Purpose::Page);
        let shown = shown.map_or(Duration::ZERO, |browsing| browsing.time_max(self.settings.concurrency));
        let once = fetched + shown;
        let visited = self.logins.as_ref().map_or(once, |logins| logins.time_max(once));
        visited + self.reading_time_max(task.purpose)
    }

    /// The longest that the document of an answer can take: every other fetch may have one that is read before.
    fn reading_time_max(&self, purpose: Purpose) -> Duration {
        if self.settings.documents.is_none() || purpose != Purpose::Page {
            return Duration::ZERO;
        }
        let turns = self.settings.concurrency.div_ceil(self.documents_at_once);
        documents::TIME_MAX.saturating_mul(u32::try_from(turns).unwrap_or(u32::MAX))
    }
}

/// Fetches, looks into the answer, and tells of both. Most of these wait for a page, and there are hundreds of them: what only some
/// of them do is boxed.
pub(super) async fn fetch(task: FetchTask, shared: Arc<Fetching>) {
    let purpose = task.purpose;
    if let Some(browsing) = &shared.browsing {
        browsing.count(&task);
    }
    let shown = match &shared.logins {
        None => show(shared.fetcher.fetch(task).await, None, purpose, &shared).await,
        Some(logins) => {
            let rendering = |shown: Shown| shown.fetch.outcome.rendering;
            let show = |outcome, discarded: Option<_>| show(outcome, discarded.and_then(rendering), purpose, &shared);
            let may_ask = |url: &CanonicalUrl| shared.settings.filter.excluding(url.as_str()).is_none();
            Box::pin(logins.fetch(task, may_ask, show)).await
        }
    };
    let fetch = finish(shown, purpose, &shared).await;
    // The receiver is gone only when the crawl has ended.
    let _ = shared.events.send(Event::Fetched(fetch)).await;
}

/// An answer that was looked into, and how it came to be shown in a browser if it was.
struct Shown {
    fetch: Box<Fetch>,
    showing: Option<Box<Showing>>,
}

impl AsRef<FetchOutcome> for Shown {
    fn as_ref(&self) -> &FetchOutcome {
        &self.fetch.outcome
    }
}

/// Looks into an answer, and again if it is a page that is to be shown in a browser. What a browser has shown before and is not recorded
/// gives it the files that both use.
async fn show(
    mut outcome: FetchOutcome,
    discarded: Option<Box<Rendering>>,
    purpose: Purpose,
    shared: &Fetching,
) -> Shown {
    outcome.finished_at = shared.clock.now();
    let mut fetch = Box::new(look_beside(outcome, purpose, shared).await);
    let Some(browsing) = &shared.browsing else { return Shown { fetch, showing: None } };
    let showing = browsing.judge(&fetch.outcome, purpose, &fetch.content);
    if let Some(showing) = &showing {
        // Boxed: see `fetch`.
        Box::pin(browsing.show(&mut fetch.outcome, showing)).await;
    }
    if let Some(discarded) = discarded {
        browsing.discard(*discarded, fetch.outcome.rendering.as_deref_mut());
    }
    if showing.is_some() {
        fetch = Box::new(look_beside(fetch.outcome, purpose, shared).await);
    }
    Shown { fetch, showing }
}

/// Learns from what was shown, reads documents, and lets the hooks look: all of that once for what is recorded.
async fn finish(shown: Shown, purpose: Purpose, shared: &Fetching) -> Box<Fetch> {
    let Shown { mut fetch, showing } = shown;
    if let (Some(browsing), Some(showing)) = (&shared.browsing, showing) {
        browsing.learn(&fetch.outcome, &showing, &fetch.content);
    }
    if let Some(document) = ToRead::of(&fetch.outcome, &fetch.content, &shared.settings) {
        Box::pin(read(document, &mut fetch, shared)).await;
    }
    if purpose == Purpose::Page && !shared.hooks.is_empty() {
        *fetch = Box::pin(show_hooks(*fetch, shared)).await;
    }
    if let (model::Fetched::Response(response), false) = (&mut fetch.outcome.fetched, purpose == Purpose::Robots) {
        response.body = bytes::Bytes::new();
    }
    fetch
}

/// Reads the document of an answer in a process, when its turn comes. The process ends with this task.
async fn read(document: ToRead, fetch: &mut Fetch, shared: &Fetching) {
    let ToRead { reader, kind, bytes } = document;
    // It is never closed.
    let _permit = shared.reading_documents.acquire().await;
    fetch.content.take_document(reader.read_beside(kind, &bytes).await);
}

/// Shows an answer to the hooks, on a thread of its own, since they may take any time.
async fn show_hooks(mut fetch: Fetch, shared: &Fetching) -> Fetch {
    let (hooks, settings) = (shared.hooks.clone(), shared.settings.clone());
    let _turn = shared.beside.turn(0).await;
    on_its_own_thread(move || {
        hooks.responded(&mut fetch, &settings);
        fetch
    })
    .await
}

/// Looks into an answer; into a large one on a thread of its own, so that the network goes on.
async fn look_beside(outcome: FetchOutcome, purpose: Purpose, shared: &Fetching) -> Fetch {
    let (all_bytes, largest) = bytes_read(&outcome, &shared.settings);
    let settings = shared.settings.clone();
    let look = move || {
        let content = look_into_answer(&outcome, purpose, &settings);
        Fetch { outcome, content }
    };
    if all_bytes < BESIDE_BYTES_MIN {
        return look();
    }
    // Boxed: see `fetch`.
    Box::pin(async move {
        let _turn = shared.beside.turn(largest).await;
        on_its_own_thread(look).await
    })
    .await
}

/// The bytes that are looked into: all, and those of the largest body. What a page loaded is looked into as well, one file after the other.
fn bytes_read(outcome: &FetchOutcome, settings: &Settings) -> (usize, usize) {
    let sent_bytes = match &outcome.fetched {
        model::Fetched::Response(response) => response.body.len(),
        model::Fetched::Failed(_) => 0,
    };
    let rendering = outcome.rendering.as_ref();
    let rendered = rendering.and_then(|rendering| rendering.document.as_ref().ok());
    let body_bytes = sent_bytes.max(rendered.map_or(0, |document| document.html.len()));
    let are_files_read = settings.requisites || settings.images;
    let files = rendering.filter(|_| are_files_read).map_or(&[][..], |rendering| &rendering.resources);
    let of_files = files.iter().map(|exchange| exchange.payload.len());
    (body_bytes + of_files.clone().sum::<usize>(), of_files.fold(body_bytes, usize::max))
}

/// Does this on another thread. A panic there is one here, so that the task does not end as if all were well.
pub(super) async fn on_its_own_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime ends, and this task with it.
            Err(_) => std::future::pending().await,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;

    use model::{Fetched, Headers, Response, TaskId, Timestamp};
    use weburl::CanonicalRules;

    use super::*;
    use crate::requisites::tests::{rendering, script};
    use crate::step::tests::settings;

    #[tokio::test]
    async fn a_panic_on_another_thread_breaks_the_task_that_waits_for_it() {
        let task = tokio::spawn(on_its_own_thread(|| if true { panic!("a bug") } else { 7 }));
        assert!(task.await.expect_err("it is broken").is_panic());
        assert_eq!(on_its_own_thread(|| 7).await, 7);
    }

    /// What all fetches share in a crawl that reads documents with a script.
    fn shared(script: &str) -> Fetching {
        let clock = Clock::start();
        let fetcher = Fetcher::new(fetch::FetchConfig::default(), Arc::new(move || clock.now())).expect("a fetcher");
        let documents = Some(documents::Reader::of("/bin/sh", ["-c", script]));
        let permits = || Arc::new(Semaphore::new(1));
        Fetching {
            fetcher: Arc::new(fetcher),
            logins: None,
            browsing: None,
            hooks: Hooks::default(),
            beside: Turns::new(1, fetch::Division::of(1)),
            reading_rules: permits(),
            reading_documents: permits(),
            documents_at_once: 1,
            settings: Arc::new(Settings { documents, details: true, ..settings() }),
            events: mpsc::channel(1).0,
            clock,
        }
    }

    fn answer(content_type: &str, body: &'static [u8]) -> FetchOutcome {
        let url = CanonicalUrl::parse("http://one.test/", &CanonicalRules::default()).expect("a URL");
        let headers = Headers(vec![("content-type".to_owned(), content_type.to_owned())]);
        let response =
            Response { status: 200, headers, body: body.into(), truncated: None, is_undecoded: false, note: None };
        FetchOutcome {
            id: TaskId(1),
            url,
            exchanges: Vec::new(),
            fetched: Fetched::Response(response),
            rendering: None,
            started_at: Timestamp::default(),
            finished_at: Timestamp::default(),
            response_time: Duration::ZERO,
        }
    }

    async fn look(outcome: FetchOutcome, purpose: Purpose, shared: &Fetching) -> Box<Fetch> {
        finish(show(outcome, None, purpose, shared).await, purpose, shared).await
    }

    #[tokio::test]
    async fn a_document_that_is_read_holds_no_other_answer_up() {
        let dir = tempfile::tempdir().expect("a directory");
        let may_end = dir.path().join("end");
        let script = format!(
            r#"until [ -e '{}' ]; do sleep 0.01; done; echo '{{"Ok":{{"text":"late","is_cut":false}}}}'"#,
            may_end.display()
        );
        let shared = Arc::new(shared(&script));
        let beside = shared.clone();
        let reading = tokio::spawn(async move {
            look(answer("application/pdf", b"%PDF-1.4"), Purpose::Page, &beside).await.content.details
        });
        while shared.reading_documents.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let page = look(answer("text/html", b"<title>Page</title>"), Purpose::Page, &shared).await;
        assert!(matches!(page.content.finding, crate::Finding::Page(_)));
        assert!(!reading.is_finished());
        std::fs::write(&may_end, "").expect("a file");
        let details = reading.await.expect("no panic").expect("details");
        assert_eq!(details.document.expect("a document").text, "late");
    }

    #[tokio::test]
    async fn what_a_page_loaded_is_looked_into_beside_the_network() {
        let shared = Fetching { settings: Arc::new(Settings { requisites: true, ..settings() }), ..shared("") };
        let _other = shared.beside.turn(0).await;
        for (bytes, waits) in [(BESIDE_BYTES_MIN / 4, false), (BESIDE_BYTES_MIN / 2, true)] {
            let script = |n: usize| script(&format!("http://one.test/{n}.js"), "x".repeat(bytes));
            let rendering = Some(rendering(vec![script(1), script(2)]));
            let page = FetchOutcome { rendering, ..answer("text/html", b"<title>Page</title>") };
            let mut looking = pin!(look_beside(page, Purpose::Page, &shared));
            let is_pending = poll_fn(|context| Poll::Ready(looking.as_mut().poll(context).is_pending())).await;
            assert_eq!(is_pending, waits, "two scripts of {bytes} bytes");
        }
    }

    #[test]
    fn a_fetch_under_way_takes_little_memory() {
        fn future_bytes<A, B, F: Future>(_: impl Fn(A, B) -> F) -> usize {
            size_of::<F>()
        }
        // With what the runtime adds these are 2,560 bytes, a size that jemalloc has.
        assert!(future_bytes(fetch) <= 2_360, "{} bytes", future_bytes(fetch));
    }
}
