//! `cargo xtask dist`: the packages of a release. All contain the same binary, and the same commit gives the same bytes.

mod archives;
mod bill;
mod contents;
mod debian;
mod npm;
mod system;
mod wheel;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::bench::argiope::target;
use crate::needs;
use crate::workspace::workspace;
use system::System;

/// The version of all crates of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What package indexes show beside the name.
const SUMMARY: &str = "A polite, fast, crash-safe web crawler";

const LICENSE: &str = "MIT OR Apache-2.0";

const USAGE: &str = "usage: cargo xtask dist [OPTIONS]

  --profile NAME   the profile of the binary (default dist)
  --binary FILE    package this binary of the same version instead of building one
  --out DIR        where the packages go (default target/packages)";

struct Options {
    profile: String,
    binary: Option<PathBuf>,
    out: PathBuf,
}

impl Options {
    fn read(arguments: &[&str]) -> anyhow::Result<Self> {
        let mut options = Self { profile: "dist".to_owned(), binary: None, out: target().join("packages") };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().with_context(|| format!("{argument} needs a value\n\n{USAGE}"));
            match *argument {
                "--profile" => options.profile = (*value()?).to_owned(),
                "--binary" => options.binary = Some(PathBuf::from(value()?)),
                "--out" => options.out = PathBuf::from(value()?),
                _ => bail!("{USAGE}"),
            }
        }
        Ok(options)
    }

    /// The binary that is given, or built now.
    fn binary(&self) -> anyhow::Result<PathBuf> {
        let binary = match &self.binary {
            Some(given) => given.canonicalize().with_context(|| given.display().to_string())?,
            None => built(&self.profile)?,
        };
        let version = output_of(Command::new(&binary).arg("--version"))?;
        ensure!(
            version.lines().next() == Some(&format!("argiope {VERSION}")),
            "{} is not argiope {VERSION}: it is {version}",
            binary.display()
        );
        Ok(binary)
    }
}

/// Makes all packages, and `SHA256SUMS` beside them.
///
/// # Errors
/// A tool is missing, the build fails, or a file cannot be read or written.
pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let options = Options::read(arguments)?;
    needs::packages("packages", &[needs::BINUTILS])?;
    let binary = options.binary()?;
    let system = System::of(&binary)?;
    let epoch = epoch()?;
    let bill = bill::of_materials(&system, epoch)?;
    let entries = contents::gather(&binary, &bill)?;
    let packages = [
        (format!("argiope-{VERSION}-{}.tar.gz", system.target), archives::tarball(&entries, &system, epoch)?),
        (wheel::name(&system), wheel::package(&entries, &system)?),
        (format!("argiope-{VERSION}.tgz"), npm::package(&entries, &system, epoch)?),
        (debian::name(&system), debian::package(&entries, &system, epoch)?),
        (format!("argiope-{VERSION}.cdx.json"), bill),
    ];
    fs::create_dir_all(&options.out).with_context(|| options.out.display().to_string())?;
    let mut sums = String::new();
    for (name, bytes) in packages {
        writeln!(sums, "{}  {name}", HEXLOWER.encode(&Sha256::digest(&bytes)))?;
        println!("{:>12} bytes  {name}", bytes.len());
        write(&options.out, &name, &bytes)?;
    }
    write(&options.out, "SHA256SUMS", sums.as_bytes())
}

fn write(dir: &Path, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let path = dir.join(name);
    fs::write(&path, bytes).with_context(|| path.display().to_string())
}

/// Builds the binary of a profile. It holds no paths of this machine, so a build elsewhere gives the same bytes.
fn built(profile: &str) -> anyhow::Result<PathBuf> {
    let changes = output_of(Command::new("git").args(["status", "--porcelain"]).current_dir(workspace()))?;
    ensure!(changes.is_empty(), "a package names its commit, so commit these changes first:\n{changes}");
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let paths = [(workspace(), "/argiope"), (home.context("neither CARGO_HOME nor HOME is set")?, "/cargo")];
    let flags = |option: &str| paths.each_ref().map(|(from, to)| format!("{option}={}={to}", from.display())).join(" ");
    let mut build = Command::new("cargo");
    build.args(["build", "--locked", "--package", "argiope", "--profile", profile]).current_dir(workspace());
    build.env("RUSTFLAGS", flags("--remap-path-prefix")).env("CFLAGS", flags("-ffile-prefix-map"));
    ensure!(build.status()?.success(), "the build with the profile {profile} failed");
    let directory = if profile == "dev" { "debug" } else { profile };
    Ok(target().join(directory).join("argiope"))
}

/// The time of all files in packages, in seconds since 1970: `SOURCE_DATE_EPOCH`, or the time of the commit.
fn epoch() -> anyhow::Result<u64> {
    let text = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(given) => given,
        Err(_) => output_of(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(workspace())).context(
            "SOURCE_DATE_EPOCH is needed outside a clone: the time of the files in packages, in seconds since 1970",
        )?,
    };
    text.trim().parse().with_context(|| format!("no number of seconds since 1970: {text}"))
}

/// What a program prints on standard output.
///
/// # Errors
/// It cannot be started, or fails. The error has what it printed on standard error.
fn output_of(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}
