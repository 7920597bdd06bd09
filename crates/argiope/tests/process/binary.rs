//! Runs the binary, with a deadline, and leaves no process behind.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::clock::Clock;
use model::Timestamp;

/// The binary under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_argiope");

/// After this a process counts as hung: far more than any of them needs on a busy machine.
const DEADLINE: Duration = Duration::from_secs(240);

/// How often it is asked whether a process has ended.
const POLL: Duration = Duration::from_millis(2);

/// A running process. Dropping it kills it.
pub struct Running {
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
    clock: Clock,
    began: Timestamp,
}

/// How a process ended, and what it said.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Running {
    /// Starts a process.
    pub fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = child.stdout.take().map(collect);
        let stderr = child.stderr.take().map(collect);
        let clock = Clock::start();
        Running { child, stdout, stderr, clock, began: clock.now() }
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes to its standard input, and closes it.
    pub fn say(&mut self, text: &[u8]) {
        self.child.stdin.take().unwrap().write_all(text).unwrap();
    }

    /// Sends it a signal by its name.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status().unwrap();
        assert!(status.success());
    }

    /// Ends it as `kill -9` does. False if it had ended by itself.
    pub fn kill(mut self) -> bool {
        self.child.kill().unwrap();
        self.child.wait().unwrap().signal() == Some(9)
    }

    /// How long it has been running.
    pub fn age(&self) -> Duration {
        self.clock.now().since(self.began)
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    pub fn end(self) -> Ended {
        self.end_at().0
    }

    /// Waits for its end, and says at what age it came.
    pub fn end_at(mut self) -> (Ended, Duration) {
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(self.age() < DEADLINE, "the process did not end");
            std::thread::sleep(POLL);
        };
        let text = |reader: Option<JoinHandle<String>>| reader.unwrap().join().unwrap();
        let age = self.age();
        (Ended { status, stdout: text(self.stdout.take()), stderr: text(self.stderr.take()) }, age)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// The exit code; a panic of the test with all that was said if it is another.
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{}\n{}\n{}", self.status, self.stdout, self.stderr);
        self
    }
}

/// Starts `argiope` with arguments.
pub fn start<S: AsRef<OsStr>>(arguments: &[S]) -> Running {
    Running::start(Command::new(BINARY).args(arguments))
}

/// Runs `argiope` with arguments and without input to its end.
pub fn run<S: AsRef<OsStr>>(arguments: &[S]) -> Ended {
    run_with_input(arguments, b"")
}

/// Runs `argiope` with arguments to its end; `input` is its standard input.
pub fn run_with_input<S: AsRef<OsStr>>(arguments: &[S], input: &[u8]) -> Ended {
    let mut running = start(arguments);
    running.say(input);
    running.end()
}

fn collect(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
