//! A crawl of a served web: its command line, and what it leaves behind.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crawl::CrawlDir;
use model::{Purpose, Visit};
use store::Entry;
use tempfile::TempDir;
use testweb::{Config, Server, Web};

use crate::binary::{Ended, Running};

/// Entries read from the store at once.
const SCAN_MAX: usize = 1_000;

/// Serves a web on a free port.
pub async fn serve(web: Web) -> Server {
    Server::start(Config::new(web)).await.expect("a free port")
}

/// A crawl into a directory of its own. Unless told otherwise it waits for nothing.
pub struct Crawl {
    home: Arc<TempDir>,
    arguments: Vec<String>,
}

impl Crawl {
    /// A crawl from these seeds, with every connection led to the server.
    pub fn of(server: &Server, seeds: &[&str]) -> Self {
        Crawl::routed(seeds).with(&["--connect-to", &server.connect_to()])
    }

    /// A crawl whose caller adds the flags that lead its connections.
    pub fn routed(seeds: &[&str]) -> Self {
        let home = Arc::new(tempfile::tempdir().expect("a directory"));
        let output = home.path().join("crawl").display().to_string();
        let crawl = Crawl { home, arguments: vec!["crawl".to_owned()] };
        crawl.with(seeds).with(&["-o", &output, "--progress", "none"])
    }

    /// Another run of it, with more arguments.
    pub fn again(&self, arguments: &[&str]) -> Self {
        Crawl { home: self.home.clone(), arguments: self.arguments.clone() }.with(arguments)
    }

    /// Its directory.
    pub fn dir(&self) -> PathBuf {
        self.home.path().join("crawl")
    }

    /// The same with more arguments.
    pub fn with(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(|&argument| argument.to_owned()));
        self
    }

    /// The same without any wait between visits.
    pub fn at_once(self) -> Self {
        self.with(&["--delay", "0", "--ip-delay", "0", "--backoff", "5ms", "--max-backoff", "20ms", "--patience", "0"])
    }

    /// A file beside the crawl's directory.
    pub fn file(&self, name: &str, content: &str) -> String {
        let path = self.home.path().join(name);
        std::fs::write(&path, content).expect("written");
        path.display().to_string()
    }

    /// Begins it, or goes on with it.
    pub fn begin(&self) -> Running {
        Running::begin(&self.arguments, &self.output())
    }

    /// The same on a machine without a network.
    pub fn begin_without_network(&self) -> Running {
        Running::begin_without_network(&self.arguments, &self.output())
    }

    /// Runs it to its end, whose exit code must be what its summary says.
    pub async fn run(&self) -> Ended {
        let ended = self.begin().end().await;
        let said = self.said();
        let (before, after) = said.rsplit_once(" pages and documents fetched").expect(&said);
        let expect = match before.rsplit([' ', '\n']).next().and_then(|fetched| fetched.parse().ok()) {
            _ if after.contains(" reached, ") => 3,
            Some(0_u64) => 1,
            // Not the reason of a site that was given up.
            Some(_) if ["\n  in trouble ", " in trouble: "].iter().any(|told| after.contains(told)) => 3,
            Some(_) => 0,
            None => panic!("{said}"),
        };
        assert_eq!(ended.code, Some(expect), "{said}");
        ended
    }

    /// What all its runs have said.
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.output()).unwrap_or_default()
    }

    fn output(&self) -> PathBuf {
        self.home.path().join("output")
    }

    /// What its store knows now that no run is under way. It is opened once and kept: the lock of a store that was closed
    /// may live on for a moment in a process that another thread is just about to start.
    pub fn found(&self) -> Found {
        let dir = CrawlDir::existing(&self.home.path().join("crawl")).expect("a crawl");
        let store = dir.open_store(&dir.options().expect("settings")).expect("a store nobody uses");
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let after = entries.last().map(|entry| entry.candidate.url.key());
            let more = store.scan(after, SCAN_MAX).expect("a store that can be read");
            if more.is_empty() {
                break;
            }
            entries.extend(more);
        }
        let (pages, sitemaps): (Vec<Entry>, Vec<Entry>) =
            entries.into_iter().partition(|entry| entry.candidate.purpose == Purpose::Page);
        Found { pages: by_url(pages), sitemaps: by_url(sitemaps) }
    }
}

/// What a crawl knows, by URL.
pub struct Found {
    /// Its pages and documents.
    pub pages: BTreeMap<String, Entry>,
    /// Its sitemaps.
    pub sitemaps: BTreeMap<String, Entry>,
}

impl Found {
    /// The outcome of each page.
    pub fn outcomes(&self) -> BTreeMap<&str, &str> {
        self.pages.iter().map(|(url, entry)| (url.as_str(), outcome(entry))).collect()
    }

    /// The visit of a page that must have been visited.
    pub fn visit(&self, url: &str) -> &Visit {
        let entry = self.pages.get(url).unwrap_or_else(|| panic!("{url} is not known"));
        entry.visit.as_ref().unwrap_or_else(|| panic!("{url} was not visited"))
    }
}

/// The outcome of an entry in words, `frontier` where there is none.
pub fn outcome(entry: &Entry) -> &'static str {
    entry.visit.as_ref().map_or("frontier", |visit| visit.outcome.as_str())
}

fn by_url(entries: Vec<Entry>) -> BTreeMap<String, Entry> {
    entries.into_iter().map(|entry| (entry.candidate.url.to_string(), entry)).collect()
}
