//! Twenty viewers of one running crawl, beside some that never read.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use engine::clock::Clock;
use serde_json::Value;
use testkit::endless::Endless;
use testkit::ui::Ui;

/// Viewers that read.
const VIEWERS: usize = 20;
/// What further viewers request, whose answers they never read.
const UNREAD: [&str; 4] = ["/events", "/events", "/", "/urls.jsonl"];
/// How often a viewer asks for events.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// Events that each viewer gets while the crawl runs, at least.
const EVENTS_MIN: u64 = 3;
/// Pages that the crawl fetches meanwhile, at least.
const PAGES_MIN: u64 = 10;
/// Events that wait for the test to count them.
const EVENTS_AT_ONCE_MAX: usize = 64;
/// Views that the interface may take of the crawl in a second, however many viewers there are: one for the events, one for the overview.
const VIEWS_A_SECOND: u64 = 2;

/// Stands between a running crawl and the interface, and counts the views that it takes.
struct Between {
    socket: PathBuf,
    views: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

impl Between {
    fn of(dir: &Path) -> Self {
        let (socket, behind) = (dir.join("live.socket"), dir.join("behind.socket"));
        std::fs::rename(&socket, &behind).unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        let views = Arc::new(AtomicU64::new(0));
        let is_over = Arc::new(AtomicBool::new(false));
        let (counted, ends) = (views.clone(), is_over.clone());
        let listening = std::thread::spawn(move || {
            for asking in listener.incoming() {
                let asking = asking.unwrap();
                if ends.load(SeqCst) {
                    return;
                }
                // A crawl that has ended answers nobody.
                let Ok(crawl) = UnixStream::connect(&behind) else { continue };
                let counted = counted.clone();
                let (said, back) = (asking.try_clone().unwrap(), crawl.try_clone().unwrap());
                std::thread::spawn(move || pass(&said, &crawl, Some(&counted)));
                std::thread::spawn(move || pass(&back, &asking, None));
            }
        });
        Between { socket, views, is_over, listening: Some(listening) }
    }

    fn views(&self) -> u64 {
        self.views.load(SeqCst)
    }
}

impl Drop for Between {
    fn drop(&mut self) {
        self.is_over.store(true, SeqCst);
        // It wakes the thread.
        let _ = UnixStream::connect(&self.socket);
        let _ = self.listening.take().map(JoinHandle::join);
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// Passes on what one end says until it ends. A request for a view begins with the line `view`.
fn pass(mut from: &UnixStream, mut to: &UnixStream, views: Option<&AtomicU64>) {
    let mut piece = [0; 16 << 10];
    let mut first = views;
    while let Ok(length @ 1..) = from.read(&mut piece) {
        if let Some(views) = first.take()
            && piece.starts_with(b"view\n")
        {
            views.fetch_add(1, SeqCst);
        }
        if to.write_all(&piece[..length]).is_err() {
            break;
        }
    }
    // The other direction ends too: no exchange goes on after one end has gone.
    let _ = (to.shutdown(Shutdown::Both), from.shutdown(Shutdown::Both));
}

/// Sends a request.
fn asked(ui: &Ui, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&ui.address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", ui.address).unwrap();
    stream
}

/// Follows the events of a crawl to its end as the overview does, and asks for the page after each. Tells of each event.
fn follow(ui: &Ui, viewer: usize, news: &mpsc::SyncSender<(usize, Value)>) -> Vec<Value> {
    let mut samples: Vec<Value> = Vec::new();
    loop {
        let event = ui.samples(samples.last().and_then(|last| last["at"].as_u64()));
        let is_empty = event.is_empty();
        samples.extend(event);
        // The first viewer asks before the first sample.
        if let Some(last) = samples.last().filter(|_| !is_empty).cloned() {
            if last["running"] == false {
                return samples;
            }
            let page = ui.page("/");
            assert!(page.contains("A crawl is running.") || page.contains("Finished"), "{page}");
            // The test has stopped listening.
            let _ = news.send((viewer, last));
        }
        std::thread::sleep(ASK_EVERY);
    }
}

#[test]
fn twenty_viewers_see_the_end_of_a_crawl_and_cost_it_as_much_as_one() {
    let mut crawl = Endless::start();
    let between = Between::of(crawl.dir());
    let ui = Ui::start(crawl.dir());
    let unread = UNREAD.map(|path| asked(&ui, path));
    let clock = Clock::start();
    let began = clock.now();
    let (sender, news) = mpsc::sync_channel(EVENTS_AT_ONCE_MAX);
    let all = std::thread::scope(|scope| {
        let viewing: Vec<_> = (0..VIEWERS)
            .map(|viewer| {
                let (ui, sender) = (&ui, sender.clone());
                scope.spawn(move || follow(ui, viewer, &sender))
            })
            .collect();
        drop(sender);
        // Until each has seen the crawl go on.
        let mut seen: BTreeMap<usize, (u64, u64, u64)> = BTreeMap::new();
        let is_enough = |seen: &BTreeMap<usize, (u64, u64, u64)>| {
            seen.len() == VIEWERS
                && seen.values().all(|(events, first, last)| *events >= EVENTS_MIN && last - first >= PAGES_MIN)
        };
        let mut events = 0;
        // A viewer that has ended already has failed; if all have, there is no more news.
        while !is_enough(&seen) && !viewing.iter().any(std::thread::ScopedJoinHandle::is_finished) {
            let Ok((viewer, sample)) = news.recv() else { break };
            let visited = sample["visited"].as_u64().unwrap();
            let (of_viewer, _, last) = seen.entry(viewer).or_insert((0, visited, visited));
            (*of_viewer, *last) = (*of_viewer + 1, visited);
            events += 1;
        }
        let seconds = clock.now().since(began).as_secs() + 1;
        let (views, most) = (between.views(), VIEWS_A_SECOND * (seconds + 1));
        // From here on no viewer waits for the test.
        drop(news);
        crawl.end();
        drop(between);
        let all = viewing.into_iter().map(|viewer| viewer.join().unwrap()).collect::<Vec<_>>();
        assert!(events >= EVENTS_MIN * VIEWERS as u64 && views > 0, "{events} events, {views} views: {all:?}");
        assert!(views <= most, "{views} views in {seconds} s, {events} events, {VIEWERS} viewers");
        all
    });
    // All got the same: what is read once is sent to each.
    let mut by_moment: BTreeMap<u64, Value> = BTreeMap::new();
    for sample in all.iter().flatten() {
        let same = by_moment.entry(sample["at"].as_u64().unwrap()).or_insert_with(|| sample.clone());
        assert_eq!(same, sample);
    }
    assert!(ui.page("/").contains("Finished: every URL found has its outcome."));
    drop(unread);
}
