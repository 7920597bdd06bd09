//! Markdown: a directory with a file for each HTML page, its content without the furniture of the site, as CommonMark with a
//! block of YAML at its head (`docs/exports.md`).

mod front_matter;
mod names;

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use extract::html::{self, dom::Document};
use maintext::{Kind, Page};
use structured::Metadata;
use url::Url;

use crate::{Crawl, ExportError, Filter, PendingDir, Progress, html_of};

/// Fills the directory `target` with the pages that the filter admits.
///
/// # Errors
/// There is no archive, it or the state cannot be read, or `target` cannot be written.
pub fn write(crawl: &Crawl<'_>, filter: &Filter, target: &Path, progress: Progress<'_>) -> Result<(), ExportError> {
    crawl.segments()?;
    let dir = PendingDir::create(target)?;
    let mut replay = crawl.replay();
    crawl.select(filter, false, progress, |selected| {
        let Some(html) = html_of(&selected.entry, &mut replay, crawl.body_bytes_max())? else { return Ok(()) };
        let page = page(&html.body, html.content_type.as_deref(), &selected.row.url);
        let mut text = front_matter::front_matter(&selected.row, &page);
        if !page.markdown.is_empty() {
            text.push('\n');
            text.push_str(&page.markdown);
            text.push('\n');
        }
        for name in names::candidates(&selected.entry.candidate.url) {
            let path = dir.path().join(name);
            if try_write(&path, &text).map_err(|error| ExportError::io(&path, error))? {
                return Ok(());
            }
        }
        Err(ExportError::Other(format!("there is no file name for {}", selected.row.url)))
    })?;
    dir.finish()
}

/// Writes a file; false where there is one of that name.
fn try_write(path: &Path, text: &str) -> std::io::Result<bool> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    match File::create_new(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true),
    }
}

/// A page as Markdown.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkdownPage {
    /// Its main text.
    pub markdown: String,
    /// What it is for.
    pub kind: Kind,
    /// What it tells of itself.
    pub metadata: Metadata,
}

/// Turns a page into Markdown. `content_type` is the header's, for its charset; references are resolved against `url`.
#[must_use]
pub fn page(body: &[u8], content_type: Option<&str>, url: &str) -> MarkdownPage {
    let text = html::decode_as(body, content_type);
    let document = Document::parse(&text);
    let url = Url::parse(url).ok();
    let page = Page::read(&document, url.as_ref());
    let metadata = structured::metadata(&document, url.as_ref());
    MarkdownPage { markdown: page.markdown(), kind: page.kind().0, metadata }
}
