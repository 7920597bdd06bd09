//! Standard output of commands whose work is done.

use std::io::{ErrorKind, Write, stdout};

use anyhow::Context;

/// Prints the result of work that is done. Nobody may be reading any more: the work is done all the same.
///
/// # Errors
/// Standard output is a file that cannot be written, for example since the disk is full.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot print the result"),
    }
}
