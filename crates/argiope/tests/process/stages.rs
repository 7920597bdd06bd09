//! The summary tells where the time went, and a monitoring system where it goes.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use testweb::Web;
use testweb::synthetic::{Settings, Synthetic};

use crate::binary::{BINARY, run};
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
    for stage in ["connect", "answer", "transfer", "decide", "archive", "sync", "seen", "commit"] {
        assert!(counts[stage] > 0.0 && wall[stage] > 0.0, "{stage}: {summary}");
    }
    assert!(
        !counts.contains_key("tls") && !counts.contains_key("http2") && !counts.contains_key("render"),
        "{summary}"
    );
    assert!(cpu["extract"] > 0.0 && cpu["extract"] < time["cpu_seconds"].as_f64().unwrap(), "{summary}");

    let status = run(&["status", &out]).expect_code(0).stdout;
    assert!(!status.contains("processor"), "only a run has a time: {status}");
    let told = crawl(&["-o", &dir.path().join("told").display().to_string()]);
    assert!(told.contains("\nprocessor "), "{told}");
}

#[test]
fn a_monitoring_system_reads_them_while_the_crawl_runs() {
    let settings = Settings { seed: 3, sites: 10, pages: PAGES, degree: 4, text_bytes_mean: 1_000 };
    let served = Served::start(Web::new().site("*.synthetic.test", Synthetic::new(settings).unwrap()));
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(BINARY);
    // It would take longer than any test waits.
    command.args([
        "crawl",
        "http://s0000.synthetic.test/p/0",
        "--scope",
        "any",
        "--delay",
        "10s",
        "--progress",
        "none",
    ]);
    command.args(["--metrics", "127.0.0.1:0", "-o"]).arg(dir.path().join("crawl")).args(served.flags());
    let mut crawl = Killed(command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap());
    let mut told = String::new();
    BufReader::new(crawl.0.stderr.take().unwrap()).read_line(&mut told).unwrap();
    let address =
        told.trim_end().strip_prefix("argiope: metrics at http://").and_then(|url| url.strip_suffix("/metrics"));
    let address = address.unwrap_or_else(|| panic!("{told}"));
    let ask = |path: &str| {
        let mut connection = TcpStream::connect(address).unwrap();
        write!(connection, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    };
    // The first page is fetched and looked into at some time.
    let answer = loop {
        let answer = ask("/metrics");
        if answer.contains("argiope_stage_entered_total{stage=\"extract\"} ") {
            break answer;
        }
        assert!(crawl.0.try_wait().unwrap().is_none(), "the crawl has ended");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("content-type: text/plain; version=0.0.4"), "{answer}");
    for name in ["argiope_pages_fetched_total", "argiope_sites_waiting", "process_cpu_seconds_total"] {
        assert!(answer.contains(&format!("\n{name} ")), "{name}: {answer}");
    }
    assert!(ask("/").starts_with("HTTP/1.1 404 "));

    let taken = run(&["crawl", "http://s0000.synthetic.test/", "--metrics", address]).expect_code(2).stderr;
    assert!(taken.contains(&format!("--metrics {address}: ")), "{taken}");
}

/// Ends a process when it is dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
