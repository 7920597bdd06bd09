//! Markdown: a directory with a file for each HTML page, its content without the furniture of the site, as CommonMark with a
//! block of YAML at its head (`docs/exports.md`).

mod blocks;
mod content;
mod front_matter;
mod inline;
mod names;
mod table;
mod tree;

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use extract::charset;
use url::Url;

use self::inline::Renderer;
use self::tree::Tree;
use crate::{Crawl, ExportError, Filter, PendingDir, Progress, html_of};

/// Bytes of a page that are converted; what is behind them is data rather than text.
const HTML_BYTES_MAX: usize = 8 << 20;

/// Fills the directory `target` with the pages that the filter admits.
///
/// # Errors
/// There is no archive, it or the state cannot be read, or `target` cannot be written.
pub fn write(crawl: &Crawl<'_>, filter: &Filter, target: &Path, progress: Progress<'_>) -> Result<(), ExportError> {
    crawl.segments()?;
    let dir = PendingDir::create(target)?;
    let mut replay = crawl.replay();
    crawl.select(filter, false, progress, |selected| {
        let Some(html) = html_of(&selected.entry, &mut replay, crawl.body_bytes_max)? else { return Ok(()) };
        let page = page(&html.body, html.content_type.as_deref(), &selected.row.url);
        let mut text = front_matter::front_matter(&selected.row, page.language.as_deref());
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownPage {
    /// Its content.
    pub markdown: String,
    /// What `lang` says of its language.
    pub language: Option<String>,
}

/// Turns a page into Markdown. `content_type` is the header's, for its charset; references are resolved against `url`.
#[must_use]
pub fn page(body: &[u8], content_type: Option<&str>, url: &str) -> MarkdownPage {
    /// The longest language tag that is believed, in bytes.
    const LANGUAGE_BYTES_MAX: usize = 35;
    let body = &body[..body.len().min(HTML_BYTES_MAX)];
    let (text, _) = charset::decide(body, content_type).encoding.decode_with_bom_removal(body);
    let tree = Tree::parse(&text);
    let language = tree.find(|element| element.name == "html").and_then(|id| tree.element(id)?.attribute("lang"));
    let language = language.map(str::trim).filter(|tag| !tag.is_empty() && tag.len() <= LANGUAGE_BYTES_MAX);
    let base = tree.find(|element| element.name == "base" && element.attribute("href").is_some());
    let base = base.and_then(|id| tree.element(id)?.attribute("href"));
    let url = Url::parse(url).ok();
    let base = match (url, base) {
        (Some(url), Some(base)) => url.join(base).ok().or(Some(url)),
        (url, _) => url,
    };
    let renderer = Renderer { tree: &tree, base };
    MarkdownPage { markdown: renderer.render(content::find(&tree)), language: language.map(str::to_owned) }
}
