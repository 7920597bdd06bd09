//! The table `crawl` of the key-value store that the course CIS 5550 builds (`docs/exports.md`).
//!
//! ```text
//! KEY SP (COLUMN SP LENGTH SP BYTES SP)* LF          a row, behind the other, as the store's tables lie on the disk
//! ```
//!
//! KEY is the SHA-1 digest of the URL in lower-case hexadecimal digits, LENGTH the number of BYTES, in decimal digits.

mod anchors;
mod key;
mod row;

use std::io::Write;
use std::path::Path;

use model::{Outcome, Visit};
use replay::Replay;

use crate::{Crawl, ExportError, Filter, Progress, Selected};
use anchors::Anchors;
use key::{text_with_port, with_port};
use row::RowWriter;

pub use key::{KeyError, KeyPart, key_of};

/// Writes a row for every URL that was requested. `target` names what is written to, in errors; what has to be sorted lies
/// beside it.
///
/// # Errors
/// The crawl or its dataset cannot be read, or `out` cannot be written.
pub fn write(
    crawl: &Crawl<'_>,
    filter: &Filter,
    target: &Path,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), ExportError> {
    let mut anchors = Anchors::of(crawl, target)?;
    let mut replay = crawl.replay();
    let body_bytes_max = usize::try_from(crawl.body_bytes_max()).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    crawl.select(filter, false, progress, |selected| {
        let Some(visit) = selected.entry.visit.as_ref().filter(|visit| visit.attempts > 0) else { return Ok(()) };
        bytes.clear();
        let mut row = RowWriter::begin(&mut bytes, &with_port(&selected.entry.candidate.url));
        add_answer(&mut row, &selected, visit, &mut replay, body_bytes_max)?;
        out.write_all(&bytes).map_err(|error| ExportError::io(target, error))?;
        anchors.write(selected.entry.candidate.url.key(), |column, text| {
            bytes.clear();
            RowWriter(&mut bytes).column(column, text);
            out.write_all(&bytes).map_err(|error| ExportError::io(target, error))
        })?;
        out.write_all(row::END).map_err(|error| ExportError::io(target, error))
    })
}

/// The columns about the answer, as far as there was one.
fn add_answer(
    row: &mut RowWriter<'_>,
    selected: &Selected,
    visit: &Visit,
    replay: &mut Replay<'_>,
    body_bytes_max: usize,
) -> Result<(), ExportError> {
    if visit.status == 0 {
        return Ok(());
    }
    row.column("responseCode", visit.status.to_string().as_bytes());
    if let Some(content_type) = &visit.content_type {
        row.column("contentType", content_type.as_bytes());
    }
    let answer = selected.answer(replay)?;
    if let Some(answer) = &answer
        && let Some(length) = answer.headers().get("content-length")
    {
        row.column("length", length.trim().as_bytes());
    }
    match (visit.outcome, answer, &selected.row.duplicate_of) {
        (Outcome::Duplicate, _, Some(original)) => {
            row.column("canonicalURL", text_with_port(original).as_bytes());
        }
        (Outcome::Html, Some(answer), _) if visit.status == 200 && is_html(visit) => {
            row.column("page", &answer.body(body_bytes_max));
        }
        _ => {}
    }
    Ok(())
}

/// Whether an answer was declared as HTML: the table has no other pages.
fn is_html(visit: &Visit) -> bool {
    let content_type = visit.content_type.as_deref().unwrap_or_default();
    content_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/html")
}
