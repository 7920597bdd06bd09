//! A small site that has something of everything, crawled into a directory by the binary.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use testweb::{Config, LogEntry, Pages, Reply, Server, Web};

use crate::ran::{Ran, argiope};

/// A directory with a crawl.
pub struct Crawled {
    root: TempDir,
    /// The site goes on being served, so that the crawl can be resumed.
    server: Server,
    /// What leads connections to it.
    pub connect_to: Vec<String>,
    _runtime: tokio::runtime::Runtime,
}

impl Crawled {
    /// A crawl of [`small_site`] to its end.
    pub fn small() -> Self {
        Crawled::with(&[])
    }

    /// A crawl of [`small_site`] with more arguments.
    pub fn with(arguments: &[&str]) -> Self {
        Crawled::of(Web::new().site("small.test", small_site()), "http://small.test/", arguments)
    }

    /// A crawl from a seed.
    pub fn of(web: Web, seed: &str, arguments: &[&str]) -> Self {
        Crawled::of_hosts(web, seed, &[""], arguments)
    }

    /// A crawl from a seed in a web that has these hosts and no others.
    pub fn of_hosts(web: Web, seed: &str, hosts: &[&str], arguments: &[&str]) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let server = runtime.block_on(Server::start(Config::new(web))).expect("a free port");
        let led = |host: &&str| match *host {
            "" => vec![server.connect_to()],
            host => ["80", "443"].map(|port| format!("{host}:{port}:{}", server.address())).to_vec(),
        };
        let connect_to = hosts.iter().flat_map(led).collect();
        let crawled = Crawled { root: TempDir::new().expect("a directory"), server, connect_to, _runtime: runtime };
        let ran = crawled.crawl(&[&[seed], arguments].concat());
        let code = match () {
            () if ran.stderr.contains(" reached, ") => 3,
            () if ran.stdout.starts_with("0 pages and documents fetched") => 1,
            () => 0,
        };
        assert_eq!(ran.code, code, "{ran:?}");
        crawled
    }

    /// Begins the crawl, or goes on with it.
    pub fn crawl(&self, arguments: &[&str]) -> Ran {
        let connect_to: Vec<&str> = self.connect_to.iter().flat_map(|rule| ["--connect-to", rule.as_str()]).collect();
        let fast = [
            ["--delay", "0"],
            ["--ip-delay", "0"],
            ["--backoff", "1ms"],
            ["--max-crawl-delay", "0"],
            ["--patience", "0"],
        ];
        let fast: Vec<&str> = fast.into_iter().filter(|[flag, _]| !arguments.contains(flag)).flatten().collect();
        let fixed = ["crawl", "-o", self.dir(), "--progress", "none"];
        argiope(&[&fixed[..], &connect_to, &fast, arguments].concat())
    }

    /// The requests that its web got.
    pub fn log(&self) -> Vec<LogEntry> {
        self.server.log()
    }

    /// Where its web is served.
    pub fn address(&self) -> std::net::SocketAddr {
        self.server.address()
    }

    /// The directory of the crawl.
    pub fn dir(&self) -> &str {
        self.root.path().to_str().expect("a path in UTF-8")
    }

    /// The WARC segments, in order.
    pub fn segments(&self) -> Vec<PathBuf> {
        let mut segments: Vec<PathBuf> = std::fs::read_dir(self.root.path().join("archive"))
            .expect("an archive")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.to_string_lossy().ends_with(".warc.gz"))
            .collect();
        segments.sort();
        segments
    }

    /// Runs a command over the directory.
    pub fn run(&self, command: &str, arguments: &[&str]) -> Ran {
        argiope(&[&[command, self.dir()], arguments].concat())
    }

    /// What `explain --json` says of a path of the small site.
    pub fn explain(&self, path: &str) -> Value {
        let ran = self.run("explain", &[&format!("http://small.test{path}"), "--json"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.json()
    }

    /// Where the response for a path of the small site lies: file, offset, length.
    pub fn record(&self, path: &str) -> (PathBuf, u64, u64) {
        let record = self.explain(path)["record"].clone();
        let number = |key: &str| record[key].as_u64().expect("a number");
        (PathBuf::from(record["path"].as_str().expect("a path")), number("offset"), number("length"))
    }
}

/// A title that would turn a terminal red, and write backwards.
pub const HOSTILE_TITLE: &str = "\u{1b}[31mred\u{202e} title";

/// A page whose bytes two URLs share.
const TWICE: &str = "<title>Twice</title><a href=/copy>copy</a>";

/// A page or a document of each outcome that a site without faults has.
pub fn small_site() -> Pages {
    let links = ["/a", "/b", "/gone", "/private/x", "/file.bin", "http://other.test/", "/x/x/x/x/x"];
    let links: String = links.iter().map(|link| format!("<a href=\"{link}\">{link}</a>\n")).collect();
    let sitemap = "<urlset><url><loc>http://small.test/from-sitemap</loc></url></urlset>";
    Pages::new()
        .text("/robots.txt", "User-agent: *\nDisallow: /private/\nCrawl-delay: 7\n")
        .html("/", format!("<title>{HOSTILE_TITLE}</title>\n{links}"))
        .html("/a", TWICE)
        .html("/copy", TWICE)
        .reply("/b", Reply::redirect(302, "/target"))
        .html("/target", "<title>Target</title>")
        .reply(
            "/file.bin",
            Reply::new(200).header("Content-Type", "application/octet-stream").body(&b"\x00\x01\x02"[..]),
        )
        .reply("/sitemap.xml", Reply::new(200).header("Content-Type", "text/xml").body(sitemap))
        .html("/from-sitemap", "<title>From the sitemap</title>")
}

/// Changes a byte of a file.
pub fn flip(path: &Path, offset: u64) {
    let mut bytes = std::fs::read(path).expect("a file");
    let at = usize::try_from(offset).expect("in memory");
    bytes[at] ^= 0xff;
    std::fs::write(path, bytes).expect("a file to write to");
}
