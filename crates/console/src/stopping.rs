//! The wish of the user, or of the system, that a command ends.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// What resolves when somebody wants an end: SIGINT, SIGTERM, or SIGHUP, since a terminal was closed. A second one ends the process at once,
/// with this exit code.
///
/// # Errors
/// The system does not tell of signals.
pub fn stop_signal(code: u8) -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let mut next = async move || {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    };
    Ok(async move {
        next().await;
        tokio::spawn(async move {
            next().await;
            std::process::exit(i32::from(code));
        });
    })
}
