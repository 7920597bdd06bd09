//! Segments that are sealed while a crawl runs: each is reported once, with its index and its files complete.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use archive::{Archive, ArchiveInState, Seal, Sealed, index_path};
use crawl::held::Held;
use crawl::tables::Writer;
use dataset::{Layout, covered_bytes};
use engine::clock::Clock;
use engine::{End, Recorder, Shell};
use fetch::Fetcher;
use model::{Limits, Purpose};
use settings::options::Options;
use settings::plan::Plan;
use settings::units::Span;
use store::{CrawlView, Entry, MemoryStore, Segment};
use tempfile::TempDir;
use testweb::{Config, Reply, Server, Web, from_fn};

use testkit::tables::pages;

const FIRST_SERIAL: u32 = 100;

/// A crawl of an endless site, and the segments that were reported as sealed. It is stopped when `sealed_max` are.
fn crawl(root: &Path, segment_bytes_max: u64, seals: bool, sealed_max: usize) -> (Arc<MemoryStore>, Vec<Segment>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
    let page = |request: &testweb::Request| {
        let n: u64 = request.path().trim_start_matches('/').parse().unwrap_or(0);
        Reply::html(format!("<title>Page {n}</title><a href=/{}>next</a><p>{}", n + 1, "words ".repeat(50)))
    };
    let web = Web::new().site("endless.test", from_fn(page));
    let server = runtime.block_on(Server::start(Config::new(web))).expect("a free port");
    let options = Options {
        connect_to: vec![server.connect_to()],
        delay: Some(Span(Duration::ZERO)),
        ip_delay: Some(Span(Duration::ZERO)),
        ..Options::default()
    };
    let plan = Plan::new(&options).expect("a plan");
    let seeds = plan.seeds(&["http://endless.test/0".to_owned()]).expect("a seed");
    let (store, layout) = (Arc::new(MemoryStore::new()), Layout::at(root.join("dataset")));
    let mut serial = FIRST_SERIAL;
    let serials = Box::new(move || {
        serial += 2;
        Ok(serial)
    });
    let known = ArchiveInState::of(store.as_ref(), &Limits::default()).expect("a state");
    let archive = Archive::open(&root.join("archive"), &known, Vec::new(), segment_bytes_max).expect("an archive");
    let sealed = Arc::new(Mutex::new(Vec::<Sealed>::new()));
    let told = sealed.clone();
    let (stop, is_stopped) = tokio::sync::oneshot::channel::<()>();
    let (mut count, mut stop, files) = (0, Some(stop), layout.clone());
    let on_sealed = move |sealed: Sealed| {
        let covered = covered_bytes(&files, &sealed.segment.name).expect("the files");
        assert_eq!(covered, Some(sealed.segment.length), "they are complete when it is reported");
        told.lock().expect("no panic").push(sealed);
        count += 1;
        if count == sealed_max {
            // Only the first time.
            let _ = stop.take().map(|stop| stop.send(()));
        }
    };
    let held = Held::of([root.to_owned()]).expect("a directory");
    let tables = Writer::start_shared(layout, store.clone(), held, on_sealed).expect("a thread");
    let clock = Clock::start();
    let fetcher = Fetcher::new(plan.fetch, Arc::new(move || clock.date())).expect("a fetcher");
    let recorder = Recorder::new(store.clone(), Some(archive.numbered_by(serials))).with_sink(tables.sink());
    let (orders, sealing) = tokio::sync::mpsc::channel(1);
    runtime.spawn(async move {
        while seals && orders.send(Seal::Now).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    let shell = Shell { sealing: Some(sealing), ..Shell::new(plan.settings, Arc::new(fetcher), recorder, clock) };
    let stopped = async {
        let _ = is_stopped.await;
    };
    let end = runtime.block_on(shell.run(seeds, stopped, |_| ())).expect("the crawl");
    assert_eq!(end, End::Stopped);
    tables.finish().expect("the files");
    let archive = root.join("archive");
    let indexed = |sealed: Sealed| {
        let segment = sealed.indexed().expect("an index");
        let path = archive.join(&segment.name);
        assert!(index_path(&path).is_file(), "{}", path.display());
        assert_eq!(path.metadata().expect("the segment").len(), segment.length);
        segment
    };
    let sealed = std::mem::take(&mut *sealed.lock().expect("no panic"));
    (store, sealed.into_iter().map(indexed).collect())
}

/// Every segment is reported once, in order, and every page lies in one.
fn check(segment_bytes_max: u64, seals: bool) {
    let root = TempDir::new().expect("a directory");
    let (store, sealed) = crawl(root.path(), segment_bytes_max, seals, 3);
    assert!(sealed.len() >= 3);
    let serials: Vec<u32> = sealed.iter().map(|segment| segment.serial).collect();
    let expected: Vec<u32> = (1..).map(|n| FIRST_SERIAL + 2 * n).take(serials.len()).collect();
    assert_eq!(serials, expected, "numbered as they were reported, and none left out");
    assert_eq!(store.segments().expect("segments"), sealed, "none is open at the end");
    let pages = pages(root.path().to_str().expect("text"));
    let is_page = |entry: &Entry| entry.visit.is_some() && entry.candidate.purpose == Purpose::Page;
    let visited = store.scan(None, usize::MAX).expect("scan").into_iter().filter(is_page);
    let visited: BTreeSet<String> = visited.map(|entry| entry.candidate.url.to_string()).collect();
    assert_eq!(pages.into_keys().collect::<BTreeSet<_>>(), visited);
}

#[test]
fn segments_that_are_full_are_told_of_and_the_last_too() {
    check(1, false);
}

#[test]
fn segments_are_sealed_on_order() {
    check(u64::MAX, true);
}
