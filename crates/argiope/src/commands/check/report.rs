//! The report of a check: as text, and as one JSON object.

use std::fmt::{self, Write as _};
use std::path::Path;

use printable::Printable;
use serde::Serialize;

use super::audit::{Audit, Finding, Severity};
use super::repair::Repair;
use printable::counted;

/// Lines of one kind in the text.
const LINES_MAX: usize = 100;

/// What a check found, and what a repair did about it.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    directory: String,
    /// No errors are left.
    pub(super) ok: bool,
    /// How things are now: after the repair, if there was one.
    #[serde(flatten)]
    audit: Audit,
    repair: Option<Repair>,
}

impl Report {
    pub(super) fn new(directory: &Path, audit: Audit, repair: Option<Repair>) -> Self {
        Report { directory: directory.display().to_string(), ok: audit.errors == 0, audit, repair }
    }

    pub(super) fn to_text(&self) -> String {
        let mut out = String::new();
        if let Some(repair) = &self.repair {
            list(&mut out, &repair.found);
            out.push('\n');
            for action in &repair.actions {
                let _ = writeln!(out, "repair: {}", Printable(action));
            }
            for url in repair.lost.iter().take(LINES_MAX) {
                let _ = writeln!(out, "lost: the response of {}", Printable(url));
            }
            if repair.lost.len() > LINES_MAX {
                let _ = writeln!(out, "… and {} more are lost: see --json", repair.lost.len() - LINES_MAX);
            }
            let left = if self.ok { "nothing is wrong now" } else { "still wrong:" };
            let _ = writeln!(out, "\nAfter the repair {left}");
        }
        list(&mut out, &self.audit.findings);
        if self.audit.left_out() > 0 {
            let _ = writeln!(out, "… and {} more that were only counted", self.audit.left_out());
        }
        let Audit { errors, warnings, .. } = self.audit;
        let verdict = match (errors, warnings) {
            (0, 0) => "no errors".to_owned(),
            _ => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
        };
        let _ = writeln!(out, "{verdict}: {}", self.audit.totals());
        out
    }
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
