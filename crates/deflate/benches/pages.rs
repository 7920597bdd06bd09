//! How fast pages become gzip members, and how short, by ours and by others at their fastest level.
//!
//! `cargo bench -p deflate --bench pages`. The pages are Debian's documentation of Java, Python and PostgreSQL (`openjdk-17-doc`, `python3-doc`,
//! `postgresql-doc-15`) as far as it is there, or the `.html` files below the directories that `ARGIOPE_PAGES` names, with colons
//! between; at most [`PAGES_MAX`] of each, while `ARGIOPE_PAGES_MAX` does not say otherwise. Every member is read back once, by two decoders.

use std::error::Error;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BenchmarkId, Criterion, Throughput};
use deflate::GzipEncoder;
use libdeflater::{CompressionLvl, Compressor, Decompressor};
use rustix::time::{ClockId, clock_gettime};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Compresses a page and says how long the member is.
type Encoder = Box<dyn FnMut(&[u8], &mut Vec<u8>) -> Result<()>>;

const DIRECTORIES: &str =
    "/usr/share/doc/openjdk-17-doc/api:/usr/share/doc/python3-doc/html:/usr/share/doc/postgresql-doc-15/html";

/// Pages of a directory, spread evenly over its files: the whole must be gone through in some tenths of a second.
const PAGES_MAX: usize = 400;

fn main() -> Result<()> {
    let directories = std::env::var("ARGIOPE_PAGES").unwrap_or_else(|_| DIRECTORIES.to_owned());
    let pages_max = std::env::var("ARGIOPE_PAGES_MAX").ok().map_or(Ok(PAGES_MAX), |max| max.parse())?;
    let mut criterion = Criterion::default().with_measurement(ProcessorTime).configure_from_args();
    for directory in directories.split(':').map(Path::new).filter(|directory| directory.is_dir()) {
        let pages = read(directory, pages_max)?;
        let bytes: usize = pages.iter().map(Vec::len).sum();
        println!("{}: {} pages, {} bytes each", directory.display(), pages.len(), bytes / pages.len().max(1));
        let name = directory.iter().rev().nth(1).unwrap_or_default().to_string_lossy().into_owned();
        let mut group = criterion.benchmark_group(name);
        group.sample_size(20).measurement_time(Duration::from_secs(5)).throughput(Throughput::Bytes(bytes as u64));
        for (name, mut encoder) in encoders()? {
            println!("{name}: to one of {:.2}", bytes as f64 / checked(&pages, &mut encoder)? as f64);
            let mut member = Vec::new();
            group.bench_with_input(BenchmarkId::from_parameter(name), &pages, |bencher, pages| {
                bencher.iter(|| {
                    pages.iter().try_for_each(|page| {
                        member.clear();
                        encoder(page, &mut member)
                    })
                });
            });
        }
        group.finish();
    }
    criterion.final_summary();
    Ok(())
}

fn encoders() -> Result<[(&'static str, Encoder); 3]> {
    let mut ours = GzipEncoder::new();
    let level = CompressionLvl::new(1).map_err(|error| format!("{error:?}"))?;
    let mut compressor = Compressor::new(level);
    Ok([
        ("ours", Box::new(move |page, out| Ok(ours.member(&[page], out)?))),
        (
            "libdeflate 1",
            Box::new(move |page, out| {
                out.resize(compressor.gzip_compress_bound(page.len()), 0);
                let len = compressor.gzip_compress(page, out)?;
                out.truncate(len);
                Ok(())
            }),
        ),
        (
            "zlib-rs 1",
            Box::new(|page, out| {
                let mut gzip = flate2::write::GzEncoder::new(out, flate2::Compression::fast());
                gzip.write_all(page)?;
                gzip.finish()?;
                Ok(())
            }),
        ),
    ])
}

/// Compresses all pages, reads them back, and says how long the members are.
fn checked(pages: &[Vec<u8>], encoder: &mut Encoder) -> Result<usize> {
    let (mut decompressor, mut member, mut sum) = (Decompressor::new(), Vec::new(), 0);
    for page in pages {
        member.clear();
        encoder(page, &mut member)?;
        let mut one = vec![0; page.len()];
        decompressor.gzip_decompress(&member, &mut one)?;
        let mut other = Vec::new();
        flate2::read::GzDecoder::new(&*member).read_to_end(&mut other)?;
        if one != *page || other != *page {
            return Err("a page is not what it was".into());
        }
        sum += member.len();
    }
    Ok(sum)
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

fn read(directory: &Path, pages_max: usize) -> Result<Vec<Vec<u8>>> {
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
    let step = files.len().div_ceil(pages_max).max(1);
    files.iter().step_by(step).map(|file| Ok(std::fs::read(file)?)).collect()
}
