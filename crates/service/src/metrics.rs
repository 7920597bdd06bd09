//! What a running crawl tells a monitoring system: counters as text, in the exposition format of Prometheus (0.0.4).

use std::fmt::Write;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use ask::freshness::{Freshness, Rate};
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

/// Seconds of a day.
const DAY_SECONDS: f64 = 86_400.0;

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
    now: Arc<Mutex<(Progress, Option<Freshness>)>>,
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
            let (now, freshness) = now.lock().unwrap_or_else(PoisonError::into_inner).clone();
            ([(header::CONTENT_TYPE, CONTENT_TYPE)], text(&now, freshness.as_ref()))
        };
        // The answer has numbers only, no URL and no name, so the port needs no token. The guard keeps out pages whose own name leads here.
        runtime.spawn(serve(listener, Router::new().route("/metrics", get(text)), self.guard.clone()));
        Ok(())
    }

    /// Where the crawl stands from now on.
    pub fn note(&self, now: Progress) {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).0 = now;
    }

    /// How fresh its pages are from now on.
    pub fn note_freshness(&self, freshness: Option<Freshness>) {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).1 = freshness;
    }
}

/// Names, units and meanings are in `docs/metrics.md`.
fn text(now: &Progress, freshness: Option<&Freshness>) -> String {
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
    if let Some(freshness) = freshness {
        let Freshness { fresh, visited_days_ago, age_days, visits_again, changes, sites, .. } = freshness;
        let ratio = |value: f64| vec![(String::new(), value)];
        let seconds = |days: f64| ratio(days * DAY_SECONDS);
        metric(
            "argiope_freshness_ratio",
            "gauge",
            "Share of pages identical to the live web, estimated.",
            &ratio(*fresh),
        );
        let visited = "Time since the last visit of a page, mean.";
        metric("argiope_last_visit_age_seconds", "gauge", visited, &seconds(*visited_days_ago));
        let outdated = "Time since a page became different from its copy, mean, estimated.";
        metric("argiope_outdated_seconds", "gauge", outdated, &seconds(*age_days));
        let again = "Visits after the first of the pages that were there, in the sample.";
        metric("argiope_visits_again", "gauge", again, &one(*visits_again));
        metric("argiope_visits_with_change", "gauge", "Of those, visits that found a change.", &one(*changes));
        let rate = "Changes of a page in a second, by quartile of the sites named, estimated.";
        metric("argiope_site_change_rate", "gauge", rate, &quartiles(sites));
    }
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

/// The change rates of sites, in changes a second, at the quartiles. Names of sites are no labels: anyone may read the metrics.
fn quartiles(sites: &[Rate]) -> Vec<(String, f64)> {
    let mut rates: Vec<f64> = sites.iter().map(|site| 1.0 / (site.days_between_changes * DAY_SECONDS)).collect();
    rates.sort_by(f64::total_cmp);
    let at = |quarter: usize| rates.get((rates.len().saturating_sub(1)) * quarter / 4);
    let named = |quarter| Some((format!("{{quantile=\"{}\"}}", quarter as f64 / 4.0), *at(quarter)?));
    [1, 2, 3].into_iter().filter_map(named).collect()
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
        let rate = |days_between_changes| Rate {
            of: "http://a.test".to_owned(),
            pages: 4,
            days_between_changes,
            fresh: 0.75,
            visits_again: 8,
            changes: 2,
        };
        let freshness = Freshness {
            pages: 4,
            fresh: 0.75,
            visited_days_ago: 0.5,
            age_days: 0.25,
            visits_again: 8,
            changes: 2,
            sites: vec![rate(1.0), rate(2.0), rate(4.0)],
            paths: Vec::new(),
        };
        let text = text(&now, Some(&freshness));
        for line in [
            "# TYPE argiope_pages_fetched_total counter",
            "argiope_pages_fetched_total 3",
            "argiope_payload_bytes_total 4000",
            "argiope_fetches_in_flight 2",
            "argiope_sites_waiting 0",
            "argiope_front_bytes 0",
            "argiope_front_bytes_limit 5",
            "argiope_freshness_ratio 0.75",
            "argiope_last_visit_age_seconds 43200",
            "argiope_outdated_seconds 21600",
            "argiope_visits_again 8",
            "argiope_visits_with_change 2",
            "argiope_site_change_rate{quantile=\"0.5\"} 0.000005787037037037037",
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
