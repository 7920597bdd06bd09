//! Pages that misbehave cost themselves, and no process is left behind.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use render::{BrowserError, RenderFailure, Renderer, Settings};

use crate::site::{Site, render, settings};

/// Tells the process that is to be killed that it is the one.
const VICTIM: &str = "ARGIOPE_TEST_RENDER_VICTIM";
/// Tells a process that it is to render a page and end.
const ENDS: &str = "ARGIOPE_TEST_RENDER_ENDS";
/// A browser that is not gone by then is left behind.
const GONE_WITHIN: Duration = Duration::from_secs(10);

/// Processes that have a text in their command line.
fn processes(text: &str) -> usize {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(text)).count()
}

/// Waits until no process has the text in its command line.
async fn are_gone(text: &str) -> bool {
    becomes(|| processes(text) == 0).await
}

/// Waits until something holds.
async fn becomes(holds: impl Fn() -> bool) -> bool {
    let waited = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(GONE_WITHIN, waited).await.is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_misbehave_cost_themselves() {
    let quick = Settings { page_time_max: Duration::from_secs(10), ..settings() };
    let renderer = Renderer::new(quick);
    let site = Arc::new(Site::new());
    let fine = "<p>fine</p>";
    for body in [
        "<script>while (true) {}</script>",
        "<script>for (;;) alert('again')</script>",
        "<script>const a = []; for (;;) a.push(new Array(1e6).fill(Math.random()))</script>",
        "<script>new Promise(() => {}); (function next() { Promise.resolve().then(next) })()</script>",
    ] {
        let failure = render(&renderer, body, &site).await.expect_err(body);
        assert!(matches!(failure, RenderFailure::Timeout(_) | RenderFailure::Crashed), "{body}: {failure:?}");
        assert!(render(&renderer, fine, &site).await.expect("the next page").html.contains(fine));
    }
    let renderer = Renderer::new(settings());
    for body in [
        "<script>alert(1); confirm('x'); prompt('y')</script>",
        "<script>onbeforeunload = e => { e.preventDefault(); return 'stay' }</script><a href=/x>x</a>",
        "<a id=a href=/file download>x</a><script>a.click()</script>",
        "<script>setInterval(() => document.body.append('.'), 1)</script>",
        "<script>throw new Error('x')</script>",
        "<script>print(); close(); stop(); open('about:blank')</script>",
        "<object data=/x></object><embed src=/y><input type=file autofocus>",
    ] {
        let body = format!("<body>{fine}{body}");
        assert!(render(&renderer, &body, &site).await.expect(&body).html.contains(fine), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn too_much_is_refused() {
    let small = Settings { html_bytes_max: 10_000, ..settings() };
    let body = "<script>document.body.innerHTML = '<p>x</p>'.repeat(1e5)</script>";
    let failure = render(&Renderer::new(small), &format!("<body>{body}"), &Arc::new(Site::new())).await;
    assert_eq!(failure, Err(RenderFailure::TooLarge(10_000)));
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_outside_of_scripts_is_bounded_too() {
    let tight = Settings { browser_bytes_max: 1 << 30, ..settings() };
    let renderer = Renderer::new(tight);
    let site = Arc::new(Site::new());
    let body = "<script>const a = []; setInterval(() => { const b = new Uint8Array(1 << 26); b.fill(7); a.push(b) }, 1)</script>";
    let failure = render(&renderer, body, &site).await.expect_err("too much memory");
    assert_eq!(failure, RenderFailure::Crashed);
    render(&renderer, "<p>fine</p>", &site).await.expect("the next page");
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_are_replaced_and_end_with_the_renderer() {
    let dir = tempfile::tempdir().expect("a directory");
    let program = dir.path().join("argiope-test-browser-of-its-own");
    // The name shows in the command line of the first process.
    let mark = format!("--argiope-test={}", dir.path().display());
    write_program(&program, &format!("#!/bin/sh\nexec chromium {mark} \"$@\"\n"));
    let renderer = Renderer::new(Settings { browser: program, pages_per_browser: 2, ..settings() });
    for _ in 0..5 {
        render(&renderer, "<p>fine</p>", &Arc::new(Site::new())).await.expect("a page");
    }
    // A browser ends beside the page of its successor.
    assert!(becomes(|| processes(&mark) == 1).await, "{} browsers", processes(&mark));
    drop(renderer);
    assert_eq!(processes(&mark), 0, "what the browser writes is its own until it has ended");
}

/// Makes the browsers of the test itself, in a process with a temporary directory of its own.
#[tokio::test(flavor = "multi_thread")]
async fn no_file_of_a_browser_is_left() {
    let dir = tempfile::tempdir().expect("a directory");
    for times in 0..3 {
        let ended = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "contained::the_one_that_ends"])
            .env(ENDS, "1")
            .env("TMPDIR", dir.path())
            .stdout(Stdio::null())
            .status();
        assert!(ended.expect("it runs").success());
        let left: Vec<_> = std::fs::read_dir(dir.path()).expect("a directory").flatten().collect();
        assert!(left.is_empty(), "after {times} more: {left:?}");
    }
}

/// Renders a page and ends its browser, where it is asked to.
#[tokio::test(flavor = "multi_thread")]
async fn the_one_that_ends() {
    if std::env::var_os(ENDS).is_some() {
        let renderer = Renderer::new(settings());
        render(&renderer, "<p>fine</p>", &Arc::new(Site::new())).await.expect("a page");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_temporary_directory_with_a_long_path_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let long = dir.path().join("a-path-that-leaves-no-room-for-the-socket-of-a-browser");
    std::fs::create_dir(&long).expect("a directory");
    let ended = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "contained::the_one_that_ends"])
        .env(ENDS, "1")
        .env("TMPDIR", &long)
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
    assert!(told.contains(&format!("the path {} is too long for it", long.display())), "{told}");
}

fn write_program(path: &Path, script: &str) {
    std::fs::write(path, script).expect("a file");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path, executable).expect("a file");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_browser_outlives_a_process_that_is_killed() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut victim = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "contained::the_victim", "--nocapture"])
        .env(VICTIM, "1")
        .env("TMPDIR", dir.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mark = dir.path().display().to_string();
    let started = async {
        // The browser, its zygotes and a page.
        while processes(&mark) < 3 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), started).await.expect("a browser starts");
    victim.kill().expect("it runs");
    victim.wait().expect("it ends");
    assert!(are_gone(&mark).await, "{} are left", processes(&mark));
}

/// Renders a page that never ends, where it is asked to, until it is killed.
#[tokio::test(flavor = "multi_thread")]
async fn the_victim() {
    if std::env::var_os(VICTIM).is_none() {
        return;
    }
    let renderer = Renderer::new(settings());
    let _ = render(&renderer, "<script>while (true) {}</script>", &Arc::new(Site::new())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_browser_is_named_with_what_to_do() {
    let error = Settings::find_browser(Some("/nowhere/chromium".as_ref())).expect_err("there is none");
    let expect = "no Chromium found (there is no /nowhere/chromium): on Debian and Ubuntu `apt-get install chromium` installs it";
    assert_eq!(error.to_string(), expect);
    let broken = Settings { browser: "/bin/false".into(), ..settings() };
    let failure = render(&Renderer::new(broken), "<p>", &Arc::new(Site::new())).await.expect_err("no browser");
    assert_eq!(
        failure,
        BrowserError::Start {
            browser: "/bin/false".to_owned(),
            detail: "it ended at once; is it Chromium?".to_owned()
        }
        .into()
    );
}
