//! A web on several addresses, a database, a server and real workers: to be killed, paused and sent away.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use testdb::{Postgres, until};
use testweb::{Config, LogEntry, Server, Synthetic, Web};

use crate::ran::argiope;
use crate::served::Served;

/// The delay of sites and of addresses.
pub const DELAY: Duration = Duration::from_millis(20);

/// A web of `sites` sites with `pages` pages in all.
pub struct Laid {
    web: Server,
    connect_to: Vec<String>,
    runtime: tokio::runtime::Runtime,
}

impl Laid {
    /// Serves it on so many addresses of loopback, from 127.0.0.2 on.
    pub fn out(sites: u64, pages: u64, addresses: u8) -> Self {
        Laid::at(sites, pages, (0..addresses).map(|n| Ipv4Addr::new(127, 0, 0, 2 + n)))
    }

    /// Serves it on these addresses of this machine; the sites are spread over them.
    pub fn at(sites: u64, pages: u64, addresses: impl IntoIterator<Item = Ipv4Addr>) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let settings = format!("7,{sites},{pages},4").parse().expect("a synthetic web");
        let web = Web::new().site("*.synthetic.test", Synthetic::new(settings).expect("a synthetic web"));
        let listen = addresses.into_iter().map(|address| SocketAddr::from((address, 0))).collect();
        let web =
            runtime.block_on(Server::start(Config { listen, ..Config::new(web) })).expect("addresses of this machine");
        let listened = web.addresses().to_vec();
        let at = |site: u64| listened[usize::try_from(site).expect("few") % listened.len()];
        let connect_to = (0..sites).map(|site| format!("s{site:04}.synthetic.test:80:{}", at(site))).collect();
        Laid { web, connect_to, runtime }
    }

    /// Serves a web on one address.
    pub fn of(web: Web) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let web = runtime.block_on(Server::start(Config::new(web))).expect("a free port");
        let connect_to = vec![web.connect_to()];
        Laid { web, connect_to, runtime }
    }

    /// What a crawl of it is told.
    pub fn arguments(&self) -> Vec<&str> {
        let fixed = ["--scope", "domain", "--delay", "20ms", "--ip-delay", "20ms", "--backoff", "100ms"];
        let led = self.connect_to.iter().flat_map(|rule| ["--connect-to", rule.as_str()]);
        led.chain(fixed).collect()
    }

    /// All requests so far.
    pub fn log(&self) -> Vec<LogEntry> {
        self.web.log()
    }

    /// Asks for a page twice, the second time at once.
    pub fn ask_twice(&self, host: &str, path: &str) {
        for _ in 0..2 {
            let mut stream = TcpStream::connect(self.web.address()).expect("it listens");
            write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("it reads");
            stream.read_to_end(&mut Vec::new()).expect("it answers");
        }
    }

    /// A crawl of it by one process, into a directory.
    pub fn crawled_alone(&self) -> TempDir {
        let dir = TempDir::new().expect("a directory");
        let path = dir.path().to_str().expect("UTF-8");
        let crawl = ["crawl", SEED, "-o", path, "--progress", "none", "--depth", "100"];
        let ran = argiope(&[&crawl[..], &self.arguments()].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        dir
    }
}

impl Drop for Laid {
    fn drop(&mut self) {
        // Its connections are served on the runtime, which goes after it.
        let _guard = self.runtime.enter();
    }
}

/// From where every page of the web is in reach.
pub const SEED: &str = "http://s0000.synthetic.test/p/0";

/// A crawl of a web by workers.
pub struct Lab {
    pub web: Laid,
    pub database: Mutex<Postgres>,
    pub served: Served,
    root: TempDir,
}

impl Lab {
    /// A server for the web, with more arguments.
    pub fn new(web: Laid, arguments: &[&str]) -> Self {
        let (database, root) = (Postgres::start(), TempDir::new().expect("a directory"));
        let archive = format!("file://{}", root.path().join("shared").display());
        let usual = ["--archive", &archive, "--deny-private=false", "--lease", "2s"];
        let served = Served::start(&database, &[&usual[..], &web.arguments(), arguments].concat());
        Lab { web, database: Mutex::new(database), served, root }
    }

    /// The directory of the crawl on shared storage.
    pub fn shared(&self) -> PathBuf {
        self.root.path().join("shared")
    }

    /// Starts a worker.
    pub fn worker(&self) -> Worker {
        self.worker_by(Command::new(env!("CARGO_BIN_EXE_argiope")), &[])
    }

    /// Starts a worker by a command that becomes the binary, with more arguments.
    pub fn worker_by(&self, mut binary: Command, arguments: &[&str]) -> Worker {
        let output = tempfile::NamedTempFile::new_in(self.root.path()).expect("a file");
        let (file, path) = output.keep().expect("it stays");
        let process = binary
            .args(["worker", &self.served.workers, "--progress", "none", "--dir"])
            .arg(path.with_extension("dir"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .spawn()
            .expect("the binary starts");
        let worker = Worker { process, output: path };
        until("a worker to join", || worker.said().contains("has joined"));
        worker
    }

    /// URL, outcome and depth of each page known.
    pub fn pages(&self) -> BTreeMap<String, (Option<String>, i64)> {
        let rows = self.query("SELECT url, outcome::text, depth FROM argiope.page");
        rows.iter().map(|row| (row.get(0), (row.get(1), row.get(2)))).collect()
    }

    /// What the database says.
    pub fn query(&self, statement: &str) -> Vec<postgres::Row> {
        let mut client = self.database.lock().expect("nobody panicked").client();
        client.query(statement, &[]).expect("the statement is right")
    }

    /// A single number.
    pub fn number(&self, statement: &str) -> i64 {
        self.query(statement)[0].get(0)
    }

    /// Adds the seed and waits until nothing is left to do.
    pub fn crawl(&self) -> Value {
        self.served.asked(&["crawl", SEED])
    }
}

/// A running worker.
pub struct Worker {
    process: Child,
    output: PathBuf,
}

impl Worker {
    /// What it has said so far.
    pub fn said(&self) -> String {
        std::fs::read_to_string(&self.output).expect("its output")
    }

    /// Sends a signal, such as `STOP`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.process.id().to_string()).status();
        assert!(sent.expect("kill starts").success(), "the process is still there");
    }

    /// Kills it, now.
    pub fn kill(mut self) {
        self.process.kill().expect("it is still there");
        self.process.wait().expect("a child of ours");
    }

    /// Asks it to leave, and waits for that. Gives its exit code, and the end of each line that it has said.
    pub fn leave(mut self) -> (Option<i32>, Vec<String>) {
        self.signal("TERM");
        until("a worker to leave", || self.process.try_wait().expect("a child of ours").is_some());
        let code = self.process.wait().expect("a child of ours").code();
        let end_of = |line: &str| {
            line.split(' ').rev().take(2).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join(" ")
        };
        (code, self.said().lines().map(end_of).collect())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It has ended, or is to end now.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
