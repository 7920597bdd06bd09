//! What decisions cost, how long files take to compile, and how much memory they hold, for files in use and for files made to be slow.
//!
//! `cargo bench -p argiope-robots --bench decisions`; add the beginning of a name to measure only that file.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion};
use robots::{Matching, Reason, RobotsTxt};
use testkit::robots_files::{Case, cases};
use testpages::ProcessorTime;

fn main() {
    let mut criterion = Criterion::default().with_measurement(ProcessorTime).configure_from_args();
    for Case { name, file, paths, is_decided } in cases() {
        let rules = RobotsTxt::parse(file.as_bytes(), "argiope");
        println!(
            "{name}: {} bytes, of which {} lines for us hold {}",
            file.len(),
            rules.rule_count(),
            rules.heap_bytes()
        );
        let mut group = criterion.benchmark_group(name);
        group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(500));
        group.bench_function("compile", |bencher| {
            bencher.iter(|| RobotsTxt::parse(black_box(file.as_bytes()), "argiope"));
        });
        for (number, path) in paths.iter().enumerate() {
            for matching in [Matching::LongestMatch, Matching::FirstMatch] {
                let is_refused = rules.decide(path, matching).reason == Reason::TooManySteps;
                assert!(!is_refused || !is_decided, "{name}: {path}");
                let id = format!("{matching:?}{}", if is_refused { ", refused" } else { "" });
                let id = BenchmarkId::new(id, number + 1);
                group.bench_function(id, |bencher| bencher.iter(|| rules.decide(black_box(path), matching)));
            }
        }
        group.finish();
    }
    criterion.final_summary();
}
