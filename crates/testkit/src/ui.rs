//! `argiope ui` as a process, and what it answers.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::ran::command;

/// How often it is looked whether there are more samples.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The pages that a form leads to and that say what came of it.
const ANSWERS: [&str; 2] = ["/steer/answer?", "/steer/undo?"];

/// The interface to a directory, until it is dropped.
pub struct Ui {
    process: Child,
    messages: BufReader<ChildStderr>,
    /// Where it answers.
    pub address: String,
}

/// An answer.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    /// Where it leads.
    pub fn leads_to(&self) -> Option<&str> {
        self.head.lines().find_map(|field| field.strip_prefix("location: "))
    }
}

impl Ui {
    /// Shows the crawl in a directory on a free port.
    pub fn start(dir: &Path) -> Self {
        Ui::start_all(&[dir])
    }

    /// Shows the crawls in several directories.
    pub fn start_all(dirs: &[&Path]) -> Self {
        Ui::start_with(dirs)
    }

    /// Shows what arguments say.
    pub fn start_with(arguments: &[impl AsRef<OsStr>]) -> Self {
        Ui::start_at("127.0.0.1:0", arguments)
    }

    /// The same at an address.
    pub fn start_at(address: &str, arguments: &[impl AsRef<OsStr>]) -> Self {
        let mut process = command()
            .arg("ui")
            .args(arguments)
            .args(["--listen", address])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut messages = BufReader::new(process.stderr.take().expect("piped"));
        let mut line = String::new();
        messages.read_line(&mut line).expect("a line");
        let address = line.split_once("http://").expect("an address").1.split_whitespace().next().expect("an address");
        Ui { process, messages, address: address.to_owned() }
    }

    /// Ends it as Ctrl-C does, and gives its exit code.
    pub fn interrupt(mut self) -> Option<i32> {
        self.press_ctrl_c();
        self.end()
    }

    /// Sends it what Ctrl-C sends.
    pub fn press_ctrl_c(&mut self) {
        let process = self.process.id().to_string();
        let sent = Command::new("kill").args(["-INT", &process]).status().expect("a signal");
        assert!(sent.success(), "{sent}");
    }

    /// Waits for its end, and gives its exit code.
    pub fn end(&mut self) -> Option<i32> {
        self.process.wait().expect("it ends").code()
    }

    /// The next line that it says. Empty if it has ended.
    pub fn said(&mut self) -> String {
        let mut line = String::new();
        self.messages.read_line(&mut line).expect("a line");
        line
    }

    /// Where its pages are.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sends a request: its first lines, and a body.
    pub fn ask(&self, head: &str, body: &str) -> Answer {
        let (head, body) = self.raw(head, body);
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Answer { status, head, body: String::from_utf8(body).expect("UTF-8") }
    }

    fn raw(&self, head: &str, body: &str) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        let length = body.len();
        write!(stream, "{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}").expect("a request");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8(answer[..end].to_vec()).expect("UTF-8");
        let body = &answer[end + 4..];
        let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        let body = if is_chunked { without_chunks(body) } else { body.to_owned() };
        (head, body)
    }

    /// The head and the body of a file.
    pub fn bytes(&self, path: &str) -> (String, Vec<u8>) {
        self.raw(&format!("GET {path} HTTP/1.1\r\nHost: {}", self.address), "")
    }

    /// Asks for a path.
    pub fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}", self.address), "")
    }

    /// The body of a page that must be there.
    pub fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    /// The samples of the overview behind the one of this second, as a browser asks for them, which it does once a second.
    pub fn samples(&self, last: Option<u64>) -> Vec<Value> {
        let last = last.map(|last| format!("\r\nLast-Event-ID: {last}")).unwrap_or_default();
        let answer = self.ask(&format!("GET /events HTTP/1.1\r\nHost: {}{last}", self.address), "");
        assert!(answer.status == 200 && answer.head.contains("text/event-stream"), "{}", answer.head);
        let events = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
        events.flat_map(|event| serde_json::from_str::<Vec<Value>>(event).expect("samples")).collect()
    }

    /// Sends a change, with more fields of the head. To the page that says what came of it, it is followed as by a browser.
    pub fn post(&self, more: &str, body: &str) -> Answer {
        self.post_to("/steer", more, body)
    }

    /// The same to another path.
    pub fn post_to(&self, path: &str, more: &str, body: &str) -> Answer {
        let answer = self.ask(&format!("POST {path} HTTP/1.1\r\nHost: {}{more}", self.address), body);
        match answer.leads_to().filter(|location| ANSWERS.iter().any(|page| location.contains(page))) {
            Some(page) => self.get(page),
            None => answer,
        }
    }

    /// Sends a change, and gives the path to which its answer leads.
    pub fn posted(&self, path: &str, body: &str) -> String {
        let answer = self.ask(&format!("POST {path} HTTP/1.1\r\nHost: {}{}", self.address, self.own()), body);
        assert_eq!(answer.status, 303, "{}", answer.body);
        answer.leads_to().expect("a location").to_owned()
    }

    /// The fields of a head by which a browser says that a page of the interface sends the request.
    pub fn own(&self) -> String {
        format!("\r\nOrigin: {}\r\nSec-Fetch-Site: same-origin", self.origin())
    }
}

impl Drop for Ui {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn without_chunks(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|bytes| bytes == b"\r\n") {
        let length = std::str::from_utf8(&body[..end]).expect("a length");
        let length = usize::from_str_radix(length, 16).expect("a length");
        let rest = &body[end + 2..];
        whole.extend_from_slice(&rest[..length]);
        body = &rest[length + 2..];
    }
    whole
}

/// Watches a crawl that runs until so many samples of it were taken.
pub fn until_sampled(ui: &Ui, samples: usize) {
    let (mut last, mut count) = (None, 0);
    while count < samples {
        let news = ui.samples(last);
        count += news.len();
        last = news.last().and_then(|sample| sample["at"].as_u64()).or(last);
        std::thread::sleep(LOOK_EVERY);
    }
}

/// The files of a screen: each has its fields.
const FILES: [(&str, &str); 5] = [
    ("/urls.csv", "/urls"),
    ("/urls.jsonl", "/urls"),
    ("/urls.parquet", "/urls"),
    ("/graph.json", "/graph"),
    ("/report.csv", "/report"),
];

/// The files of all pages.
const ASSETS: [&str; 4] = ["/ui.css", "/ui.js", "/graph.js", "/icon.svg"];

/// The fields of the forms of a page, and of its links within the interface: each with the path of the form or link.
#[must_use]
pub fn fields_of(page: &str) -> BTreeSet<(String, String)> {
    let mut fields = BTreeSet::new();
    let screen =
        |path: &str| FILES.iter().find(|(file, _)| *file == path).map_or(path, |(_, screen)| screen).to_owned();
    for form in page.split("<form").skip(1).filter_map(|form| form.split("</form>").next()) {
        let action = values(form, "action").next().expect("a form has an address");
        fields.extend(values(form, "name").map(|name| (screen(action), name.to_owned())));
    }
    for link in ["href", "src", "data-src", "data-reread"].into_iter().flat_map(|name| values(page, name)) {
        let Some((path, query)) = link.split_once('?').filter(|(path, _)| path.starts_with('/')) else { continue };
        if ASSETS.contains(&path) {
            continue;
        }
        let query = query.replace("&amp;", "&");
        let names = query.split('&').filter_map(|field| field.split('=').next());
        fields.extend(names.map(|name| (screen(path), name.to_owned())));
    }
    fields
}

/// The values of an attribute in a piece of markup.
fn values<'m>(markup: &'m str, name: &str) -> impl Iterator<Item = &'m str> + use<'m> {
    let begin = format!(" {name}=\"");
    let begins: Vec<usize> = markup.match_indices(&begin).map(|(at, _)| at + begin.len()).collect();
    begins.into_iter().filter_map(|at| markup[at..].split('"').next())
}
