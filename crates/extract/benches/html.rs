//! How fast pages are read: all that [`extract::html`] gives of a page, beside other parsers that give its links only.
//!
//! `cargo bench -p extract --bench html`. The pages are Debian's documentation of Python, PostgreSQL and Java
//! (`python3-doc`, `postgresql-doc-15`, `openjdk-17-doc`) as far as it is there, or the `.html` files below the directories
//! that `ARGIOPE_PAGES` names, with colons between; at most [`PAGES_MAX`] of each.

use std::cell::Cell;
use std::convert::Infallible;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BenchmarkId, Criterion, Throughput};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5gum::Span;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use rustix::time::{ClockId, clock_gettime};

/// Reads a page and says how much it found.
type Reader = fn(&[u8]) -> usize;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

// As the product has it: a page is many small pieces of memory.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const DIRECTORIES: &str =
    "/usr/share/doc/python3-doc/html:/usr/share/doc/postgresql-doc-15/html:/usr/share/doc/openjdk-17-doc/api";

/// Pages of a directory, spread evenly over its files: the whole must be gone through in some tenths of a second.
const PAGES_MAX: usize = 400;

fn main() -> Result<()> {
    let directories = std::env::var("ARGIOPE_PAGES").unwrap_or_else(|_| DIRECTORIES.to_owned());
    let mut pages = Vec::new();
    for directory in directories.split(':').map(Path::new).filter(|directory| directory.is_dir()) {
        pages.extend(read(directory)?);
    }
    let bytes: usize = pages.iter().map(Vec::len).sum();
    let links: usize = pages.iter().map(|page| ours(page)).sum();
    println!("{} pages, {bytes} bytes, {links} links and images", pages.len());

    let readers: [(&str, Reader); 4] =
        [("extract", ours), ("lol_html", lol_html), ("html5gum", html5gum), ("html5ever", html5ever)];
    let mut criterion = Criterion::default().with_measurement(ProcessorTime).configure_from_args();
    let mut group = criterion.benchmark_group("html");
    group.sample_size(20).measurement_time(Duration::from_secs(10)).throughput(Throughput::Bytes(bytes as u64));
    for (name, read) in readers {
        group.bench_with_input(BenchmarkId::from_parameter(name), &pages, |bencher, pages| {
            bencher.iter(|| pages.iter().map(|page| read(page)).sum::<usize>());
        });
    }
    group.finish();
    criterion.final_summary();
    Ok(())
}

/// The time of the processor on this thread, so that what else runs on the machine counts little.
struct ProcessorTime;

impl Measurement for ProcessorTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
    }

    fn end(&self, start: Duration) -> Duration {
        self.start().saturating_sub(start)
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

fn read(directory: &Path) -> Result<Vec<Vec<u8>>> {
    let (mut files, mut directories): (Vec<PathBuf>, Vec<PathBuf>) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(directory) = directories.pop() {
        for entry in directory.read_dir()? {
            let path = entry?.path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                files.push(path);
            }
        }
    }
    files.sort_unstable();
    let step = files.len().div_ceil(PAGES_MAX).max(1);
    files.iter().step_by(step).map(|file| Ok(std::fs::read(file)?)).collect()
}

/// Everything: links with their texts, images, title, text, metadata.
fn ours(page: &[u8]) -> usize {
    let page = extract::html::extract(page, None, &extract::Limits::default());
    page.links.len() + page.images.len()
}

/// Bytes of the links' references, as of the next two.
fn lol_html(page: &[u8]) -> usize {
    let mut bytes = 0;
    let handler = lol_html::element!("a[href]", |element| {
        bytes += element.get_attribute("href").map_or(0, |href| href.len());
        Ok(())
    });
    let settings = lol_html::Settings { element_content_handlers: vec![handler], ..lol_html::Settings::default() };
    let mut rewriter = lol_html::HtmlRewriter::new(settings, |_: &[u8]| {});
    let read = rewriter.write(page).and_then(|()| rewriter.end());
    read.map_or(0, |()| bytes)
}

fn html5gum(page: &[u8]) -> usize {
    let (mut in_anchor, mut in_href, mut bytes) = (false, false, 0);
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name } => in_anchor = name == b"a",
            CallbackEvent::AttributeName { name } => in_href = in_anchor && name == b"href",
            CallbackEvent::AttributeValue { value } if in_href => bytes += value.len(),
            _ => {}
        }
        None
    });
    emitter.naively_switch_states(true);
    let Ok(()) = html5gum::Tokenizer::new_with_emitter(page, emitter).finish();
    bytes
}

struct Links(Cell<usize>);

impl TokenSink for Links {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        if let Token::TagToken(tag) = token
            && tag.kind == TagKind::StartTag
            && &*tag.name == "a"
        {
            let hrefs = tag.attrs.iter().filter(|attribute| &*attribute.name.local == "href");
            self.0.set(self.0.get() + hrefs.map(|href| href.value.len()).sum::<usize>());
        }
        TokenSinkResult::Continue
    }
}

fn html5ever(page: &[u8]) -> usize {
    let tokenizer = Tokenizer::new(Links(Cell::new(0)), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(String::from_utf8_lossy(page).as_ref()));
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.get()
}
