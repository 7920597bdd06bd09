//! A thread or process that the system does not start: the limit is named in one line, in place of a panic.
//!
//! The standard library, the runtime and the store panic where a thread cannot begin. So the panic itself is recognised, wherever it
//! comes from.

use std::fs;
use std::io;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::anyhow;

use crate::message::{Level, tell};

/// `EAGAIN` (pthread_create(3), fork(2)): a limit of threads or processes is reached.
const TRY_AGAIN: i32 = 11;
/// The standard streams: input, output, errors.
const STREAMS: [u32; 3] = [0, 1, 2];
/// `O_NONBLOCK` (open(2)).
const NON_BLOCKING: u32 = 0o4000;
/// How the standard library and the runtime begin the message of a panic for want of a thread.
const BEGINNINGS: [&str; 2] = ["failed to spawn thread", "OS can't spawn worker thread"];

/// Whether this process has panicked for want of a thread.
static IS_SHORT: AtomicBool = AtomicBool::new(false);

/// Runs a command. If it fails for want of a thread or a process, one line names the limit.
///
/// # Errors
/// As the command.
pub fn guarded(run: impl FnOnce() -> anyhow::Result<ExitCode>, failed: ExitCode) -> anyhow::Result<ExitCode> {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !is_for_want_of_a_thread(panic) {
            return usual(panic);
        }
        // Many threads may be wanted.
        if !IS_SHORT.swap(true, Ordering::Relaxed) {
            tell(Level::Error, format_args!("{}", limit()));
        }
    }));
    match panic::catch_unwind(AssertUnwindSafe(run)) {
        Ok(Err(error)) if is_panic(&error) && IS_SHORT.load(Ordering::Relaxed) => Ok(failed),
        // A standard stream that does not block has the same error where nobody reads or writes at its other end.
        Ok(Err(error)) if is_refused(&error) && STREAMS.into_iter().any(is_without_blocking) => Err(error.context(
            "a standard stream does not block and is not ready, or a limit of threads or processes is reached",
        )),
        Ok(Err(error)) if is_refused(&error) => Err(anyhow!("{}", limit())),
        Ok(ended) => ended,
        Err(_) if IS_SHORT.load(Ordering::Relaxed) => Ok(failed),
        Err(panic) => panic::resume_unwind(panic),
    }
}

fn is_for_want_of_a_thread(panic: &PanicHookInfo<'_>) -> bool {
    panic.payload_as_str().is_some_and(|text| BEGINNINGS.iter().any(|beginning| text.contains(beginning)))
}

/// Whether an error is of a task that panicked, which was said then.
fn is_panic(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.to_string().contains("panicked"))
}

/// Whether an error is that of a system that starts no thread or process.
fn is_refused(error: &anyhow::Error) -> bool {
    let of_system = |cause: &(dyn std::error::Error + 'static)| cause.downcast_ref::<io::Error>()?.raw_os_error();
    error.chain().any(|cause| of_system(cause) == Some(TRY_AGAIN))
}

fn is_without_blocking(stream: u32) -> bool {
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{stream}")).unwrap_or_default();
    flags(&info).is_some_and(|flags| flags & NON_BLOCKING != 0)
}

/// The flags of an open file, by its information (proc_pid_fdinfo(5)).
fn flags(info: &str) -> Option<u32> {
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
    u32::from_str_radix(flags.trim(), 8).ok()
}

/// The line about the limit.
fn limit() -> String {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let of_user = of_user(&limits).map_or_else(String::new, |limit| format!(", {limit} for this user's (ulimit -u)"));
    format!(
        "the system starts no more threads or processes: a limit is reached{of_user}, or that of a container (pids.max): raise it, or end \
         other programs; the same command goes on"
    )
}

/// The limit of processes and threads of a user, by the limits of a process (proc_pid_limits(5)). Nothing if there is none.
fn of_user(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max processes"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_a_user_is_read() {
        let check = |limits: &str, expect| assert_eq!(of_user(limits), expect, "{limits}");
        check(
            "Limit   Soft\nMax processes             17                   18                   processes \n",
            Some(17),
        );
        check("Max processes             unlimited            unlimited            processes \n", None);
        check("", None);
    }

    #[test]
    fn the_flags_of_an_open_file_are_read() {
        let check = |info: &str, expect| assert_eq!(flags(info), expect, "{info}");
        check("pos:\t0\nflags:\t0104001\nmnt_id:\t15\n", Some(0o104_001));
        check("flags:\t9\n", None);
        check("", None);
    }

    #[test]
    fn an_error_of_a_limit_is_recognised_below_others() {
        let of = |code| anyhow::Error::new(io::Error::from_raw_os_error(code)).context("starting the browser");
        assert!(is_refused(&of(TRY_AGAIN)));
        assert!(!is_refused(&of(2)));
        assert!(is_panic(&anyhow!("internal error: closing the archive: task 92 panicked")));
    }
}
