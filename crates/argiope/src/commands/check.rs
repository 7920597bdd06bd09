//! `argiope check`: is the archive whole, and does the state point into it rightly?

use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use ::check::{Audit, Finding, LostRobots, LostVisit, Report, Severity};
use clap::Args;
use printable::{Printable, counted, write_json_line};
use settings::units::human_bytes;

use crate::exit;

/// Lines of one kind in the text.
const LINES_MAX: usize = 100;

/// The arguments of `argiope check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// Repair: cut broken tails, remove damaged records, move pointers, rebuild indexes
    #[arg(long)]
    pub repair: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Runs the command. It fails, after its report, where errors are left.
///
/// # Errors
/// The directory holds no crawl, a crawl is running in it, or the disk fails.
pub fn run(args: CheckArgs) -> anyhow::Result<ExitCode> {
    let report = ::check::check(&args.dir, args.repair)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        write_json_line(&mut out, &report)?;
    } else {
        out.write_all(to_text(&report).as_bytes())?;
    }
    Ok(ExitCode::from(if report.ok { exit::DONE } else { exit::FAILED }))
}

fn to_text(report: &Report) -> String {
    let mut out = String::new();
    if let Some(repair) = &report.repair {
        list(&mut out, &repair.found);
        out.push('\n');
        for action in &repair.actions {
            let _ = writeln!(out, "repair: {}", Printable(action));
        }
        for LostVisit { url, at, round } in repair.lost_visits.iter().take(LINES_MAX) {
            let _ = writeln!(out, "lost: the response of {}, visited {at} (round {round})", Printable(url));
        }
        if repair.lost_visits.len() > LINES_MAX {
            let _ = writeln!(out, "… and {} more are lost: see --json", repair.lost_visits.len() - LINES_MAX);
        }
        for LostRobots { url, at } in repair.lost_robots.iter().take(LINES_MAX) {
            let at = at.as_ref().map(|at| format!(" of {at}")).unwrap_or_default();
            let _ = writeln!(out, "lost: the record{at} of {}", Printable(url));
        }
        if repair.lost_robots.len() > LINES_MAX {
            let _ = writeln!(out, "… and {} more are lost: see --json", repair.lost_robots.len() - LINES_MAX);
        }
        if !repair.lost_robots.is_empty() {
            let lost = counted(repair.lost_robots.len() as u64, "record");
            let _ = writeln!(
                out,
                "{lost} of robots.txt files lost: a site without any is asked for its file again, before anything else"
            );
        }
        if let Some(next) = &repair.next {
            let _ = writeln!(out, "next: {}", Printable(next));
        }
        let left = if report.audit.errors == 0 { "nothing is wrong now" } else { "still wrong:" };
        let _ = writeln!(out, "\nAfter the repair {left}");
    }
    list(&mut out, &report.audit.findings);
    if report.audit.findings_left_out > 0 {
        let _ = writeln!(out, "… and {} more that were only counted", report.audit.findings_left_out);
    }
    let Audit { errors, warnings, .. } = report.audit;
    let verdict = match (errors, warnings) {
        (0, 0) => "no errors".to_owned(),
        _ => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
    };
    let _ = writeln!(out, "{verdict}: {}", totals(&report.audit));
    out
}

/// The line that ends the report, without its verdict.
fn totals(audit: &Audit) -> String {
    if !audit.is_kept {
        return "this crawl keeps no archive".to_owned();
    }
    let types: Vec<String> = audit.by_type.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    format!(
        "{} ({}) in {}: {}; {} followed",
        counted(audit.records, "record"),
        human_bytes(audit.bytes),
        counted(audit.segments, "segment"),
        if types.is_empty() { "none".to_owned() } else { types.join(", ") },
        counted(audit.pointers, "pointer")
    )
}

/// One finding a line, as far as there is room. Writing to a string cannot fail.
fn list(out: &mut String, findings: &[Finding]) {
    for finding in findings.iter().take(LINES_MAX) {
        let _ = writeln!(out, "{}", Line(finding));
    }
    if findings.len() > LINES_MAX {
        let _ = writeln!(out, "… and {} more: see --json", findings.len() - LINES_MAX);
    }
}

/// `error: FILE at OFFSET: problem`, or `error: URL: problem (FILE at OFFSET)`.
struct Line<'a>(&'a Finding);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { severity, file, offset, url, problem } = self.0;
        let severity = match severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let place = match (file, offset) {
            (Some(file), Some(offset)) => format!("{file} at {offset}"),
            (file, _) => file.clone().unwrap_or_default(),
        };
        let problem = Printable(problem);
        match url {
            None => write!(f, "{severity}: {place}: {problem}"),
            Some(url) if place.is_empty() => write!(f, "{severity}: {}: {problem}", Printable(url)),
            Some(url) => write!(f, "{severity}: {}: {problem} ({place})", Printable(url)),
        }
    }
}
