//! The text of documents that are no pages: PDF, Word, PowerPoint, OpenDocument, EPUB.
//!
//! ```text
//!  body ──▶ Reader ──▶ process `PROGRAM document-text KIND` ──▶ serve (limits) ──▶ read ──▶ Text as JSON ──▶ Reader
//! ```
//!
//! A document comes from anywhere, and its formats are old and large. So each is read in a process of its own, which may use
//! [`CPU_SECONDS_MAX`] and [`MEMORY_BYTES_MAX`]. A hostile document costs that process, and its text is missing; nothing else
//! happens.

mod epub;
mod office;
mod package;
mod pdf;
mod print;
mod process;
mod words;

use extract::media_type::Kind;
use serde::{Deserialize, Serialize};

pub use process::{ARGUMENT, CPU_SECONDS_MAX, Reader, TIME_MAX, Unusable, serve};

/// The memory that a document may take, in bytes of address space.
pub const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// The text of a document, in bytes. Beyond it the text is cut.
pub const TEXT_BYTES_MAX: usize = 8 << 20;
/// Pages of a document that are counted.
pub const PAGES_MAX: usize = 100_000;
/// A title or an author, in characters.
const FIELD_CHARS_MAX: usize = 1_000;

/// What a document says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// The title in its metadata.
    pub title: Option<String>,
    /// The author in its metadata.
    pub author: Option<String>,
    /// Its text: a line for each paragraph or line, an empty line between pages, slides and chapters.
    pub text: String,
    /// Where each page of a PDF or slide begins in the text, in bytes; nothing if there are none, or more than [`PAGES_MAX`].
    #[serde(default)]
    pub pages: Vec<usize>,
    /// A part of it is missing: a damaged, encrypted or missing page or part, or text beyond [`TEXT_BYTES_MAX`].
    pub is_cut: bool,
}

impl Text {
    /// What comes next stands on the next page.
    pub(crate) fn begin_page(&mut self) {
        self.pages.push(self.text.len());
    }

    /// The parts of the text: each page with its number, from 1; or all of it, without a number. Pages without text are left out.
    pub fn parts(&self) -> impl Iterator<Item = (Option<usize>, &str)> {
        let ends = self.pages.iter().skip(1).copied().chain([self.text.len()]);
        let pages = (1..).zip(self.pages.iter().zip(ends));
        let pages = pages.map(|(number, (begin, end))| (Some(number), self.text.get(*begin..end).unwrap_or_default()));
        let whole = self.pages.is_empty().then_some((None, &*self.text));
        pages.chain(whole).map(|(number, text)| (number, text.trim())).filter(|(_, text)| !text.is_empty())
    }
}

/// Why a document has no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// Documents of this kind are not read.
    #[error("documents of this kind are not read")]
    Kind,
    /// It is damaged, or needs a password.
    #[error("it cannot be read: {0}")]
    Damaged(String),
    /// The process ended: it met a limit, or a fault.
    #[error("its process ended without an answer")]
    Ended,
}

/// Whether documents of this kind can be read.
#[must_use]
pub const fn is_read(kind: Kind) -> bool {
    matches!(kind, Kind::Pdf | Kind::Docx | Kind::Pptx | Kind::OpenDocument | Kind::Epub)
}

/// Reads a document in this process, without limits of time and memory.
///
/// # Errors
/// It is damaged, or of a kind that is not read.
///
/// # Panics
/// The parser of PDF panics on some damaged files: [`Reader`] bears that.
pub fn read(kind: Kind, bytes: &[u8]) -> Result<Text, Unread> {
    let mut text = match kind {
        Kind::Pdf => pdf::read(bytes)?,
        Kind::Docx => office::word(bytes)?,
        Kind::Pptx => office::slides(bytes)?,
        Kind::OpenDocument => office::open_document(bytes)?,
        Kind::Epub => epub::read(bytes)?,
        _ => return Err(Unread::Kind),
    };
    if text.text.len() > TEXT_BYTES_MAX {
        text.text.truncate(text.text.floor_char_boundary(TEXT_BYTES_MAX));
        text.is_cut = true;
    }
    if text.pages.len() > PAGES_MAX {
        text.pages.clear();
    }
    text.pages.iter_mut().for_each(|begin| *begin = (*begin).min(text.text.len()));
    (text.title, text.author) = (text.title.and_then(field), text.author.and_then(field));
    Ok(text)
}

/// A field of metadata in one line; `None` if it says nothing.
fn field(text: String) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().filter(|char| !char.is_control()).take(FIELD_CHARS_MAX).collect();
    (!line.is_empty()).then_some(line)
}
