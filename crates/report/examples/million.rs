//! How long a report on a large crawl takes, and how much memory: makes up a crawl (1,000,000 pages, 10 links and 3 images each, on 1,000
//! sites), and reports on it in a process of its own.
//!
//! `cargo run --release -p argiope-report --example million -- [PAGES]`

use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};

use dataset::{ImageRow, Layout, Links, PageContent, PageRow, Rows, SegmentTables, Written};
use model::{Candidate, Outcome, Timestamp, Visit};
use report::Statistics;
use store::{Batch, Store};
use store_embedded::{EmbeddedStore, Options};
use weburl::{CanonicalRules, CanonicalUrl};

const SITES: u64 = 1_000;
const LINKS: u64 = 10;
const IMAGES: u64 = 3;
/// Pages of a commit.
const AT_ONCE: u64 = 2_000;
/// Pages fetched by the second of the made-up crawl.
const PAGES_PER_SECOND: u64 = 5_000;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, dir] = arguments.as_slice()
        && command == "report"
    {
        report(Path::new(dir))?;
        return Ok(ExitCode::SUCCESS);
    }
    let pages = arguments.first().map_or(Ok(1_000_000), |pages| pages.parse())?;
    let dir = tempfile::TempDir::new()?;
    make(dir.path(), pages)?;
    let status = Command::new(std::env::current_exe()?).arg("report").arg(dir.path()).status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn open(dir: &Path) -> Result<EmbeddedStore> {
    Ok(EmbeddedStore::open(&dir.join("state"), Options::default())?)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn report(dir: &Path) -> Result<()> {
    let began = std::time::Instant::now();
    let store = open(dir)?;
    let statistics = Statistics::of(&store, &Layout::at(dir.join("dataset")), "DIR", false)?;
    let page = report::html(&statistics)?;
    let seconds = began.elapsed().as_secs_f64();
    std::fs::write(std::env::temp_dir().join("million.html"), &page)?;
    print!("{}", report::text(&statistics));
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown").trim();
    println!("\n{seconds:.1} s, peak resident {peak}, page of {} bytes", page.len());
    Ok(())
}

/// The page with this number. A few are much linked to, as on the web.
fn url(page: u64) -> Result<CanonicalUrl> {
    let text = format!("http://s{:03}.million.test/section/{}/page-{page}.html", page % SITES, page % 97);
    Ok(CanonicalUrl::parse(&text, &CanonicalRules::default())?)
}

fn link(page: u64, number: u64, pages: u64) -> u64 {
    let mixed = (page * LINKS + number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    let far = mixed % pages;
    if number < 3 { (far % 1_000) * far / pages } else { far }
}

fn make(dir: &Path, pages: u64) -> Result<()> {
    let store = open(dir)?;
    let layout = Layout::at(dir.join("dataset"));
    let mut tables = SegmentTables::begin(&layout, "million")?;
    store.commit(&Batch { seeds: vec![url(0)?], ..Batch::default() })?;
    for first in (0..pages).step_by(usize::try_from(AT_ONCE)?) {
        let range = first..(first + AT_ONCE).min(pages);
        let urls = range.clone().map(url).collect::<Result<Vec<_>>>()?;
        let candidate =
            |url: &CanonicalUrl| Candidate { depth: 1 + u32::from(first > 50_000), ..Candidate::seed(url.clone()) };
        let visits: Vec<Visit> = urls.iter().zip(range.clone()).map(|(url, page)| visit(url, page)).collect();
        store.commit(&Batch { found: urls.iter().map(candidate).collect(), ..Batch::default() })?;
        store.commit(&Batch { visits: visits.clone(), ..Batch::default() })?;
        let mut rows = Rows::new(&store, false)?;
        for ((url, visit), page) in urls.iter().zip(&visits).zip(range) {
            let row = rows.of(&candidate(url), 1, Some(visit))?;
            tables.push(written(url, row, page, pages)?)?;
        }
    }
    Ok(tables.finish(0)?)
}

fn visit(url: &CanonicalUrl, page: u64) -> Visit {
    let at = Timestamp(1_800_000_000_000_000 + page * 1_000_000 / PAGES_PER_SECOND);
    Visit {
        status: 200,
        content_type: Some("text/html; charset=utf-8".to_owned()),
        length: 2_000 + page % 9_000,
        title: Some(format!("Page {page} of a million")),
        out_degree: u32::try_from(LINKS).ok(),
        attempts: 1,
        ..Visit::without_fetch(url.key(), Outcome::Html, String::new(), at)
    }
}

fn written(url: &CanonicalUrl, row: dataset::Row, page: u64, pages: u64) -> Result<Written> {
    let link = |number| Ok((self::url(link(page, number, pages))?, format!("link {number}").into()));
    let links = Links::of(url.clone(), "anchor", (0..LINKS).map(link).collect::<Result<Vec<_>>>()?);
    let image = |number: u64| ImageRow {
        source: url.clone(),
        url: None,
        digest: None,
        alt: None,
        declared_type: None,
        sniffed_kind: None,
        width: None,
        height: None,
        from_srcset: number > 1,
        data: None,
    };
    let images: Vec<ImageRow> = (0..IMAGES).map(image).collect();
    let content = PageContent {
        kind: "html",
        links: u32::try_from(LINKS).ok(),
        images: u32::try_from(IMAGES).ok(),
        // No two alike: near duplicates are looked for, and not found.
        simhash: Some((page + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        ..PageContent::default()
    };
    Ok(Written {
        page: PageRow { key: url.key(), row, content: Some(content) },
        links,
        images,
        structured: Vec::new(),
        items: Vec::new(),
    })
}
