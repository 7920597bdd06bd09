//! Rows of visits that were taken back are left out of every table, and those of all others stay.
#![expect(clippy::expect_used, reason = "a test may fail loudly")]

use std::sync::Arc;

use dataset::schema::Table;
use dataset::{
    Batches, Column, ImageRow, ItemRow, Layout, Links, PageRow, Rows, RowsOfVisit, SegmentTables, StructuredRow,
    Written, covered_bytes, leave_out,
};
use model::Candidate;
use rules::RuleSet;
use serde_json::{Map, json};
use store::MemoryStore;
use tempfile::TempDir;
use weburl::{CanonicalRules, CanonicalUrl};

const SEGMENT: &str = "one.warc.gz";
const RULES: &str = r#"
[extract.offers]
url = "*"
[extract.offers.fields]
name = { css = "b" }
[extract.names]
url = "*"
[extract.names.fields]
name = { css = "i" }
"#;

fn page(number: usize) -> CanonicalUrl {
    CanonicalUrl::parse(&format!("http://a.test/{number}"), &CanonicalRules::default()).expect("a URL")
}

/// Picks the number of rows in one table.
type Count<'a> = &'a dyn Fn([usize; 5]) -> usize;

/// A visit with so many rows in each table: of links, images, structured data, offers and names.
fn visit(rows: &mut Rows<'_>, number: usize, counts: [usize; 5]) -> Written {
    let source = page(number);
    let [links, images, structured, offers, names] = counts;
    let image = |at| ImageRow {
        source: source.clone(),
        url: Some(page(at)),
        digest: None,
        alt: None,
        declared_type: None,
        sniffed_kind: None,
        width: None,
        height: None,
        from_srcset: false,
        data: None,
    };
    let thing = |at| StructuredRow {
        source: source.clone(),
        format: "json-ld",
        kind: None,
        path: None,
        json: format!("{{\"at\":{at}}}"),
        repaired: None,
    };
    let item = |at| ItemRow {
        key: source.key(),
        url: source.to_string(),
        round: None,
        visit: None,
        at: None,
        row: u32::try_from(at).expect("few"),
        values: Map::from_iter([("name".to_owned(), json!(format!("{number}.{at}")))]),
    };
    let row = rows.of(&Candidate::seed(source.clone()), 1, None).expect("a row");
    Written {
        page: PageRow { key: source.key(), row, content: None },
        links: Links::of(source.clone(), "anchor", (0..links).map(|at| (page(at), "a".into()))),
        images: (0..images).map(image).collect(),
        structured: (0..structured).map(thing).collect(),
        items: vec![
            ("offers".to_owned(), (0..offers).map(item).collect()),
            ("names".to_owned(), (0..names).map(item).collect()),
        ],
    }
}

/// How many rows each page has, of those with rows.
fn rows_by_page(batches: Batches, column: &str) -> Vec<(String, usize)> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for batch in batches {
        let batch = batch.expect("a batch");
        for row in 0..batch.num_rows() {
            let url = batch.text(column, row).expect("a URL").to_owned();
            match counted.last_mut() {
                Some((last, count)) if *last == url => *count += 1,
                _ => counted.push((url, 1)),
            }
        }
    }
    counted
}

#[test]
fn the_rows_of_each_table_follow_their_visits() {
    let visits = [[2, 0, 1, 3, 0], [0, 4, 2, 1, 1], [1, 1, 0, 0, 2], [3, 2, 5, 2, 0]];
    for stays in
        [[true; 4], [false; 4], [true, false, true, false], [false, true, true, true], [true, true, true, false]]
    {
        let dir = TempDir::new().expect("a directory");
        let rules = RuleSet::parse(RULES).expect("rules").0;
        let layout = Layout::at(dir.path()).with_rules(Arc::new(rules));
        let store = MemoryStore::new();
        let mut rows = Rows::new(&store, false).expect("rows");
        let mut tables = SegmentTables::begin(&layout, SEGMENT).expect("tables");
        let mut of_visits = Vec::new();
        for (number, (counts, stays)) in visits.into_iter().zip(stays).enumerate() {
            let written = visit(&mut rows, number, counts);
            of_visits.push((RowsOfVisit::of(&written), stays));
            tables.push(written).expect("rows");
        }
        tables.finish(7).expect("files");

        leave_out(&layout, SEGMENT, &of_visits).expect("left out");

        let expected = |count: Count<'_>| -> Vec<(String, usize)> {
            let all = visits.into_iter().zip(stays).enumerate().filter(|(_, (_, stays))| *stays);
            let all = all.map(|(number, (counts, _))| (page(number).to_string(), count(counts)));
            all.filter(|(_, count)| *count > 0).collect()
        };
        let cases: [(Table, &str, Count<'_>); 4] = [
            (Table::Pages, "url", &|_| 1),
            (Table::Links, "source", &|counts| counts[0]),
            (Table::Images, "source", &|counts| counts[1]),
            (Table::Structured, "source", &|counts| counts[2]),
        ];
        for (table, column, count) in cases {
            let found = rows_by_page(layout.batches(table, &[]).expect("batches"), column);
            assert_eq!(found, expected(count), "{table:?} {stays:?}");
        }
        for (rule, at) in [("offers", 3), ("names", 4)] {
            let found = rows_by_page(Batches::of_file(&layout.items(rule, SEGMENT), &[]), "url");
            assert_eq!(found, expected(&|counts| counts[at]), "{rule} {stays:?}");
        }
        // The files cover what they did.
        assert_eq!(covered_bytes(&layout, SEGMENT).expect("a number"), Some(7));
    }
}
