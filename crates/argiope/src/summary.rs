//! The summary of a crawl for people.

use std::fmt::Write;

use crawl::summary::{RoundSoFar, Run, Summary, TimeSpent};
use crawl::trouble::Named;
use model::{Limit, Outcome};
use printable::{Printable, counted};
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
        let (count, open) = (count.to_string(), open(summary, outcome));
        let _ = writeln!(out, "  {outcome:<17} {count:>9}{open}");
    }
    if summary.frontier > 0 {
        let tried = summary.passing.as_ref().map_or(0, |passing| passing.tried);
        let told = match (tried, summary.frontier.saturating_sub(tried)) {
            // They may not have been looked at.
            (0, _) => "not visited yet, or failed so far".to_owned(),
            (tried, 0) => format!("{tried} failed so far, and will be tried again"),
            (tried, new) => format!("{new} not visited yet; {tried} failed so far, and will be tried again"),
        };
        let _ = writeln!(out, "  {:<17} {:>9}   {told}", "frontier", summary.frontier);
    }
    for Named { site, due, reason } in summary.in_trouble.iter().flat_map(|trouble| &trouble.named) {
        let _ = writeln!(out, "  in trouble {site}: {}; asked again from {due} on", Printable(reason));
    }
    if let Some(more @ 1..) = summary.in_trouble.as_ref().map(|all| all.sites.saturating_sub(all.named.len() as u64)) {
        let _ = writeln!(out, "  in trouble {} more", counted(more, "site"));
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

/// How many URLs with an outcome are not final, and what asks for those again that are.
fn open(summary: &Summary, outcome: &str) -> String {
    if outcome == Outcome::GivenUp.as_str() {
        return "   `--retry given_up` asks for them again".to_owned();
    }
    let Some(open) = summary.passing.as_ref().and_then(|passing| passing.outcomes.get(outcome)) else {
        return String::new();
    };
    let told = [(open.waiting, "to be visited again"), (open.known, "known from an earlier visit")];
    let told = told.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    format!("   not final: {}", told.collect::<Vec<_>>().join(", "))
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
