//! A server measures the whole crawl for a monitoring system.

use testdb::until;

use crate::lab::{Lab, Laid};
use crate::served::get;

#[test]
fn what_alerts_need_is_counted_over_all_workers() {
    let lab = Lab::new(Laid::out(2, 6, 2), &["--metrics", "127.0.0.1:0"]);
    let address = lab.served.metrics.as_ref().expect("an address");
    let shows = |line: &str| {
        let (status, text) = get(address, "/metrics");
        status == 200 && text.lines().any(|shown| shown.starts_with(line))
    };
    let all_shown = |lines: &[&str]| until("all to be counted", || lines.iter().all(|line| shows(line)));
    let worker = lab.worker();
    lab.crawl();
    all_shown(&[
        "argiope_urls_ended{outcome=\"html\"} 6",
        "argiope_urls_waiting 0",
        "argiope_workers 1",
        "argiope_paused 0",
        "argiope_groups_without_owner 0",
        "argiope_leases_lost_total 0",
        "argiope_last_commit_timestamp_seconds 1",
        "argiope_database_errors_total 0",
    ]);
    lab.served.asked(&["steer", "pause"]);
    lab.lose(worker);
    let _other = lab.worker();
    all_shown(&["argiope_paused 1", "argiope_leases_lost_total 1", "argiope_workers 1"]);
}
