//! What the README, the tutorial and the how-to guides show is what happens: their commands run here, and print what the pages say.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod output;
mod page;

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use page::{Block, Page, Run};
use testdb::Postgres;

/// The guides, each with a test below.
const GUIDES: [&str; 9] = [
    "archive-a-site.md",
    "broken-links.md",
    "cluster.md",
    "course-000.md",
    "course-001.md",
    "course-002.md",
    "course-003.md",
    "course-004.md",
    "text-corpus.md",
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A page that needs nothing but the program.
fn check(path: &str) {
    check_with(path, &[]);
}

/// A page that needs a database, and ports for a cluster.
fn check_with_database(path: &str) {
    let database = Postgres::start();
    let ports = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let [clients, workers] = ports.map(|port| port.local_addr().unwrap().to_string());
    check_with(path, &[("DATABASE", database.url()), ("CLIENTS", clients), ("WORKERS", workers)]);
}

/// Runs all commands of a page in one shell, in an empty directory that has `examples/`, and compares what they print.
fn check_with(path: &str, variables: &[(&str, String)]) {
    let page = Page::read(&std::fs::read_to_string(repository().join(path)).unwrap()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(repository().join("examples"), dir.path().join("examples")).unwrap();
    let binaries = Path::new(env!("CARGO_BIN_EXE_argiope")).parent().unwrap();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let path_with_ours =
        std::env::join_paths(std::iter::once(binaries.to_owned()).chain(std::env::split_paths(&paths))).unwrap();
    let output = Command::new("bash")
        .args(["-c", &page.script()])
        .current_dir(dir.path())
        .env("PATH", path_with_ours)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (printed, messages) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{path}: {}\n{printed}\n{messages}", output.status);
    let printed = page::by_block(&printed);
    let mut compared = 0;
    for (number, block) in page.blocks.iter().enumerate() {
        if let (Run::Yes { .. }, Some(expected)) = (&block.run, &block.output) {
            let printed = printed.get(&number).map_or("", String::as_str);
            let is_same = output::matches(&expected.text, printed, expected.numbers_vary);
            assert!(
                is_same,
                "{path}, below `{}`: the page says\n{}\nprinted was\n{printed}",
                block.code, expected.text
            );
            compared += 1;
        }
    }
    assert!(compared > 0 || page.blocks.iter().all(Block::is_left_out), "{path}: nothing is shown of what is printed");
    let unindented = |rust: &str| rust.lines().map(str::trim_start).collect::<Vec<_>>().join("\n");
    let examples: Vec<String> = std::fs::read_dir(repository().join("crates/argiope/examples"))
        .unwrap()
        .map(|entry| unindented(&std::fs::read_to_string(entry.unwrap().path()).unwrap()))
        .collect();
    for rust in &page.rust {
        assert!(examples.iter().any(|example| example.contains(&unindented(rust))), "{path}: no example has\n{rust}");
    }
}

#[test]
fn every_guide_is_tested_here() {
    let names = std::fs::read_dir(repository().join("docs/how-to")).unwrap();
    let names: BTreeSet<String> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names, GUIDES.iter().map(|name| (*name).to_owned()).collect());
}

#[test]
fn the_readme() {
    check("README.md");
}

#[test]
fn the_tutorial() {
    check("docs/tutorial.md");
}

#[test]
fn guide_archive_a_site() {
    check("docs/how-to/archive-a-site.md");
}

#[test]
fn guide_broken_links() {
    check("docs/how-to/broken-links.md");
}

#[test]
fn guide_cluster() {
    check_with_database("docs/how-to/cluster.md");
}

#[test]
fn guide_course_000() {
    check("docs/how-to/course-000.md");
}

#[test]
fn guide_course_001() {
    check_with_database("docs/how-to/course-001.md");
}

#[test]
fn guide_course_002() {
    check("docs/how-to/course-002.md");
}

#[test]
fn guide_course_003() {
    check("docs/how-to/course-003.md");
}

#[test]
fn guide_course_004() {
    check_with_database("docs/how-to/course-004.md");
}

#[test]
fn guide_text_corpus() {
    check("docs/how-to/text-corpus.md");
}
