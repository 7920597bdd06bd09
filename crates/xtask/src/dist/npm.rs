//! The package for npm: the binary for one system. It has no scripts, and downloads nothing when it is installed.

use serde_json::json;

use super::archives::{Entry, tar_gz};
use super::system::System;
use super::{LICENSE, SUMMARY, VERSION};

/// The package as `npm install` reads it.
///
/// # Errors
/// A path is too long.
pub fn package(entries: &[Entry], system: &System, epoch: u64) -> anyhow::Result<Vec<u8>> {
    let manifest = json!({
        "name": "argiope",
        "version": VERSION,
        "description": SUMMARY,
        "license": LICENSE,
        "bin": { "argiope": "argiope" },
        "os": ["linux"],
        "cpu": [system.npm_processor],
        "libc": ["glibc"],
    });
    let manifest = Entry::file("package.json", format!("{manifest:#}\n").into_bytes());
    // Manual pages, completions and units have no place in node_modules.
    let kept = entries.iter().filter(|entry| !entry.path.contains('/'));
    tar_gz(kept.chain([&manifest]).map(|entry| entry.at(format!("package/{}", entry.path))), epoch)
}
