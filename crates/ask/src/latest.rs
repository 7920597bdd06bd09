//! The pages of a crawl that were visited last. The state has no index by time.
//!
//! A running crawl knows its last visits. Of one that rests, the rows of the last segment in the dataset tell them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use crawl::opened::Opened;
use crawl::{LATEST_MAX, RunningProcess};
use dataset::schema::Table;
use dataset::{Column, Layout};
use model::{Purpose, Visit};
use store::CrawlView;
use weburl::UrlKey;

use crate::urls::Listed;

/// Pages told, at most.
pub const PAGES_MAX: usize = 20;

/// The pages visited last, the last one first, at most [`PAGES_MAX`] of the last [`LATEST_MAX`] visits. `None` where nothing tells them: of a crawl
/// that rests without a dataset, and of one that runs whose process gave no answer.
///
/// # Errors
/// The state or the dataset cannot be read.
pub fn pages(opened: &Opened, process: Option<&RunningProcess>) -> anyhow::Result<Option<Vec<Listed>>> {
    let keys = match opened.is_running() {
        true => process.map(|process| process.latest.clone()),
        false => of_last_segment(opened)?,
    };
    keys.map(|keys| named(opened.view(), keys)).transpose()
}

/// The pages among URLs that were visited one after the other, the last one first.
fn named(view: &dyn CrawlView, keys: Vec<UrlKey>) -> anyhow::Result<Vec<Listed>> {
    let (mut pages, mut seen) = (Vec::new(), BTreeSet::new());
    for key in keys {
        if pages.len() >= PAGES_MAX {
            break;
        }
        // A visit may be taken back, and a URL visited twice.
        let Some(entry) = view.get(key)?.filter(|_| seen.insert(key)) else { continue };
        let was_asked_for = entry.visit.as_ref().is_some_and(Visit::was_asked_for);
        if was_asked_for && entry.candidate.purpose == Purpose::Page {
            pages.push(Listed::from(entry));
        }
    }
    // Visits of one commit are in no order.
    pages.sort_by_key(|page| Reverse(page.visited()));
    Ok(pages)
}

/// The keys of the rows of the last segment that are latest, the last one first.
fn of_last_segment(opened: &Opened) -> anyhow::Result<Option<Vec<UrlKey>>> {
    let layout = Layout::at(opened.dir.dataset());
    let segments = opened.view().segments()?;
    let with_rows = segments.iter().rev().find(|segment| layout.file(Table::Pages, &segment.name).is_file());
    let Some(segment) = with_rows else { return Ok(None) };
    let mut latest = BinaryHeap::new();
    for batch in layout.batches_of(Table::Pages, &segment.name, &["url_key", "fetched_at"]) {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            let (Some(key), Some(at)) = (batch.key("url_key", row), batch.number("fetched_at", row)) else { continue };
            latest.push(Reverse((at, key)));
            if latest.len() > LATEST_MAX {
                latest.pop();
            }
        }
    }
    // Ascending by the reversed order: the latest first.
    Ok(Some(latest.into_sorted_vec().into_iter().map(|Reverse((_, key))| key).collect()))
}

#[cfg(test)]
mod tests {
    use model::{Candidate, Outcome, Timestamp};
    use store::{Batch, MemoryStore, Store};
    use weburl::{CanonicalRules, CanonicalUrl};

    use super::*;

    #[test]
    fn pages_that_were_asked_for_are_told_the_last_one_first() {
        let store = MemoryStore::new();
        let url =
            |n: usize| CanonicalUrl::parse(&format!("http://a.test/{n}"), &CanonicalRules::default()).expect("one");
        let visited = |n: usize| Visit {
            attempts: u8::from(n != 3),
            ..Visit::without_fetch(url(n).key(), Outcome::Html, String::new(), Timestamp(n as u64))
        };
        let mut found: Vec<Candidate> = (0..2 * PAGES_MAX).map(|n| Candidate::seed(url(n))).collect();
        found[5].purpose = Purpose::Requisite;
        store.commit(&Batch { found, ..Batch::default() }).expect("committed");
        store.commit(&Batch { visits: (0..30).map(visited).collect(), ..Batch::default() }).expect("committed");
        let told = |keys: &[usize]| -> Vec<u64> {
            let pages = named(&store, keys.iter().map(|n| url(*n).key()).collect()).expect("read");
            pages.iter().filter_map(|page| page.visited().map(|at| at.0)).collect()
        };
        assert_eq!(told(&[]), [0; 0]);
        // One was judged without a request, one is no page, one waits, one is unknown.
        assert_eq!(told(&[7, 6, 5, 4, 3, 35, 99, 7, 8]), [8, 7, 6, 4]);
        let all: Vec<usize> = (0..30).rev().collect();
        assert_eq!(told(&all), (10..30).rev().collect::<Vec<u64>>());
    }
}
