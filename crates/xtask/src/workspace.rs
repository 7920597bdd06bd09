//! Where the repository is, and which files it has.

use std::path::{Path, PathBuf};

/// The workspace's directory.
pub fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// The files of the repository, as git knows them.
pub fn tracked_files() -> anyhow::Result<Vec<PathBuf>> {
    let output = std::process::Command::new("git").args(["ls-files", "-z"]).current_dir(workspace()).output()?;
    let names = String::from_utf8(output.stdout)?;
    Ok(names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
}
