//! Rounds over made-up pages.

use std::sync::Arc;

use model::Candidate;
use rules::RuleSet;
use serde_json::{Map, json};
use store::MemoryStore;
use tempfile::TempDir;
use weburl::CanonicalRules;

use super::*;
use crate::{ItemRow, Links, PageContent, PageRow, Rows, SegmentTables, Written, write_superseded};

const RULES: &str = "[extract.t.fields]\na = 'h1'\nb = 'h2'\n";

/// A visit of a page.
#[derive(Clone, Copy, Debug)]
enum Visited {
    /// It gave so many rows, of which so many have a `b`.
    Rows(u32, u32),
    Same,
    /// The content is that of the page with this number.
    Twin(usize),
    Gone,
    Moved,
    /// It redirects to itself.
    InCircles,
    Failed,
    /// Its content cannot be read.
    Lacking,
    /// There was none in this round.
    Not,
}

use Visited::{Failed, Gone, InCircles, Lacking, Moved, Not, Rows as Has, Same, Twin};

fn url(page: usize) -> CanonicalUrl {
    CanonicalUrl::parse(&format!("http://a.test/{page}"), &CanonicalRules::default()).expect("a URL")
}

fn written(rows: &mut Rows<'_>, page: usize, round: u32, visited: Visited) -> Written {
    let source = url(page);
    let mut row = rows.of(&Candidate::seed(source.clone()), 1, None).expect("a row");
    let (outcome, status) = match visited {
        Has(..) | Lacking | Not => (Outcome::Html, 200),
        Same => (Outcome::NotModified, 304),
        Twin(_) => (Outcome::Duplicate, 200),
        Gone => (Outcome::HttpError, 404),
        Moved | InCircles => (Outcome::Redirect, 301),
        Failed => (Outcome::HttpError, 503),
    };
    (row.outcome, row.status, row.round, row.visit) = (outcome.as_str(), Some(status), Some(round), Some(round));
    match visited {
        Twin(original) => row.duplicate_of = Some(url(original).to_string()),
        Moved => row.redirect_to = Some("http://a.test/new".to_owned()),
        InCircles => row.redirect_to = Some(source.to_string()),
        _ => {}
    }
    let content = (!matches!(visited, Lacking)).then(|| PageContent { kind: "html", ..PageContent::default() });
    let (count, filled) = if let Has(count, filled) = visited { (count, filled) } else { (0, 0) };
    let items = (0..count).map(|at| {
        let mut values = Map::from_iter([("a".to_owned(), json!("x"))]);
        if at < filled {
            values.insert("b".to_owned(), json!("y"));
        }
        ItemRow {
            key: source.key(),
            url: source.to_string(),
            round: Some(round),
            visit: Some(round),
            at: None,
            row: at,
            values,
        }
    });
    let items = vec![("t".to_owned(), items.collect())];
    let page = PageRow { key: source.key(), row, content };
    Written { page, links: Links::none(source), images: Vec::new(), structured: Vec::new(), items }
}

fn segment(round: u32) -> String {
    format!("{round}.warc.gz")
}

/// A dataset of pages by their visits in rounds 1, 2 and so on. The rule is there in some rounds.
fn dataset(dir: &TempDir, pages: &[Vec<Visited>], has_rule: impl Fn(u32) -> bool) -> Layout {
    let rules = Arc::new(RuleSet::parse(RULES).expect("rules").0);
    let store = MemoryStore::new();
    let layout = Layout::at(dir.path());
    for round in 1..=u32::try_from(pages[0].len()).expect("few") {
        let layout = if has_rule(round) { layout.clone().with_rules(rules.clone()) } else { layout.clone() };
        let mut tables = SegmentTables::replace(&layout, &segment(round)).expect("tables");
        let mut rows = Rows::new(&store, false).expect("rows");
        for (page, visits) in pages.iter().enumerate() {
            let visited = visits[round as usize - 1];
            if !matches!(visited, Not) {
                tables.push(written(&mut rows, page, round, visited)).expect("rows");
            }
        }
        tables.finish(100).expect("tables");
    }
    layout.with_rules(rules)
}

/// So many pages with the same visits.
fn pages(count: usize, visits: &[Visited]) -> Vec<Vec<Visited>> {
    vec![visits.to_vec(); count]
}

/// The rows of a round with a `b`, of all: now, on known pages, before; then the known pages with rows, those that lost them, and those that
/// are gone.
fn shown(round: &ItemRound) -> String {
    let of = |fill: &Fill| {
        assert_eq!(fill.filled.first().map(|(_, count)| *count), Some(fill.rows), "each row has an `a`");
        format!("{}/{}", fill.filled[1].1, fill.rows)
    };
    let ItemRound { now, again, before, pages_before, pages_lost, pages_gone, .. } = round;
    let pages = format!("pages {pages_before} lost {pages_lost} gone {pages_gone}");
    format!("now {} again {} before {} {pages}", of(now), of(again), of(before))
}

fn rounds(layout: &Layout) -> Vec<(u32, String)> {
    let counts = item_counts(layout, "t").expect("counts");
    counts.rounds.iter().map(|(number, round)| (*number, shown(round))).collect()
}

fn check(name: &str, all: &[Vec<Vec<Visited>>], expect: &[(u32, &str)]) {
    let dir = TempDir::new().expect("a directory");
    let found = rounds(&dataset(&dir, &all.concat(), |_| true));
    let expect: Vec<(u32, String)> = expect.iter().map(|(number, text)| (*number, (*text).to_owned())).collect();
    assert_eq!(found, expect, "{name}");
}

const FIRST: (u32, &str) = (1, "now 30/30 again 0/0 before 0/0 pages 0 lost 0 gone 0");

#[test]
fn rows_that_pages_had_and_have_no_more_are_counted() {
    let (full, none) = (Has(1, 1), Has(0, 0));
    check("one round", &[pages(30, &[full]), pages(5, &[none])], &[FIRST]);
    for (name, all, second) in [
        ("nothing lost", vec![pages(30, &[full, full])], "now 30/30 again 30/30 before 30/30 pages 30 lost 0 gone 0"),
        ("all lost", vec![pages(30, &[full, none])], "now 0/0 again 0/0 before 30/30 pages 30 lost 30 gone 0"),
        (
            "two thirds lost",
            vec![pages(20, &[full, none]), pages(10, &[full, full])],
            "now 10/10 again 10/10 before 30/30 pages 30 lost 20 gone 0",
        ),
        (
            "a field lost",
            vec![pages(30, &[full, Has(1, 0)])],
            "now 0/30 again 0/30 before 30/30 pages 30 lost 0 gone 0",
        ),
        (
            "pages gone, moved and lost",
            vec![pages(5, &[full, Gone]), pages(5, &[full, Moved]), pages(20, &[full, none])],
            "now 0/0 again 0/0 before 20/20 pages 20 lost 20 gone 10",
        ),
        (
            "servers that fail say nothing",
            vec![pages(10, &[full, Failed]), pages(10, &[full, InCircles]), pages(10, &[full, Lacking])],
            "",
        ),
        (
            "unchanged pages have what they had",
            vec![pages(20, &[full, Same]), pages(10, &[full, none])],
            "now 20/20 again 20/20 before 30/30 pages 30 lost 10 gone 0",
        ),
        (
            "pages that are not visited do not count, and new ones have no before",
            vec![pages(25, &[full, Not]), pages(5, &[full, full]), pages(7, &[Not, full])],
            "now 12/12 again 5/5 before 5/5 pages 5 lost 0 gone 0",
        ),
        (
            "a page that is a copy now has lost nothing if the original has its row",
            vec![pages(1, &[full, full]), pages(9, &[full, Twin(0)]), pages(20, &[full, Twin(10)])],
            "now 1/1 again 1/1 before 21/21 pages 21 lost 20 gone 0",
        ),
        (
            "pages that never had rows are none of the rule's",
            vec![pages(30, &[full, full]), pages(100, &[none, none]), pages(9, &[none, Gone])],
            "now 30/30 again 30/30 before 30/30 pages 30 lost 0 gone 0",
        ),
        (
            "pages that gain rows do not hide those that lose them",
            vec![pages(30, &[full, none]), pages(30, &[none, full])],
            "now 30/30 again 30/30 before 30/30 pages 30 lost 30 gone 0",
        ),
    ] {
        let rounds = [FIRST, (2, second)];
        check(name, &all, if second.is_empty() { &rounds[..1] } else { &rounds });
    }
    check(
        "with `rows` a page has several",
        &[pages(3, &[Has(10, 10), Has(4, 2)]), pages(1, &[Has(0, 0), Has(2, 2)])],
        &[FIRST, (2, "now 8/14 again 8/14 before 30/30 pages 3 lost 0 gone 0")],
    );
}

#[test]
fn a_visit_is_compared_with_the_last_one_that_says_something() {
    let (full, none) = (Has(1, 1), Has(0, 0));
    check(
        "failures and unchanged visits lie between",
        &[pages(15, &[full, Failed, none]), pages(15, &[full, Same, none])],
        &[
            FIRST,
            (2, "now 15/15 again 15/15 before 15/15 pages 15 lost 0 gone 0"),
            (3, "now 0/0 again 0/0 before 30/30 pages 30 lost 30 gone 0"),
        ],
    );
    check(
        "rows are lost once, and a page that is back begins again",
        &[pages(20, &[full, none, none]), pages(10, &[full, Gone, full])],
        &[
            FIRST,
            (2, "now 0/0 again 0/0 before 20/20 pages 20 lost 20 gone 10"),
            (3, "now 10/10 again 0/0 before 0/0 pages 0 lost 0 gone 0"),
        ],
    );
    check(
        "a copy's original loses its row",
        &[pages(1, &[full, full, none]), pages(29, &[full, Twin(0), Twin(0)])],
        &[
            FIRST,
            (2, "now 1/1 again 1/1 before 1/1 pages 1 lost 0 gone 0"),
            (3, "now 0/0 again 0/0 before 1/1 pages 1 lost 1 gone 0"),
        ],
    );
}

#[test]
fn a_rule_that_comes_or_goes_loses_nothing() {
    let visits = [pages(30, &[Has(1, 1), Has(0, 0)])].concat();
    let dir = TempDir::new().expect("a directory");
    // Its table ends with round 1, and the pages were visited since without it.
    let removed = dataset(&dir, &visits, |round| round == 1);
    assert_eq!(rounds(&removed), [(FIRST.0, FIRST.1.to_owned())]);
    let dir = TempDir::new().expect("a directory");
    let visits = [pages(30, &[Has(0, 0), Has(1, 1), Has(1, 1)])].concat();
    let added = dataset(&dir, &visits, |round| round > 1);
    let first = "now 30/30 again 0/0 before 0/0 pages 0 lost 0 gone 0".to_owned();
    let next = "now 30/30 again 30/30 before 30/30 pages 30 lost 0 gone 0".to_owned();
    assert_eq!(rounds(&added), [(2, first), (3, next)]);
    // What another rule of the name found is no measure for this one.
    let other = RuleSet::parse("[extract.t.fields]\na = 'h3'\nb = 'h4'\n").expect("rules").0;
    assert_eq!(rounds(&added.with_rules(Arc::new(other))), []);
}

#[test]
fn current_rows_are_those_that_are_not_superseded() {
    let dir = TempDir::new().expect("a directory");
    let visits = [pages(2, &[Has(3, 3), Has(0, 0)]), pages(1, &[Has(3, 3), Not]), pages(1, &[Has(3, 3), Has(2, 1)])];
    let layout = dataset(&dir, &visits.concat(), |_| true);
    let keys = [0, 1, 3].map(|page| url(page).key());
    write_superseded(&layout, &[(segment(1), keys.into())].into()).expect("lists");
    let current = item_counts(&layout, "t").expect("counts").current;
    assert_eq!(current, Fill { rows: 5, filled: vec![("a".to_owned(), 5), ("b".to_owned(), 4)] });
    assert_eq!(item_counts(&layout, "other").expect("counts"), ItemCounts::default());
}
