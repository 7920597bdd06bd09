//! `argiope status`: where a crawl stands.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use ask::status::Status;
use clap::Args;
use crawl::Changed;
use crawl::opened::Opened;
use crawl::outlook::waits_in_words;
use engine::clock::Clock;
use printable::{Printable, counted, write_json_line};
use settings::units::human_bytes;

use crate::summary;

/// Seeds named in the text; the JSON has more of them.
const SEEDS_SHOWN: usize = 5;

/// The arguments of `argiope status`.
#[derive(Args, Debug)]
pub struct StatusArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl, or a crawl is running in it.
pub fn run(args: StatusArgs) -> anyhow::Result<ExitCode> {
    let status = Opened::ask(&args.dir, Status::of)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        write_json_line(&mut out, &status)?;
    } else {
        out.write_all(to_text(&status).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn to_text(status: &Status) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = match status.summary.end.as_str() {
        "finished" => writeln!(out, "finished: every URL found has its outcome"),
        "running" => writeln!(out, "running: as of the last commit"),
        _ => writeln!(out, "pending: {}", status.summary.who_goes_on()),
    };
    if status.paused {
        let _ = writeln!(out, "paused: `{}` lets it go on", status.summary.resume_command());
    }
    if let Some(max) = status.max_pages_per_site.filter(|_| status.summary.end == "pending") {
        let _ = writeln!(
            out,
            "at most {} of a site (max-pages-per-site): `explain` says of a URL whether it waits for more",
            counted(max, "page")
        );
    }
    if !status.hold.is_empty() {
        let _ = writeln!(out, "on hold: {}", status.hold.join(" "));
    }
    if let Some(waits) = status.waits.as_ref().and_then(|waits| waits_in_words(waits, Clock::start().date())) {
        let _ = writeln!(out, "the crawl waits for: {waits}");
    }
    out.push_str(&summary::to_text(&status.summary));
    if let Some(freshness) = &status.freshness {
        let _ = write!(out, "{freshness}");
    }
    if let Some(at) = &status.counted_at {
        let _ = writeln!(out, "seeds, sites in trouble, failures and freshness: as of {at}");
    }
    let shown = status.seeds.iter().take(SEEDS_SHOWN).map(String::as_str).collect::<Vec<_>>().join(" ");
    let more = if status.seeds_count > SEEDS_SHOWN as u64 { " …" } else { "" };
    let _ = writeln!(out, "{}: {shown}{more}", counted(status.seeds_count, "seed"));
    let segments = counted(status.segments.len() as u64, "segment");
    let _ = writeln!(out, "archive: {segments}, {}", human_bytes(status.archive_bytes));
    if let Some(fault) = &status.archive_fault {
        let _ = writeln!(out, "archive: {}", Printable(fault));
    }
    for Changed { at, change, .. } in &status.changes {
        let _ = writeln!(out, "steered: {at} {}", Printable(&change.to_string()));
    }
    out
}
