//! The packages of `cargo xtask dist`, made of the binary that all tests run. Two runs give the same bytes. Each package is installed in an
//! empty place and crawls there: the place is the root of its file system, with no compiler and no other program.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use testkit::python::runs;

/// Where the system's own programs are, those of its administrator too.
const SYSTEM_PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Pages and documents of the built-in site `simple.test`.
const PAGES: u64 = 10;

#[test]
fn packages_are_the_same_in_two_runs_and_each_crawls_in_an_empty_place() {
    let place = TempDir::new().unwrap();
    let [first, second] = ["first", "second"].map(|name| made(&place.path().join(name)));
    let names: Vec<&String> = first.keys().collect();
    assert_eq!(names, second.keys().collect::<Vec<_>>());
    for (name, path) in &first {
        assert!(fs::read(path).unwrap() == fs::read(&second[name]).unwrap(), "two runs differ in {name}");
    }
    runs(Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(place.path().join("first")));
    let package = |end: &str| {
        first.iter().find(|(name, _)| name.ends_with(end)).unwrap_or_else(|| panic!("no {end} among {names:?}")).1
    };
    unpacked(package(".tar.gz"));
    installed_by_pip(package(".whl"));
    installed_by_npm(package(".tgz"));
    installed_by_dpkg(package(".deb"));
    lists_what_is_linked(package(".cdx.json"));
}

/// Makes the packages. Gives each by its name.
fn made(dir: &Path) -> BTreeMap<String, PathBuf> {
    let mut xtask = Command::new(env!("CARGO"));
    xtask.args(["run", "--quiet", "--package", "xtask", "--", "dist"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    runs(xtask.args(["--binary", env!("CARGO_BIN_EXE_argiope"), "--out"]).arg(dir));
    let paths = dir.read_dir().unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path)).collect()
}

fn unpacked(package: &Path) {
    let root = TempDir::new().unwrap();
    runs(Command::new("tar").args(["--strip-components=1", "-xzf"]).arg(package).arg("-C").arg(root.path()));
    for file in ["README.md", "man/argiope.1", "completions/argiope.bash", "systemd/argiope-crawl@.service"] {
        assert!(root.path().join(file).is_file(), "{file}");
    }
    crawls(root.path(), "/argiope");
}

fn installed_by_pip(package: &Path) {
    let root = TempDir::new().unwrap();
    runs(Command::new("python3").args(["-m", "venv"]).arg(root.path()));
    let mut pip = Command::new(root.path().join("bin/pip"));
    runs(pip.args(["install", "--no-index", "--disable-pip-version-check"]).arg(package));
    runs(Command::new(root.path().join("bin/pip")).args(["show", "--verbose", "argiope"]));
    crawls(root.path(), "/bin/argiope");
}

fn installed_by_npm(package: &Path) {
    let root = TempDir::new().unwrap();
    let mut npm = Command::new("npm");
    npm.args(["install", "--offline", "--no-audit", "--no-fund", "--cache"]).arg(root.path().join("cache"));
    runs(npm.arg("--prefix").arg(root.path()).arg(package));
    crawls(root.path(), "/node_modules/.bin/argiope");
}

/// Also removes it again: nothing of it is left.
fn installed_by_dpkg(package: &Path) {
    let root = TempDir::new().unwrap();
    for directory in ["var/lib/dpkg/info", "var/lib/dpkg/updates"] {
        fs::create_dir_all(root.path().join(directory)).unwrap();
    }
    fs::write(root.path().join("var/lib/dpkg/status"), "").unwrap();
    let dpkg = || {
        let mut command = as_root();
        // The C library is copied there, so the packages that this one depends on are missing.
        command.args(["dpkg", "--force-depends", "--root"]).arg(root.path());
        command.env("PATH", SYSTEM_PATH);
        command
    };
    runs(dpkg().arg("--install").arg(package));
    let files = [
        "usr/bin/argiope",
        "usr/share/man/man1/argiope.1.gz",
        "usr/share/man/man1/argiope-crawl.1.gz",
        "usr/share/bash-completion/completions/argiope",
        "usr/share/zsh/vendor-completions/_argiope",
        "usr/share/fish/vendor_completions.d/argiope.fish",
        "usr/lib/systemd/system/argiope-crawl@.service",
        "usr/lib/systemd/system/argiope-server.service",
        "usr/lib/systemd/system/argiope-worker@.service",
        "usr/share/doc/argiope/copyright",
    ];
    for file in files {
        assert!(root.path().join(file).is_file(), "{file}");
    }
    crawls(root.path(), "/usr/bin/argiope");
    runs(dpkg().args(["--purge", "argiope"]));
    for file in files {
        assert!(!root.path().join(file).exists(), "{file}");
    }
}

/// Crawls the sandbox with a program whose root has nothing else but the libraries of the system and random numbers, and checks what it recorded.
fn crawls(root: &Path, program: &str) {
    let linked = runs(Command::new("ldd").arg(root.join(&program[1..])));
    for library in linked.split_whitespace().filter(|word| word.starts_with('/')) {
        let copy = root.join(&library[1..]);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(library, copy).unwrap();
    }
    for directory in ["tmp", "dev"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    fs::write(root.join("dev/urandom"), "").unwrap();
    let argiope = |arguments: &[&str]| {
        let mut command = as_root();
        command.args(["--mount", "sh", "-c", r#"mount --bind /dev/urandom "$0/dev/urandom" && exec chroot "$0" "$@""#]);
        command.arg(root).arg(program).args(arguments);
        runs(command.env_clear().env("PATH", SYSTEM_PATH))
    };
    let version = argiope(&["--version"]);
    assert!(version.starts_with(concat!("argiope ", env!("CARGO_PKG_VERSION"), "\n")), "{version}");
    let crawl =
        ["crawl", "--sandbox", "http://simple.test/", "--delay", "0", "--ip-delay", "0", "--json", "-o", "/crawl"];
    let summary: Value = serde_json::from_str(&argiope(&crawl)).unwrap();
    assert_eq!(summary["fetched"], PAGES, "{summary}");
    let checked = argiope(&["check", "/crawl"]);
    assert!(checked.starts_with("no errors: 25 records"), "{checked}");
}

/// A program as root of a user namespace, so the test needs no root.
fn as_root() -> Command {
    let mut command = Command::new("unshare");
    command.arg("--map-root-user");
    command
}

/// The bill of materials names what is linked, with licenses and checksums, and not what only tests need.
fn lists_what_is_linked(bill: &Path) {
    let bill: Value = serde_json::from_slice(&fs::read(bill).unwrap()).unwrap();
    assert_eq!(bill["metadata"]["component"]["name"], "argiope");
    let components = bill["components"].as_array().unwrap();
    let find = |name: &str| components.iter().find(|component| component["name"] == name);
    for linked in ["tokio", "fjall", "tikv-jemalloc-sys"] {
        let component = find(linked).unwrap_or_else(|| panic!("no {linked}"));
        assert!(component["licenses"][0]["expression"].is_string(), "{component}");
        assert_eq!(component["hashes"][0]["content"].as_str().map(str::len), Some(64), "{component}");
    }
    for absent in ["proptest", "testkit", "xtask"] {
        assert!(find(absent).is_none(), "{absent} is not in the program");
    }
}
