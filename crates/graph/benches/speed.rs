//! How fast questions are answered: PageRank against a plain loop over arrays on one thread, the memory of a graph, and search
//! through text.
//!
//! `cargo bench -p argiope-graph -- [LINKS] [TEXT_BYTES]`, without them 21,600,000 links, of which 20 million differ, and
//! 1,000,000,000 bytes of text.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dataset::{Layout, Links, PageContent, PageRow, Rows, SegmentTables, Written};
use graph::{Crew, Definition, Graph, GraphBuilder, Only, PageKind, Pattern, Search, Within, pagerank, search};
use model::{Candidate, Outcome, Timestamp, Visit};
use store::{MemoryStore, Store};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Edges of a vertex, on average.
const DEGREE: u64 = 10;
/// How often each is measured; the median counts.
const RUNS: usize = 5;
/// Workers that compute.
const WORKERS: [usize; 3] = [1, 2, 4];
/// Where the pages come from.
const DOCUMENTS: &str = "/usr/share/doc/python3-doc/html";

fn main() -> Result<()> {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    ranks(numbers.first().copied().unwrap_or(21_600_000))?;
    texts(numbers.get(1).copied().unwrap_or(1_000_000_000))
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let began = Instant::now();
    let done = work();
    (began.elapsed(), done)
}

/// The median of some runs, in seconds.
fn median(mut run: impl FnMut() -> Duration) -> f64 {
    middle((0..RUNS).map(|_| run().as_secs_f64()).collect())
}

fn middle(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Numbers that look random (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let hash = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^ (hash >> 31)
    }

    /// Below 1, evenly.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Random links with a power law: of a few vertices there are very many, in and out; most lead to the same site.
fn links(edges: u64) -> Result<Graph> {
    let vertices = edges / DEGREE;
    let mut random = Random(1);
    let key = |vertex: u64| UrlKey {
        site: SiteKey((vertex / 500).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        url: vertex.wrapping_mul(0xbf58_476d_1ce4_e5b9),
    };
    let mut graph = GraphBuilder::default();
    for vertex in 0..vertices {
        graph.page(key(vertex), PageKind::Fetched)?;
        // Pareto with exponent 2 has this mean.
        let degree = (DEGREE as f64 / 2.0 / random.share().max(1e-4).sqrt()) as u64;
        for _ in 0..degree {
            let target = match random.next() % 4 {
                0 => (vertices as f64 * random.share().powi(4)) as u64,
                _ => vertex / 500 * 500 + random.next() % 500,
            };
            graph.link(key(vertex), key(target.min(vertices - 1)))?;
        }
    }
    Ok(graph.finish()?)
}

/// The tightest plain loop: in-links as compressed rows, 32-bit numbers, one thread.
struct Plain {
    degrees: Vec<u32>,
    ends: Vec<usize>,
    sources: Vec<u32>,
    ranks: Vec<f64>,
    gives: Vec<f64>,
}

impl Plain {
    fn new(graph: &Graph) -> Self {
        let mut ends = vec![0usize; graph.len()];
        graph.vertices().flat_map(|vertex| graph.targets(vertex)).for_each(|target| ends[*target as usize] += 1);
        let mut begin = 0;
        for end in &mut ends {
            begin += std::mem::replace(end, begin);
        }
        let mut sources = vec![0u32; graph.edges()];
        for vertex in graph.vertices() {
            for target in graph.targets(vertex) {
                sources[ends[*target as usize]] = vertex;
                ends[*target as usize] += 1;
            }
        }
        let degrees = graph.vertices().map(|vertex| graph.targets(vertex).len() as u32).collect();
        Plain { degrees, ends, sources, ranks: vec![1.0; graph.len()], gives: vec![0.0; graph.len()] }
    }

    fn compute(&mut self, rounds: u32) {
        self.ranks.fill(1.0);
        for _ in 0..rounds {
            for ((gives, rank), degree) in self.gives.iter_mut().zip(&self.ranks).zip(&self.degrees) {
                *gives = rank / f64::from((*degree).max(1));
            }
            let mut begin = 0;
            for (rank, end) in self.ranks.iter_mut().zip(&self.ends) {
                let given: f64 = self.sources[begin..*end].iter().map(|source| self.gives[*source as usize]).sum();
                *rank = 0.15 + 0.85 * given;
                begin = *end;
            }
        }
        std::hint::black_box(&self.ranks);
    }
}

fn ranks(edges: u64) -> Result<()> {
    let before = resident();
    let (built, graph) = timed(|| links(edges));
    let graph = Arc::new(graph?);
    println!(
        "{} vertices, {} edges, made in {:.1} s; {} MB more resident, {} MB by the layout (25 bytes a vertex, 4 an edge)",
        graph.len(),
        graph.edges(),
        built.as_secs_f64(),
        resident().saturating_sub(before) >> 20,
        (graph.len() * 25 + graph.edges() * 4) >> 20
    );
    let cores = std::thread::available_parallelism()?.get();
    for definition in [Definition::Original, Definition::Normalized] {
        let rounds = pagerank(&graph, definition, Crew::threads(1))?.rounds;
        // In turn, since a machine is not equally fast all the time.
        let mut times: [Vec<f64>; 5] = Default::default();
        for _ in 0..RUNS {
            let (turning, mut plain) = timed(|| Plain::new(&graph));
            let (computing, ()) = timed(|| plain.compute(rounds));
            times[0].push(turning.as_secs_f64());
            times[1].push(computing.as_secs_f64());
            drop(plain);
            for (workers, times) in WORKERS.into_iter().zip(&mut times[2..]) {
                let (time, ranks) = timed(|| pagerank(&graph, definition, Crew::threads(workers)));
                assert!(ranks?.is_settled);
                times.push(time.as_secs_f64());
            }
        }
        let [turning, computing, ..] = times.each_ref().map(|times| middle(times.clone()));
        let visits = graph.edges() as f64 * f64::from(rounds) / 1e6;
        println!(
            "{definition:?}, {rounds} rounds. A plain loop on one thread: {computing:.2} s, {:.0} million edges a second, after \
             {turning:.2} s to turn the links around",
            visits / computing
        );
        for (workers, ours) in WORKERS.into_iter().zip(&times[2..]) {
            let used = workers.min(cores) as f64;
            let ratio =
                |plain: &dyn Fn(usize) -> f64| middle((0..RUNS).map(|run| plain(run) / ours[run] / used).collect());
            println!(
                "  {workers} workers, all included: {:.2} s, per core used {:.2} of the plain loop's speed, {:.2} of it with the turning",
                middle(ours.clone()),
                ratio(&|run| times[1][run]),
                ratio(&|run| times[0][run] + times[1][run])
            );
        }
    }
    Ok(())
}

/// Memory in use, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok()).unwrap_or(0) << 10
}

/// The texts of real documents.
fn documents() -> Result<Vec<String>> {
    fn walk(dir: &Path, texts: &mut Vec<String>) -> Result<()> {
        for entry in
            std::fs::read_dir(dir).map_err(|error| format!("{}: {error}: install python3-doc", dir.display()))?
        {
            let path = entry?.path();
            if path.is_dir() {
                walk(&path, texts)?;
            } else if path.extension().is_some_and(|extension| extension == "html") {
                let page = extract::html::extract(&std::fs::read(path)?, None, &extract::Limits::default());
                texts.push(page.text);
            }
        }
        Ok(())
    }
    let mut texts = Vec::new();
    walk(Path::new(DOCUMENTS), &mut texts)?;
    Ok(texts)
}

/// Writes pages with so much text: documents over and over, each time with a word of its own in front of every paragraph.
fn write(layout: &Layout, bytes: u64) -> Result<u64> {
    let texts = documents()?;
    let store = MemoryStore::new();
    let mut rows = Rows::new(&store as &dyn Store, false)?;
    let mut tables = SegmentTables::begin(layout, "made-up")?;
    let (mut written, mut pages) = (0, 0);
    while written < bytes {
        let text = &texts[usize::try_from(pages)? % texts.len()];
        let own = format!("copy{} ", pages / texts.len() as u64);
        let text = text.split_inclusive(". ").map(|part| format!("{own}{part}")).collect::<String>();
        let url = CanonicalUrl::from_canonical(&format!("http://made-up.test/{pages}")).ok_or("a URL")?;
        let visit =
            Visit { status: 200, ..Visit::without_fetch(url.key(), Outcome::Html, String::new(), Timestamp(0)) };
        written += text.len() as u64;
        pages += 1;
        let content = Some(PageContent { kind: "html", text: Some(text), ..PageContent::default() });
        let row = rows.of(&Candidate::seed(url.clone()), 1, Some(&visit))?;
        tables.push(Written {
            page: PageRow { key: url.key(), row, content },
            links: Links::none(url.clone()),
            images: Vec::new(),
            structured: Vec::new(),
            items: Vec::new(),
        })?;
    }
    tables.finish(0)?;
    println!("{pages} pages with {written} bytes of text");
    Ok(written)
}

fn texts(bytes: u64) -> Result<()> {
    let dir = tempfile::TempDir::new()?;
    let layout = Layout::at(dir.path());
    let bytes = write(&layout, bytes)?;
    let patterns = [
        ("a common word", Pattern::text("function", false)?),
        ("a rare text", Pattern::text("copy7 The garbage collector", false)?),
        ("nothing", Pattern::text("no such words anywhere", false)?),
        ("a word, case ignored", Pattern::text("Generator", true)?),
        ("a regular expression", Pattern::regex(r"\bgarbage\s+\w+or\b", false)?),
    ];
    for (what, pattern) in patterns {
        for workers in [1, 2] {
            let mut pages = 0;
            let seconds = median(|| {
                let asked = Search {
                    pattern: pattern.clone(),
                    within: Within::Page,
                    only: Only::default(),
                    limit: Some(100),
                    context: None,
                };
                let (time, found) = timed(|| search([&layout], asked, Crew::threads(workers)));
                pages = found.unwrap_or_else(|error| panic!("{error}")).pages;
                time
            });
            println!(
                "search for {what}, {workers} workers: {seconds:.2} s, {:.0} MB a second, {pages} pages",
                bytes as f64 / seconds / 1e6
            );
        }
    }
    Ok(())
}
