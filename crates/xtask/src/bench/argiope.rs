//! Our own crawler in a benchmark: its binary of the profile `dist`, its flags, and what it reports of a crawl.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::workspace::workspace;

/// Connections to a site where there is only one; to each of many there is one.
pub const CONNECTIONS_OF_ONE: &str = "8";

/// The binary of the profile `dist`: the one that is given, or built now.
///
/// # Errors
/// The build fails.
pub fn binary(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(given) = given {
        return given.canonicalize().with_context(|| given.display().to_string());
    }
    let status = Command::new("cargo")
        .args(["build", "--profile", "dist", "--quiet", "-p", "argiope"])
        .current_dir(workspace())
        .status()?;
    if !status.success() {
        bail!("the build with the profile dist failed");
    }
    Ok(target().join("dist/argiope"))
}

/// Where cargo builds.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
}

/// A crawl without delays into a directory that says at its end what it came to.
pub fn crawl(binary: &Path, dir: &Path) -> Command {
    crawl_at(binary, dir, "0")
}

/// The same with a delay between the visits of a site.
pub fn crawl_at(binary: &Path, dir: &Path, delay: &str) -> Command {
    let mut command = Command::new(binary);
    command.args(["crawl", "--delay", delay, "--ip-delay", "0", "--progress", "none", "--json", "-o"]).arg(dir);
    command
}

/// What a crawl said of itself.
pub struct Summary(Value);

impl Summary {
    /// Reads the object that `--json` prints.
    ///
    /// # Errors
    /// It is none.
    pub fn read(output: &str) -> anyhow::Result<Self> {
        Ok(Self(serde_json::from_str(output).with_context(|| format!("no summary: {output}"))?))
    }

    /// Visits that brought a document of whatever type.
    pub fn fetched(&self) -> u64 {
        self.0["fetched"].as_u64().unwrap_or_default()
    }

    /// Bytes of payload that the run received.
    pub fn run_bytes(&self) -> u64 {
        self.0["run_bytes"].as_u64().unwrap_or_default()
    }

    /// URLs known at the end.
    pub fn known(&self) -> u64 {
        self.0["urls"].as_u64().unwrap_or_default()
    }

    /// What the stages took: microseconds for each of so many pages, of a processor and with waiting. The last row is the whole process.
    ///
    /// # Errors
    /// Nothing was measured.
    pub fn stages(&self, pages: u64) -> anyhow::Result<String> {
        let micros = |of: &Value| of.as_f64().unwrap_or_default() * 1e6 / pages as f64;
        let mut text = String::from("| stage | processor µs a page | waiting included |\n|---|---|---|\n");
        let mut other = micros(&self.0["time"]["cpu_seconds"]);
        let all = other;
        for stage in self.0["time"]["stages"].as_array().context("no stages were measured")? {
            let (cpu, wall) = (micros(&stage["cpu_seconds"]), micros(&stage["wall_seconds"]));
            other -= cpu;
            writeln!(text, "| `{}` | {cpu:.1} | {wall:.1} |", stage["stage"].as_str().unwrap_or_default())?;
        }
        write!(text, "| other | {other:.1} | |\n| all | {all:.1} | |")?;
        Ok(text)
    }
}
