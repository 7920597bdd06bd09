//! The examples do what they say. They are built with the tests of this crate.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use testweb::{Config, Pages, Server, Web};
use tokio::process::Command;
use tokio::time::timeout;

/// Longer than any of them takes.
const LONG: Duration = Duration::from_secs(120);

async fn server(pages: Pages) -> Server {
    Server::start(Config::new(Web::new().site("127.0.0.1", pages))).await.unwrap()
}

/// Runs an example on a site, and gives what it prints.
async fn run(name: &str, server: &Server) -> String {
    let test = std::env::current_exe().unwrap();
    let example: PathBuf = test.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(example.exists(), "{}: cargo build -p argiope --examples", example.display());
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(example);
    command.arg(format!("http://{}/", server.address())).arg(dir.path().join("crawl"));
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = timeout(LONG, command.output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn the_first_program_crawls() {
    let server = server(Pages::new().html("/", "<a href=/1>1</a>").html("/1", "one")).await;
    assert_eq!(run("first", &server).await, "Done: 2 pages\n");
    let source = include_str!("../examples/first.rs");
    assert!(source.lines().count() <= 15, "it is short");
    for page in [include_str!("../../../README.md"), include_str!("../../../docs/embedding.md")] {
        assert!(page.contains(source), "it is shown as it is");
    }
}

#[tokio::test]
async fn a_hook_extracts_fields() {
    let product = "<meta name=\"price\" content=\"12.50\"><a href=/>home</a>";
    let pages = Pages::new().html("/", "<a href=/p>p</a><a href='/p?sort=price'>sorted</a>").html("/p", product);
    let server = server(pages).await;
    let printed = run("fields", &server).await;
    let expect = format!("http://{}/p {{\"fields\":{{\"price\":12.5}},\"tags\":[\"product\"]}}\n", server.address());
    assert_eq!(printed, expect);
    assert!(server.log().iter().all(|entry| !entry.target.contains("sort")), "it is refused");
}

#[tokio::test]
async fn a_crawl_is_steered() {
    let links: String = (0..50).map(|n| format!("<a href=/{n}>{n}</a><a href=/archive/{n}>{n}</a>")).collect();
    let pages =
        (0..50).fold(Pages::new().html("/", links), |pages, n| pages.html(format!("/{n}"), format!("page {n}")));
    let server = server(pages).await;
    let printed = run("steer", &server).await;
    assert!(printed.starts_with("Stopped: ") && !printed.contains(" 51 pages"), "{printed}");
    assert!(server.log().iter().all(|entry| !entry.target.contains("archive")), "it is excluded");
}
