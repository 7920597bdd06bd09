//! How fast gzip bodies are decoded: at once, and step by step, which zeros behind the member demand.
//!
//! `cargo bench -p argiope-fetch --bench decode`. [`testpages`] describes the pages. They are compressed as servers do.

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use flate2::Compression;
use flate2::write::GzEncoder;
use testpages::{Pages, ProcessorTime};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

// As the product has it: a body is a large piece of memory.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> Result<()> {
    let mut criterion = Criterion::default().with_measurement(ProcessorTime).configure_from_args();
    for all in Pages::read()? {
        let (bytes, Pages { name, pages }) = (all.bytes(), all);
        println!("{name}: {} pages, {} bytes each", pages.len(), bytes / pages.len().max(1));
        let at_once: Vec<Vec<u8>> = pages.iter().map(|page| gzip(page)).collect::<Result<_>>()?;
        let step_by_step: Vec<Vec<u8>> = at_once.iter().map(|payload| [&payload[..], &[0; 4]].concat()).collect();
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
