//! The Python wheel: a binary that pip puts into `bin` of an environment.
//!
//! maturin makes the same of its own build. This one takes a binary that is built already, so that all packages have the same.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use anyhow::Context;
use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::archives::Entry;
use super::system::System;
use super::{LICENSE, SUMMARY, VERSION};

/// The name of the file, as the binary distribution format prescribes it.
pub fn name(system: &System) -> String {
    format!("argiope-{VERSION}-{}.whl", tag(system))
}

/// For any Python 3, without its ABI, on systems with this C library or a newer one (PEP 600).
fn tag(system: &System) -> String {
    let (major, minor) = system.glibc;
    format!("py3-none-manylinux_{major}_{minor}_{}", system.processor)
}

/// The wheel: the binary, the metadata, and `RECORD` with the digest of each file.
///
/// # Errors
/// An entry is missing, or the archive is too large.
pub fn package(entries: &[Entry], system: &System) -> anyhow::Result<Vec<u8>> {
    let info = format!("argiope-{VERSION}.dist-info");
    let find = |name: &str| entries.iter().find(|entry| entry.path == name).with_context(|| format!("no {name}"));
    let readme = String::from_utf8_lossy(&find("README.md")?.bytes);
    let metadata = format!(
        "Metadata-Version: 2.4\nName: argiope\nVersion: {VERSION}\nSummary: {SUMMARY}\nLicense-Expression: {LICENSE}\n\
         License-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\nRequires-Python: >=3.8\n\
         Description-Content-Type: text/markdown; charset=UTF-8\n\n{readme}"
    );
    let wheel =
        format!("Wheel-Version: 1.0\nGenerator: xtask {VERSION}\nRoot-Is-Purelib: false\nTag: {}\n", tag(system));
    let files = [
        find("argiope")?.at(format!("argiope-{VERSION}.data/scripts/argiope")),
        Entry::file(format!("{info}/METADATA"), metadata.into_bytes()),
        Entry::file(format!("{info}/WHEEL"), wheel.into_bytes()),
        find("LICENSE-APACHE")?.at(format!("{info}/licenses/LICENSE-APACHE")),
        find("LICENSE-MIT")?.at(format!("{info}/licenses/LICENSE-MIT")),
        find("argiope.cdx.json")?.at(format!("{info}/sboms/argiope.cdx.json")),
    ];
    let mut record = String::new();
    for file in &files {
        let digest = BASE64URL_NOPAD.encode(&Sha256::digest(&file.bytes));
        writeln!(record, "{},sha256={digest},{}", file.path, file.bytes.len())?;
    }
    writeln!(record, "{info}/RECORD,,")?;
    let record = Entry::file(format!("{info}/RECORD"), record.into_bytes());
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for file in files.iter().chain([&record]) {
        // The time of a file is the first that ZIP can express, unless one is set.
        zip.start_file(&file.path, SimpleFileOptions::default().unix_permissions(file.mode()))?;
        zip.write_all(&file.bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}
