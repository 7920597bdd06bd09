//! A server, and questions to it: by `argiope client`, by gRPC, and as JSON.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use testdb::Postgres;

use testkit::ran::{Ran, argiope};

/// Longer than any test waits for an answer: so that none hangs.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// A running server, ended with the test.
pub struct Served {
    process: Child,
    pub clients: String,
    pub workers: String,
    /// The port for metrics, if there is one.
    pub metrics: Option<String>,
    /// The archive of a first server.
    archive: Option<TempDir>,
}

impl Served {
    /// Starts one on free ports of this machine, that for workers on loopback unless the arguments say otherwise.
    pub fn start(database: &Postgres, arguments: &[&str]) -> Self {
        Served::start_as(&[&["--store", &database.url()], arguments].concat())
    }

    /// The same with the address of the database among the arguments.
    pub fn start_as(arguments: &[&str]) -> Self {
        Served::start_to(arguments, Stdio::inherit())
    }

    /// The same with another place for its log.
    pub fn start_to(arguments: &[&str], log: Stdio) -> Self {
        let usual = ["server", "--clients", "127.0.0.1:0", "--json"];
        let workers = if arguments.contains(&"--workers") { &[][..] } else { &["--workers", "127.0.0.1:0"] };
        let mut process = Command::new(env!("CARGO_BIN_EXE_argiope"))
            .args(usual)
            .args(workers)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("it says where it listens");
        let told: Value = serde_json::from_str(&line).expect("JSON");
        let address = |port: &str| told[port].as_str().map(str::to_owned);
        let (clients, workers) = (address("clients").expect("an address"), address("workers").expect("an address"));
        Served { process, clients, workers, metrics: address("metrics"), archive: None }
    }

    /// The first server of a crawl.
    pub fn first(database: &Postgres, arguments: &[&str]) -> Self {
        let archive = TempDir::new().expect("a directory");
        let url = format!("file://{}", archive.path().display());
        let mut served = Served::start(database, &[&["--archive", &url], arguments].concat());
        served.archive = Some(archive);
        served
    }

    /// Asks by the command line.
    pub fn client(&self, arguments: &[&str]) -> Ran {
        argiope(&[&["client", "--server", &self.clients], arguments].concat())
    }

    /// The same, answered as JSON.
    pub fn asked(&self, arguments: &[&str]) -> Value {
        let ran = self.client(&[&["--json"], arguments].concat());
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
        ran.json()
    }

    /// The line that says why there is no answer.
    pub fn refused(&self, arguments: &[&str]) -> String {
        one_line(&self.client(arguments))
    }

    /// Asks by JSON.
    pub fn post(&self, method: &str, request: &Value) -> (u16, Value) {
        let (status, body) = post(&self.clients, &format!("/v1/{method}"), "", &request.to_string());
        (status, serde_json::from_str(&body).expect("JSON"))
    }

    /// Crawls to the end.
    pub fn crawl(&self, url: &str, depth: u32) -> Value {
        self.asked(&["crawl", url, "--depth", &depth.to_string()])
    }

    /// Adds a seed.
    pub fn add(&self, url: &str) {
        self.add_all(&[url.to_owned()]);
    }

    /// Adds seeds.
    pub fn add_all(&self, urls: &[String]) {
        assert_eq!(self.post("AddSeeds", &json!({"urls": urls})).0, 200);
    }

    /// Ends it at once, by SIGKILL.
    pub fn kill(&mut self) {
        self.process.kill().expect("a process of ours");
        self.process.wait().expect("it ends");
    }

    /// Asks it to end, by SIGTERM. Gives its exit code.
    pub fn terminate(mut self) -> Option<i32> {
        self.signal("TERM");
        self.ended()
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().expect("kill").success());
    }

    /// Whether it is still there.
    pub fn runs(&mut self) -> bool {
        self.process.try_wait().expect("a process of ours").is_none()
    }

    /// Waits for its end. Gives its exit code.
    pub fn ended(&mut self) -> Option<i32> {
        self.process.wait().expect("it ends").code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The one line of a command that fails. Once a server or worker has begun its log, the line has time and level.
pub fn one_line(ran: &Ran) -> String {
    let line = ran.stderr.trim_end();
    let logged = line.split_once("Z error ").map(|(_, error)| error);
    let error = line.strip_prefix("argiope: ").or(logged).filter(|_| ran.code != 0 && line.lines().count() == 1);
    error.unwrap_or_else(|| panic!("{ran:?}")).to_owned()
}

/// An HTTP request without a library: the status and the body.
pub fn post(server: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
    let length = body.len();
    let head = format!("POST {path} HTTP/1.0\r\nHost: {server}\r\nContent-Length: {length}\r\n");
    let content_type = if headers.contains("Content-Type") { "" } else { "Content-Type: application/json\r\n" };
    send(server, &format!("{head}{content_type}{headers}\r\n{body}"))
}

/// The same without a body.
pub fn get(server: &str, path: &str) -> (u16, String) {
    send(server, &format!("GET {path} HTTP/1.0\r\nHost: {server}\r\n\r\n"))
}

fn send(server: &str, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(server).expect("it listens");
    stream.set_read_timeout(Some(ANSWER_TIME_MAX)).expect("set");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    (status, body.to_owned())
}
