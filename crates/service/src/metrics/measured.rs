//! What is measured, as values with names. `docs/metrics.md` says what they mean.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use ask::freshness::{Freshness, Rate};
use engine::Progress;
use model::{Outcome, Timestamp};
use stages::Spent;
use store::Totals;
use store_postgres::cluster::Counts;

/// Seconds of a day.
const DAY_SECONDS: f64 = 86_400.0;

/// A metric, with a value for each of its labels.
#[derive(Clone)]
pub struct Metric {
    name: &'static str,
    is_counter: bool,
    help: &'static str,
    values: Vec<(String, f64)>,
}

impl Metric {
    /// One that only grows while the process runs.
    fn counter(name: &'static str, help: &'static str, value: f64) -> Self {
        Metric { is_counter: true, ..Metric::gauge(name, help, value) }
    }

    fn gauge(name: &'static str, help: &'static str, value: f64) -> Self {
        Metric { name, is_counter: false, help, values: vec![(String::new(), value)] }
    }

    /// The same with a value for each value of a label.
    fn by<'a>(self, label: &str, values: impl Iterator<Item = (&'a str, f64)>) -> Self {
        Metric { values: values.map(|(of, value)| (format!("{{{label}=\"{of}\"}}"), value)).collect(), ..self }
    }
}

/// The metrics in the exposition format of Prometheus (0.0.4).
pub(super) fn text(metrics: &[Metric]) -> String {
    let mut text = String::new();
    for Metric { name, is_counter, help, values } in metrics {
        let kind = if *is_counter { "counter" } else { "gauge" };
        // Writing to a text does not fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    }
    text
}

/// What a worker counts over all its lives.
#[derive(Default)]
pub struct Tally {
    /// Lives that ended with the loss of the lease, or of the database.
    pub lives_lost: AtomicU64,
    /// Uploads of segments that failed, and were tried again.
    pub uploads_failed: AtomicU64,
}

/// What a server counts of the whole crawl.
pub struct Counted {
    /// Its URLs.
    pub totals: Totals,
    /// What only several workers have.
    pub counts: Counts,
    /// The live workers.
    pub workers: u64,
    /// Nothing new is fetched.
    pub is_paused: bool,
    /// When it was counted.
    pub at: Timestamp,
}

/// Of any process.
#[must_use]
pub fn of_process() -> Vec<Metric> {
    let (began, spent) = (stages::Snapshot::default(), stages::snapshot());
    let stages: Vec<_> = spent.since(&began).collect();
    let of_stages = |value: fn(&Spent) -> f64| stages.iter().map(move |(stage, spent)| (stage.as_str(), value(spent)));
    let entered = Metric::counter("argiope_stage_entered_total", "How often a stage was gone through.", 0.0);
    let wall = "Time in a stage, waiting included, all added up.";
    let wall = Metric::counter("argiope_stage_seconds_total", wall, 0.0);
    let cpu = "Processor time in a stage, estimated from a part.";
    let cpu = Metric::counter("argiope_stage_cpu_seconds_total", cpu, 0.0);
    let of_process = "Processor time of the process, user and system.";
    let errors = "Requests to the database that failed, those that were repeated included.";
    let mut metrics = vec![
        entered.by("stage", of_stages(|spent| float(spent.count))),
        wall.by("stage", of_stages(|spent| spent.wall.as_secs_f64())),
        cpu.by("stage", of_stages(|spent| spent.cpu.as_secs_f64())),
        Metric::counter("process_cpu_seconds_total", of_process, spent.cpu_since(&began).as_secs_f64()),
        Metric::counter("argiope_database_errors_total", errors, float(store_postgres::errors())),
    ];
    if let Some(resident) = resident_bytes() {
        let help = "Resident memory of the process.";
        metrics.push(Metric::gauge("process_resident_memory_bytes", help, float(resident)));
    }
    metrics
}

/// Of a running crawl, or a worker.
#[must_use]
pub fn of_progress(now: &Progress) -> Vec<Metric> {
    let front = "Bytes that the sites at work take, and those that wait for a place beside them.";
    let pages = "URLs fetched with success, over all runs.";
    let mut metrics = vec![
        Metric::counter("argiope_pages_fetched_total", pages, float(now.pages)),
        Metric::counter("argiope_payload_bytes_total", "Payload bytes fetched, over all runs.", float(now.bytes)),
        Metric::gauge("argiope_fetches_in_flight", "Fetches under way.", float(now.in_flight as u64)),
        Metric::gauge("argiope_sites_waiting", "Sites that wait for a visit.", float(now.sites_waiting as u64)),
        Metric::gauge("argiope_front_bytes", front, float(now.front_bytes as u64)),
        Metric::gauge("argiope_front_bytes_limit", "Bytes that they may take.", float(now.front_bytes_max as u64)),
        sites_aside(now.sites_aside as u64),
        paused(now.is_paused),
    ];
    metrics.extend(now.last_commit.map(last_commit));
    metrics
}

/// Of the pages of a crawl that visits them again.
#[must_use]
pub fn of_freshness(freshness: &Freshness) -> Vec<Metric> {
    let Freshness { pages, read, fresh, visited_days_ago, age_days, visits_again, changes, sites, .. } = freshness;
    let fresh_help = "Share of pages identical to the live web, estimated.";
    let visited = "Time since the last visit of a page, mean.";
    let outdated = "Time since a page became different from its copy, mean, estimated.";
    let again = "Visits after the first of the pages read for the estimate.";
    let there = "Pages that were there, which the estimate is of.";
    let of_read = "Pages read for the estimate.";
    let rate = "Changes of a page in a second, by quartile of the sites named, estimated.";
    vec![
        Metric::gauge("argiope_freshness_ratio", fresh_help, *fresh),
        Metric::gauge("argiope_freshness_pages", there, float(*pages)),
        Metric::gauge("argiope_freshness_pages_read", of_read, float(*read)),
        Metric::gauge("argiope_last_visit_age_seconds", visited, *visited_days_ago * DAY_SECONDS),
        Metric::gauge("argiope_outdated_seconds", outdated, *age_days * DAY_SECONDS),
        Metric::gauge("argiope_visits_again", again, float(*visits_again)),
        Metric::gauge("argiope_visits_with_change", "Of those, visits that found a change.", float(*changes)),
        Metric::gauge("argiope_site_change_rate", rate, 0.0).by("quantile", quartiles(sites).into_iter()),
    ]
}

/// The change rates of sites, in changes a second, at the quartiles. Names of sites are no labels: anyone may read the metrics.
fn quartiles(sites: &[Rate]) -> Vec<(&'static str, f64)> {
    let mut rates: Vec<f64> = sites.iter().map(|site| 1.0 / (site.days_between_changes * DAY_SECONDS)).collect();
    rates.sort_by(f64::total_cmp);
    let at = |quarter: usize| rates.get((rates.len().saturating_sub(1)) * quarter / 4);
    let named = |(quarter, name)| Some((name, *at(quarter)?));
    [(1, "0.25"), (2, "0.5"), (3, "0.75")].into_iter().filter_map(named).collect()
}

/// Of the URLs of a crawl.
#[must_use]
pub fn of_totals(totals: &Totals) -> Vec<Metric> {
    let count = |outcome: &Outcome| float(totals.outcomes.get(outcome).copied().unwrap_or_default());
    vec![
        Metric::gauge("argiope_urls", "Known URLs.", float(totals.urls)),
        Metric::gauge("argiope_urls_waiting", "URLs in the queue.", float(totals.pending)),
        Metric::gauge("argiope_urls_ended", "URLs by outcome.", 0.0)
            .by("outcome", Outcome::ALL.iter().map(|outcome| (outcome.as_str(), count(outcome)))),
    ]
}

/// Of a crawl by several workers, by its server.
#[must_use]
pub fn of_cluster(counted: &Counted) -> Vec<Metric> {
    let Counted { totals, counts, workers, is_paused, at } = counted;
    let mut metrics = of_totals(totals);
    let lost = "Workers whose leases ran out before they had left.";
    metrics.extend([
        Metric::gauge("argiope_workers", "Live workers.", float(*workers)),
        Metric::counter("argiope_leases_lost_total", lost, float(counts.leases_lost)),
        Metric::gauge(
            "argiope_groups_without_owner",
            "Politeness groups without an owner.",
            float(counts.groups_without_owner),
        ),
        Metric::gauge(
            "argiope_sites_without_group",
            "Sites with a queue and without a group.",
            float(counts.sites_without_group),
        ),
        Metric::gauge("argiope_unsealed_bytes", "Bytes of segments that are not sealed.", float(counts.unsealed_bytes)),
        Metric::gauge("argiope_counted_timestamp_seconds", "When the server counted this.", seconds(*at)),
        sites_aside(counts.sites_aside),
        paused(*is_paused),
    ]);
    metrics.extend(counts.committed_at.map(last_commit));
    metrics
}

/// Of a worker's process.
#[must_use]
pub fn of_worker(tally: &Tally) -> Vec<Metric> {
    let count = |count: &AtomicU64| float(count.load(Ordering::Relaxed));
    let (lives, uploads) = ("Lives of this worker that were lost.", "Uploads of segments that failed.");
    vec![
        Metric::counter("argiope_lives_lost_total", lives, count(&tally.lives_lost)),
        Metric::counter("argiope_uploads_failed_total", uploads, count(&tally.uploads_failed)),
    ]
}

fn sites_aside(sites: u64) -> Metric {
    Metric::gauge("argiope_sites_aside", "Sites in trouble, which are left alone for a while.", float(sites))
}

fn paused(is_paused: bool) -> Metric {
    Metric::gauge("argiope_paused", "1 while nothing new is fetched.", float(u64::from(is_paused)))
}

fn last_commit(at: Timestamp) -> Metric {
    Metric::gauge("argiope_last_commit_timestamp_seconds", "When the last commit was made.", seconds(at))
}

fn seconds(at: Timestamp) -> f64 {
    float(at.0) / 1e6
}

#[expect(clippy::cast_precision_loss, reason = "the format's numbers are floating")]
fn float(value: u64) -> f64 {
    value as f64
}

/// `None` where the system does not tell (proc(5)).
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().trim_end_matches(" kB");
    Some(kilobytes.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// Everything that any process shows.
    fn all() -> String {
        stages::time(stages::Stage::Decide, || ());
        let last_commit = Some(Timestamp(2_500_000));
        let now =
            Progress { pages: 3, bytes: 4_000, in_flight: 2, front_bytes_max: 5, last_commit, ..Progress::default() };
        let totals = Totals { urls: 9, pending: 7, outcomes: [(Outcome::Timeout, 2)].into(), ..Totals::default() };
        let counts = Counts { sites_aside: 6, unsealed_bytes: 8, leases_lost: 1, ..Counts::default() };
        let counted = Counted { totals, counts, workers: 4, is_paused: true, at: Timestamp(1_000_000) };
        let rate = |days_between_changes| Rate {
            of: "http://a.test".to_owned(),
            pages: 4,
            days_between_changes,
            fresh: 0.75,
            visits_again: 8,
            changes: 2,
        };
        let freshness = Freshness {
            pages: 9,
            read: 4,
            fresh: 0.75,
            visited_days_ago: 0.5,
            age_days: 0.25,
            visits_again: 8,
            changes: 2,
            sites: vec![rate(1.0), rate(2.0), rate(4.0)],
            paths: Vec::new(),
        };
        let mut text = text(&of_process());
        for metrics in [of_progress(&now), of_freshness(&freshness), of_worker(&Tally::default()), of_cluster(&counted)]
        {
            text.push_str(&super::text(&metrics));
        }
        text
    }

    #[test]
    fn every_metric_has_a_meaning_a_kind_and_a_value() {
        let text = all();
        for line in [
            "# TYPE argiope_pages_fetched_total counter",
            "argiope_pages_fetched_total 3",
            "argiope_payload_bytes_total 4000",
            "argiope_fetches_in_flight 2",
            "argiope_sites_waiting 0",
            "argiope_front_bytes 0",
            "argiope_front_bytes_limit 5",
            "argiope_last_commit_timestamp_seconds 2.5",
            "argiope_freshness_ratio 0.75",
            "argiope_freshness_pages 9",
            "argiope_freshness_pages_read 4",
            "argiope_last_visit_age_seconds 43200",
            "argiope_outdated_seconds 21600",
            "argiope_visits_again 8",
            "argiope_visits_with_change 2",
            "argiope_site_change_rate{quantile=\"0.5\"} 0.000005787037037037037",
            "argiope_paused 0",
            "argiope_paused 1",
            "argiope_urls_waiting 7",
            "argiope_urls_ended{outcome=\"timeout\"} 2",
            "argiope_urls_ended{outcome=\"html\"} 0",
            "argiope_sites_aside 6",
            "argiope_unsealed_bytes 8",
            "argiope_leases_lost_total 1",
            "argiope_workers 4",
            "argiope_counted_timestamp_seconds 1",
            "argiope_uploads_failed_total 0",
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

    #[test]
    fn the_documentation_has_the_metrics_that_there_are_and_no_others() {
        let text = all();
        let shown: BTreeSet<(&str, &str)> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# TYPE "))
            .map(|line| line.split_once(' ').expect("a name and a kind"))
            .collect();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
        let page = std::fs::read_to_string(&path).expect("the page");
        // | `name{label}` | kind | …
        let is_metric = |row: &&str| row.contains("| counter |") || row.contains("| gauge |");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `")).filter(is_metric);
        let documented: BTreeSet<(&str, &str)> = rows
            .map(|row| {
                let mut cells = row.split('|');
                let name = cells.next().and_then(|name| name.split(['`', '{']).next()).expect("a name");
                (name, cells.next().expect("a kind").trim())
            })
            .collect();
        assert_eq!(documented, shown);
    }
}
