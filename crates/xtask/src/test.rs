//! `cargo xtask test`: all checks and all tests, as in CI.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, bail};
use tempfile::TempDir;

use crate::workspace::workspace;
use crate::{bench, needs, semver, site, tidy};

/// Generated cases are the same in every run, so that a change is judged by what it changed.
/// Without it (`cargo nextest run`), each run tries new ones.
const SEED_OF_CASES: &str = "20260101";

/// Places for tests that each core gives. How many of them a test takes stands in `.config/nextest.toml`.
const PLACES_OF_A_CORE: usize = 6;

/// The file system in memory.
const IN_MEMORY: &str = "/dev/shm";

/// Memory that must be available for files of tests in it, in KiB. Four looks during a run showed 0.1 GiB at most; what runs beside them needs
/// some, too.
const AVAILABLE_MIN: u64 = 8 << 20;

/// Runs everything, and stops at the first thing that fails.
///
/// # Errors
/// What failed, or what is missing.
pub fn run() -> anyhow::Result<()> {
    let has_nextest = Command::new("cargo").args(["nextest", "--version"]).output().is_ok_and(|o| o.status.success());
    let mut tests =
        if has_nextest { vec!["nextest", "run", "--workspace"] } else { vec!["test", "--workspace", "--all-targets"] };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut directories = compiled_and_provided(&[tests.as_slice(), &["--no-run"]].concat(), &path)?;
    tests.push("--no-fail-fast");
    directories.extend(std::env::split_paths(&path));
    let path = std::env::join_paths(directories)?;
    let files = files_in_memory()?;
    let files = files.as_ref().map(TempDir::path);
    let places = (std::thread::available_parallelism()?.get() * PLACES_OF_A_CORE).to_string();
    if has_nextest {
        tests.extend(["--profile", "whole", "--test-threads", &places]);
    }
    if !needs::has_networks() {
        eprintln!(
            "xtask: network namespaces with TUN devices cannot be made here (root is needed): LEFT OUT are the tests of distances and of a page's packets"
        );
        let left_out: &[&str] = if has_nextest {
            &["-E", "not test(/^distances::|^namespace::/)"]
        } else {
            &["--", "--skip", "distances::", "--skip", "namespace::"]
        };
        tests.extend(left_out);
    }
    step(&tests, &path, files)?;
    step(&["test", "--workspace", "--doc", "--quiet"], &path, files)?;
    // Other programs get the crates as packages.
    step(&["package", "--workspace", "--no-verify", "--allow-dirty", "--quiet"], &path, None)?;
    semver::run_if_possible()?;
    // The tests have built the crawler.
    site::run(&["--binary", &bench::argiope::target().join("debug/argiope").display().to_string()])
}

/// Checks and compiles. Meanwhile it provides what the tests need besides: downloads wait for other machines most of their time.
/// Gives the directories to put in front of `PATH`.
fn compiled_and_provided(compile: &[&str], path: &OsStr) -> anyhow::Result<Vec<PathBuf>> {
    let is_missing = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let providing = scope.spawn(|| needs::provide().inspect_err(|_| is_missing.store(true, Ordering::Relaxed)));
        tidy::run()?;
        for arguments in [
            &["fmt", "--all", "--check"],
            &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"],
            // A workspace of its own, whose targets have files of the crates: they go along with every change.
            &["check", "--manifest-path", "fuzz/Cargo.toml", "--locked", "--quiet"],
            compile,
        ] as [&[&str]; 4]
        {
            // No need to compile first where the tests cannot run.
            if is_missing.load(Ordering::Relaxed) {
                break;
            }
            step(arguments, path, None)?;
        }
        providing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// A directory in memory for the files of tests, if there is room. On a disk, thousands of small files come and go.
fn files_in_memory() -> anyhow::Result<Option<TempDir>> {
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.trim().strip_suffix(" kB"));
    let is_enough = available.and_then(|kib| kib.parse::<u64>().ok()).is_some_and(|kib| kib >= AVAILABLE_MIN);
    if !is_enough || !Path::new(IN_MEMORY).is_dir() {
        return Ok(None);
    }
    // A short name: paths of sockets have 107 bytes. Servers that tests start run as another user.
    let open = Permissions::from_mode(0o755);
    let files = tempfile::Builder::new().prefix("a").rand_bytes(3).permissions(open).tempdir_in(IN_MEMORY)?;
    // Tests run programs from there, which a container may forbid.
    let program = files.path().join("true");
    std::fs::copy("/bin/true", &program)?;
    Ok(Command::new(program).status().is_ok_and(|ran| ran.success()).then_some(files))
}

/// Runs cargo with arguments, and says how long it took. Temporary files are written to `files`, if that is given.
fn step(arguments: &[&str], path: &OsStr, files: Option<&Path>) -> anyhow::Result<()> {
    let command = format!("cargo {}", arguments.join(" "));
    eprintln!("xtask: {command}");
    #[expect(clippy::disallowed_methods, reason = "how long a step took is shown to a person")]
    let began = Instant::now();
    let status = Command::new("cargo")
        .args(arguments)
        .current_dir(workspace())
        .env("PATH", path)
        .env("PROPTEST_RNG_SEED", SEED_OF_CASES)
        .envs(files.map(|files| ("TMPDIR", files)))
        .status();
    if !status.with_context(|| command.clone())?.success() {
        bail!("{command} failed");
    }
    eprintln!("xtask: {command} took {} s", began.elapsed().as_secs());
    Ok(())
}
