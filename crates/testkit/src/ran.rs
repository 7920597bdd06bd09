//! Runs the binary to its end.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// How a run ended.
#[derive(Debug, PartialEq)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// The binary. Cargo builds it beside the directory that has the tests of the same package.
fn binary() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let built = test.ancestors().nth(2).expect("a directory for what is built");
    built.join(format!("argiope{}", std::env::consts::EXE_SUFFIX))
}

/// The binary as a command. For tests of the package that has it.
pub fn command() -> Command {
    Command::new(binary())
}

/// Runs the binary. For tests of the package that has it.
pub fn argiope(arguments: &[&str]) -> Ran {
    let output = command().args(arguments).stdin(Stdio::null()).output().expect("the binary starts");
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
