//! Sessions in a program that embeds them.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crawl::stream::Target;
use crawl::{
    Admit, Answer, Begin, Candidate, CanonicalUrl, Change, CrawlDir, End, Ended, Event, Extra, Hook, Options, Plan,
    Recorded, Session, StreamTo, Timestamp,
};
use dataset::schema::Table;
use dataset::{Column, Layout};
use model::Outcome;
use testweb::{Config, Pages, Server, Web};
use tokio::time::timeout;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(120);

/// Reads the number of a page, and refuses one of them.
struct Numbers;

impl Hook for Numbers {
    fn admit(&self, candidate: &Candidate) -> Admit {
        let is_refused = candidate.url.as_str().ends_with("/7");
        if is_refused { Admit::Refuse("not 7".to_owned()) } else { Admit::Accept }
    }

    fn responded(&self, answer: &Answer<'_>) -> Extra {
        let page = String::from_utf8_lossy(&answer.response.body).into_owned();
        let number = page.strip_prefix("page ").and_then(|number| number.parse::<u64>().ok());
        let fields = number.map(|number| ("number".to_owned(), number.into())).into_iter().collect();
        Extra { fields, ..Extra::default() }
    }
}

/// Makes links out of an answer that has none, and breaks on another.
struct Links;

impl Hook for Links {
    fn responded(&self, answer: &Answer<'_>) -> Extra {
        assert!(!answer.exchange.url.as_str().ends_with("/broken"), "a bug of the hook");
        let body = String::from_utf8_lossy(&answer.response.body);
        let links = body.lines().filter_map(|line| line.strip_prefix("go to ")).map(str::to_owned).collect();
        Extra { links, tags: vec!["seen".to_owned()], ..Extra::default() }
    }
}

/// The column of what hooks made of answers, by URL.
fn extras(dir: &CrawlDir) -> BTreeMap<String, Option<String>> {
    let mut extras = BTreeMap::new();
    for batch in Layout::at(dir.dataset()).batches(Table::Pages, &[]).unwrap() {
        let batch = batch.unwrap();
        for row in 0..batch.num_rows() {
            let url = batch.text("url", row).unwrap().to_owned();
            extras.insert(url, batch.text("extra", row).map(str::to_owned));
        }
    }
    extras
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_hooks_make_of_answers_is_in_the_archive_and_in_the_dataset() {
    let pages = Pages::new()
        .html("/", "<a href=/data>data</a><a href=/broken>broken</a><a href=/same>same</a><img src=/shown/7>")
        .text("/data", "go to /found\ngo to http://two.test/\n")
        .html("/found", "<p>the same")
        .html("/same", "<p>the same")
        .html("/broken", "<p>broken");
    let server = Server::start(Config::new(Web::new().site("one.test", pages))).await.unwrap();
    let dirs = tempfile::tempdir().unwrap();
    let dir = CrawlDir::at(dirs.path().join("crawl"));
    let open = || {
        let plan =
            plan(&server, "delay = \"0s\"\nbackoff = \"10ms\"\nmax-attempts = 2\nimages = true\nscope = \"host\"");
        Session::builder(dir.clone(), plan)
            .seeds(vec![url("http://one.test/")])
            .hook(Numbers)
            .hook(Links)
            .open()
            .unwrap()
    };
    let ended = timeout(LONG, open().run()).await.unwrap().unwrap();
    assert_eq!((ended.end, ended.totals.fetched()), (End::Done, 4));
    let seen = Some("{\"tags\":[\"seen\"]}".to_owned());
    let written = extras(&dir);
    for (page, expect) in [("", &seen), ("data", &seen), ("found", &seen), ("same", &seen), ("broken", &None)] {
        assert_eq!(&written[&format!("http://one.test/{page}")], expect, "{page}");
    }
    assert!(ended.progress.fetches_lost > 0, "a hook that panics is an attempt that failed");
    // The link that leads elsewhere is a link as any other, and images are judged too.
    assert_eq!(ended.totals.count(Outcome::Excluded), 2);
    std::fs::remove_dir_all(dir.dataset()).unwrap();
    timeout(LONG, open().run()).await.unwrap().unwrap();
    assert_eq!(extras(&dir), written, "they are derived from the archive again");
}

async fn server() -> Server {
    let links: String = (0..20).map(|n| format!("<a href=/{n}>{n}</a>")).collect();
    let pages =
        (0..20).fold(Pages::new().html("/", links), |pages, n| pages.html(format!("/{n}"), format!("page {n}")));
    let other = Pages::new().html("/", "<p>another site");
    Server::start(Config::new(Web::new().site("one.test", pages).site("two.test", other))).await.unwrap()
}

fn plan(server: &Server, more: &str) -> Plan {
    let options = format!("ip-delay = \"0s\"\nsitemaps = false\nconnect-to = [{:?}]\n{more}\n", server.connect_to());
    Plan::new(&toml::from_str::<Options>(&options).unwrap()).unwrap()
}

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::from_canonical(text).unwrap()
}

/// How many files below a directory this process has open.
fn open_below(dir: &Path) -> usize {
    open_now().iter().filter(|path| path.starts_with(dir)).count()
}

/// What this process has open: files by their paths, sockets and the like by what the system calls them.
fn open_now() -> Vec<PathBuf> {
    let links = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    // Not what lists them.
    let is_kept = |path: &PathBuf| !path.starts_with("/proc");
    let mut open: Vec<PathBuf> = links.filter_map(|fd| std::fs::read_link(fd.path()).ok()).filter(is_kept).collect();
    open.sort();
    open
}

/// The threads of this process by their names. One that has none has that of the thread which began it.
fn threads_now() -> BTreeMap<String, usize> {
    let mut threads = BTreeMap::new();
    for thread in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
        if let Ok(name) = std::fs::read_to_string(thread.path().join("comm")) {
            *threads.entry(name.trim().to_owned()).or_default() += 1;
        }
    }
    threads
}

/// What this process has.
#[derive(Debug, PartialEq)]
struct Belongings {
    threads: BTreeMap<String, usize>,
    open: Vec<PathBuf>,
}

impl Belongings {
    /// Those before a session, with no thread of a runtime but its workers.
    async fn before() -> Self {
        assert!(becomes(|| threads_now().get(WORKER) == Some(&WORKERS)).await, "{:?}", threads_now());
        Belongings::now()
    }

    fn now() -> Self {
        Belongings { threads: threads_now(), open: open_now() }
    }

    /// Waits until they are all that there is. Threads end after what they did.
    async fn are_all(&self) {
        assert!(becomes(|| *self == Belongings::now()).await, "before: {self:#?}\nnow: {:#?}", Belongings::now());
    }
}

/// The workers of a runtime, and their name.
const WORKERS: usize = 2;
const WORKER: &str = "embedding";

/// Runs a test in a runtime whose threads are known: those that block end soon when they have nothing to do.
fn embedding(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(WORKERS).thread_name(WORKER).thread_keep_alive(Duration::from_millis(10)).enable_all();
    runtime.build().unwrap().block_on(test);
}

async fn becomes(holds: impl Fn() -> bool) -> bool {
    let waited = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LONG, waited).await.is_ok()
}

#[test]
fn two_sessions_run_in_one_program_one_steered_one_dropped() {
    embedding(two_sessions());
}

async fn two_sessions() {
    let server = server().await;
    let dirs = tempfile::tempdir().unwrap();
    let before = Belongings::before().await;
    let open = |name: &str, more: &str| {
        let session = Session::builder(CrawlDir::at(dirs.path().join(name)), plan(&server, more));
        session.seeds(vec![url("http://one.test/")])
    };
    let recorded = Arc::new(AtomicUsize::new(0));
    let counted = recorded.clone();
    let count = move |recorded: &Recorded<'_>| {
        counted.fetch_add(recorded.batch.visits.len(), Ordering::Relaxed);
        Ok(())
    };
    let lines = dirs.path().join("lines");
    let stream = |name: &str| StreamTo::new(Target::File(lines.with_extension(name)));
    let steered = open("steered", "delay = \"10ms\"\nno-dataset = true\npaused = true");
    let steered = steered.sink(count).hook(Numbers).stream(stream("steered")).open().unwrap();
    let dropped = open("dropped", "delay = \"1h\"").hook(Numbers).stream(stream("dropped")).open().unwrap();
    let (handle, other) = (steered.handle(), dropped.handle());
    let (mut events, mut unread) = (handle.events().unwrap(), handle.events().unwrap());
    let running = tokio::spawn(steered.run());
    let aborted = tokio::spawn(dropped.run());

    assert!(becomes(|| other.view().unwrap().is_some_and(|view| view.totals().unwrap().fetched() == 1)).await);
    // The site has one visit an hour.
    let outlook = other.outlook().await.unwrap().unwrap();
    let hours = u32::try_from(outlook.waiting).unwrap() - 1;
    assert!(hours > 0 && outlook.ends_in >= Some(hours * Duration::from_secs(3_600)), "{outlook:?}");
    // Another thread answers a client, here one of this process.
    let root = dirs.path().join("dropped");
    let client = tokio::task::spawn_blocking(move || crawl::live::view(&root)).await.unwrap().unwrap().unwrap();
    assert!(threads_now().contains_key("live view"), "{:?}", threads_now());
    aborted.abort();
    assert!(aborted.await.unwrap_err().is_cancelled());
    assert!(becomes(|| other.view().unwrap().is_none()).await, "the state of a session that was dropped is closed");
    assert!(becomes(|| open_below(&dirs.path().join("dropped")) == 0).await);
    assert!(becomes(|| !threads_now().contains_key("live view")).await, "{:?}", threads_now());
    drop(client);
    assert!(!dirs.path().join("dropped/live.socket").exists());
    other.steer(Change::Pause).await.unwrap_err();

    assert_eq!(recorded.load(Ordering::Relaxed), 0, "it is paused");
    handle.steer(Change::Exclude(vec!["*/1*".to_owned()])).await.unwrap();
    handle.steer(Change::Seeds(vec!["http://two.test/".to_owned()])).await.unwrap();
    let error = handle.steer(Change::Set("depth = 3".to_owned())).await.unwrap_err().to_string();
    assert!(error.contains("depth cannot change"), "{error}");
    // Nothing is fetched during the pause.
    let (outlook, totals) =
        (handle.outlook().await.unwrap().unwrap(), handle.view().unwrap().unwrap().totals().unwrap());
    assert_eq!((outlook.waiting, outlook.failed, outlook.kept_out), (totals.pending, 0, 0));
    assert!(outlook.waiting > 0 && outlook.ends_in.is_none(), "{outlook:?}");
    assert!(outlook.disk_bytes > 0 && outlook.disk_bytes_left > 0, "{outlook:?}");
    assert_eq!(
        crawl::outlook::waits_in_words(&outlook.waits, Timestamp::default()).as_deref(),
        Some("the end of the pause")
    );
    handle.steer(Change::Resume).await.unwrap();
    let Ended { end, totals, .. } = timeout(LONG, running).await.unwrap().unwrap().unwrap();
    assert_eq!(end, End::Done);
    // The two first pages, and of the twenty those whose number does not begin with 1, without one that the hook refuses.
    assert_eq!((totals.fetched(), totals.pending), (2 + 8, 0));
    assert_eq!(recorded.load(Ordering::Relaxed), 2 + 8);
    let mut ended = BTreeMap::new();
    while let Some(Event::Ended { url, visit }) = timeout(LONG, events.next()).await.unwrap() {
        assert!(ended.insert(url.to_string(), visit.outcome).is_none(), "{url} once");
    }
    assert_eq!(ended.len() as u64, totals.outcomes.values().sum::<u64>());
    assert_eq!(ended.get("http://two.test/"), Some(&Outcome::Html));
    assert!(unread.next().await.is_some() && handle.events().is_none(), "a late reader gets what is kept");
    let lines = std::fs::read_to_string(lines.with_extension("steered")).unwrap();
    assert_eq!(lines.lines().count() as u64, totals.outcomes.values().sum::<u64>());
    assert!(lines.contains("\"extra\":{\"fields\":{\"number\":5}}"), "{lines}");
    assert!(lines.contains("\"reason\":\"hook: not 7\""), "{lines}");
    assert!(handle.view().unwrap().is_none() && handle.outlook().await.unwrap().is_none(), "the session has ended");
    before.are_all().await;
}

#[test]
fn a_session_that_was_dropped_goes_on_where_it_was() {
    embedding(dropped_and_gone_on());
}

async fn dropped_and_gone_on() {
    let server = server().await;
    let dirs = tempfile::tempdir().unwrap();
    let dir = CrawlDir::at(dirs.path().join("crawl"));
    let all = Belongings::before().await;
    for _ in 0..3 {
        let session = Session::builder(dir.clone(), plan(&server, "delay = \"50ms\""));
        let session = session.seeds(vec![url("http://one.test/")]).open().unwrap();
        let handle = session.handle();
        let running = tokio::spawn(session.run());
        let before = handle.view().unwrap().unwrap().totals().unwrap().fetched();
        let goes_on = || handle.view().unwrap().is_some_and(|view| view.totals().unwrap().fetched() > before);
        assert!(becomes(goes_on).await);
        running.abort();
        assert!(becomes(|| handle.view().unwrap().is_none()).await);
        all.are_all().await;
    }
    let session = Session::builder(dir.clone(), plan(&server, "delay = \"0s\"")).open().unwrap();
    let handle = session.handle();
    let ended = timeout(LONG, session.run()).await.unwrap().unwrap();
    assert_eq!((ended.end, ended.totals.fetched()), (End::Done, 21));
    drop(handle);
    all.are_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_goes_on_only_where_a_session_names_its_target() {
    let server = server().await;
    let dirs = tempfile::tempdir().unwrap();
    let (dir, lines) = (CrawlDir::at(dirs.path().join("crawl")), dirs.path().join("lines"));
    let session = |more: &str| Session::builder(dir.clone(), plan(&server, more));
    let named = || StreamTo::new(Target::File(lines.clone()));
    let first = session("delay = \"0s\"\nmax-pages = 5").seeds(vec![url("http://one.test/")]).stream(named());
    first.open().unwrap().run().await.unwrap();
    let before = std::fs::read(&lines).unwrap();
    let refused = session("delay = \"0s\"").open().err().unwrap().to_string();
    assert!(refused.contains(&format!("went to `{}`, and only the directory says so", lines.display())), "{refused}");
    assert_eq!(std::fs::read(&lines).unwrap(), before);
    let ended = session("delay = \"0s\"").stream(named()).open().unwrap().run().await.unwrap();
    let text = std::fs::read_to_string(&lines).unwrap();
    assert!(text.as_bytes().starts_with(&before));
    assert_eq!(text.lines().count() as u64, ended.totals.outcomes.values().sum::<u64>());
    session("").begin(Begin { forgets_stream: true, ..Begin::default() }).open().unwrap();
    assert!(!dir.stream().exists());
}
