//! pywb, which replays what is in a WACZ file.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::python::{python, runs};

/// How often pywb is asked whether it serves already, ten times a second.
const ASKED_MAX: u32 = 1_200;

/// A pywb that is stopped when it is dropped.
pub struct Pywb {
    child: Child,
    pub port: u16,
}

impl Drop for Pywb {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Pywb {
    /// Adds the WACZ file, with the index in it, to a collection `it`, and serves that.
    pub fn serve(home: &Path, wacz: &Path) -> Pywb {
        Pywb::of(home, &[wacz.to_owned()], &["--unpack-wacz"])
    }

    /// Adds WARC files to a collection `it`, which pywb indexes, and serves that.
    pub fn of_warcs(home: &Path, warcs: &[PathBuf]) -> Pywb {
        Pywb::of(home, warcs, &[])
    }

    fn of(home: &Path, files: &[PathBuf], options: &[&str]) -> Pywb {
        let manager = "import sys; from pywb.manager.manager import main; main(sys.argv[1:])";
        let manage = |arguments: &[&str]| {
            runs(python(&["pywb"]).args(["-c", manager]).args(arguments).current_dir(home));
        };
        manage(&["init", "it"]);
        let files: Vec<&str> = files.iter().map(|file| file.to_str().expect("UTF-8")).collect();
        manage(&[&["add", "it"], &files[..], options].concat());
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
        let serve = "import sys; from pywb.apps.cli import wayback; wayback(sys.argv[1:])";
        let mut command: Command = python(&["pywb"]);
        command.args(["-c", serve, "-b", "127.0.0.1", "-p", &port.to_string()]).current_dir(home);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("python3 starts");
        let mut pywb = Pywb { child, port };
        for _ in 0..ASKED_MAX {
            assert!(pywb.child.try_wait().expect("a process").is_none(), "pywb has ended");
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return pywb;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("pywb does not serve");
    }
}

/// Asks for a path on a port of this machine: status, head in lower case, and body.
pub fn get(port: u16, path: &str) -> (String, String, Vec<u8>) {
    ask(port, "GET", path, &[], b"")
}

/// The same with a method, request fields and a body.
pub fn ask(port: u16, method: &str, path: &str, fields: &[(&str, &str)], body: &[u8]) -> (String, String, Vec<u8>) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("pywb listens");
    let fields: String = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    write!(stream, "{method} {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n{fields}{length}\r\n").expect("sent");
    stream.write_all(body).expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
    let body = answer.split_off(end + 4);
    let head = String::from_utf8_lossy(&answer).into_owned();
    (head.split(' ').nth(1).unwrap_or_default().to_owned(), head.to_ascii_lowercase(), body)
}
