//! `argiope status`: where a crawl stands.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use archive::Orphan;
use ask::freshness::Freshness;
use clap::Args;
use engine::clock::Clock;
use printable::{Printable, write_json_line};
use serde::Serialize;
use store::Segment;

use crate::summary::Summary;
use crawl::opened::Opened;
use crawl::outlook::waits_in_words;
use crawl::trouble::InTrouble;
use crawl::{Changed, LiveView, SiteWaits};
use printable::counted;
use settings::units::human_bytes;

/// Sites whose change rates are named in the text; the JSON has more.
const RATES_SHOWN: usize = 5;
/// Seeds named in the text; all of them are in the JSON.
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

/// Changes shown, the last ones.
const CHANGES_SHOWN: usize = 5;

/// What is said of a crawl.
#[derive(Debug, Serialize)]
struct Status {
    #[serde(flatten)]
    summary: Summary,
    /// How fresh the pages are, by estimate; `None` before a page was visited again.
    freshness: Option<Freshness>,
    seeds: Vec<String>,
    segments: Vec<SegmentStatus>,
    archive_bytes: u64,
    /// What was set aside of the archive.
    orphaned: Vec<SegmentStatus>,
    /// Nothing new is fetched.
    paused: bool,
    /// Sites of which nothing is asked.
    hold: Vec<String>,
    /// The last changes from outside.
    changes: Vec<Changed>,
    /// What holds the sites of a running crawl up.
    waits: Option<SiteWaits>,
}

#[derive(Debug, Serialize)]
struct SegmentStatus {
    name: String,
    bytes: u64,
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl, or a crawl is running in it.
pub fn run(args: StatusArgs) -> anyhow::Result<ExitCode> {
    let opened = Opened::new(&args.dir)?;
    let status = Status::of(&opened)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        write_json_line(&mut out, &status)?;
    } else {
        out.write_all(status.to_text().as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Status {
    fn of(opened: &Opened) -> anyhow::Result<Self> {
        let totals = opened.view().totals()?;
        let end = match totals.pending {
            _ if opened.is_running() => "running",
            0 => "finished",
            _ => "pending",
        };
        let in_trouble = if totals.pending > 0 { InTrouble::of(opened.view())? } else { None };
        let is_first = totals.round.number == 1;
        let freshness = if is_first { None } else { Freshness::of(opened.view(), Clock::start().date())? };
        let segments = opened.view().segments()?;
        let orphaned = archive::orphans(&opened.dir.archive())?;
        let options = opened.options()?;
        let mut changes = Changed::all_of(&opened.dir)?;
        changes.drain(..changes.len().saturating_sub(CHANGES_SHOWN));
        let waits = opened.live().map(LiveView::waits).transpose()?.flatten();
        Ok(Status {
            waits,
            paused: options.paused == Some(true),
            hold: options.hold.iter().map(ToString::to_string).collect(),
            changes,
            freshness,
            orphaned: orphaned.into_iter().map(|Orphan { name, bytes }| SegmentStatus { name, bytes }).collect(),
            summary: Summary { in_trouble, ..Summary::new(end, &totals, opened.dir.root()) },
            seeds: opened.view().seeds()?.iter().map(ToString::to_string).collect(),
            archive_bytes: segments.iter().map(|segment| segment.length).sum(),
            segments: segments
                .into_iter()
                .map(|Segment { name, length, .. }| SegmentStatus { name, bytes: length })
                .collect(),
        })
    }

    fn to_text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = match self.summary.end.as_str() {
            "finished" => writeln!(out, "finished: every URL found has its outcome"),
            "running" => writeln!(out, "running: as of the last commit"),
            _ => writeln!(out, "pending: `argiope crawl -o {}` goes on", self.summary.directory),
        };
        if self.paused {
            let _ = writeln!(out, "paused: `argiope steer {} resume` lets it go on", self.summary.directory);
        }
        if !self.hold.is_empty() {
            let _ = writeln!(out, "on hold: {}", self.hold.join(" "));
        }
        if let Some(waits) = self.waits.as_ref().and_then(waits_in_words) {
            let _ = writeln!(out, "the crawl waits for: {waits}");
        }
        out.push_str(&self.summary.to_text());
        if let Some(freshness) = &self.freshness {
            write_freshness(&mut out, freshness);
        }
        let shown = self.seeds.iter().take(SEEDS_SHOWN).map(String::as_str).collect::<Vec<_>>().join(" ");
        let more = if self.seeds.len() > SEEDS_SHOWN { " …" } else { "" };
        let _ = writeln!(out, "{}: {shown}{more}", counted(self.seeds.len() as u64, "seed"));
        let segments = counted(self.segments.len() as u64, "segment");
        let _ = writeln!(out, "archive: {segments}, {}", human_bytes(self.archive_bytes));
        for Changed { at, change } in &self.changes {
            let _ = writeln!(out, "steered: {at} {}", Printable(&change.to_string()));
        }
        out
    }
}

fn write_freshness(out: &mut String, freshness: &Freshness) {
    let Freshness { pages, fresh, visited_days_ago, age_days, visits_again, changes, sites, .. } = freshness;
    let _ = writeln!(
        out,
        "freshness: an estimated {:.1} % of {} are as on the web (visited {visited_days_ago:.1} days ago, outdated for {age_days:.1} days, on \
         average)",
        fresh * 100.0,
        counted(*pages, "page")
    );
    let _ = writeln!(out, "  {changes} of {} after the first found a change", counted(*visits_again, "visit"));
    for rate in sites.iter().take(RATES_SHOWN) {
        let days = rate.days_between_changes;
        let _ = writeln!(out, "  {}: a page changes about every {days:.1} days", Printable(&rate.of));
    }
}
