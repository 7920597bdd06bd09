//! A crawl of a small web into a directory, by the binary.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use testweb::{Config, Server, Web};

use testkit::ran::{Ran, argiope};

/// A directory with a crawl.
pub struct Crawled {
    root: TempDir,
}

impl Crawled {
    /// A crawl of a web, whatever comes of it.
    pub fn of(web: Web, arguments: &[&str]) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let server = runtime.block_on(Server::start(Config::new(web))).expect("a free port");
        Crawled::alone(&[&["--connect-to", &server.connect_to()], arguments].concat())
    }

    /// A crawl of what is there, which need not be anything.
    pub fn alone(arguments: &[&str]) -> Self {
        let crawled = Crawled { root: TempDir::new().expect("a directory") };
        let fixed = ["crawl", "-o", &crawled.dir(), "--progress", "none", "--delay", "0", "--ip-delay", "0"];
        argiope(&[&fixed[..], &["--backoff", "1ms", "--max-crawl-delay", "0", "--patience", "0"], arguments].concat());
        crawled
    }

    /// The directory of the crawl.
    pub fn dir(&self) -> String {
        self.path("crawl").to_str().expect("a path in UTF-8").to_owned()
    }

    /// A path beside it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Runs `argiope report`.
    pub fn report(&self, arguments: &[&str]) -> Ran {
        argiope(&[&["report", &self.dir()], arguments].concat())
    }

    /// What `argiope report --json` says.
    pub fn json(&self) -> Value {
        let ran = self.report(&["--json"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
        ran.json()
    }

    /// What `argiope report` says.
    pub fn text(&self) -> String {
        let ran = self.report(&[]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
        ran.stdout
    }
}

/// A text file.
pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a file in UTF-8")
}
