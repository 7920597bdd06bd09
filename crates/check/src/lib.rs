//! Is the archive of a crawl whole, and does the state point into it rightly?
//!
//! Everything is read: each record of each segment, each index, each pointer. A repair mends the damage as far as that goes, and everything is
//! read again, so that what is reported at the end is how things are then.

mod archive;
mod audit;
mod pointers;
mod repair;
mod robots;
mod severity;

use std::path::Path;

use crawl::opened::Opened;
use serde::Serialize;

use crate::archive::Archive;

pub use audit::{Audit, Finding};
pub use repair::{LostVisit, Repair};
pub use robots::LostRobots;
pub use severity::Severity;

/// What a check found, and what a repair did about it.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The crawl's directory.
    pub directory: String,
    /// No errors are left, and no repair has just found something lost.
    pub ok: bool,
    /// How things are now: after the repair, if there was one.
    #[serde(flatten)]
    pub audit: Audit,
    /// What was repaired, where something had to be.
    pub repair: Option<Repair>,
}

/// Checks the archive of the crawl in a directory, and repairs it if `repairs`.
///
/// # Errors
/// The directory holds no crawl, its state or the disk fails, or a crawl that is to be repaired is running.
pub fn check(root: &Path, repairs: bool) -> anyhow::Result<Report> {
    let audited = |opened: &Opened| Audit::of(opened.view(), &Archive::of(opened)?);
    if !repairs {
        return Ok(Report::of(root, Opened::ask(root, audited)?, None));
    }
    let opened = Opened::to_change(root)?;
    let mut audit = audited(&opened)?;
    let mut repair = None;
    if audit.wants_repair() {
        let found = std::mem::take(&mut audit.findings);
        let mended = Repair::run(&opened, found)?;
        audit = audited(&opened)?;
        repair = Some(mended);
    }
    Ok(Report::of(root, audit, repair))
}

impl Report {
    fn of(root: &Path, audit: Audit, repair: Option<Repair>) -> Self {
        let has_lost = repair.as_ref().is_some_and(|repair| !repair.lost.is_empty() || !repair.lost_robots.is_empty());
        let ok = audit.errors == 0 && !has_lost;
        Report { directory: root.display().to_string(), ok, audit, repair }
    }
}
