//! How fast gzip bodies are decoded: at once, and step by step, which zeros behind the member demand.
//!
//! `cargo bench -p fetch --bench decode`. The bodies are Debian's documentation of Java, Python and PostgreSQL (`openjdk-17-doc`,
//! `python3-doc`, `postgresql-doc-15`) as far as it is there, or the `.html` files below the directories that `ARGIOPE_PAGES` names, with
//! colons between; at most [`PAGES_MAX`] of each, compressed as servers do.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::time::{ClockId, clock_gettime};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

// As the product has it: a body is a large piece of memory.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const DIRECTORIES: &str =
    "/usr/share/doc/openjdk-17-doc/api:/usr/share/doc/python3-doc/html:/usr/share/doc/postgresql-doc-15/html";

/// Pages of a directory, spread evenly over its files: the whole must be gone through in some tenths of a second.
const PAGES_MAX: usize = 400;

fn main() -> Result<()> {
    let directories = std::env::var("ARGIOPE_PAGES").unwrap_or_else(|_| DIRECTORIES.to_owned());
    let mut criterion = Criterion::default().with_measurement(ProcessorTime).configure_from_args();
    for directory in directories.split(':').map(Path::new).filter(|directory| directory.is_dir()) {
        let pages = read(directory)?;
        let bytes: usize = pages.iter().map(Vec::len).sum();
        println!("{}: {} pages, {} bytes each", directory.display(), pages.len(), bytes / pages.len().max(1));
        let at_once: Vec<Vec<u8>> = pages.iter().map(|page| gzip(page)).collect::<Result<_>>()?;
        let step_by_step: Vec<Vec<u8>> = at_once.iter().map(|payload| [&payload[..], &[0; 4]].concat()).collect();
        let name = directory.iter().rev().nth(1).unwrap_or_default().to_string_lossy().into_owned();
        let mut group = criterion.benchmark_group(name);
        group.sample_size(20).measurement_time(Duration::from_secs(5)).throughput(Throughput::Bytes(bytes as u64));
        for (name, payloads) in [("at once", at_once), ("step by step", step_by_step)] {
            if payloads.iter().zip(&pages).any(|(payload, page)| decoded(payload.clone()) != *page) {
                return Err("a page is not what it was".into());
            }
            group.bench_with_input(BenchmarkId::from_parameter(name), &payloads, |bencher, payloads| {
                let lengths = |payloads: Vec<Vec<u8>>| payloads.into_iter().map(|it| decoded(it).len()).sum::<usize>();
                bencher.iter_batched(|| payloads.clone(), lengths, BatchSize::LargeInput);
            });
        }
        group.finish();
    }
    criterion.final_summary();
    Ok(())
}

fn gzip(page: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(page)?;
    Ok(encoder.finish()?)
}

fn decoded(payload: Vec<u8>) -> Vec<u8> {
    fetch::decode(["gzip"].into_iter(), payload, usize::MAX)
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
