//! Tells the program what it is built from: `ARGIOPE_COMMIT` and `ARGIOPE_PROFILE`, which `--version` shows.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the commit where the source tree is not git's, as in a package's build.
const COMMIT: &str = "ARGIOPE_COMMIT";

/// Shown where it is not known.
const UNKNOWN: &str = "unknown";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={COMMIT}");
    let given = std::env::var(COMMIT).ok().filter(|commit| !commit.is_empty());
    let commit = given.or_else(|| commit(&workspace()?));
    println!("cargo::rustc-env={COMMIT}={}", commit.as_deref().unwrap_or(UNKNOWN));
    println!("cargo::rustc-env=ARGIOPE_PROFILE={}", profile().as_deref().unwrap_or(UNKNOWN));
}

fn workspace() -> Option<PathBuf> {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    here.ancestors().nth(2)?.canonicalize().ok()
}

/// The commit that is checked out in a work tree. A source tree inside the work tree of something else has none.
fn commit(tree: &Path) -> Option<String> {
    let top = git(tree, &["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != tree {
        return None;
    }
    // The log of HEAD grows with each commit and checkout. Where it is switched off, HEAD itself changes with each checkout.
    let watched = ["logs/HEAD", "HEAD"].into_iter().find_map(|name| {
        let path = tree.join(git(tree, &["rev-parse", "--git-path", name])?);
        path.is_file().then_some(path)
    });
    if let Some(path) = watched {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    git(tree, &["rev-parse", "HEAD"])
}

fn git(tree: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(tree).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Cargo tells the profile's name by nothing but the directory: `target/PROFILE/build/argiope-HASH/out`.
fn profile() -> Option<String> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR")?);
    Some(out.ancestors().nth(3)?.file_name()?.to_string_lossy().into_owned())
}
