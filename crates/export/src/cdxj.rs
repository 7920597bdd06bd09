//! The index of the archive: one sorted CDXJ file for all of its segments.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use serde::Deserialize;
use sort::Sorter;
use store::Segment;
use warc::Indexer;

use crate::archive::{Admission, damaged};
use crate::{Crawl, ExportError, Filter, Progress};

/// Lines between two reports of progress.
const REPORT_LINES: u64 = 1_000;

/// Writes the lines of all records that the filter admits, sorted by their bytes; they say where the records lie in the
/// crawl's own archive. `target` names what is written to, in errors.
///
/// The index beside a segment is used where there is one.
///
/// # Errors
/// There is no archive, it cannot be read, or `out` cannot be written.
pub fn write(
    crawl: &Crawl<'_>,
    filter: &Filter,
    target: &Path,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), ExportError> {
    let mut admission = Admission::new(crawl, filter)?;
    let mut sorter = Sorter::beside(target);
    let mut done = 0;
    for segment in crawl.segments()? {
        lines_of(crawl, segment, &mut |line| {
            if filter.is_everything() || admission.of(&url_of(line)?)?.is_admitted {
                sorter.push(&[line.as_bytes()])?;
            }
            done += 1;
            if done % REPORT_LINES == 0 {
                progress(done);
            }
            Ok(())
        })?;
    }
    for line in sorter.sorted()? {
        out.write_all(&line?).and_then(|()| out.write_all(b"\n")).map_err(|error| ExportError::io(target, error))?;
    }
    Ok(())
}

type Take<'t> = &'t mut dyn FnMut(&str) -> Result<(), ExportError>;

/// The lines of a segment, in some order.
fn lines_of(crawl: &Crawl<'_>, segment: Segment, take: Take<'_>) -> Result<(), ExportError> {
    let stem = segment.name.trim_end_matches(".warc.gz");
    let index = crawl.archive.join(format!("{stem}.cdxj"));
    match fresh::open_to_read(&index) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => lines_of_records(crawl, segment, take),
        Err(error) => Err(ExportError::io(&index, error)),
        Ok(file) => BufReader::new(file)
            .lines()
            .try_for_each(|line| take(&line.map_err(|error| ExportError::io(&index, error))?)),
    }
}

/// The lines of a segment that has no index yet.
fn lines_of_records(crawl: &Crawl<'_>, segment: Segment, take: Take<'_>) -> Result<(), ExportError> {
    let mut open = crawl.open_segment(segment)?;
    let mut indexer = Indexer::new(&open.segment.name);
    while open.read < open.segment.length {
        let error = |error| damaged(&open.path, &error);
        let Some(mut record) = open.reader.next_record().map_err(error)? else { break };
        if let Some(line) = indexer.begin(&mut record).map_err(error)? {
            take(&line.to_string())?;
        }
        let location = record.finish().map_err(error)?;
        open.read = location.offset + location.length;
        indexer.end(location);
    }
    indexer.finish().map_or(Ok(()), |line| take(&line.to_string()))
}

#[derive(Deserialize)]
struct Line {
    url: String,
}

fn url_of(line: &str) -> Result<String, ExportError> {
    let json = line.splitn(3, ' ').nth(2).unwrap_or_default();
    let line: Result<Line, _> = serde_json::from_str(json);
    Ok(line.map_err(|error| ExportError::Other(format!("a line of the index cannot be read: {error}")))?.url)
}
