//! The table of links says what was written, whatever repeats in it, and in files that are gone on with.
#![expect(clippy::expect_used, reason = "a test may fail loudly")]

use dataset::schema::Table;
use dataset::{Batches, Column, Layout, LinkRow, Links, PageRow, Rows, SegmentTables, Written};
use model::Candidate;
use store::MemoryStore;
use tempfile::TempDir;
use weburl::{CanonicalRules, CanonicalUrl, UrlKey};

const SEGMENT: &str = "one.warc.gz";

const KINDS: [&str; 3] = ["anchor", "area", "refresh"];
const RELS: [Option<&str>; 3] = [None, Some("nofollow"), Some("nofollow ugc")];

/// A row as a reader has it.
type LinkOf = (UrlKey, String, UrlKey, String, Option<String>, String, Option<String>);

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text)
}

fn page(number: usize) -> CanonicalUrl {
    url(&format!("http://a.test/page/{number}"))
}

/// The links of a page to others, each with a text that is its number; 0 stands for none.
fn links(source: usize, found: impl Iterator<Item = (usize, usize)>) -> Links {
    // One that no link leads to, as those of images.
    let (mut targets, mut rows) = (vec![page(999_999)], Vec::new());
    for (target, text) in found {
        targets.push(page(target));
        let text = if text == 0 { String::new() } else { format!("{text} \u{e9}") };
        let (kind, rel) = (KINDS[text.len() % 3], RELS[target / 7 % 3]);
        rows.push(LinkRow { target: targets.len() - 1, text: text.into(), kind, rel });
    }
    Links { source: page(source), targets: targets.into(), rows }
}

/// Numbers as the same in every run, below an end that changes, so that runs of all lengths come to be.
fn mixed(count: usize, seed: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..count).map(move |at| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % (1 << (at / 64 % 12)), state / 5_000 % (1 + at / 32 % 3))
    })
}

fn rows_of(links: &Links) -> Vec<LinkOf> {
    let row = |row: &LinkRow| {
        let (source, target) = (&links.source, &links.targets[row.target]);
        let text = Some(row.text.to_string()).filter(|text| !text.is_empty());
        let rel = row.rel.map(str::to_owned);
        (source.key(), source.to_string(), target.key(), target.to_string(), text, row.kind.to_owned(), rel)
    };
    links.rows.iter().map(row).collect()
}

fn write(mut tables: SegmentTables, pages: &[Links], covered: u64) {
    let store = MemoryStore::new();
    let mut rows = Rows::new(&store, false).expect("rows");
    for links in pages {
        let row = rows.of(&Candidate::seed(links.source.clone()), 1, None).expect("a row");
        let page = PageRow { key: links.source.key(), row, content: None };
        tables
            .push(Written { page, links: links.clone(), images: Vec::new(), structured: Vec::new(), items: Vec::new() })
            .expect("rows");
    }
    tables.finish(covered).expect("files");
}

fn read(batches: Batches) -> Vec<LinkOf> {
    let mut rows = Vec::new();
    for batch in batches {
        let batch = batch.expect("a batch");
        for row in 0..batch.num_rows() {
            let text = |column| batch.text(column, row).map(str::to_owned);
            let key = |column| batch.key(column, row).expect("a key");
            let (source, target) = (text("source").expect("a URL"), text("target").expect("a URL"));
            let kind = text("kind").expect("a kind");
            rows.push((key("source_key"), source, key("target_key"), target, text("text"), kind, text("rel")));
        }
    }
    rows
}

fn check(parts: &[Vec<Links>]) {
    let dir = TempDir::new().expect("a directory");
    let layout = Layout::at(dir.path());
    for (at, pages) in parts.iter().enumerate() {
        write(SegmentTables::begin(&layout, SEGMENT).expect("tables"), pages, at as u64);
    }
    let expected: Vec<LinkOf> = parts.iter().flatten().flat_map(rows_of).collect();
    let read_again = read(layout.batches(Table::Links, &[]).expect("batches"));
    assert_eq!(read_again.len(), expected.len());
    if let Some(at) = (0..expected.len()).find(|at| read_again[*at] != expected[*at]) {
        panic!("row {at} is {:?}, not {:?}", read_again[at], expected[at]);
    }
    let one = page(1).key();
    let leading = expected.into_iter().filter(|row| row.2 == one).collect::<Vec<_>>();
    assert_eq!(read(layout.batches(Table::Links, &[]).expect("batches").only("target_key", one)), leading);
}

#[test]
fn no_link_at_all() {
    check(&[vec![Links::none(page(0))]]);
}

#[test]
fn one_link_without_a_text() {
    check(&[vec![links(0, [(1, 0)].into_iter())]]);
}

#[test]
fn runs_and_mixtures_of_every_length() {
    let few = (0..40).map(|count| links(count, mixed(count, count)));
    let same = (0..40).map(|count| links(count, std::iter::repeat_n((1, count % 2), count)));
    check(&[few.chain(same).collect()]);
}

#[test]
fn more_rows_than_a_page_of_data_has() {
    check(&[(0..30).map(|number| links(number, mixed(2_000, number))).collect()]);
}

#[test]
fn more_rows_than_a_group_has() {
    // Long URLs, so that there need not be many.
    let long = |number: usize| url(&format!("http://a.test/{number}?{}", "long".repeat(400)));
    let pages = (0..12).flat_map(|source| {
        let long = (0..700).map(|number| (long(source * 500 + number), "".into()));
        [links(source, mixed(10, source)), Links::of(page(source), "anchor", long)]
    });
    check(&[pages.collect()]);
}

#[test]
fn files_that_are_gone_on_with() {
    let part = |begin: usize| (begin..begin + 5).map(|number| links(number, mixed(300, number))).collect();
    check(&[part(0), Vec::new(), part(3), part(10)]);
}
