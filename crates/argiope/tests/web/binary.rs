//! A run of the binary: begun, signalled, ended in time, and how much memory it took.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// No run may take longer: it is killed then, and the test fails.
const RUN_TIME_MAX: Duration = Duration::from_secs(300);

/// How often a run is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The program under way. It is killed when this is dropped.
pub struct Running {
    child: Child,
    begun: Instant,
    memory_kib: u64,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// The largest resident set that was seen, in KiB.
    pub memory_kib: u64,
    /// How long it took.
    pub took: Duration,
}

impl Running {
    /// Begins a run; both outputs go to the file.
    pub fn begin(arguments: &[String], output: &Path) -> Self {
        Running::begin_by(Command::new(env!("CARGO_BIN_EXE_argiope")), arguments, output)
    }

    /// The same on a machine without a network, not even with itself. Needs root, and `unshare` of util-linux.
    pub fn begin_without_network(arguments: &[String], output: &Path) -> Self {
        let mut unshare = Command::new("unshare");
        unshare.args(["--net", env!("CARGO_BIN_EXE_argiope")]);
        Running::begin_by(unshare, arguments, output)
    }

    fn begin_by(mut program: Command, arguments: &[String], output: &Path) -> Self {
        let output = File::options().create(true).append(true).open(output).expect("a file for the output");
        let child = program
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("a second handle"))
            .stderr(output)
            .spawn()
            .expect("the binary starts");
        Running { child, begun: Instant::now(), memory_kib: 0 }
    }

    /// Sends a signal, such as `INT`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status();
        assert!(sent.expect("kill starts").success(), "the process is still there");
    }

    /// Kills it, now.
    pub async fn kill(mut self) {
        self.child.kill().expect("it is still there");
        assert_eq!(self.end().await.code, None);
    }

    /// True where it has ended.
    fn has_ended(&mut self) -> bool {
        self.memory_kib = self.memory_kib.max(memory_peak_kib(self.child.id()));
        self.child.try_wait().expect("a child of ours").is_some()
    }

    /// Waits for the end.
    pub async fn end(mut self) -> Ended {
        while !self.has_ended() {
            assert!(self.begun.elapsed() < RUN_TIME_MAX, "no end after {RUN_TIME_MAX:?}");
            sleep(LOOK_EVERY).await;
        }
        let code = self.child.wait().expect("a child of ours").code();
        Ended { code, memory_kib: self.memory_kib, took: self.begun.elapsed() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended, or is to end now: there is nothing else to be done about it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The peak of the resident set so far (`VmHWM`); 0 where the process has ended.
fn memory_peak_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
