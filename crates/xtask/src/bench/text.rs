//! `cargo xtask bench text DIR`: the main text of pages, as other extractors find it and as we do (`docs/main-text.md`).

use std::process::Command;

use anyhow::{Context, ensure};

use super::Options;
use crate::needs;
use crate::workspace::workspace;

/// The judges, each with the module by which it is known to be there, and what trafilatura lacks in some versions.
const JUDGES: [(&str, &str); 4] = [
    ("trafilatura", "trafilatura"),
    ("lxml_html_clean", "lxml_html_clean"),
    ("resiliparse", "resiliparse"),
    ("rs-trafilatura", "rs_trafilatura"),
];

/// Measures all on the pages of a directory. `--only` names the other extractors.
///
/// # Errors
/// No directory is named, a judge cannot be installed, or one fails.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let pages = options.rest.first().context("a directory with truth.jsonl.gz and html.tar is needed")?;
    let root = workspace();
    let bin = needs::python(&root.join("target/text-judges"), &JUDGES)?;
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--release", "--quiet", "-p", "argiope-maintext", "--example", "read"]).current_dir(&root);
    ensure!(build.status().context("cargo cannot be run")?.success(), "the program does not build");
    let mut compare = Command::new(bin.join("python3"));
    compare.arg(root.join("bench/text/compare.py")).arg(pages).arg(root.join("target/release/examples/read"));
    if !options.only.is_empty() {
        compare.args(["--only", &options.only.join(",")]);
    }
    ensure!(compare.status()?.success(), "the comparison fails");
    Ok(())
}
