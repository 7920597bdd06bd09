//! Sessions in a program that embeds them.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crawl::{Change, CrawlDir, Ended, Session};
use engine::End;
use settings::{Options, Plan};
use testweb::{Config, Pages, Server, Web};
use tokio::time::timeout;
use weburl::CanonicalUrl;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(120);

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

/// What this process has open below a directory, and its threads.
fn left_behind(dir: &Path) -> (usize, usize) {
    let below = |entry: std::fs::DirEntry| std::fs::read_link(entry.path()).is_ok_and(|path| path.starts_with(dir));
    let files = std::fs::read_dir("/proc/self/fd").unwrap().flatten().filter_map(|entry| below(entry).then_some(()));
    (files.count(), std::fs::read_dir("/proc/self/task").unwrap().count())
}

async fn becomes(holds: impl Fn() -> bool) -> bool {
    let waited = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LONG, waited).await.is_ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_sessions_run_in_one_program_one_steered_one_dropped() {
    let server = server().await;
    let dirs = tempfile::tempdir().unwrap();
    let open = |name: &str, more: &str| {
        let session = Session::builder(CrawlDir::at(dirs.path().join(name)), plan(&server, more));
        session.seeds(vec![url("http://one.test/")])
    };
    let recorded = Arc::new(AtomicUsize::new(0));
    let counted = recorded.clone();
    let observer = Box::new(move |recorded: engine::Recorded<'_>| {
        counted.fetch_add(recorded.batch.visits.len(), Ordering::Relaxed);
        Ok(())
    });
    let steered =
        open("steered", "delay = \"10ms\"\nno-dataset = true\npaused = true").observer(observer).open().unwrap();
    let dropped = open("dropped", "delay = \"1h\"").open().unwrap();
    let (handle, other) = (steered.handle(), dropped.handle());
    let running = tokio::spawn(steered.run());
    let aborted = tokio::spawn(dropped.run());

    assert!(becomes(|| other.view().unwrap().is_some_and(|view| view.totals().unwrap().fetched() == 1)).await);
    aborted.abort();
    assert!(aborted.await.unwrap_err().is_cancelled());
    assert!(becomes(|| other.view().unwrap().is_none()).await, "the state of a session that was dropped is closed");
    assert!(becomes(|| left_behind(&dirs.path().join("dropped")).0 == 0).await);
    assert!(!dirs.path().join("dropped/live.socket").exists());
    other.steer(Change::Pause).await.unwrap_err();

    assert_eq!(recorded.load(Ordering::Relaxed), 0, "it is paused");
    handle.steer(Change::Exclude(vec!["*/1*".to_owned()])).await.unwrap();
    handle.steer(Change::Seeds(vec!["http://two.test/".to_owned()])).await.unwrap();
    let error = handle.steer(Change::Set("depth = 3".to_owned())).await.unwrap_err().to_string();
    assert!(error.contains("depth cannot change"), "{error}");
    handle.steer(Change::Resume).await.unwrap();
    let Ended { end, totals, .. } = timeout(LONG, running).await.unwrap().unwrap().unwrap();
    assert_eq!(end, End::Done);
    // The two first pages, and of the twenty those whose number does not begin with 1.
    assert_eq!((totals.fetched(), totals.pending), (2 + 9, 0));
    assert_eq!(recorded.load(Ordering::Relaxed), 2 + 9);
    assert!(handle.view().unwrap().is_none(), "the session has ended");
    assert_eq!(left_behind(dirs.path()).0, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_was_dropped_goes_on_where_it_was() {
    let server = server().await;
    let dirs = tempfile::tempdir().unwrap();
    let dir = CrawlDir::at(dirs.path().join("crawl"));
    let threads = left_behind(dirs.path()).1;
    for _ in 0..3 {
        let session = Session::builder(dir.clone(), plan(&server, "delay = \"50ms\""));
        let session = session.seeds(vec![url("http://one.test/")]).open().unwrap();
        let handle = session.handle();
        let running = tokio::spawn(session.run());
        let before = handle.view().unwrap().unwrap().totals().unwrap().fetched();
        let goes_on = || handle.view().unwrap().is_some_and(|view| view.totals().unwrap().fetched() > before);
        assert!(becomes(goes_on).await);
        running.abort();
        assert!(becomes(|| handle.view().unwrap().is_none() && left_behind(dirs.path()).0 == 0).await);
    }
    let session = Session::builder(dir.clone(), plan(&server, "delay = \"0s\"")).open().unwrap();
    let handle = session.handle();
    let ended = timeout(LONG, session.run()).await.unwrap().unwrap();
    assert_eq!((ended.end, ended.totals.fetched()), (End::Done, 21));
    drop(handle);
    // Threads of the runtime that block end later by themselves; those of sessions are gone.
    assert!(becomes(|| !threads_named("dataset") && !threads_named("live")).await, "{threads}");
}

fn threads_named(name: &str) -> bool {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    threads
        .into_iter()
        .any(|entry| std::fs::read_to_string(entry.path().join("comm")).is_ok_and(|comm| comm.trim() == name))
}
