//! `cargo xtask semver`: whether the library keeps what its last release promised, by cargo-semver-checks.

use std::process::Command;

use anyhow::bail;

use crate::needs;
use crate::workspace::workspace;

/// What a program sees of Argiope: the crates that `argiope` passes on. The checker does not follow items from crate to crate,
/// so it looks at each.
const LIBRARY: [&str; 8] = ["crawl", "dataset", "engine", "frontier", "model", "settings", "store", "weburl"];

/// Tags of releases.
const RELEASES: &str = "v[0-9]*";

const USAGE: &str = "usage: cargo xtask semver [--baseline REV]

Compares the public items of the library with those of the last release (the newest tag v…), or of any commit. Fails where a program
that compiles with those no longer compiles, and the version does not say so.";

/// Compares, and says what is compared.
///
/// # Errors
/// The checker is missing, or finds a breaking change.
pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let baseline = match arguments {
        [] => last_release()?,
        ["--baseline", revision] => Some((*revision).to_owned()),
        _ => bail!("{USAGE}"),
    };
    let Some(baseline) = baseline else {
        eprintln!("xtask: no tag {RELEASES}: before the first release there is nothing to compare with");
        return Ok(());
    };
    needs::semver_checks()?;
    let mut cargo = Command::new("cargo");
    cargo.args(["semver-checks", "--baseline-rev", &baseline]).current_dir(workspace());
    for name in LIBRARY {
        cargo.args(["--package", &format!("argiope-{name}")]);
    }
    eprintln!("xtask: the library beside {baseline}");
    if !cargo.status()?.success() {
        bail!("programs that compile with {baseline} may no longer compile; see above");
    }
    Ok(())
}

/// Compares with the last release, where there is one and the checker is installed; else it says why not. The checker compiles the library of
/// both, and is not among what `cargo xtask test` installs.
///
/// # Errors
/// As [`run`].
pub fn run_if_possible() -> anyhow::Result<()> {
    match needs::semver_checks() {
        Err(missing) if last_release()?.is_some() => {
            eprintln!("xtask: LEFT OUT is `cargo xtask semver`: {missing}");
            Ok(())
        }
        _ => run(&[]),
    }
}

/// The newest release that this commit comes after.
fn last_release() -> anyhow::Result<Option<String>> {
    let mut git = Command::new("git");
    let output =
        git.args(["describe", "--tags", "--abbrev=0", "--match", RELEASES]).current_dir(workspace()).output()?;
    Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned()))
}
