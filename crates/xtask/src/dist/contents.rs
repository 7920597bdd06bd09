//! What packages contain: the binary, and what it and the repository say about it. Paths are those of the tarball.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use tempfile::TempDir;

use super::archives::Entry;
use super::output_of;
use crate::workspace::workspace;

/// Files of the repository.
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Directories of the repository, with the place of their files.
const DIRECTORIES: [(&str, &str); 2] = [("examples", "examples"), ("deploy/systemd", "systemd")];

/// Shells, with the usual name of a script that completes commands.
const COMPLETIONS: [(&str, &str); 3] = [("bash", "argiope.bash"), ("fish", "argiope.fish"), ("zsh", "_argiope")];

/// Reads or makes all files, in a fixed order.
///
/// # Errors
/// A file cannot be read, or the binary does not describe itself.
pub fn gather(binary: &Path, bill: &[u8]) -> anyhow::Result<Vec<Entry>> {
    let scratch = TempDir::with_prefix("argiope-dist-")?;
    let stripped = scratch.path().join("argiope");
    output_of(Command::new("strip").arg("-o").arg(&stripped).arg(binary))?;
    let mut entries = vec![Entry { is_program: true, ..Entry::file("argiope", read(&stripped)?) }];
    for text in TEXTS {
        entries.push(Entry::file(text, read(&workspace().join(text))?));
    }
    entries.push(Entry::file("argiope.cdx.json", bill));
    for (shell, name) in COMPLETIONS {
        let script = output_of(Command::new(binary).args(["completions", shell]))?;
        entries.push(Entry::file(format!("completions/{name}"), script.into_bytes()));
    }
    let manual = scratch.path().join("man");
    fs::create_dir(&manual)?;
    output_of(Command::new(binary).arg("man").arg(&manual))?;
    let directories = DIRECTORIES.map(|(from, to)| (workspace().join(from), to));
    for (from, to) in std::iter::once((manual, "man")).chain(directories) {
        for file in sorted(&from)? {
            let name = file.file_name().context("a file has a name")?.to_string_lossy();
            entries.push(Entry::file(format!("{to}/{name}"), read(&file)?));
        }
    }
    Ok(entries)
}

fn sorted(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let paths = dir.read_dir().with_context(|| dir.display().to_string())?.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<anyhow::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(file).with_context(|| file.display().to_string())
}
