//! What a running crawl tells a monitoring system: counters as text, in the exposition format of Prometheus (0.0.4).

use std::fmt::Write;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use axum::http::header;
use axum::routing::{Router, get};
use console::progress::Show;
use engine::Progress;
use tokio::runtime::Handle;

use crate::access::Guard;
use crate::port::{self, serve};
use settings::usage;

/// The content type of the format.
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// How a crawl is watched while it runs.
pub struct Watched {
    /// How progress is shown.
    pub show: Show,
    /// The endpoint for a monitoring system.
    pub metrics: Option<Metrics>,
}

/// The port that serves them, and the progress of the crawl.
#[derive(Clone)]
pub struct Metrics {
    listener: Arc<TcpListener>,
    guard: Guard,
    now: Arc<Mutex<Progress>>,
}

impl Metrics {
    /// Listens at the address that `--metrics` gives, `ADDR:PORT` or `NAME:PORT`, and says on standard error where that is.
    ///
    /// # Errors
    /// The address is unavailable.
    pub fn listen(given: &str) -> anyhow::Result<Self> {
        let address = port::resolve("--metrics", given)?;
        let listener = TcpListener::bind(address).map_err(|error| usage(format!("--metrics {address}: {error}")))?;
        listener.set_nonblocking(true)?;
        console::say!("metrics at http://{}/metrics", listener.local_addr()?);
        Ok(Metrics { listener: Arc::new(listener), guard: Guard::open().called(given), now: Arc::default() })
    }

    /// Answers until the runtime ends.
    ///
    /// # Errors
    /// There are too many open files.
    pub fn serve(&self, runtime: &Handle) -> anyhow::Result<()> {
        let _guard = runtime.enter();
        let listener = tokio::net::TcpListener::from_std(self.listener.try_clone()?).context("--metrics")?;
        let now = self.now.clone();
        let text = move || async move {
            let now = *now.lock().unwrap_or_else(PoisonError::into_inner);
            ([(header::CONTENT_TYPE, CONTENT_TYPE)], text(&now))
        };
        // The answer has numbers only, no URL and no name, so the port needs no token. The guard keeps out pages whose own name leads here.
        runtime.spawn(serve(listener, Router::new().route("/metrics", get(text)), self.guard.clone()));
        Ok(())
    }

    /// Where the crawl stands from now on.
    pub fn note(&self, now: Progress) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}

/// Names, units and meanings are in `docs/metrics.md`.
fn text(now: &Progress) -> String {
    let mut text = String::new();
    let mut metric = |name: &str, kind: &str, help: &str, values: &[(String, f64)]| {
        // Writing to a text does not fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    #[expect(clippy::cast_precision_loss, reason = "the format's numbers are floating")]
    let one = |value: u64| vec![(String::new(), value as f64)];
    metric("argiope_pages_fetched_total", "counter", "URLs fetched with success, over all runs.", &one(now.pages));
    metric("argiope_payload_bytes_total", "counter", "Payload bytes fetched, over all runs.", &one(now.bytes));
    metric("argiope_fetches_in_flight", "gauge", "Fetches under way.", &one(now.in_flight as u64));
    metric("argiope_sites_waiting", "gauge", "Sites that wait for a visit.", &one(now.sites_waiting as u64));
    let front = "Bytes that the sites at work take, and those that wait for a place beside them.";
    metric("argiope_front_bytes", "gauge", front, &one(now.front_bytes as u64));
    metric("argiope_front_bytes_limit", "gauge", "Bytes that they may take.", &one(now.front_bytes_max as u64));
    let (began, spent) = (stages::Snapshot::default(), stages::snapshot());
    let stages: Vec<_> = spent.since(&began).collect();
    let of_stages = |value: fn(&stages::Spent) -> f64| -> Vec<(String, f64)> {
        stages.iter().map(|(stage, spent)| (format!("{{stage=\"{}\"}}", stage.as_str()), value(spent))).collect()
    };
    #[expect(clippy::cast_precision_loss, reason = "the format's numbers are floating")]
    let counts = of_stages(|spent| spent.count as f64);
    metric("argiope_stage_entered_total", "counter", "How often a stage was gone through.", &counts);
    let wall = of_stages(|spent| spent.wall.as_secs_f64());
    metric("argiope_stage_seconds_total", "counter", "Time in a stage, waiting included, all added up.", &wall);
    let cpu = of_stages(|spent| spent.cpu.as_secs_f64());
    metric("argiope_stage_cpu_seconds_total", "counter", "Processor time in a stage, estimated from a part.", &cpu);
    let cpu = vec![(String::new(), spent.cpu_since(&began).as_secs_f64())];
    metric("process_cpu_seconds_total", "counter", "Processor time of the process, user and system.", &cpu);
    if let Some(resident) = resident_bytes() {
        metric("process_resident_memory_bytes", "gauge", "Resident memory of the process.", &one(resident));
    }
    text
}

/// `None` where the system does not tell (proc(5)).
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().trim_end_matches(" kB");
    Some(kilobytes.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_meaning_a_kind_and_a_value() {
        stages::time(stages::Stage::Decide, || ());
        let now = Progress { pages: 3, bytes: 4_000, in_flight: 2, front_bytes_max: 5, ..Progress::default() };
        let text = text(&now);
        for line in [
            "# TYPE argiope_pages_fetched_total counter",
            "argiope_pages_fetched_total 3",
            "argiope_payload_bytes_total 4000",
            "argiope_fetches_in_flight 2",
            "argiope_sites_waiting 0",
            "argiope_front_bytes 0",
            "argiope_front_bytes_limit 5",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
        for name in ["argiope_stage_entered_total", "argiope_stage_seconds_total", "argiope_stage_cpu_seconds_total"] {
            assert!(text.contains(&format!("\n{name}{{stage=\"decide\"}} ")), "{name} in\n{text}");
        }
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.rsplit_once(' ').expect("a name and a value");
            let name = name.split('{').next().expect("a name");
            assert!(value.parse::<f64>().is_ok(), "{line}");
            assert!(text.contains(&format!("# HELP {name} ")) && text.contains(&format!("# TYPE {name} ")), "{line}");
        }
    }
}
