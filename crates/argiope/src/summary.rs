//! The summary of a crawl for people.

use std::fmt::Write;

use crawl::summary::{RoundSoFar, Run, Summary, TimeSpent};
use model::Limit;
use settings::units::human_bytes;

/// What a run took of the processor is not shown if it was less, in seconds: shares of that say nothing.
const CPU_SECONDS_SHOWN_MIN: f64 = 0.1;
/// Shares of the processor's time below this are not shown.
const SHARE_SHOWN_MIN: f64 = 0.02;

/// The summary for people.
#[must_use]
pub fn to_text(summary: &Summary) -> String {
    let mut out = String::new();
    let further = summary.run.as_ref().filter(|run| run.is_further);
    if let Some(Run { fetched, bytes, seconds, .. }) = further {
        let bytes = human_bytes(*bytes);
        let _ = writeln!(out, "this run: {fetched} pages and documents fetched ({bytes}) in {seconds:.1} s");
        out.push_str("the whole crawl: ");
    }
    let _ = write!(
        out,
        "{} pages and documents fetched ({}) of {} URLs",
        summary.fetched,
        human_bytes(summary.bytes),
        summary.urls
    );
    let _ = write!(out, " on {} site{}", summary.sites, if summary.sites == 1 { "" } else { "s" });
    if let Some(run) = summary.run.as_ref().filter(|run| !run.is_further) {
        let _ = write!(out, " in {:.1} s", run.seconds);
    }
    out.push('\n');
    if let Some(RoundSoFar { number, began_at, fetched, left }) = &summary.round {
        let left = if *left > 0 { format!(", {left} left to be visited again") } else { String::new() };
        let _ = writeln!(out, "round {number}, since {began_at}: {fetched} pages and documents visited{left}");
    }
    for (outcome, count) in &summary.outcomes {
        // A value of JSON ignores the width.
        let count = count.to_string();
        let open = summary.open_in_words(outcome).map(|told| format!("   {told}")).unwrap_or_default();
        let _ = writeln!(out, "  {outcome:<17} {count:>9}{open}");
    }
    if summary.frontier > 0 {
        let told = summary.frontier_in_words();
        let _ = writeln!(out, "  {:<17} {:>9}   {told}", "frontier", summary.frontier);
    }
    for told in summary.troubled_in_words() {
        let _ = writeln!(out, "  {told}");
    }
    if summary.sitemaps > 0 {
        let _ = writeln!(out, "  {:<17} {:>9}   URLs, but no pages", "sitemaps", summary.sitemaps);
    }
    for (outcome, count) in &summary.requisites {
        let count = count.to_string();
        let _ = writeln!(out, "  {:<17} {count:>9}   {outcome}; URLs, but no pages", "requisites");
    }
    out.push_str(&left_out(summary));
    if let Some(time) = summary.time.as_ref().filter(|time| time.cpu_seconds >= CPU_SECONDS_SHOWN_MIN) {
        let _ = writeln!(out, "{}", shares(time));
    }
    for told in summary.lost_in_words().into_iter().chain(summary.aside_in_words()) {
        let _ = writeln!(out, "{told}");
    }
    let _ = writeln!(out, "in {}", summary.directory);
    out
}

/// What limits and trap rules left out, a line each.
fn left_out(summary: &Summary) -> String {
    let mut out = String::new();
    for limit in Limit::ALL {
        if let Some(count) = summary.limits.get(limit.as_str()) {
            let _ = writeln!(out, "  {:<17} {count:>9}   limit: {}", limit.as_str(), limit.meaning());
        }
    }
    out
}

/// The stages that had most of the processor, with their shares.
fn shares(time: &TimeSpent) -> String {
    let mut shares: Vec<(&str, f64)> =
        time.stages.iter().map(|stage| (stage.stage, stage.cpu_seconds / time.cpu_seconds)).collect();
    let other = 1.0 - shares.iter().map(|(_, share)| share).sum::<f64>();
    shares.push(("other", other));
    shares.retain(|(_, share)| *share >= SHARE_SHOWN_MIN);
    shares.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let shares: Vec<String> = shares.iter().map(|(name, share)| format!("{name} {:.0} %", share * 100.0)).collect();
    format!("processor {:.1} s: {}", time.cpu_seconds, shares.join(", "))
}
