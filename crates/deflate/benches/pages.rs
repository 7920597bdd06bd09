//! How fast pages become gzip members, and how short: `fast`, `small`, and others.
//!
//! `cargo bench -p argiope-deflate --bench pages`. [`testpages`] describes the pages. Every member is read back once, by two decoders.

use std::error::Error;
use std::io::{Read, Write};
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use deflate::{Compression as Choice, Encoder as Members};
use libdeflater::{CompressionLvl, Compressor, Decompressor};
use testpages::{Pages, ProcessorTime};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Compresses a page and says how long the member is.
type Encoder = Box<dyn FnMut(&[u8], &mut Vec<u8>) -> Result<()>>;

fn main() -> Result<()> {
    let mut criterion = Criterion::default().with_measurement(ProcessorTime).configure_from_args();
    for all in Pages::read()? {
        let (bytes, Pages { name, pages }) = (all.bytes(), all);
        println!("{name}: {} pages, {} bytes each", pages.len(), bytes / pages.len().max(1));
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

fn encoders() -> Result<[(&'static str, Encoder); 4]> {
    let [mut fast, mut small] = Choice::ALL.map(Members::new);
    let level = CompressionLvl::new(1).map_err(|error| format!("{error:?}"))?;
    let mut compressor = Compressor::new(level);
    Ok([
        ("fast", Box::new(move |page, out| Ok(fast.member(&[page], out)?))),
        ("small", Box::new(move |page, out| Ok(small.member(&[page], out)?))),
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
