//! Running the binary in a directory of its own.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// A directory with the inputs of one test.
pub struct Dir(TempDir);

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Dir {
    pub fn new(files: &[(&str, &[u8])]) -> Self {
        let dir = Dir(tempfile::tempdir().unwrap());
        for (name, content) in files {
            std::fs::write(dir.path(name), content).unwrap();
        }
        dir
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Starts `argiope inspect` in the directory, with pipes at all ends.
    pub fn start(&self, args: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_argiope"))
            .arg("inspect")
            .args(args)
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs `argiope inspect` with `stdin` as its standard input.
    pub fn run_with(&self, args: &[&str], stdin: &[u8]) -> Run {
        let mut child = self.start(args);
        child.stdin.take().unwrap().write_all(stdin).unwrap();
        let output = child.wait_with_output().unwrap();
        Run { code: output.status.code(), stdout: output.stdout, stderr: String::from_utf8(output.stderr).unwrap() }
    }

    pub fn run(&self, args: &[&str]) -> Run {
        self.run_with(args, b"")
    }

    /// Runs it and expects success with this output, and nothing on standard error.
    #[track_caller]
    pub fn check(&self, args: &[&str], stdout: &str) {
        self.check_with(args, b"", stdout);
    }

    /// As [`Dir::check`], with a standard input.
    #[track_caller]
    pub fn check_with(&self, args: &[&str], stdin: &[u8], stdout: &str) {
        let run = self.run_with(args, stdin);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{args:?}");
        pretty(&String::from_utf8(run.stdout).unwrap(), stdout, args);
    }

    /// Runs it and expects this exit code, this line on standard error, and nothing else.
    #[track_caller]
    pub fn check_failure(&self, args: &[&str], code: i32, stderr: &str) {
        let run = self.run(args);
        assert_eq!((run.code, run.stderr.as_str()), (Some(code), format!("{stderr}\n").as_str()), "{args:?}");
    }
}

/// Compares line by line, so that a difference can be read.
#[track_caller]
fn pretty(found: &str, expect: &str, args: &[&str]) {
    if found != expect {
        let differs = found.lines().zip(expect.lines()).find(|(found, expect)| found != expect);
        panic!("{args:?}\nfirst difference: {differs:#?}\n--- found\n{found}--- expected\n{expect}");
    }
}
