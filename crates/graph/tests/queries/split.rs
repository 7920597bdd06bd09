//! Processes that know a part of the pages each give the answers of one that knows all.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use dataset::{Layout, Links, PageContent, PageRow, Rows, SegmentTables, Written, write_superseded};
use graph::{
    Crew, Definition, FoundPage, Graph, GraphBuilder, Only, Overlap, PageKind, Pattern, Ranks, Search, Within, names,
    overlap, pagerank, search,
};
use model::{Candidate, Outcome, Past, PayloadDigest, Timestamp, Visit};
use proptest::prelude::*;
use store::{MemoryStore, Store};
use weburl::{CanonicalUrl, UrlKey};

use crate::graphs::url;

/// Connections between processes, as each of them has them.
fn mesh(processes: usize) -> Vec<Vec<Option<TcpStream>>> {
    let mut sockets: Vec<Vec<Option<TcpStream>>> = Vec::new();
    for other in 0..processes {
        let mut to_others: Vec<Option<TcpStream>> = (0..processes).map(|_| None).collect();
        for (to_one, of_one) in to_others.iter_mut().zip(&mut sockets) {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
            *to_one = Some(TcpStream::connect(listener.local_addr().expect("an address")).expect("it listens"));
            of_one[other] = Some(listener.accept().expect("a connection").0);
        }
        sockets.push(to_others);
    }
    sockets
}

/// What each of some processes answers; they are threads here, but know nothing of each other.
fn each<T: Send>(processes: usize, threads: usize, answer: impl Fn(usize, Crew) -> T + Sync) -> Vec<T> {
    let answer = &answer;
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..)
            .zip(mesh(processes))
            .map(|(process, sockets)| scope.spawn(move || answer(process, Crew::among(sockets, threads))))
            .collect();
        running.into_iter().map(|process| process.join().expect("no panic")).collect()
    })
}

/// Pages of five sites.
fn page(number: usize) -> CanonicalUrl {
    url(&format!("s{}.test/{number}", number % 5))
}

/// A page: what became of it, and which process knows its row and its links.
#[derive(Clone, Debug)]
struct Page {
    kind: PageKind,
    process: usize,
}

/// The graph that a process knows; `None` knows all.
fn graph_of(pages: &[Page], links: &[(usize, usize)], process: Option<usize>) -> Arc<Graph> {
    let mut graph = GraphBuilder::default();
    let is_known = |number: usize| process.is_none_or(|process| pages[number].process == process);
    for number in (0..pages.len()).filter(|number| is_known(*number)) {
        graph.page(page(number).key(), pages[number].kind).expect("few");
    }
    for (source, target) in links.iter().filter(|(source, _)| is_known(*source)) {
        // Behind the pages are some that nobody has a row of.
        graph.link(page(*source).key(), page(*target).key()).expect("few");
    }
    Arc::new(graph.finish().expect("few"))
}

/// An answer whose ranks are in the order of their keys.
fn ordered(mut ranks: Ranks) -> Ranks {
    ranks.values.sort_unstable_by_key(|(key, _)| *key);
    ranks
}

fn sum(parts: impl IntoIterator<Item = Overlap>) -> Overlap {
    let mut sum = Overlap::default();
    for part in parts {
        for root in [0, 1] {
            sum.reachable[root] += part.reachable[root];
            sum.edges[root].extend(&part.edges[root]);
        }
    }
    sum.edges.iter_mut().for_each(|edges| edges.sort_unstable());
    sum
}

/// What every page of a process is, and its links.
type Known = (Vec<Page>, Vec<(usize, usize)>);

fn graphs() -> impl Strategy<Value = (usize, usize, Known)> {
    (1..5usize, 1..3usize).prop_flat_map(|(processes, threads)| {
        let kinds =
            prop_oneof![6 => Just(PageKind::Fetched), 1 => Just(PageKind::Redirect), 1 => Just(PageKind::Failed)];
        let page = (kinds, 0..processes).prop_map(|(kind, process)| Page { kind, process });
        let pages = prop::collection::vec(page, 1..40);
        let known = pages.prop_flat_map(|pages| {
            let links = prop::collection::vec((0..pages.len(), 0..pages.len() + 10), 0..150);
            (Just(pages), links)
        });
        (Just(processes), Just(threads), known)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn parts_of_a_graph_answer_as_the_whole(
        (processes, threads, (pages, links)) in graphs(),
        roots in (0..40usize, 0..40usize),
    ) {
        let whole = graph_of(&pages, &links, None);
        let known: Vec<Arc<Graph>> =
            (0..processes).map(|process| graph_of(&pages, &links, Some(process))).collect();
        for definition in [Definition::Original, Definition::Normalized] {
            let expect = pagerank(&whole, definition, Crew::threads(1)).expect("an answer");
            prop_assert_eq!((expect.vertices, expect.edges), (whole.len() as u64, whole.edges() as u64));
            let parts = each(processes, threads, |process, crew| {
                pagerank(&known[process], definition, crew).expect("an answer")
            });
            let values = parts.iter().flat_map(|part| part.values.iter().copied()).collect();
            prop_assert_eq!(ordered(Ranks { values, ..parts[0].clone() }), ordered(expect));
        }
        let roots = [page(roots.0 % pages.len()), page(roots.1 % pages.len())];
        if roots[0].site() != roots[1].site() {
            let ask = |graph: &Arc<Graph>, crew| overlap(graph, [&roots[0], &roots[1]], crew).expect("an answer");
            let parts = each(processes, threads, |process, crew| ask(&known[process], crew));
            prop_assert_eq!(sum(parts), sum([ask(&whole, Crew::threads(1))]));
        }
    }
}

/// Pages with a row in a dataset.
const PAGES: usize = 400;

/// Writes pages into segments of one dataset or of several; `of` names dataset and segment of each.
fn write(of: impl Fn(usize) -> (Layout, String)) {
    let store = MemoryStore::new();
    let mut rows = Rows::new(&store as &dyn Store, false).expect("rows");
    let mut tables: BTreeMap<String, SegmentTables> = BTreeMap::new();
    for number in 0..PAGES {
        let (layout, segment) = of(number);
        let name = format!("{} {segment}", layout.root().display());
        let tables =
            tables.entry(name).or_insert_with(|| SegmentTables::begin(&layout, &segment).expect("a directory"));
        // Each ninth page is a copy of another, whose row may lie anywhere.
        let original = (number % 9 == 8).then(|| page(number / 2 / 9 * 9).key());
        let outcome = if original.is_some() { Outcome::Duplicate } else { Outcome::Html };
        let visit = Visit::without_fetch(page(number).key(), outcome, String::new(), Timestamp(0));
        let visit = Visit { status: 200, duplicate_of: original, ..visit };
        let mut row = rows.of(&Candidate::seed(page(number)), 1, Some(&visit)).expect("a row");
        row.duplicate_of = original.map(|_| page(number / 2 / 9 * 9).as_str().to_owned());
        let text = original.is_none().then(|| "worm ".repeat(number % 4) + "silk");
        let links = Links::of(page(number), "anchor", [(page(number * number + 1), "".into())]);
        let content = Some(PageContent { kind: "html", text, ..PageContent::default() });
        let page = PageRow { key: page(number).key(), row, content };
        tables
            .push(Written { page, links, images: Vec::new(), structured: Vec::new(), items: Vec::new() })
            .expect("a row");
    }
    tables.into_values().for_each(|tables| tables.finish(0).expect("a segment"));
}

#[test]
fn datasets_in_pieces_answer_as_one() {
    const PROCESSES: usize = 3;
    let root = tempfile::TempDir::new().expect("a directory");
    let dir = |name: &str| Layout::at(root.path().join(name));
    let whole = dir("whole");
    write(|_| (whole.clone(), "all".to_owned()));
    // The third of a process lies in a dataset of its own; what is left over, in segments of one that all see.
    let process_of = |number: usize| number / 7 % PROCESSES;
    write(|number| match number % 3 {
        0 => (dir("shared"), format!("of-{}", process_of(number))),
        _ => (dir(&process_of(number).to_string()), format!("segment-{}", number % 2)),
    });
    let known =
        |process: usize| [dir(&process.to_string()), dir("shared").only([format!("of-{process}.warc.gz").as_str()])];

    for text in ["worm", "silk"] {
        let asked = || Search {
            pattern: Pattern::text(text, false).expect("a text"),
            within: Within::Page,
            only: Only::default(),
            limit: Some(50),
            context: Some(3),
        };
        let expect = search([&whole], asked(), Crew::threads(2)).expect("an answer");
        assert!(expect.pages > 100 && expect.rows.len() == 50, "{expect:?}");
        assert!(expect.rows.iter().all(|row| row.context.is_some()), "copies too: {expect:?}");
        let found = each(PROCESSES, 2, |process, crew| search(&known(process), asked(), crew).expect("an answer"));
        assert_eq!(found[0], expect, "{text}");
        assert!(found[1..].iter().all(|found| found.rows.is_empty()), "the first has the answer");
    }

    let graph = Arc::new(Graph::open([&whole]).expect("a dataset"));
    let expect = pagerank(&graph, Definition::Normalized, Crew::threads(1)).expect("an answer");
    let parts = each(PROCESSES, 1, |process, crew| {
        let graph = Arc::new(Graph::open(&known(process)).expect("datasets"));
        pagerank(&graph, Definition::Normalized, crew).expect("an answer")
    });
    let values: Vec<(UrlKey, f64)> = parts.iter().flat_map(|part| part.values.clone()).collect();
    assert_eq!(ordered(Ranks { values, ..parts[0].clone() }), ordered(expect));

    let keys: BTreeSet<UrlKey> = graph.keys().iter().copied().collect();
    let mut named = BTreeMap::new();
    for process in 0..PROCESSES {
        named.extend(names(&known(process), keys.iter().copied()).expect("datasets"));
    }
    assert_eq!(named, names([&whole], keys).expect("a dataset").into_iter().collect());
}

/// A row of a page, or of a copy of one.
struct Visited {
    url: &'static str,
    /// The number of its visit.
    visit: u32,
    /// Stands for the digest of its payload.
    label: u8,
    text: Option<&'static str>,
    original: Option<&'static str>,
    /// Its record is a revisit.
    is_revisit: bool,
}

const fn page_with(url: &'static str, visit: u32, label: u8, text: &'static str) -> Visited {
    Visited { url, visit, label, text: Some(text), original: None, is_revisit: false }
}

const fn copy_of(original: &'static str, url: &'static str, label: u8, is_revisit: bool) -> Visited {
    Visited { url, visit: 1, label, text: None, original: Some(original), is_revisit }
}

/// Three segments. Later visits superseded the pages in the first.
const VISITED: [&[Visited]; 3] = [
    &[
        page_with("s1.test/changed", 1, 1, "worm and worm"),
        page_with("s1.test/same", 1, 3, "worm"),
        copy_of("s1.test/changed", "s2.test/of-now", 2, true),
    ],
    &[page_with("s1.test/changed", 2, 2, "silk"), copy_of("s1.test/changed", "s2.test/of-then", 1, true)],
    &[
        page_with("s1.test/same", 2, 3, "worm"),
        copy_of("s1.test/changed", "s3.test/coded", 9, false),
        copy_of("s1.test/changed", "s3.test/lost", 7, true),
        copy_of("s1.test/same", "s3.test/same", 3, true),
    ],
];

/// Writes one of the segments.
fn write_visits(layout: &Layout, segment: usize) {
    let store = MemoryStore::new();
    let mut rows = Rows::new(&store as &dyn Store, false).expect("rows");
    let name = format!("segment-{segment}");
    let mut tables = SegmentTables::begin(layout, &name).expect("a directory");
    for visited in VISITED[segment] {
        let page = url(visited.url);
        let outcome = if visited.original.is_some() { Outcome::Duplicate } else { Outcome::Html };
        let visit = Visit {
            status: 200,
            digest: Some(PayloadDigest([visited.label; 20])),
            length: 10,
            past: Past { visits: visited.visit - 1, ..Past::default() },
            ..Visit::without_fetch(page.key(), outcome, String::new(), Timestamp(0))
        };
        let mut row = rows.of(&Candidate::seed(page.clone()), 1, Some(&visit)).expect("a row");
        row.duplicate_of = visited.original.map(|original| url(original).as_str().to_owned());
        row.payload_at = visited.is_revisit.then_some(Timestamp(0));
        row.warc_file = Some("a.warc.gz".to_owned());
        row.changed = (visited.visit > 1).then_some(visited.url.ends_with("/changed"));
        let content = PageContent { kind: "html", text: visited.text.map(str::to_owned), ..PageContent::default() };
        let row = PageRow { key: page.key(), row, content: Some(content) };
        let (images, structured, items) = (Vec::new(), Vec::new(), Vec::new());
        tables.push(Written { page: row, links: Links::none(page), images, structured, items }).expect("a row");
    }
    tables.finish(0).expect("a segment");
    let pages = VISITED[0].iter().filter(|visited| visited.original.is_none() && segment == 0);
    let keys = pages.map(|visited| url(visited.url).key()).collect();
    write_superseded(layout, &[(format!("{name}.warc.gz"), keys)].into()).expect("a list");
}

#[test]
fn a_copy_has_the_text_that_its_original_had_wherever_the_rows_lie() {
    let root = tempfile::TempDir::new().expect("a directory");
    let dir = |name: &str| Layout::at(root.path().join(name));
    let whole = dir("whole");
    // The first last, with the list.
    for segment in [2, 1, 0] {
        write_visits(&whole, segment);
        write_visits(&dir(&segment.to_string()), segment);
    }
    let row = |path: &str, occurrences, context: &str| (url(path).as_str().to_owned(), occurrences, context.to_owned());
    let worm = [
        row("s2.test/of-then", 2, "worm and worm"),
        row("s3.test/coded", 2, "worm and worm"),
        row("s1.test/same", 1, "worm"),
        row("s3.test/same", 1, "worm"),
    ];
    let silk = [row("s1.test/changed", 1, "silk"), row("s2.test/of-now", 1, "silk")];
    for (text, expect) in [("worm", &worm[..]), ("silk", &silk[..])] {
        let asked = || Search {
            pattern: Pattern::text(text, false).expect("a text"),
            within: Within::Page,
            only: Only::default(),
            limit: None,
            context: Some(30),
        };
        let of_one = search([&whole], asked(), Crew::threads(2)).expect("an answer");
        let row = |row: &FoundPage| (row.url.clone(), row.occurrences, row.context.clone().unwrap_or_default());
        let rows: Vec<_> = of_one.rows.iter().map(row).collect();
        assert_eq!(rows, expect, "{text}");
        assert_eq!(of_one.pages, rows.len() as u64);
        let ask = |process: usize, crew| search([&dir(&process.to_string())], asked(), crew).expect("an answer");
        assert_eq!(each(VISITED.len(), 2, ask)[0], of_one, "{text}");
    }
}
