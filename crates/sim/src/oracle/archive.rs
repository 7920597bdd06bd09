//! Is the archive whole, and does the state point to the right records?

use std::collections::BTreeMap;
use std::path::Path;

use store::{Entry, Store};

use super::{Check, Findings};
use crate::time::TrueTime;

/// No record of the synthetic web is larger.
const BLOCK_BYTES_MAX: u64 = 1 << 24;

pub(super) fn judge(dir: &Path, store: &dyn Store, now: TrueTime, findings: &mut Findings) {
    let mut names = BTreeMap::new();
    for segment in store.segments().unwrap_or_default() {
        let path = dir.join(&segment.name);
        match warc::check(&path) {
            Ok(report) if !report.has_errors && report.file_bytes == segment.length => {}
            Ok(report) => {
                let detail = format!("{}: {} bytes, {:?}", segment.name, report.file_bytes, report.findings);
                findings.add(Check::Archive, now, detail);
            }
            Err(error) => findings.add(Check::Archive, now, format!("{}: {error}", segment.name)),
        }
        names.insert(segment.serial, path);
    }
    for entry in store.scan(None, usize::MAX).unwrap_or_default() {
        if let Err(problem) = judge_entry(&entry, &names) {
            findings.add(Check::Archive, now, format!("{}: {problem}", entry.candidate.url));
        }
    }
}

fn judge_entry(entry: &Entry, names: &BTreeMap<u32, std::path::PathBuf>) -> Result<(), String> {
    let Some(visit) = &entry.visit else { return Ok(()) };
    let Some(location) = visit.location else {
        return if visit.status == 0 { Ok(()) } else { Err("answered, but without a record".to_owned()) };
    };
    let path = names.get(&location.segment).ok_or("in a segment that is not there")?;
    let record = warc::read_at(path, location.offset, BLOCK_BYTES_MAX).map_err(|error| error.to_string())?;
    let url = record.header.target_uri().unwrap_or_default();
    if url != entry.candidate.url.as_str() || record.location.length != location.length {
        return Err(format!("the record there is one of {url}"));
    }
    Ok(())
}
