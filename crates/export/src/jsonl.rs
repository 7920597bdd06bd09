//! A JSON object a line, one for each URL (`docs/rows.md`).

use std::io::Write;
use std::path::Path;

use printable::write_json_line;

use crate::{Crawl, ExportError, Filter, Progress};

/// Writes the rows in the order of their keys; with `sitemaps` those of sitemaps too. `target` names what is written to, in
/// errors.
///
/// # Errors
/// The state cannot be read, or `out` cannot be written.
pub fn write(
    crawl: &Crawl<'_>,
    filter: &Filter,
    sitemaps: bool,
    target: &Path,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), ExportError> {
    crawl.select(filter, sitemaps, progress, |selected| {
        write_json_line(&mut *out, &selected.row).map_err(|error| ExportError::io(target, error))
    })
}
