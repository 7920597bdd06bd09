//! The list of pages, by which a replay tool offers and searches them.

use std::fs::File;
use std::io::{BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use extract::{Limits, html};
use model::Via;
use replay::Replay;
use serde::Serialize;
use store::Entry;

use crate::html_page::html_of;
use crate::pending::unnamed_file;
use crate::{Crawl, ExportError};

/// The text of a page that the list takes, in bytes.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Writes a line for each page.
pub(super) struct Pages<'c, 's> {
    crawl: &'c Crawl<'s>,
    replay: Replay<'s>,
    out: BufWriter<File>,
    target: PathBuf,
    about: About,
}

/// What the package says of itself.
pub(super) struct About {
    pub(super) title: String,
    /// The first seed among the pages: its URL and the date of its record.
    pub(super) main_page: Option<(String, String)>,
}

#[derive(Serialize)]
struct Header {
    format: &'static str,
    id: &'static str,
    title: &'static str,
    #[serde(rename = "hasText")]
    has_text: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    id: String,
    url: &'a str,
    ts: &'a str,
    title: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    seed: bool,
    depth: u32,
    text: &'a str,
}

impl<'c, 's> Pages<'c, 's> {
    pub(super) fn new(crawl: &'c Crawl<'s>, target: &Path) -> Result<Self, ExportError> {
        let file = unnamed_file(target)?;
        let seeds = crawl.store.seeds()?;
        let title = match &seeds[..] {
            [] => "Crawl".to_owned(),
            [seed] => format!("Crawl of {seed}"),
            [seed, others @ ..] => format!("Crawl of {seed} and {} more", others.len()),
        };
        let about = About { title, main_page: None };
        let replay = crawl.replay();
        let mut pages = Pages { crawl, replay, out: BufWriter::new(file), target: target.to_owned(), about };
        pages.line(&Header { format: "json-pages-1.0", id: "pages", title: "All pages", has_text: true })?;
        Ok(pages)
    }

    /// Adds what a URL ended with, if it is an HTML page. `date` is that of its record.
    pub(super) fn add(&mut self, entry: &Entry, date: &str) -> Result<(), ExportError> {
        let url = entry.candidate.url.as_str();
        // Of a duplicate whose payload is lost the record is there as the revisit that it is.
        let Some(html) = html_of(entry, &mut self.replay, self.crawl.body_bytes_max())? else { return Ok(()) };
        let limits = Limits { text_bytes_max: TEXT_BYTES_MAX, links_max: 0, images_max: 0, ..Limits::default() };
        let page = html::extract(&html.body, html.content_type.as_deref(), &limits);
        let seed = entry.candidate.via == Via::Seed;
        if seed && self.about.main_page.is_none() {
            self.about.main_page = Some((url.to_owned(), date.to_owned()));
        }
        let key = entry.candidate.url.key().to_bytes();
        self.line(&Line {
            id: data_encoding::HEXLOWER.encode(&key),
            url,
            ts: date,
            title: page.title.as_deref().unwrap_or(url),
            seed,
            depth: entry.candidate.depth,
            text: &page.text,
        })
    }

    fn line(&mut self, value: &impl Serialize) -> Result<(), ExportError> {
        let written = serde_json::to_writer(&mut self.out, value).map_err(std::io::Error::from);
        written.and_then(|()| self.out.write_all(b"\n")).map_err(|error| ExportError::io(&self.target, error))
    }

    /// The lines, and what they say of the whole.
    pub(super) fn finish(self) -> Result<(BufReader<File>, About), ExportError> {
        let failed = |error| ExportError::io(&self.target, error);
        let mut file = self.out.into_inner().map_err(|error| failed(error.into_error()))?;
        file.rewind().map_err(failed)?;
        Ok((BufReader::new(file), self.about))
    }
}
