//! Workers log what happens to them, with time and level.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;
use testdb::{Postgres, until};

use crate::lab::{Lab, Laid};

#[test]
fn a_worker_logs_its_life_as_json_on_request() {
    let lab = Lab::new(Laid::out(4, 8, 4), &[]);
    let first = lab.worker();
    let other = lab.worker_by(Command::new(env!("CARGO_BIN_EXE_argiope")), &["--log-format", "json"]);
    lab.crawl();
    assert_eq!(lab.served.asked(&["steer", "delay", "1s"])["workers"], 2);
    let first_id = first.said().split(' ').nth(3).expect("its id").to_owned();
    lab.lose(first);
    until("its death to be noticed", || other.said().contains(&format!("worker {first_id}\"")));
    until("its groups to be taken over", || lab.owners().len() == 1);
    let (code, said) = other.leave();
    assert_eq!(code, Some(0));
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let is_whole = |line: &Value| line["at"].as_str().is_some_and(|at| at.ends_with('Z')) && line["level"] == "info";
    assert!(lines.iter().all(is_whole), "{said}");
    for what in
        ["has joined", "taken over", "change 1 is in force", "dead since their leases ran out", "leaving", "has left"]
    {
        let says = |line: &Value| line["message"].as_str().is_some_and(|message| message.contains(what));
        assert!(lines.iter().any(says), "{what} in {said}");
    }
}

#[test]
fn a_server_logs_the_signal_that_ends_it() {
    let database = Postgres::start();
    let archive = tempfile::tempdir().expect("a directory");
    let url = format!("file://{}", archive.path().display());
    for signal in ["HUP", "TERM"] {
        let mut server = Command::new(env!("CARGO_BIN_EXE_argiope"));
        server.args(["server", "--clients", "127.0.0.1:0", "--workers", "127.0.0.1:0", "--json"]);
        server.args(["--store", &database.url(), "--archive", &url]);
        let mut server = server.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let stdout = server.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut String::new()).expect("it says where it listens");
        let id = server.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().expect("kill").success());
        let ended = server.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(0), "{said}");
        assert!(said.contains(&format!(" info SIG{signal}: the server ends")), "{said}");
    }
}
