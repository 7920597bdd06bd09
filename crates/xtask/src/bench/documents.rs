//! `cargo xtask bench documents DIR`: the text of documents beside pdftotext, and beside the texts that they were made of.

use std::process::Command;

use anyhow::{Context, ensure};

use super::{Options, argiope};
use crate::workspace::workspace;

/// Compares the documents of a directory.
///
/// # Errors
/// No directory is named, or something that is needed is missing.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let documents = options.rest.first().context("a directory of documents is needed")?;
    let program = argiope::binary(options.binary.as_deref())?;
    let mut compare = Command::new("python3");
    compare.arg(workspace().join("bench/documents/compare.py")).arg(program).arg(documents);
    ensure!(compare.status().context("python3 cannot be run")?.success(), "the comparison fails: is pdftotext there?");
    Ok(())
}
