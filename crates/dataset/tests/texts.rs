//! The table of pages has each text in the row of its page: none, empty ones, long ones, over pages of data, groups, and files that are gone on with.
#![expect(clippy::expect_used, reason = "a test may fail loudly")]

use dataset::schema::Table;
use dataset::{Batches, Column, Layout, Links, PageContent, PageRow, Rows, SegmentTables, Written};
use model::Candidate;
use store::MemoryStore;
use tempfile::TempDir;
use weburl::{CanonicalRules, CanonicalUrl};

const SEGMENT: &str = "one.warc.gz";

/// As a reader has it: the URL of a page, its fingerprint, and its text.
type TextOf = (String, Option<i64>, Option<String>);

fn page(number: usize) -> CanonicalUrl {
    let text = format!("http://a.test/page/{number}");
    CanonicalUrl::parse(&text, &CanonicalRules::default()).expect("a URL")
}

fn write(layout: &Layout, begin: usize, texts: &[Option<String>]) {
    let store = MemoryStore::new();
    let mut rows = Rows::new(&store, false).expect("rows");
    let mut tables = SegmentTables::begin(layout, SEGMENT).expect("tables");
    for (number, text) in (begin..).zip(texts) {
        let row = rows.of(&Candidate::seed(page(number)), 1, None).expect("a row");
        let content = PageContent { text: text.clone(), simhash: Some(number as u64), ..PageContent::default() };
        // Now and then a row without an answer.
        let content = Some(content).filter(|_| text.is_some() || number % 2 == 0);
        let page_row = PageRow { key: page(number).key(), row, content };
        tables
            .push(Written {
                page: page_row,
                links: Links::none(page(number)),
                images: Vec::new(),
                structured: Vec::new(),
                items: Vec::new(),
            })
            .expect("rows");
    }
    tables.finish(1).expect("files");
}

fn read(batches: Batches) -> Vec<TextOf> {
    let mut rows = Vec::new();
    for batch in batches {
        let batch = batch.expect("a batch");
        for row in 0..batch.num_rows() {
            let text = |column| batch.text(column, row).map(str::to_owned);
            rows.push((text("url").expect("a URL"), batch.number("simhash", row), text("text")));
        }
    }
    rows
}

fn check(parts: &[Vec<Option<String>>]) {
    let dir = TempDir::new().expect("a directory");
    let layout = Layout::at(dir.path());
    let mut expected: Vec<TextOf> = Vec::new();
    for texts in parts {
        let begin = expected.len();
        write(&layout, begin, texts);
        expected.extend((begin..).zip(texts).map(|(number, text)| {
            let fingerprint = (text.is_some() || number % 2 == 0).then_some(number as i64);
            (page(number).to_string(), fingerprint, text.clone())
        }));
    }
    let read_again = read(layout.batches(Table::Pages, &[]).expect("batches"));
    assert_eq!(read_again.len(), expected.len());
    if let Some(at) = (0..expected.len()).find(|at| read_again[*at] != expected[*at]) {
        panic!("row {at} differs: {} and {}", read_again[at].0, expected[at].0);
    }
    // A key is looked for in groups and pages of data, by what is said of them.
    let last = page(expected.len().saturating_sub(1));
    let found = read(layout.batches(Table::Pages, &[]).expect("batches").only("url_key", last.key()));
    assert_eq!(found, expected.last().cloned().into_iter().collect::<Vec<_>>());
}

/// Texts of which none is like another, so that they take room even when they are compressed.
fn texts(count: usize, bytes: usize, seed: usize) -> Vec<Option<String>> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let text = |number: usize, next: &mut dyn FnMut() -> usize| match number % 7 {
        0 => None,
        1 => Some(String::new()),
        _ => Some((0..bytes / 17).map(|_| format!("{:016x}\u{20ac}", next())).collect()),
    };
    (0..count).map(|number| text(number, &mut next)).collect()
}

#[test]
fn no_page_at_all() {
    check(&[Vec::new()]);
}

#[test]
fn pages_without_a_text() {
    check(&[vec![None; 3_000]]);
}

#[test]
fn few_and_many_texts() {
    check(&[texts(1, 100, 1)]);
    check(&[texts(2_500, 100, 2)]);
}

#[test]
fn texts_longer_than_a_page_of_data() {
    check(&[texts(12, 400_000, 3)]);
}

#[test]
fn more_texts_than_a_group_has() {
    check(&[texts(3_000, 12_000, 4)]);
}

#[test]
fn files_that_are_gone_on_with() {
    check(&[texts(20, 1_000, 5), Vec::new(), texts(1_500, 3_000, 6), vec![None; 5]]);
}
