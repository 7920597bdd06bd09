//! Chunks: the Markdown of each page and document in pieces for retrieval, as JSON lines or Parquet (`docs/exports.md`).

mod alike;
mod parquet;

use std::io::Write;
use std::path::Path;

use maintext::chunks::{self, tokens_of};
pub use maintext::chunks::{SIZE_MIN, Size};
use printable::write_json_line;
use serde::Serialize;

use self::alike::Alike;
use self::parquet::ParquetFile;
use crate::readable::readable_of;
use crate::{Crawl, ExportError, Filter, PendingFile, Progress};

/// The size of chunks, unless one is given.
pub const SIZE: Size = Size::Tokens(512);

/// A piece of a page or document.
#[derive(Debug, Serialize)]
struct Chunk<'a> {
    /// The page or document.
    url: &'a str,
    title: Option<&'a str>,
    language: Option<&'a str>,
    kind: &'static str,
    /// Its place among the pieces of the page, from 0, and how many there are.
    position: u32,
    chunks: u32,
    /// The headings above it, from the top.
    headings: &'a [String],
    text: &'a str,
    characters: u32,
    /// As estimated.
    tokens: u32,
    /// An earlier piece with nearly the same words.
    near_duplicate_of: Option<Place>,
}

/// Where a piece is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Place {
    url: String,
    position: u32,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chunked {
    /// Pages and documents with text.
    pub pages: u64,
    /// Pieces.
    pub chunks: u64,
    /// Of these, pieces with nearly the same words as earlier ones.
    pub near_duplicates: u64,
    /// Pieces that were not compared, since too many were remembered already.
    pub uncompared: u64,
}

/// Writes the pieces as JSON lines. `target` names what is written to, in errors.
///
/// # Errors
/// There is no archive, it or the state cannot be read, or `out` cannot be written.
pub fn write(
    crawl: &Crawl<'_>,
    filter: &Filter,
    size: Size,
    target: &Path,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<Chunked, ExportError> {
    each(crawl, filter, size, progress, |chunk| {
        write_json_line(&mut *out, chunk).map_err(|error| ExportError::io(target, error))
    })
}

/// Writes the pieces into a Parquet file.
///
/// # Errors
/// There is no archive, it or the state cannot be read, or `target` cannot be written.
pub fn write_parquet(
    crawl: &Crawl<'_>,
    filter: &Filter,
    size: Size,
    target: &Path,
    progress: Progress<'_>,
) -> Result<Chunked, ExportError> {
    let mut pending = PendingFile::create(target)?;
    let mut file = ParquetFile::begin(&mut pending, target)?;
    let chunked = each(crawl, filter, size, progress, |chunk| file.push(chunk))?;
    file.finish()?;
    pending.finish()?;
    Ok(chunked)
}

/// Calls `write` for each piece of each page.
fn each(
    crawl: &Crawl<'_>,
    filter: &Filter,
    size: Size,
    progress: Progress<'_>,
    mut write: impl FnMut(&Chunk<'_>) -> Result<(), ExportError>,
) -> Result<Chunked, ExportError> {
    crawl.segments()?;
    let mut replay = crawl.replay();
    let mut alike = Alike::default();
    let mut chunked = Chunked::default();
    crawl.select(filter, false, progress, |selected| {
        let Some(page) = readable_of(crawl, &selected, &mut replay)? else { return Ok(()) };
        let pieces = chunks::cut(&page.markdown, size);
        chunked.pages += u64::from(!pieces.is_empty());
        for (position, piece) in pieces.iter().enumerate() {
            let position = bounded(position);
            let near_duplicate_of = alike.earlier(&selected.row.url, position, &piece.text);
            chunked.chunks += 1;
            chunked.near_duplicates += u64::from(near_duplicate_of.is_some());
            write(&Chunk {
                url: &selected.row.url,
                title: page.metadata.title.as_deref(),
                language: page.metadata.language.as_deref(),
                kind: page.kind,
                position,
                chunks: bounded(pieces.len()),
                headings: &piece.headings,
                text: &piece.text,
                characters: bounded(piece.text.chars().count()),
                tokens: bounded(tokens_of(&piece.text)),
                near_duplicate_of,
            })?;
        }
        Ok(())
    })?;
    chunked.uncompared = alike.uncompared();
    Ok(chunked)
}

fn bounded(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
