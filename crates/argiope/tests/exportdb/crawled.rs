//! A crawl of a web served by the test.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use testweb::advanced::{EXPECTED, TRAPS};
use testweb::{Config, Server, Web};

/// The limits of the sandbox's traps, so that they are soon reached.
pub const TRAP_LIMITS: [&str; 10] = [
    "--max-retry-after",
    "1ms",
    "--max-calendar-pages",
    "5",
    "--max-queries-per-path",
    "5",
    "--low-yield-window",
    "20",
    "--max-low-yield-pages",
    "20",
];
/// The sandbox.
pub const ADVANCED: &str = "http://advanced.test";

/// Statuses of the sandbox's redirects, by the end of their path, from its definition.
const REDIRECTS: [(u16, &[&str]); 5] = [
    (301, &["301", "dots", "absolute", "self", "chain-1"]),
    (
        302,
        &[
            "302",
            "relative",
            "no-scheme",
            "fragment",
            "query",
            "other-host",
            "loop-a",
            "loop-b",
            "chain-2",
            "to-disallowed",
            "to-mailto",
            "to-missing",
            "no-location",
        ],
    ),
    (303, &["303"]),
    (307, &["307", "chain-3"]),
    (308, &["308"]),
];

/// A directory with a crawl.
pub struct Crawled {
    root: TempDir,
}

impl Crawled {
    /// Crawls from seeds, with more arguments.
    pub fn of(web: Web, arguments: &[&str]) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let server = runtime.block_on(Server::start(Config::new(web))).expect("a free port");
        let crawled = Crawled { root: TempDir::new().expect("a directory") };
        let connect_to = server.connect_to();
        let fixed = ["crawl", "-o", &crawled.path("crawl"), "--connect-to", &connect_to, "--progress", "none"];
        let fast = ["--delay", "0", "--ip-delay", "0", "--backoff", "1ms", "--max-crawl-delay", "0", "--patience", "0"];
        argiope(&[&fixed[..], &fast, arguments].concat());
        crawled
    }

    /// A crawl of the advanced sandbox.
    pub fn advanced() -> Self {
        Crawled::of(Web::sandboxes(), &[&["http://advanced.test/"][..], &TRAP_LIMITS].concat())
    }

    /// A path beside the crawl.
    pub fn path(&self, name: &str) -> String {
        self.root.path().join(name).to_str().expect("a path in UTF-8").to_owned()
    }

    /// Exports, and gives what went to standard output.
    pub fn export(&self, format: &str, arguments: &[&str]) -> Vec<u8> {
        argiope(&[&["export", &self.path("crawl"), format], arguments].concat())
    }

    /// The rows as JSON, by URL.
    pub fn rows(&self) -> BTreeMap<String, Value> {
        let text = String::from_utf8(self.export("jsonl", &[])).expect("UTF-8");
        let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("an object a line"));
        rows.map(|row| (row["url"].as_str().expect("a URL").to_owned(), row)).collect()
    }
}

/// The binary with arguments.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_argiope"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Runs the binary, which must succeed, or end at the budget that it was given.
pub fn argiope(arguments: &[&str]) -> Vec<u8> {
    let output = command(arguments).output().expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let code = if arguments.contains(&"--max-pages") && said.contains(" reached, ") { 3 } else { 0 };
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    output.stdout
}

/// The sandbox's table, written by hand: URL and outcome.
pub fn expected() -> BTreeMap<String, &'static str> {
    let full = |url: &str| if url.starts_with('/') { format!("{ADVANCED}{url}") } else { url.to_owned() };
    EXPECTED.iter().map(|(url, outcome, _)| (full(url), *outcome)).collect()
}

/// Whether a URL lies in a trap of the sandbox, of which the table does not say how far a crawl goes into it.
pub fn is_in_trap(url: &str) -> bool {
    let path = url.strip_prefix(ADVANCED).unwrap_or_default();
    TRAPS.iter().any(|trap| path.starts_with(trap.prefix))
}

/// The status that the sandbox answers a URL with; empty where it is not asked.
pub fn status_of(url: &str, outcome: &str) -> String {
    let last = url.rsplit('/').next().unwrap_or_default();
    match outcome {
        "html" | "binary" | "duplicate" => "200".to_owned(),
        "http_error" => last.strip_suffix(".html").filter(|name| *name != "missing").unwrap_or("404").to_owned(),
        "redirect" => {
            let (status, _) = REDIRECTS.iter().find(|(_, names)| names.contains(&last)).expect("in the table");
            status.to_string()
        }
        _ => String::new(),
    }
}
