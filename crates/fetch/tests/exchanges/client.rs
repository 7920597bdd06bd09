//! A fetcher for tests, and what a test asks about an outcome.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fetch::{FetchConfig, Fetcher};
use model::{Failure, FailureKind, FetchOutcome, FetchTask, Fetched, Limits, Purpose, Response, TaskId, Timestamp};
use weburl::{CanonicalRules, CanonicalUrl};

pub const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

pub fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text)
}

/// A task to fetch `text` as a page from 127.0.0.1.
pub fn page(text: &str) -> FetchTask {
    let (id, purpose, address) = (TaskId(1), Purpose::Page, Some(LOOPBACK));
    FetchTask { id, url: url(text), purpose, address, head_first: false, condition: None, for_page: None }
}

pub fn fetcher(config: FetchConfig) -> Fetcher {
    let ticks = AtomicU64::new(0);
    Fetcher::new(config, Arc::new(move || Timestamp(ticks.fetch_add(1, Ordering::SeqCst)))).expect("a configuration")
}

pub fn with_limits(limits: Limits) -> Fetcher {
    fetcher(FetchConfig { limits, ..FetchConfig::default() })
}

pub fn plain() -> Fetcher {
    fetcher(FetchConfig::default())
}

pub fn response(outcome: &FetchOutcome) -> &Response {
    match &outcome.fetched {
        Fetched::Response(response) => response,
        Fetched::Failed(failure) => panic!("no answer from {}: {failure:?}", outcome.url),
    }
}

pub fn failure(outcome: &FetchOutcome) -> &Failure {
    match &outcome.fetched {
        Fetched::Failed(failure) => failure,
        Fetched::Response(response) => panic!("an answer from {}: {response:?}", outcome.url),
    }
}

/// Asserts that the fetch failed so, with these words.
pub fn assert_failed(outcome: &FetchOutcome, kind: FailureKind, words: &str) {
    let failure = failure(outcome);
    assert_eq!(failure.kind, kind, "{failure:?}");
    assert!(failure.detail.contains(words), "`{}` does not say `{words}`", failure.detail);
    assert!(outcome.exchanges.is_empty());
}

pub fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

pub fn note(response: &Response) -> &str {
    response.note.as_deref().unwrap_or_default()
}
