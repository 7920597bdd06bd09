//! Runs the binary to its end.

use std::process::{Command, Stdio};

use serde_json::Value;

/// How a run ended.
#[derive(Debug, PartialEq)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs the binary.
pub fn argiope(arguments: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_argiope"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the output is UTF-8");
    Ran { code: output.status.code().expect("no signal"), stdout: text(output.stdout), stderr: text(output.stderr) }
}

impl Ran {
    /// The one JSON object on standard output.
    pub fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.stdout).expect("JSON")
    }
}
