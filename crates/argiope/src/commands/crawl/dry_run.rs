//! `--dry-run`: the settings in force, what becomes of the seeds, and what their sites' robots.txt say. Nothing is written.

use std::io::Write;
use std::process::ExitCode;

use crawl::dry_run::{SITES_ASKED_MAX, Seed, judge};
use printable::{Printable, counted};
use settings::plan::Plan;
use weburl::CanonicalUrl;

use crate::exit;

/// Says what a crawl would begin with.
///
/// # Errors
/// The fetcher cannot be made.
pub(super) fn run(plan: &Plan, seeds: &[CanonicalUrl]) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout();
    let settings = plan.options.to_toml("")?;
    for line in settings.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(judge(plan, seeds, |seed, judged| writeln!(out, "{seed}: {}", in_words(&judged))))?;
    writeln!(out, "{}; nothing was written", counted(seeds.len() as u64, "seed"))?;
    Ok(ExitCode::from(exit::DONE))
}

fn in_words(judged: &Seed) -> String {
    match judged {
        Seed::Excluded(rule) => format!("excluded: {}", Printable(rule)),
        Seed::Heedless => "robots.txt is ignored".to_owned(),
        Seed::NotAsked => format!("robots.txt is not requested: {} were", counted(SITES_ASKED_MAX as u64, "site")),
        Seed::Unknown(failure) => format!("robots.txt: {}", Printable(failure)),
        Seed::Judged { allowed, by, delay, unread } => {
            let verdict = if *allowed { "allowed" } else { "disallowed" };
            let delay = delay.map(|delay| format!("; Crawl-delay {} s", delay.as_secs_f64())).unwrap_or_default();
            let unread: String = unread.told().map(|line| format!("; {}", Printable(&line))).collect();
            format!("{verdict} by robots.txt: {}{delay}{unread}", Printable(by))
        }
    }
}
