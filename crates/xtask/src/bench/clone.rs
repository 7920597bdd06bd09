//! How long a newcomer waits: commands of the README in a fresh clone, each from an empty target directory.

use std::process::Command;

use anyhow::ensure;
use tempfile::TempDir;

use super::run_file::{RunFile, said};
use super::{Options, argiope, measured};
use crate::workspace::workspace;

/// Names for `--only`, the commands of cargo, and the minutes that each may take on two cores.
const COMMANDS: [(&str, &str, u64); 2] =
    [("crawl", "run --release -- crawl --sandbox http://simple.test/ --delay 50ms", 5), ("test", "xtask test", 15)];

/// Runs each command in a clone of its own, after the downloads of cargo.
///
/// # Errors
/// The repository cannot be cloned, or a command fails.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let programs = [said("cargo", &["--version"])?, said("rustc", &["--version"])?];
    let mut file = RunFile::begin("clone", "The first commands in a fresh clone", &programs)?;
    file.say("| command | minutes | CPU minutes | limit in minutes |\n|---|---|---|---|");
    for (_, command, limit_minutes) in COMMANDS.into_iter().filter(|(name, ..)| options.takes(name)) {
        let place = TempDir::with_prefix_in("clone-", argiope::target())?;
        let clone = place.path().join("argiope");
        let cloned = Command::new("git").args(["clone", "--quiet"]).arg(workspace()).arg(&clone).status()?;
        ensure!(cloned.success(), "git clone failed: {cloned}");
        let cargo = |arguments: &[&str]| {
            let mut cargo = Command::new("cargo");
            cargo.args(arguments).current_dir(&clone).env_remove("CARGO_TARGET_DIR");
            cargo
        };
        let fetched = cargo(&["fetch", "--quiet", "--locked"]).status()?;
        ensure!(fetched.success(), "cargo fetch failed: {fetched}");
        let arguments: Vec<&str> = command.split(' ').collect();
        let measured = measured::run(&mut cargo(&arguments), place.path())?;
        let errors = std::fs::read_to_string(place.path().join("stderr"))?;
        ensure!(measured.succeeded, "cargo {command} failed:\n{}{errors}", measured.output);
        let [wall, cpu] = [measured.wall_seconds, measured.cpu_seconds].map(|seconds| seconds / 60.0);
        file.say(&format!("| `cargo {command}` | {wall:.1} | {cpu:.1} | {limit_minutes} |"));
    }
    file.keep()
}
