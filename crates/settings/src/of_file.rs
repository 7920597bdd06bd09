//! Settings that a file gives: `--exclude-file` and `--ca-cert`. The file is read once, when the user names it; `crawl.toml` keeps what counts of
//! it, as a table. So a crawl may be moved, and later commands need no file.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use weburl::Pattern;

use crate::patterns::{kept_pattern, pattern_of};
use crate::text_file::{of_limited_size, read_bytes, read_regular};
use crate::usage;

/// Bytes of a file of patterns, at most. In `crawl.toml`, whose size is limited, they take up to five times as many.
pub(crate) const PATTERNS_BYTES_MAX: usize = 8 << 20;
/// Bytes of a file of certificates, at most.
const CERTIFICATES_BYTES_MAX: usize = 1 << 20;

/// The content of a file, or the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "invalid value: no table with the content of a file")]
pub enum OfFile<T> {
    /// What counts of the file.
    Kept(T),
    /// A file that a text of settings names, such as the `crawl.toml` of an earlier version. It is not opened: the text may be somebody else's, and a
    /// relative path belongs to the working directory of another command.
    Named(PathBuf),
    /// A file that the user names now. It is read by [`crate::Options::with_files`].
    #[serde(skip_deserializing)]
    Given(PathBuf),
}

/// The patterns of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patterns {
    /// The name of the file, without directories.
    pub name: String,
    /// The patterns.
    pub patterns: Vec<String>,
}

/// The certificates of a file. Its other parts, such as a private key, are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificates {
    /// The name of the file, without directories.
    pub name: String,
    /// The certificates, as PEM.
    pub pem: String,
}

/// What counts of the content of a file.
pub(crate) trait Content: Sized {
    fn of(name: String, bytes: Vec<u8>) -> Result<Self, String>;
}

impl Content for Patterns {
    fn of(name: String, bytes: Vec<u8>) -> Result<Self, String> {
        of_limited_size(&bytes, PATTERNS_BYTES_MAX)?;
        let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())?;
        let lines = text.lines().map(str::trim).zip(1..);
        let mut patterns = Vec::new();
        for (line, number) in lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#')) {
            // The file may be another one than the user thinks: its content is not shown.
            pattern_of(line).map_err(|error| format!("line {number}: {}", error.without_text()))?;
            patterns.push(line.to_owned());
        }
        Ok(Patterns { name, patterns })
    }
}

impl Patterns {
    /// The patterns as they are compared.
    ///
    /// # Errors
    /// One cannot be used: its number is named.
    pub(crate) fn patterns(&self) -> anyhow::Result<Vec<Pattern>> {
        let unusable = |number: usize, error: &dyn std::fmt::Display| {
            usage(format!("exclude-file {}, pattern {number}: {error}", self.name))
        };
        let all = self.patterns.iter().zip(1..);
        all.map(|(text, number)| kept_pattern(text).map_err(|error| unusable(number, &error.without_text()))).collect()
    }
}

impl Content for Certificates {
    fn of(name: String, bytes: Vec<u8>) -> Result<Self, String> {
        of_limited_size(&bytes, CERTIFICATES_BYTES_MAX)?;
        let pem = fetch::certificates_in(&bytes)?;
        fetch::check_ca_cert(pem.as_bytes())?;
        Ok(Certificates { name, pem })
    }
}

impl<T> FromStr for OfFile<T> {
    type Err = Infallible;

    /// A file that the user names.
    fn from_str(path: &str) -> Result<Self, Infallible> {
        Ok(OfFile::Given(path.into()))
    }
}

/// With the content of a file that the user has named.
pub(crate) fn read_given<T: Content>(file: OfFile<T>, key: &str) -> anyhow::Result<OfFile<T>> {
    match file {
        OfFile::Given(path) => Ok(OfFile::Kept(content(key, &path, read_bytes(&path))?)),
        other => Ok(other),
    }
}

/// With the content of a regular file that settings name.
pub(crate) fn read_named<T: Content>(file: OfFile<T>, key: &str) -> anyhow::Result<OfFile<T>> {
    match file {
        OfFile::Named(path) => Ok(OfFile::Kept(content(key, &path, read_regular(&path))?)),
        other => Ok(other),
    }
}

/// The same, but a relative path is refused: nobody knows what it is relative to.
pub(crate) fn read_absolute<T: Content>(file: OfFile<T>, key: &str) -> anyhow::Result<OfFile<T>> {
    match &file {
        OfFile::Named(path) if path.is_relative() => Err(usage(format!(
            "{key} names the file {}, relative to the directory in which an earlier command ran",
            path.display()
        ))),
        _ => read_named(file, key).map_err(|error| usage(format!("{key} names a file: {error}"))),
    }
}

impl<T> OfFile<T> {
    /// The file that was not read.
    pub(crate) fn unread(&self) -> Option<&Path> {
        match self {
            OfFile::Kept(_) => None,
            OfFile::Named(path) | OfFile::Given(path) => Some(path),
        }
    }
}

fn content<T: Content>(key: &str, path: &Path, read: std::io::Result<Vec<u8>>) -> anyhow::Result<T> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.chars().filter(|c| !c.is_control()).collect();
    let content = read.map_err(|error| error.to_string()).and_then(|bytes| T::of(name, bytes));
    content.map_err(|error| usage(format!("--{key} {}: {error}", path.display())))
}
