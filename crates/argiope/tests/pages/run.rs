//! A web, a directory to work in, and runs of the binary in it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;
use testweb::{Config, LogEntry, Server, Web};
use tokio::runtime::Runtime;

/// A served web and a directory with an empty subdirectory `data`.
pub struct Course {
    server: Server,
    _runtime: Runtime,
    home: TempDir,
}

/// A page file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Page {
    pub url: String,
    pub depth: u32,
    pub html: Vec<u8>,
}

impl Course {
    /// Serves a web on a free port of loopback.
    pub fn on(web: Web) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(Server::start(Config::new(web))).unwrap();
        let course = Course { server, _runtime: runtime, home: tempfile::tempdir().unwrap() };
        course.make("data");
        course
    }

    /// A path in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Makes a directory in the directory.
    pub fn make(&self, name: &str) {
        std::fs::create_dir(self.path(name)).unwrap();
    }

    /// The names of what is in the directory, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = self.home.path().read_dir().unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Begins `argiope pages` with every connection led to the web.
    pub fn begin(&self, arguments: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_argiope"));
        command.arg("pages").args(arguments).args(["--connect-to", &self.server.connect_to()]);
        command.current_dir(self.home.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Runs `argiope pages` to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.begin(arguments).wait_with_output().unwrap()
    }

    /// The same without a pause, which must end with code 0; its standard output.
    pub fn run_well(&self, arguments: &[&str]) -> String {
        let arguments = [arguments, &["--delay", "0"]].concat();
        let output = self.run(&arguments);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{arguments:?}");
        text(&output.stdout)
    }

    /// The pages in a page directory, by id; there is nothing else in it.
    pub fn pages(&self, name: &str) -> Vec<Page> {
        let count = self.path(name).read_dir().unwrap().count();
        (0..count).map(|id| page(&std::fs::read(self.path(name).join(id.to_string())).expect("dense ids"))).collect()
    }

    /// URL and depth of the pages in a page directory, sorted.
    pub fn visited(&self, name: &str) -> Vec<(String, u32)> {
        let mut visited: Vec<_> = self.pages(name).into_iter().map(|page| (page.url, page.depth)).collect();
        visited.sort();
        visited
    }

    /// All requests so far.
    pub fn log(&self) -> Vec<LogEntry> {
        self.server.log()
    }

    /// The body that the web sends, read without the crawler.
    pub fn body(&self, host: &str, target: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.server.address()).unwrap();
        write!(stream, "GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
        answer.split_off(head + 4)
    }
}

/// What was printed, as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn page(file: &[u8]) -> Page {
    let mut parts = file.splitn(3, |byte| *byte == b'\n');
    let mut line = || text(parts.next().expect("a line"));
    let (url, depth) = (line(), line().parse().expect("a depth"));
    Page { url, depth, html: parts.next().expect("an end of the second line").to_vec() }
}
