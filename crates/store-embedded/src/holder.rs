//! Which process has a file locked, for the one that waits for it.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The kernel's list of locks (proc(5)).
const LOCKS: &str = "/proc/locks";

/// Another process that has this file locked, in parentheses; empty where none is known.
pub(crate) fn of(file: &File) -> String {
    pid_of(file).map(|pid| format!(" ({})", named(pid))).unwrap_or_default()
}

/// Another process that has this file locked and is stopped: it does nothing until somebody lets it go on. In words, with its number.
pub(crate) fn stopped(file: &File) -> Option<(String, u32)> {
    let pid = pid_of(file)?;
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    is_stopped(&status).then(|| (named(pid), pid))
}

fn pid_of(file: &File) -> Option<u32> {
    let metadata = file.metadata().ok()?;
    let locks = fs::read_to_string(LOCKS).ok()?;
    locks.lines().find_map(|line| holder(line, metadata.dev(), metadata.ino()))
}

/// Whether a process is stopped by a signal or by a debugger, by its line such as `4711 (argiope) T 1 …` (proc(5)). Its name may have any
/// characters.
fn is_stopped(status: &str) -> bool {
    status.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
}

fn named(pid: u32) -> String {
    match command(pid) {
        Some(command) => format!("`{command}`, process {pid}"),
        None => format!("process {pid}"),
    }
}

/// The process in a line such as `1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF`, if it is another one and has this file locked.
fn holder(line: &str, device: u64, inode: u64) -> Option<u32> {
    let mut fields = line.split_whitespace().skip(1);
    let is_lock = fields.next() == Some("FLOCK");
    // One that waits has an arrow there.
    let pid = fields.nth(2).filter(|_| is_lock)?.parse().ok()?;
    let mut place = fields.next()?.split(':');
    let mut number = |radix| u64::from_str_radix(place.next()?, radix).ok();
    let of = (number(16)?, number(16)?, number(10)?);
    (of == (major(device), minor(device), inode) && pid != std::process::id() && pid != 0).then_some(pid)
}

/// The numbers of a device as the kernel writes them (makedev(3)).
fn major(device: u64) -> u64 {
    (device >> 8) & 0xfff | (device >> 32) & 0xffff_f000
}

fn minor(device: u64) -> u64 {
    device & 0xff | (device >> 12) & 0xffff_ff00
}

/// The program and its command, without the other arguments: secrets may be among them.
fn command(pid: u32) -> Option<String> {
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let mut words = arguments.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let program = words.next().filter(|program| !program.is_empty())?;
    let program = Path::new(&*program).file_name()?.to_string_lossy().into_owned();
    let is_command =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    Some(match words.next().filter(|word| is_command(word)) {
        Some(word) => format!("{program} {word}"),
        None => program,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_stopped_by_its_line() {
        for (status, expect) in
            [("1 (a) T 0", true), ("1 (a) t 0", true), ("1 (a) S 0", false), ("1 (a) T) R 0", false), ("", false)]
        {
            assert_eq!(is_stopped(status), expect, "{status}");
        }
    }

    #[test]
    fn the_holder_of_a_lock_is_read_from_the_kernels_list() {
        let device = (8 << 8) | 1;
        for (line, expect) in [
            ("1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF", Some(4_711)),
            ("1: FLOCK  ADVISORY  READ 4711 08:01:131 0 EOF", Some(4_711)),
            ("1: -> FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF", None),
            ("1: POSIX  ADVISORY  WRITE 4711 08:01:131 0 EOF", None),
            ("1: FLOCK  ADVISORY  WRITE 4711 08:02:131 0 EOF", None),
            ("1: FLOCK  ADVISORY  WRITE 4711 08:01:132 0 EOF", None),
            ("1: FLOCK  ADVISORY  WRITE -1 08:01:131 0 EOF", None),
            ("1: FLOCK", None),
            ("", None),
        ] {
            assert_eq!(holder(line, device, 131), expect, "{line}");
        }
        let own = format!("1: FLOCK  ADVISORY  WRITE {} 08:01:131 0 EOF", std::process::id());
        assert_eq!(holder(&own, device, 131), None, "this process is no other");
    }
}
