//! Reading everything: the records of each segment, the indexes, and the pointers of the state.

use std::collections::{BTreeMap, HashSet};
use std::io::Read;
use std::path::Path;

use archive::{Fate, ORPHANED, Orphan, Unknown};
use serde::Serialize;
use settings::units::human_bytes;
use store::{CrawlView, Segment};
use warc::{Problem, Reader, RecordType};

use crate::archive::Archive;
use crate::pointers::{Pointers, Pointing};
use crate::robots;
use crate::severity::Severity;

/// Findings kept; more are only counted.
const FINDINGS_MAX: usize = 10_000;

/// What was read, and what is wrong with it.
#[derive(Debug, Default, Serialize)]
pub struct Audit {
    /// False for a crawl with `--no-archive`: there is nothing to check.
    #[serde(rename = "archive")]
    pub is_kept: bool,
    /// Segments read.
    pub segments: u64,
    /// Whole records.
    pub records: u64,
    /// Bytes of the segments.
    pub bytes: u64,
    /// Whole records by type.
    pub by_type: BTreeMap<&'static str, u64>,
    /// Visits whose pointer was followed.
    pub pointers: u64,
    /// Findings that are errors.
    pub errors: u64,
    /// Findings that are warnings.
    pub warnings: u64,
    /// The findings, those of the archive first.
    pub findings: Vec<Finding>,
    /// Findings that are only counted.
    pub findings_left_out: u64,
    /// Something is not as it should be in the end, although it is no error.
    #[serde(skip)]
    can_be_mended: bool,
    /// Segments of which all or the tail is set aside when the archive is opened.
    #[serde(skip)]
    set_aside: HashSet<String>,
    /// Segments whose index does not agree with them.
    #[serde(skip)]
    misindexed: HashSet<String>,
}

/// One thing that is wrong.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The file it is in.
    pub file: Option<String>,
    /// Where in the file, in bytes.
    pub offset: Option<u64>,
    /// The URL it concerns.
    pub url: Option<String>,
    /// What is wrong, in words.
    pub problem: String,
}

impl Audit {
    /// Reads the archive, and follows every pointer of the state.
    ///
    /// # Errors
    /// The state cannot be read, or the directory cannot be listed.
    pub(crate) fn of(store: &dyn CrawlView, archive: &Archive) -> anyhow::Result<Self> {
        let mut audit = Audit { is_kept: archive.is_kept, ..Audit::default() };
        if archive.is_kept && archive.dir().is_dir() {
            for Unknown { name, fate, .. } in archive.unknown()?.iter().filter(|unknown| unknown.from == 0) {
                let problem = match (archive.is_running, fate) {
                    _ if archive.is_of_workers => {
                        "is not known to the state as sealed: unless a worker seals it, the next `argiope server` sets it aside in archive/orphaned"
                    }
                    (true, _) => "is new: the crawl that runs has not committed it yet",
                    (false, Fate::Cut) => "is not known to the state: the next crawl in this directory removes it",
                    (false, Fate::SetAside) => {
                        "is not known to the state: the next crawl in this directory sets it aside in archive/orphaned"
                    }
                };
                audit.add(Finding::in_file(Severity::Note, name, None, problem));
            }
            for Orphan { name, bytes, is_kept } in archive.orphans()? {
                let name = format!("{ORPHANED}/{name}");
                let then = match is_kept {
                    false if archive.is_of_workers => ", since the database does not know it (docs/shared-archive.md)",
                    false => ", since the state does not know it: `argiope adopt` takes its pages in",
                    true => " and adopted as far as that goes: keep it, it has the only copy of the rest",
                };
                let problem = format!("is set aside ({}){then}", human_bytes(bytes));
                audit.add(Finding::in_file(Severity::Note, &name, None, problem));
                audit.damage_aside(&archive.dir().join(&name), &name);
            }
            let aside = archive.unknown()?.into_iter().filter(|unknown| unknown.fate == Fate::SetAside);
            audit.set_aside = aside.map(|unknown| unknown.name).collect();
        }
        for segment in archive.segments() {
            audit.segment(archive, segment);
        }
        audit.pointers(store, archive)?;
        audit.taken_back(store, archive)?;
        for robots::WithoutOriginal { segment, offset, url, date } in
            robots::without_original(archive, &audit.misindexed)
        {
            let problem = format!(
                "the record repeats that of {date}, which is not in the archive: it has no content, and nothing brings it back"
            );
            audit.add(Finding {
                severity: Severity::Warning,
                file: Some(segment),
                offset: Some(offset),
                url: Some(url),
                problem,
            });
        }
        Ok(audit)
    }

    /// True where `--repair` has something to do, or at least to try.
    pub(crate) fn wants_repair(&self) -> bool {
        self.errors > 0 || self.can_be_mended
    }

    fn add(&mut self, finding: Finding) {
        match finding.severity {
            Severity::Note => {}
            Severity::Warning => self.warnings += 1,
            Severity::Error => self.errors += 1,
        }
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        } else {
            self.findings_left_out += 1;
        }
    }

    fn segment(&mut self, archive: &Archive, segment: &Segment) {
        let path = archive.path(segment);
        self.segments += 1;
        let report = match warc::check(&path) {
            Ok(report) => report,
            Err(_) if !path.exists() => {
                return self.add(Finding::in_file(Severity::Error, &segment.name, None, "is missing"));
            }
            Err(error) => return self.add(Finding::in_file(Severity::Error, &segment.name, None, error)),
        };
        self.records += report.records;
        self.bytes += report.file_bytes;
        for (kind, count) in &report.records_by_type {
            *self.by_type.entry(kind.as_str()).or_default() += count;
        }
        let mut is_damaged = self.length(segment, &path, (report.file_bytes, archive.is_running));
        for finding in report.findings.iter().filter(|finding| finding.offset < segment.length) {
            is_damaged |= matches!(finding.problem, Problem::Damaged { .. });
            let severity = if finding.severity == warc::Severity::Error { Severity::Error } else { Severity::Warning };
            self.add(Finding::in_file(severity, &segment.name, Some(finding.offset), &finding.problem));
        }
        self.findings_left_out += report.findings_left_out;
        if !is_damaged {
            self.index(archive, segment, &path);
        }
    }

    /// The damage in a file that was set aside. No repair brings back what it held.
    fn damage_aside(&mut self, path: &Path, name: &str) {
        let report = match warc::check(path) {
            Ok(report) => report,
            Err(error) => return self.add(Finding::in_file(Severity::Warning, name, None, error)),
        };
        for finding in report.findings.iter().filter(|finding| finding.severity == warc::Severity::Error) {
            let problem = format!("{}: `argiope adopt` passes it over, and --repair leaves it", finding.problem);
            self.add(Finding::in_file(Severity::Warning, name, Some(finding.offset), problem));
        }
        self.findings_left_out += report.findings_left_out;
    }

    /// Compares the length of a segment with what is committed of it. Tells whether they differ.
    fn length(&mut self, segment: &Segment, path: &Path, (found, is_running): (u64, bool)) -> bool {
        let committed = segment.length;
        let (severity, problem) = match found.checked_sub(committed) {
            Some(0) => return false,
            Some(_) if !archive::is_record_end(path, committed).unwrap_or(true) => {
                let problem = format!(
                    "no record ends at byte {committed}, up to which the state knows the file: it was changed from outside"
                );
                (Severity::Error, problem)
            }
            Some(tail) if is_running => (
                Severity::Note,
                format!("the last {tail} bytes are new: the crawl that runs has not committed them yet"),
            ),
            Some(tail) => {
                self.can_be_mended = true;
                let verb = if self.set_aside.contains(&segment.name) { "sets them aside" } else { "cuts them off" };
                (Severity::Note, format!("the last {tail} bytes are uncommitted: the next crawl or --repair {verb}"))
            }
            None => (Severity::Error, format!("{} of {committed} committed bytes are missing", committed - found)),
        };
        self.add(Finding::in_file(severity, &segment.name, Some(committed.min(found)), problem));
        true
    }

    /// Compares the index of a whole segment with a fresh one.
    fn index(&mut self, archive: &Archive, segment: &Segment, path: &Path) {
        let index = archive::index_path(path);
        let name = index.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let (severity, problem) = match index.exists() {
            true => match is_fresh(&index, path) {
                Ok(true) => return,
                Ok(false) => (Severity::Error, "does not agree with its segment: --repair rebuilds it".to_owned()),
                Err(error) => (Severity::Error, error.to_string()),
            },
            false if archive.is_written_to(segment) => return,
            false if archive.is_pending => {
                (Severity::Note, "is not written yet: the next crawl or --repair writes it".to_owned())
            }
            false => (Severity::Error, "is missing: --repair rebuilds it".to_owned()),
        };
        self.can_be_mended = true;
        self.misindexed.insert(segment.name.clone());
        self.add(Finding::in_file(severity, &name, None, problem));
    }

    fn pointers(&mut self, store: &dyn CrawlView, archive: &Archive) -> anyhow::Result<()> {
        let pointers = Pointers { store, archive };
        let mut after = None;
        while let Some((some, next)) = pointers.some(after)? {
            after = Some(next);
            for Pointing { url, visit } in &some {
                self.pointers += u64::from(visit.location.is_some());
                for (severity, problem) in pointers.problems(url, visit)? {
                    let segment = visit.location.and_then(|location| archive.segment(location.segment));
                    self.add(Finding {
                        severity,
                        file: segment.map(|segment| segment.name.clone()),
                        offset: visit.location.map(|location| location.offset),
                        url: Some(url.to_string()),
                        problem,
                    });
                }
            }
        }
        Ok(())
    }
}

impl Audit {
    /// Names the records that have no content, since what they repeat was lost, as a rule with a worker: their visits were taken back, and what
    /// is in the archive stays there.
    fn taken_back(&mut self, store: &dyn CrawlView, archive: &Archive) -> anyhow::Result<()> {
        for (serial, offsets) in store.taken_back()? {
            let Some(segment) = archive.segment(serial) else { continue };
            for offset in offsets.into_iter().filter(|offset| *offset < segment.length) {
                // What cannot be read there is damaged, and found as that; or a repair has moved the record.
                let record = Reader::open(archive.path(segment), offset)
                    .and_then(|mut reader| Ok(reader.next_record()?.map(|record| record.header().clone())));
                let Ok(Some(header)) = record else { continue };
                if header.record_type() != Some(RecordType::Revisit) {
                    continue;
                }
                let original = header.get("WARC-Refers-To-Target-URI").unwrap_or("another");
                let problem = format!(
                    "the record repeats {original}, whose record was lost: it has no content, and its visit was taken back"
                );
                self.add(Finding {
                    severity: Severity::Note,
                    file: Some(segment.name.clone()),
                    offset: Some(offset),
                    url: header.target_uri().map(str::to_owned),
                    problem,
                });
            }
        }
        Ok(())
    }
}

impl Finding {
    fn in_file(severity: Severity, name: &str, offset: Option<u64>, problem: impl ToString) -> Self {
        Finding { severity, file: Some(name.to_owned()), offset, url: None, problem: problem.to_string() }
    }
}

fn is_fresh(index: &Path, segment: &Path) -> anyhow::Result<bool> {
    let mut lines: Vec<String> = warc::index(segment)?.iter().map(|line| format!("{line}\n")).collect();
    lines.sort_unstable();
    let bytes: usize = lines.iter().map(String::len).sum();
    let mut file = fresh::open_to_read(index)?;
    if file.metadata()?.len() != bytes as u64 {
        return Ok(false);
    }
    let mut found = Vec::with_capacity(bytes);
    file.read_to_end(&mut found)?;
    Ok(found == lines.concat().as_bytes())
}
