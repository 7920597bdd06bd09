//! What each screen of the interface takes, and the preview of a change, when many URLs are known.
//!
//! A crawl of a small computed web is filled up with URLs, of which most wait and a tenth was visited (`store-embedded/examples/fill.rs`).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;

use super::Options;
use super::argiope;
use super::known;
use super::measured::median;
use super::run_file::{RunFile, said};
use super::synthetic::SEED;
use crate::interface::Interface;
use crate::workspace::workspace;

/// URLs known, unless told.
const KNOWN: [u64; 2] = [1_000_000, 10_000_000];
/// URLs known before the state is filled up.
const CRAWLED: u64 = 1_000;
/// What a screen may take, in milliseconds.
const SCREEN_MS_MAX: f64 = 100.0;
/// What the preview of a change may take, in milliseconds.
const PREVIEW_MS_MAX: f64 = 1_000.0;

/// Crawls webs, and asks for each screen.
///
/// # Errors
/// A crawl fails, or a screen is not there.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let number = |size: &String| size.parse().with_context(|| format!("`{size}` is no number of URLs"));
    let mut sizes: Vec<u64> = options.rest.iter().map(number).collect::<Result<_, _>>()?;
    if sizes.is_empty() {
        sizes.extend(KNOWN);
    }
    let binary = argiope::binary(options.binary.as_deref())?;
    let mut file = RunFile::begin("ui", "Screens of the interface", &[said(&binary, &["--version"])?])?;
    for size in sizes {
        let dir = TempDir::with_prefix("argiope-bench-")?;
        let crawl = dir.path().join("crawl");
        known::crawl_to(&binary, CRAWLED, &crawl)?;
        let known = said(&fill(&binary)?, &[&crawl.join("state").display().to_string(), &size.to_string()])?;
        file.say(&format!(
            "{known} URLs known, the crawl rests; milliseconds from a request to the end of its answer:\n"
        ));
        file.say("| screen | first | median | slowest |\n|---|---|---|---|");
        let interface = Interface::start(&binary, &crawl)?;
        for (name, request) in requests(&interface)? {
            let took =
                (0..=options.rounds).map(|_| answered(&interface, &request)).collect::<anyhow::Result<Vec<_>>>()?;
            let again = took.get(1..).unwrap_or_default();
            let (middle, slowest) = (median(again.iter().copied()), again.iter().copied().fold(0.0, f64::max));
            let aim = if name == PREVIEW { PREVIEW_MS_MAX } else { SCREEN_MS_MAX };
            let is_slow = if middle > aim { format!(" (aim: {aim})") } else { String::new() };
            let first = took.first().copied().unwrap_or_default();
            file.say(&format!("| {name} | {first:.1} | {middle:.1}{is_slow} | {slowest:.1} |"));
        }
        file.say("");
    }
    file.keep()
}

/// The program that fills a state up: beside the binary, or built now.
fn fill(binary: &Path) -> anyhow::Result<PathBuf> {
    let beside = binary.with_file_name("examples").join("fill");
    if beside.exists() {
        return Ok(beside);
    }
    let built = Command::new("cargo")
        .args(["build", "--profile", "dist", "--quiet", "-p", "argiope-store-embedded", "--example", "fill"])
        .current_dir(workspace())
        .status()?;
    ensure!(built.success(), "the build of the example `fill` failed");
    Ok(argiope::target().join("dist/examples/fill"))
}

/// The name of the preview of a change.
const PREVIEW: &str = "effect of an exclude pattern";
/// A URL in the middle of the filled state.
const FILLED: &str = "http%3A%2F%2Fsite-49.fill.test%2Fsection-1%2Fpage-98.html";

/// The screens by name, and the preview of a change.
fn requests(interface: &Interface) -> anyhow::Result<Vec<(&'static str, String)>> {
    let address = interface.origin.strip_prefix("http://").context("an address")?;
    let head =
        |method: &str, path: &str| format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    let get = |path: &str| head("GET", path) + "\r\n";
    let seed: String = SEED.replace(':', "%3A").replace('/', "%2F");
    let form = "what=exclude&to=*%2Fsection-1*7.html";
    let preview = format!("{}Content-Length: {}\r\n\r\n{form}", head("POST", "/steer"), form.len());
    Ok(vec![
        ("overview", get("/")),
        ("sites", get("/sites")),
        ("URLs", get("/urls")),
        ("URLs, deep in the table", get(&format!("/urls?after={FILLED}"))),
        ("URLs of a site", get("/urls?site=site-7.fill.test")),
        ("URLs that wait", get("/urls?state=waiting")),
        ("URLs that wait, by pattern", get("/urls?state=waiting&match=*7.html")),
        ("URLs in a rare state", get("/urls?state=render_error")),
        ("URLs that failed", get("/urls?state=failed")),
        ("URLs by a pattern that none matches", get("/urls?match=*%2Fnone")),
        ("search, empty", get("/search")),
        ("graph of sites", get("/graph")),
        ("story of a URL", get(&format!("/url?u={seed}"))),
        ("steer", get("/steer")),
        ("report", get("/report")),
        (PREVIEW, preview),
    ])
}

/// Milliseconds until a request is answered.
fn answered(interface: &Interface, request: &str) -> anyhow::Result<f64> {
    let address = interface.origin.strip_prefix("http://").context("an address")?;
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
    let began = Instant::now();
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let took = began.elapsed().as_secs_f64() * 1_000.0;
    let is_there = answer.starts_with(b"HTTP/1.1 200");
    ensure!(is_there, "{request}\n{}", String::from_utf8_lossy(&answer));
    if answer.len() < 200 {
        bail!("{request}: the answer has no page");
    }
    Ok(took)
}
