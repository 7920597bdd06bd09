//! The ZIP file, and the list of its parts. Parts that are gzipped already are stored as they are, so that a reader can seek in them; the
//! others are deflated.

use std::io::{self, BufRead, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use model::Timestamp;
use serde::Serialize;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::pages::About;
use crate::{ExportError, PendingFile};

/// A WACZ file that is being written.
pub(super) struct Package {
    zip: ZipWriter<File>,
    path: PathBuf,
    resources: Vec<Resource>,
    current: Option<Current>,
}

/// The file below the ZIP writer. After a failure it accepts everything: the writer, when it is dropped, would write on and print
/// a message of its own.
struct File {
    file: PendingFile,
    has_failed: bool,
}

impl File {
    fn unless_failed<T>(
        &mut self,
        then: T,
        operation: impl FnOnce(&mut PendingFile) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.has_failed {
            return Ok(then);
        }
        let result = operation(&mut self.file);
        self.has_failed = result.is_err();
        result
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_failed(bytes.len(), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_failed((), Write::flush)
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.unless_failed(0, |file| file.seek(to))
    }
}

/// The part that is being written.
struct Current {
    path: String,
    hash: Sha256,
    bytes: u64,
}

/// A part in the list.
#[derive(Serialize)]
struct Resource {
    name: String,
    path: String,
    hash: String,
    bytes: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DataPackage<'a> {
    profile: &'static str,
    #[serde(rename = "wacz_version")]
    version: &'static str,
    title: &'a str,
    created: String,
    software: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    main_page_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    main_page_date: Option<&'a str>,
    resources: &'a [Resource],
}

#[derive(Serialize)]
struct PackageDigest {
    path: &'static str,
    hash: String,
}

impl Package {
    pub(super) fn new(file: PendingFile, path: &Path) -> Self {
        Package {
            zip: ZipWriter::new(File { file, has_failed: false }),
            path: path.to_owned(),
            resources: Vec::new(),
            current: None,
        }
    }

    /// Begins a part of unknown length.
    pub(super) fn begin(&mut self, path: &str) -> Result<(), ExportError> {
        let is_gzipped = path.ends_with(".gz");
        let method = if is_gzipped { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        let options = SimpleFileOptions::default().compression_method(method).large_file(true);
        self.zip.start_file(path, options).map_err(|error| failed(&self.path, error.into()))?;
        self.current = Some(Current { path: path.to_owned(), hash: Sha256::new(), bytes: 0 });
        Ok(())
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        if let Some(current) = &mut self.current {
            current.hash.update(bytes);
            current.bytes += bytes.len() as u64;
        }
        self.zip.write_all(bytes).map_err(|error| failed(&self.path, error))
    }

    /// Ends the part.
    pub(super) fn end(&mut self) {
        self.resources.extend(self.current.take().map(|Current { path, hash, bytes }| Resource {
            name: path.rsplit('/').next().unwrap_or_default().to_owned(),
            path,
            hash: shown(hash),
            bytes,
        }));
    }

    /// Writes a whole part.
    pub(super) fn add(&mut self, path: &str, from: &mut dyn BufRead) -> Result<(), ExportError> {
        self.begin(path)?;
        loop {
            let bytes = from.fill_buf().map_err(|error| failed(&self.path, error))?;
            if bytes.is_empty() {
                break;
            }
            let length = bytes.len();
            self.write(bytes)?;
            from.consume(length);
        }
        self.end();
        Ok(())
    }

    /// Writes the list of parts, and ends the file.
    pub(super) fn finish(mut self, about: &About, now: Timestamp) -> Result<(), ExportError> {
        let resources = std::mem::take(&mut self.resources);
        let package = DataPackage {
            profile: "data-package",
            version: "1.1.1",
            title: &about.title,
            created: now.to_rfc3339(),
            software: format!("argiope/{}", env!("CARGO_PKG_VERSION")),
            main_page_url: about.main_page.as_ref().map(|(url, _)| url.as_str()),
            main_page_date: about.main_page.as_ref().map(|(_, date)| date.as_str()),
            resources: &resources,
        };
        let package = json(&package, &self.path)?;
        let digest = PackageDigest { path: "datapackage.json", hash: shown(Sha256::new_with_prefix(&package)) };
        let digest = json(&digest, &self.path)?;
        self.add("datapackage.json", &mut &package[..])?;
        self.add("datapackage-digest.json", &mut &digest[..])?;
        self.zip.finish().map_err(|error| failed(&self.path, error.into()))?.file.finish()
    }
}

fn json(value: &impl Serialize, path: &Path) -> Result<Vec<u8>, ExportError> {
    serde_json::to_vec_pretty(value).map_err(|error| failed(path, error.into()))
}

/// The digest of some bytes as it is written everywhere in the file.
pub(super) fn digest_of(bytes: &[u8]) -> String {
    shown(Sha256::new_with_prefix(bytes))
}

fn shown(hash: Sha256) -> String {
    format!("sha256:{}", HEXLOWER.encode(&hash.finalize()))
}

fn failed(path: &Path, error: std::io::Error) -> ExportError {
    ExportError::io(path, error)
}
