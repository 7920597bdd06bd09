//! The wish of the user, or of the system, that a command ends.

use std::fs;
use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;

/// The bit of SIGHUP in a mask of signals (proc_pid_status(5)).
const HANG_UP: u64 = 1;

/// What comes so soon after the first signal is the same wish: `timeout` and others send a signal to a process, and again to its group.
const SAME_WISH_WITHIN: Duration = Duration::from_millis(250);

/// What resolves when somebody wants an end: SIGINT, SIGTERM, or SIGHUP, since a terminal was closed. A second one ends the process at once,
/// with this exit code.
///
/// # Errors
/// The system does not tell of signals.
pub fn stop_signal(code: u8) -> io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::new()?;
    Ok(async move {
        signals.next().await;
        tokio::spawn(async move {
            let wished_at = Instant::now();
            while wished_at.elapsed() < SAME_WISH_WITHIN {
                signals.next().await;
            }
            std::process::exit(i32::from(code));
        });
    })
}

/// The signals that ask for an end.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// None for a command that `nohup` began: it is to outlive its terminal.
    hang_up: Option<Signal>,
}

impl Signals {
    /// Listens to them from now on.
    ///
    /// # Errors
    /// The system does not tell of signals.
    pub fn new() -> io::Result<Self> {
        let hang_up = if is_hang_up_ignored() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up,
        })
    }

    /// Waits for the next one, and names it.
    pub async fn next(&mut self) -> &'static str {
        let hang_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
            _ = hang_up => "SIGHUP",
        }
    }
}

/// Whether the process began with SIGHUP ignored, or ignores it since. Listening would end that.
fn is_hang_up_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignored(&status).is_some_and(|mask| mask & HANG_UP != 0)
}

fn ignored(status: &str) -> Option<u64> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_is_read() {
        let check = |status: &str, expect| assert_eq!(ignored(status), expect, "{status}");
        check("Name:\targiope\nSigIgn:\t0000000000001001\nSigCgt:\t0\n", Some(0x1001));
        check("SigIgn:\tx\n", None);
        check("", None);
        assert!(ignored(&fs::read_to_string("/proc/self/status").expect("a status")).is_some());
    }
}
