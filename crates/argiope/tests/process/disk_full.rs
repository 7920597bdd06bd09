//! No space left: one clear line, and once there is space again the same command finishes as if nothing had been.

use std::path::{Path, PathBuf};
use std::process::Command;

use testweb::{Pages, Reply, Web};

use crate::binary::{BINARY, Ended, Running};
use crate::result::{assert_same, entries, rows};
use crate::served::Served;
use crate::warcs;

const DOCUMENTS: u64 = 90;
/// So that all of them need more than either limit below.
const DOCUMENT_BYTES: u64 = 1_000_000;
/// More than the state's journal takes from the start, less than the documents.
const FILE_BYTES_MAX: u64 = 80_000_000;

/// A page that links to documents that cannot be compressed.
fn serve() -> Served {
    let name = |number: u64| format!("/document-{number}");
    let links: String = (0..DOCUMENTS).map(|number| format!("<a href={}>{number}</a>\n", name(number))).collect();
    let document = |number| Reply::new(200).header("Content-Type", "application/zip").body(noise(number));
    let pages =
        (0..DOCUMENTS).fold(Pages::new().html("/", links), |pages, number| pages.reply(name(number), document(number)));
    Served::start(Web::new().site("large.test", pages))
}

fn noise(seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(DOCUMENT_BYTES).unwrap()];
    blake3::Hasher::new().update(&seed.to_be_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

fn crawl(served: &Served, dir: &Path) -> Vec<String> {
    let flags = ["crawl", "http://large.test/", "--delay", "0", "--ip-delay", "0", "--progress", "none", "-o"];
    let mut arguments: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    arguments.push(dir.to_str().unwrap().to_owned());
    arguments.extend(served.flags());
    arguments
}

/// Runs a shell script with the arguments of the crawl as its own, behind the binary.
fn shell(launcher: &[&str], script: &str, arguments: &[String]) -> Ended {
    let mut command = Command::new(launcher[0]);
    command.args(&launcher[1..]).args(["sh", "-c", script, "sh", BINARY]).args(arguments);
    Running::start(&mut command).end()
}

/// One line on standard error that says what is the matter and where. Another one may have said before that the disk will be too small.
fn check_message(stderr: &str, dir: &Path) {
    let lines: Vec<&str> = stderr.lines().filter(|line| !line.starts_with("argiope: the disk has ")).collect();
    assert_eq!(lines.len(), 1, "{stderr}");
    assert!(lines[0].starts_with("argiope: ") && lines[0].contains(dir.to_str().unwrap()), "{stderr}");
    let says_why = ["no space left", "No space left", "File too large"].iter().any(|words| lines[0].contains(words));
    assert!(says_why && lines[0].matches("pace left").count() <= 1, "{stderr}");
}

/// The crawl in `dir` is done, and the same as one that had space all the time, which is made in `undisturbed` unless it is there.
fn check_nothing_lost(served: &Served, dir: &Path, undisturbed: &Path) {
    if !undisturbed.exists() {
        Running::start(Command::new(BINARY).args(crawl(served, undisturbed))).end().expect_code(0);
    }
    let entries_here = entries(dir);
    assert_same(&rows(&entries_here), &rows(&entries(undisturbed)));
    warcs::check(dir, &entries_here);
}

/// Works for everybody: the process may not make a file longer than that. The first run fills it, the second has no limit.
#[test]
fn a_crawl_whose_files_may_not_grow_ends_with_one_line_and_can_be_resumed() {
    let (served, dirs) = (serve(), tempfile::tempdir().unwrap());
    let (dir, undisturbed) = (dirs.path().join("crawl"), dirs.path().join("undisturbed"));
    let arguments = crawl(&served, &dir);
    let limit = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", FILE_BYTES_MAX / 512);
    for _ in 0..2 {
        let ended = shell(&["env"], &limit, &arguments).expect_code(1);
        check_message(&ended.stderr, &dir);
    }
    Running::start(Command::new(BINARY).args(&arguments)).end().expect_code(0);
    check_nothing_lost(&served, &dir, &undisturbed);
}

/// On a file system of a few megabytes, in a mount namespace of its own: it is gone with the process, whatever happens.
/// Both runs are in there, and the directory is copied out in the end.
#[test]
fn a_crawl_on_a_full_file_system_ends_with_one_line_and_can_be_resumed() {
    let Some(launcher) = mounter() else {
        return println!("not run: this user may not mount a file system, not even in a namespace");
    };
    let (served, dirs) = (serve(), tempfile::tempdir().unwrap());
    // Full from the start, full while the crawl begins, full in its midst.
    for size in ["4k", "100k", "20m"] {
        fill(&launcher, &served, size, &dirs.path().join("undisturbed"));
    }
}

fn fill(launcher: &[&str], served: &Served, size: &str, undisturbed: &Path) {
    let dirs = tempfile::tempdir().unwrap();
    let (disk, copy) = (dirs.path().join("disk"), dirs.path().join("copy"));
    std::fs::create_dir(&disk).unwrap();
    let arguments = crawl(served, &disk.join("crawl"));
    let script = format!(
        "set -u
        mount -t tmpfs -o size={size} tmpfs {disk} || exit 90
        \"$@\" >{copy}.out 2>{copy}.1; test $? = 1 || exit 91
        \"$@\" >{copy}.out 2>{copy}.2; test $? = 1 || exit 92
        mount -o remount,size=1000m {disk} || exit 93
        \"$@\" >{copy}.out 2>{copy}.3; test $? = 0 || exit 94
        cp -r {disk}/crawl {copy}",
        disk = disk.display(),
        copy = copy.display()
    );
    let ended = shell(launcher, &script, &arguments);
    let said = |run: u8| std::fs::read_to_string(path_with(&copy, run)).unwrap_or_default();
    assert!(ended.status.success(), "{size}: {}: {}{}{}{}", ended.status, ended.stderr, said(1), said(2), said(3));
    check_message(&said(1), &disk);
    check_message(&said(2), &disk);
    check_nothing_lost(served, &copy, undisturbed);
}

fn path_with(path: &Path, run: u8) -> PathBuf {
    PathBuf::from(format!("{}.{run}", path.display()))
}

/// What runs a program where it may mount: root in a mount namespace, others in a user namespace too.
pub fn mounter() -> Option<Vec<&'static str>> {
    let launchers = [vec!["unshare", "--mount"], vec!["unshare", "--mount", "--user", "--map-root-user"]];
    launchers.into_iter().find(|launcher| {
        let mut command = Command::new(launcher[0]);
        command.args(&launcher[1..]).args(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/mnt"]);
        command.output().is_ok_and(|output| output.status.success())
    })
}
