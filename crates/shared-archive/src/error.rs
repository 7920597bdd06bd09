//! What can go wrong with shared storage, each in one line.

use std::error::Error;
use std::path::{Path, PathBuf};

/// Characters of what a storage says that are shown.
const SAID_CHARS_MAX: usize = 300;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SharedArchiveError {
    /// The address is none.
    #[error(
        "archive {url}: {detail}; expected file:///DIR, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX"
    )]
    Address {
        /// The address.
        url: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The storage cannot be used as the environment says.
    #[error("archive {url} cannot be opened: {detail}")]
    Open {
        /// The address.
        url: String,
        /// What happened.
        detail: String,
    },
    /// The archive cannot be written.
    #[error("archive {url} cannot be written: {detail}")]
    Write {
        /// The address.
        url: String,
        /// What happened.
        detail: String,
    },
    /// The archive cannot be read.
    #[error("archive {url} cannot be read: {detail}")]
    Read {
        /// The address.
        url: String,
        /// What happened.
        detail: String,
    },
    /// A name that no object can have.
    #[error("{key}: no object of an archive can have this name: {source}")]
    Key {
        /// The name.
        key: String,
        /// What is wrong with it.
        source: object_store::path::Error,
    },
    /// A local file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Local {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
    /// No thread can be started.
    #[error("cannot start a thread: {source}")]
    Runtime {
        /// What happened.
        source: std::io::Error,
    },
}

impl SharedArchiveError {
    pub(crate) fn open(url: &str, error: &dyn Error) -> Self {
        SharedArchiveError::Open { url: url.to_owned(), detail: in_words(error) }
    }

    pub(crate) fn write(url: &str, error: &dyn Error) -> Self {
        SharedArchiveError::Write { url: url.to_owned(), detail: in_words(error) }
    }

    pub(crate) fn read(url: &str, error: &dyn Error) -> Self {
        SharedArchiveError::Read { url: url.to_owned(), detail: in_words(error) }
    }

    pub(crate) fn local(path: &Path, source: std::io::Error) -> Self {
        SharedArchiveError::Local { path: path.to_owned(), source }
    }
}

/// What a storage says, in one line. It answers with XML, which has a message for people in it.
fn in_words(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        // Most errors repeat what they come from.
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = error.source();
    }
    if text.contains("169.254.169.254") || text.contains("metadata.google.internal") {
        return "there are no credentials: set them in the environment (docs/shared-archive.md)".to_owned();
    }
    if let Some((said, _)) = text.split_once("</Message>")
        && let Some((_, message)) = said.split_once("<Message>")
    {
        let before = text.split_once("<?xml").or_else(|| text.split_once("<Error>")).map_or("", |(before, _)| before);
        text = format!("{before} {message}");
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(SAID_CHARS_MAX).collect()
}
