//! Crawls made up row by row.

use dataset::{ImageRow, Layout, Links, PageContent, PageRow, Rows, SegmentTables, UNRECORDED, Written};
use model::{Candidate, Outcome, Timestamp, Visit};
use report::Statistics;
use store::{Batch, MemoryStore, Store};
use tempfile::TempDir;
use weburl::{CanonicalRules, CanonicalUrl};

/// When the first page of a crawl is fetched.
const BEGAN_AT: Timestamp = Timestamp(1_800_000_000_000_000);

/// A URL of a crawl, with what became of it.
#[derive(Clone)]
pub struct Page {
    pub url: String,
    pub outcome: Option<Outcome>,
    pub status: u16,
    pub content_type: Option<&'static str>,
    pub kind: &'static str,
    pub title: Option<String>,
    pub depth: u32,
    pub length: u64,
    pub links: Vec<String>,
    /// Images from `src` and from `srcset`.
    pub images: (usize, usize),
    pub duplicate_of: Option<String>,
    pub after_seconds: u64,
}

impl Page {
    pub fn new(url: &str, outcome: Outcome, status: u16, content_type: Option<&'static str>) -> Self {
        Page {
            url: url.to_owned(),
            outcome: Some(outcome),
            status,
            content_type,
            kind: if content_type == Some("text/html") { "html" } else { "other" },
            title: None,
            depth: 1,
            length: if status > 0 { 100 } else { 0 },
            links: Vec::new(),
            images: (0, 0),
            duplicate_of: None,
            after_seconds: 0,
        }
    }

    pub fn html(url: &str, links: &[&str]) -> Self {
        let links = links.iter().map(|&link| link.to_owned()).collect();
        Page { links, ..Page::new(url, Outcome::Html, 200, Some("text/html")) }
    }

    pub fn titled(self, title: &str) -> Self {
        Page { title: Some(title.to_owned()), ..self }
    }
}

/// A crawl with its dataset.
pub struct Crawl {
    pub store: MemoryStore,
    pub layout: Layout,
    _dir: TempDir,
}

pub fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text)
}

impl Crawl {
    pub fn of(seeds: &[&str], pages: &[Page]) -> Self {
        let dir = TempDir::new().expect("a directory");
        let layout = Layout::at(dir.path().join("dataset"));
        let store = MemoryStore::new();
        let found = pages.iter().map(|page| Candidate { depth: page.depth, ..Candidate::seed(url(&page.url)) });
        let seeds = seeds.iter().map(|seed| url(seed)).collect();
        store.commit(&Batch { found: found.clone().collect(), seeds, ..Batch::default() }).expect("a commit");
        let visits = pages.iter().filter_map(visit).collect();
        store.commit(&Batch { visits, ..Batch::default() }).expect("a commit");
        let mut tables = SegmentTables::begin(&layout, UNRECORDED).expect("tables");
        let mut rows = Rows::new(&store, false).expect("rows");
        for (page, candidate) in pages.iter().zip(found) {
            let Some(visit) = visit(page) else { continue };
            let row = rows.of(&candidate, 1, Some(&visit)).expect("a row");
            tables.push(written(page, row)).expect("rows");
        }
        tables.finish(0).expect("tables");
        Crawl { store, layout, _dir: dir }
    }

    pub fn statistics(&self) -> Statistics {
        Statistics::of(&self.store, &self.layout, "DIR", false).expect("statistics")
    }

    pub fn without_dataset(&self) -> Statistics {
        Statistics::of(&self.store, &Layout::at("/missing"), "DIR", false).expect("statistics")
    }
}

fn visit(page: &Page) -> Option<Visit> {
    let outcome = page.outcome?;
    let at = Timestamp(BEGAN_AT.0 + page.after_seconds * 1_000_000);
    Some(Visit {
        status: page.status,
        content_type: page.content_type.map(ToOwned::to_owned),
        length: page.length,
        title: page.title.clone(),
        duplicate_of: page.duplicate_of.as_deref().map(|original| url(original).key()),
        attempts: 1,
        ..Visit::without_fetch(url(&page.url).key(), outcome, String::new(), at)
    })
}

fn written(page: &Page, row: dataset::Row) -> Written {
    let source = url(&page.url);
    let is_html = page.kind == "html" && page.status == 200;
    let kind = if page.outcome == Some(Outcome::Redirect) { "redirect" } else { "anchor" };
    let links = Links::of(source.clone(), kind, page.links.iter().map(|target| (url(target), "".into())));
    let image = |from_srcset| ImageRow {
        source: source.clone(),
        url: Some(url("http://a.test/image.png")),
        digest: None,
        alt: None,
        declared_type: None,
        sniffed_kind: None,
        width: None,
        height: None,
        from_srcset,
        data: None,
    };
    let count = |count: usize| is_html.then(|| u32::try_from(count).expect("few"));
    let content = PageContent {
        kind: page.kind,
        links: count(page.links.len()),
        images: count(page.images.0 + page.images.1),
        ..PageContent::default()
    };
    let images = (0..page.images.0).map(|_| image(false)).chain((0..page.images.1).map(|_| image(true)));
    Written {
        page: PageRow { key: source.key(), row, content: (page.status > 0).then_some(content) },
        links,
        images: images.collect(),
        structured: Vec::new(),
        items: Vec::new(),
    }
}
