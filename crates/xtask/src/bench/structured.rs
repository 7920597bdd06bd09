//! `cargo xtask bench structured DIR`: what pages say for machines, as extruct finds it and as we do.

use std::process::Command;

use anyhow::{Context, ensure};

use super::Options;
use crate::needs;
use crate::workspace::workspace;

/// The judge, with the module by which it is known to be there.
const JUDGE: [(&str, &str); 1] = [("extruct", "extruct")];

/// Compares both on the pages of a directory.
///
/// # Errors
/// No directory is named, the judge cannot be installed, or one of the two fails.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let pages = options.rest.first().context("a directory of .html or .html.gz files is needed")?;
    let root = workspace();
    let bin = needs::python(&root.join("target/judges"), &JUDGE)?;
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--release", "--quiet", "-p", "argiope-structured", "--example", "pages"]).current_dir(&root);
    ensure!(build.status().context("cargo cannot be run")?.success(), "the program does not build");
    let mut compare = Command::new(bin.join("python3"));
    compare.arg(root.join("bench/structured/compare.py")).arg(pages).arg(root.join("target/release/examples/pages"));
    compare.args(["--rounds", &options.rounds.to_string(), "--differences"]).arg(root.join("target/structured.jsonl"));
    ensure!(compare.status()?.success(), "the comparison fails");
    println!("each difference: target/structured.jsonl");
    Ok(())
}
