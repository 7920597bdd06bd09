//! The summary tells where the time went.

use std::collections::BTreeMap;

use serde_json::Value;
use testweb::Web;
use testweb::synthetic::{Settings, Synthetic};

use crate::binary::run;
use crate::served::Served;

const PAGES: u64 = 1_000;

#[test]
fn the_time_is_told_by_stage() {
    let settings = Settings { seed: 3, sites: 10, pages: PAGES, degree: 4, text_bytes_mean: 1_000 };
    let served = Served::start(Web::new().site("*.synthetic.test", Synthetic::new(settings).unwrap()));
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("crawl").display().to_string();
    let flags = served.flags();
    let crawl = |more: &[&str]| {
        let fixed = ["crawl", "http://s0000.synthetic.test/p/0", "--scope", "any", "--progress", "none"];
        let fast = ["--delay", "0", "--ip-delay", "0", "--no-sitemaps"];
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        run(&[&fixed[..], &fast, &flags, more].concat()).expect_code(0).stdout
    };
    let summary: Value = serde_json::from_str(&crawl(&["--json", "-o", &out])).unwrap();
    assert_eq!(summary["fetched"], PAGES);

    let time = &summary["time"];
    let stages = time["stages"].as_array().unwrap();
    let of = |field: &str| -> BTreeMap<&str, f64> {
        stages.iter().map(|stage| (stage["stage"].as_str().unwrap(), stage[field].as_f64().unwrap())).collect()
    };
    let (counts, wall, cpu) = (of("count"), of("wall_seconds"), of("cpu_seconds"));
    // Each page once, and nothing that was not done.
    for stage in ["extract", "canonicalise", "describe", "dataset"] {
        assert_eq!(counts[stage], PAGES as f64, "{stage}");
    }
    for stage in ["connect", "answer", "transfer", "http", "decide", "archive", "sync", "seen", "commit"] {
        assert!(counts[stage] > 0.0 && wall[stage] > 0.0, "{stage}: {summary}");
    }
    assert!(!counts.contains_key("tls") && !counts.contains_key("render"), "{summary}");
    assert!(cpu["extract"] > 0.0 && cpu["extract"] < time["cpu_seconds"].as_f64().unwrap(), "{summary}");

    let status = run(&["status", &out]).expect_code(0).stdout;
    assert!(!status.contains("processor"), "only a run has a time: {status}");
    let told = crawl(&["-o", &dir.path().join("told").display().to_string()]);
    assert!(told.contains("\nprocessor "), "{told}");
}
