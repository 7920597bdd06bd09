//! What a crawl came to, in a form in which two crawls of one web can be compared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crawl::CrawlDir;
use model::{Outcome, PayloadDigest};
use store::Entry;

/// URLs read from the store at once.
const SCAN_MAX: usize = 1_000;

/// The outcome of a URL, as far as it does not depend on the order of fetching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// `html` and `binary` count as `content` here: which of several equal payloads is the `duplicate` depends on the order.
    pub outcome: &'static str,
    pub status: u16,
    pub depth: u32,
    pub digest: Option<PayloadDigest>,
    pub reason: String,
}

/// All URLs in the state of a crawl, in key order.
pub fn entries(dir: &Path) -> Vec<Entry> {
    let dir = CrawlDir::at(dir);
    let store = dir.open_store(&dir.options().unwrap()).unwrap();
    let mut all: Vec<Entry> = Vec::new();
    loop {
        let more = store.scan(all.last().map(|entry| entry.candidate.url.key()), SCAN_MAX).unwrap();
        if more.is_empty() {
            return all;
        }
        all.extend(more);
    }
}

/// The URLs that have an outcome. What another process is doing to the state is none of our business: it has ended.
pub fn visited(dir: &Path) -> BTreeSet<String> {
    let entries = entries(dir).into_iter().filter(|entry| entry.visit.is_some());
    entries.map(|entry| entry.candidate.url.to_string()).collect()
}

/// The rows of a finished crawl by URL. Panics where a URL is left over, or duplicates are marked wrongly.
pub fn rows(entries: &[Entry]) -> BTreeMap<String, Row> {
    check_duplicates(entries);
    entries.iter().map(|entry| (entry.candidate.url.to_string(), row(entry))).collect()
}

fn row(entry: &Entry) -> Row {
    let visit = entry.visit.as_ref().unwrap_or_else(|| panic!("{} is left over", entry.candidate.url));
    let is_content = matches!(visit.outcome, Outcome::Html | Outcome::Binary | Outcome::Duplicate);
    Row {
        outcome: if is_content { "content" } else { visit.outcome.as_str() },
        status: visit.status,
        depth: entry.candidate.depth,
        digest: visit.digest.filter(|_| is_content),
        reason: visit.reason.clone(),
    }
}

/// Of each group of equal payloads exactly one is not a duplicate, and it is what the others are duplicates of.
fn check_duplicates(entries: &[Entry]) {
    let mut groups: BTreeMap<[u8; 20], Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        let Some(visit) = &entry.visit else { continue };
        if let (Outcome::Html | Outcome::Binary | Outcome::Duplicate, Some(digest)) = (visit.outcome, visit.digest) {
            groups.entry(digest.0).or_default().push(entry);
        }
    }
    for group in groups.values() {
        let outcome = |entry: &Entry| entry.visit.as_ref().unwrap().outcome;
        let first: Vec<&&Entry> = group.iter().filter(|entry| outcome(entry) != Outcome::Duplicate).collect();
        let urls: Vec<&str> = group.iter().map(|entry| entry.candidate.url.as_str()).collect();
        assert_eq!(first.len(), 1, "not one holder of the payload of {urls:?}");
        let holder = first[0].candidate.url.key();
        let marked = |entry: &&&Entry| entry.visit.as_ref().unwrap().duplicate_of == Some(holder);
        assert_eq!(group.iter().filter(marked).count(), group.len() - 1, "duplicates of another URL in {urls:?}");
    }
}

/// Compares two crawls, and names the first few URLs that differ.
pub fn assert_same(ours: &BTreeMap<String, Row>, expect: &BTreeMap<String, Row>) {
    let keys: BTreeSet<&String> = ours.keys().chain(expect.keys()).collect();
    let differences = keys.into_iter().filter(|url| ours.get(*url) != expect.get(*url));
    let differences: Vec<String> =
        differences.map(|url| format!("{url}: {:?}, not {:?}", ours.get(url), expect.get(url))).collect();
    let shown = differences.iter().take(10).cloned().collect::<Vec<_>>().join("\n");
    assert!(differences.is_empty(), "{} URLs differ:\n{shown}", differences.len());
}
