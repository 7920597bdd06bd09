//! What is inspected: a file, standard input, or what a request holds itself.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::anyhow;

/// Where the input is.
#[derive(Debug)]
pub enum Input {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
    /// Here.
    Inline(Vec<u8>),
}

/// An input in memory, as much of it as the crawler would take.
pub struct Content {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// There was more.
    pub is_cut: bool,
}

impl Input {
    /// The input that the command line names: `-` is standard input.
    #[must_use]
    pub fn named(file: PathBuf) -> Self {
        if file == Path::new("-") { Input::Stdin } else { Input::File(file) }
    }

    /// Reads `bytes_max` bytes at most.
    ///
    /// # Errors
    /// The input cannot be read; the message names it.
    pub fn read(self, bytes_max: u64) -> anyhow::Result<Content> {
        let (name, source): (String, Box<dyn Read>) = match self {
            Input::Stdin => ("standard input".to_owned(), Box::new(io::stdin().lock())),
            Input::File(path) => (path.display().to_string(), Box::new(open(&path)?)),
            Input::Inline(bytes) => ("body".to_owned(), Box::new(io::Cursor::new(bytes))),
        };
        cut(source, bytes_max).map_err(|error| unreadable(&name, &error))
    }
}

/// Opens a file, or says in one line why it cannot be.
pub(crate) fn open(path: &Path) -> anyhow::Result<File> {
    File::open(path).map_err(|error| unreadable(&path.display().to_string(), &error))
}

/// `name: No such file or directory`, without the number that Rust puts behind the system's words.
pub(crate) fn unreadable(name: &str, error: &io::Error) -> anyhow::Error {
    let words = error.to_string();
    anyhow!("{name}: {}", words.split(" (os error").next().unwrap_or(&words))
}

fn cut(source: impl Read, bytes_max: u64) -> io::Result<Content> {
    let mut bytes = Vec::new();
    source.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() as u64 > bytes_max;
    if is_cut {
        bytes.pop();
    }
    Ok(Content { bytes, is_cut })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_the_crawler_would_take() {
        for (bytes, is_cut) in [("", false), ("abc", false), ("abcd", true), ("abcdef", true)] {
            let read = [cut(bytes.as_bytes(), 3).unwrap(), Input::Inline(bytes.into()).read(3).unwrap()];
            for content in read {
                assert_eq!(
                    (content.bytes.as_slice(), content.is_cut),
                    (&bytes.as_bytes()[..bytes.len().min(3)], is_cut)
                );
            }
        }
    }
}
