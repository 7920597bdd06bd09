//! What the stages of a crawl cost one by one, on real pages; extraction has a benchmark of its own (`extract`, `html`).
//!
//! `cargo bench --workspace --bench stages`. The pages are Debian's documentation of Python (`python3-doc`), or the `.html` files in the directory that
//! `ARGIOPE_PAGES` names. A whole crawl is measured by `cargo xtask bench`.

#![expect(clippy::expect_used, reason = "a measurement: what fails is to stop it")]

use std::hint::black_box;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use criterion::{BatchSize, Criterion, Throughput};
use dataset::{Layout, Links, PageContent, PageRow, Rows, SegmentTables, Written};
use extract::html::extract;
use extract::{HtmlPage, Limits, simhash};
use frontier::{Group, Workbench};
use model::{Candidate, ContentDigest, SiteRecord, Timestamp};
use store::{Batch, Store};
use store_embedded::{EmbeddedStore, Options};
use tempfile::TempDir;
use testkit::numbered_pages::{candidate, digest, visit};
use warc::{Digest, Record, RecordId, SegmentFile, SegmentWriter};
use weburl::{CanonicalRules, CanonicalUrl, SiteKey};

// As the product has it.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const PAGES: &str = "/usr/share/doc/python3-doc/html/library";

/// Sites that are due at once where one of them is picked.
const SITES_DUE: u64 = 100_000;

/// URLs that are known where others are looked up or added.
const KNOWN: u64 = 1_000_000;

/// References of a commit, as 100 pages have them.
const REFERENCES: u64 = 2_000;

/// New URLs of a commit, and visits that it ends.
const NEW: u64 = 400;
const VISITS: u64 = 100;

const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sun, 22 Nov 2026 07:00:00 GMT\r\nContent-Type: text/html\r\n\
    Last-Modified: Sun, 13 Sep 2026 18:01:11 GMT\r\nETag: \"66e47d17-1e2f\"\r\n\r\n";

/// A real page.
struct Page {
    url: CanonicalUrl,
    bytes: Vec<u8>,
    read: HtmlPage,
}

fn main() {
    let dir = std::env::var_os("ARGIOPE_PAGES").map_or_else(|| PathBuf::from(PAGES), PathBuf::from);
    let pages = pages(&dir);
    println!("{} pages, {} bytes", pages.len(), bytes(&pages));
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    canonicalise(&mut criterion, &pages);
    archive(&mut criterion, &pages);
    digests(&mut criterion, &pages);
    fingerprints(&mut criterion, &pages);
    rows(&mut criterion, &pages);
    commits(&mut criterion);
    choice(&mut criterion);
    criterion.final_summary();
}

fn pages(dir: &Path) -> Vec<Page> {
    let files = dir.read_dir().expect("the pages (Debian package python3-doc)");
    let mut files: Vec<PathBuf> = files.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "html"));
    files.sort_unstable();
    let page = |file: PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let url = url(&format!("https://docs.example/library/{name}"));
        let bytes = std::fs::read(&file).expect("a page");
        let read = extract(&bytes, Some("text/html"), &Limits::default());
        Page { url, bytes, read }
    };
    files.into_iter().map(page).collect()
}

fn bytes(pages: &[Page]) -> u64 {
    pages.iter().map(|page| page.bytes.len() as u64).sum()
}

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text, &CanonicalRules::default()).expect("a URL")
}

/// References as they stand on the pages to canonical URLs with their keys.
fn canonicalise(criterion: &mut Criterion, pages: &[Page]) {
    let references: usize = pages.iter().map(|page| page.read.links.len()).sum();
    let rules = CanonicalRules::default();
    let mut group = criterion.benchmark_group("canonicalise");
    group.throughput(Throughput::Elements(references as u64));
    group.bench_function("references", |bencher| {
        bencher.iter(|| {
            for page in pages {
                for link in &page.read.links {
                    black_box(page.url.join(&link.href, &rules).map(|url| url.key()).ok());
                }
            }
        });
    });
    group.finish();
}

/// A file that keeps nothing, so that no disk is measured.
struct Nowhere;

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SegmentFile for Nowhere {
    fn truncate(&mut self, _len: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Answers to records, digests included, compressed.
fn archive(criterion: &mut Criterion, pages: &[Page]) {
    let mut segment = SegmentWriter::new(Nowhere, 0);
    let mut group = criterion.benchmark_group("archive");
    group.throughput(Throughput::Bytes(bytes(pages)));
    group.bench_function("responses", |bencher| {
        bencher.iter(|| {
            for page in pages {
                let record = Record::response(RecordId::new([7; 16]), 0, page.url.as_str(), HEAD, &page.bytes);
                let (payload, block) = Digest::of_response(HEAD, &page.bytes);
                let record = record.payload_digest(payload).block_digest(block);
                black_box(segment.append(&record).expect("a record"));
            }
        });
    });
    group.finish();
}

/// What a record says of its payload and of its block.
fn digests(criterion: &mut Criterion, pages: &[Page]) {
    let mut group = criterion.benchmark_group("digests");
    group.throughput(Throughput::Bytes(bytes(pages)));
    group.bench_function("together", |bencher| {
        bencher.iter(|| {
            for page in pages {
                black_box(Digest::of_response(HEAD, &page.bytes));
            }
        });
    });
    group.bench_function("one after the other", |bencher| {
        bencher.iter(|| {
            for page in pages {
                black_box((Digest::of(&page.bytes), Digest::of_parts(&[HEAD, &page.bytes])));
            }
        });
    });
    group.finish();
}

/// Fingerprints of the pages' texts.
fn fingerprints(criterion: &mut Criterion, pages: &[Page]) {
    let bytes = pages.iter().map(|page| page.read.text.len() as u64).sum();
    let mut group = criterion.benchmark_group("fingerprints");
    group.throughput(Throughput::Bytes(bytes));
    group.bench_function("texts", |bencher| {
        bencher.iter(|| {
            for page in pages {
                black_box(simhash::of_text(&page.read.text));
            }
        });
    });
    group.finish();
}

/// Rows of pages and links to Parquet files.
fn rows(criterion: &mut Criterion, pages: &[Page]) {
    let dir = TempDir::new().expect("a directory");
    let store = EmbeddedStore::open(&dir.path().join("state"), Options::default()).expect("a store");
    let mut rows = Rows::new(&store, false).expect("rows");
    let written: Vec<Written> = pages.iter().map(|page| written(page, &mut rows)).collect();
    let layout = Layout::at(dir.path().join("dataset"));
    let mut tables = SegmentTables::replace(&layout, "one.warc.gz").expect("tables");
    let mut group = criterion.benchmark_group("dataset");
    group.throughput(Throughput::Elements(pages.len() as u64));
    group.bench_function("pages", |bencher| {
        bencher.iter_batched(
            || written.clone(),
            |written| written.into_iter().for_each(|visit| tables.push(visit).expect("a row")),
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

fn written(page: &Page, rows: &mut Rows<'_>) -> Written {
    let candidate = Candidate::seed(page.url.clone());
    let row = rows.of(&candidate, 1, Some(&visit(&candidate, 1))).expect("a row");
    let rules = CanonicalRules::default();
    let target = |href: &str| page.url.join(href, &rules).ok();
    let found = page.read.links.iter().filter_map(|link| Some((target(&link.href)?, link.text.clone())));
    let links = Links::of(page.url.clone(), "anchor", found);
    let content = PageContent { kind: "html", text: Some(page.read.text.clone()), ..PageContent::default() };
    Written {
        page: PageRow { key: page.url.key(), row, content: Some(content) },
        links,
        images: Vec::new(),
        structured: Vec::new(),
        items: Vec::new(),
    }
}

/// Commits to a store that knows much: of references to what is known only, and with new URLs and visits.
fn commits(criterion: &mut Criterion) {
    let dir = TempDir::new().expect("a directory");
    let store = EmbeddedStore::open(dir.path(), Options::default()).expect("a store");
    for begin in (0..KNOWN).step_by(REFERENCES as usize) {
        let found = (begin..begin + REFERENCES).map(candidate).collect();
        store.commit(&Batch { found, ..Batch::default() }).expect("a commit");
    }
    let mut random = Random(1);
    let mut next = KNOWN;
    let mut group = criterion.benchmark_group("commit");
    group.throughput(Throughput::Elements(REFERENCES));
    group.bench_function("known references", |bencher| {
        bencher.iter_batched(
            || Batch { found: (0..REFERENCES).map(|_| candidate(random.below(KNOWN))).collect(), ..Batch::default() },
            |batch| assert_eq!(store.commit(&batch).expect("a commit").fresh.len(), 0),
            BatchSize::LargeInput,
        );
    });
    group.throughput(Throughput::Elements(VISITS));
    group.bench_function("visits", |bencher| {
        bencher.iter_batched(
            || {
                next += NEW;
                visits(next - NEW, &mut random)
            },
            |batch| assert_eq!(store.commit(&batch).expect("a commit").fresh.len() as u64, NEW),
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

fn visits(new: u64, random: &mut Random) -> Batch {
    let mut found: Vec<Candidate> = (new..new + NEW).map(candidate).collect();
    found.extend((NEW..REFERENCES).map(|_| candidate(random.below(KNOWN))));
    // Those found four commits ago, and before them the last of the first ones.
    let visited: Vec<(Candidate, u64)> = (new - 4 * NEW..).take(VISITS as usize).map(|n| (candidate(n), n)).collect();
    Batch {
        found,
        visits: visited.iter().map(|(candidate, n)| visit(candidate, *n)).collect(),
        holders: visited.iter().map(|(candidate, n)| (ContentDigest::of(&digest(*n).0), candidate.url.key())).collect(),
        sites: visited.iter().map(|(candidate, _)| SiteRecord::new(candidate.url.site())).collect(),
        ..Batch::default()
    }
}

/// The site that is next, of very many that are due: it is picked, its visit ended, and it is offered again.
fn choice(criterion: &mut Criterion) {
    let mut workbench = Workbench::new(1, Timestamp::from_millis(0));
    for n in 0..SITES_DUE {
        let site = SiteKey::of(&format!("https://site-{n}.example"));
        workbench.offer(site, Group::Site(site), Timestamp::from_millis(n));
    }
    let mut now = SITES_DUE;
    criterion.bench_function("choice/one of 100,000 sites", |bencher| {
        bencher.iter(|| {
            now += 1;
            let (site, group) = workbench.pick(Timestamp::from_millis(now)).expect("one is due");
            workbench.end(group, Timestamp::from_millis(now));
            workbench.offer(site, group, Timestamp::from_millis(now));
        });
    });
}

/// Numbers that are the same in every run (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}
