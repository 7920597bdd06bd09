//! What each screen of the interface takes, and the preview of a change, when many URLs are known.
//!
//! The crawls are those of `known`: of a computed web, ended when so many URLs are known that most of them wait.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;

use super::Options;
use super::argiope;
use super::known;
use super::measured::median;
use super::run_file::{RunFile, said};
use super::synthetic::{SEED, host};
use crate::interface::Interface;

/// URLs known, unless told.
const KNOWN: [u64; 2] = [1_000_000, 10_000_000];
/// What a screen may take, in milliseconds.
const SCREEN_MS_MAX: f64 = 100.0;

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
        let known = known::crawl_to(&binary, size, &crawl)?;
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
            let is_slow = if middle > SCREEN_MS_MAX { " (aim: 100)" } else { "" };
            let first = took.first().copied().unwrap_or_default();
            file.say(&format!("| {name} | {first:.1} | {middle:.1}{is_slow} | {slowest:.1} |"));
        }
        file.say("");
    }
    file.keep()
}

/// The screens by name, and the preview of a change.
fn requests(interface: &Interface) -> anyhow::Result<Vec<(&'static str, String)>> {
    let address = interface.origin.strip_prefix("http://").context("an address")?;
    let head =
        |method: &str, path: &str| format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    let get = |path: &str| head("GET", path) + "\r\n";
    let seed: String = SEED.replace(':', "%3A").replace('/', "%2F");
    let form = "what=exclude&to=*%2Fp%2F1*7";
    let preview = format!("{}Content-Length: {}\r\n\r\n{form}", head("POST", "/steer"), form.len());
    Ok(vec![
        ("overview", get("/")),
        ("sites", get("/sites")),
        ("URLs", get("/urls")),
        ("URLs of a site", get(&format!("/urls?site={}", host()))),
        ("URLs that wait, by pattern", get("/urls?state=waiting&match=*7")),
        ("URLs that failed, of which there are none", get("/urls?state=failed")),
        ("story of a URL", get(&format!("/url?u={seed}"))),
        ("steer", get("/steer")),
        ("report", get("/report")),
        ("effect of an exclude pattern", preview),
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
