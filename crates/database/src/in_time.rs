//! An attempt to connect that is given up in time: the library has no limit for what comes after the connection of TCP.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use crate::SILENT_MAX;

/// Attempts under way, those that were given up among them.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// Counts an attempt as long as its thread lives.
struct UnderWay;

impl Drop for UnderWay {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What an attempt came to. `None` where it took longer; or where so many attempts that were given up still wait that one more is not
/// begun. What an attempt comes to after that is dropped, on its own thread.
pub(crate) fn within<T: Send + 'static>(time: Duration, attempt: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let under_way = UnderWay;
    if UNDER_WAY.fetch_add(1, Ordering::Relaxed) >= SILENT_MAX {
        return None;
    }
    let (ended, end) = sync_channel(1);
    let run = move || {
        let _under_way = under_way;
        // Who waited may have gone.
        let _ = ended.send(attempt());
    };
    thread::Builder::new().name("postgres-connect".to_owned()).spawn(run).ok()?;
    end.recv_timeout(time).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_too_long_is_given_up_and_not_tried_without_end() {
        assert_eq!(within(Duration::from_secs(60), || 1), Some(1));
        let (hold, held) = sync_channel::<()>(0);
        let held = std::sync::Arc::new(std::sync::Mutex::new(held));
        for _ in 0..SILENT_MAX {
            let held = held.clone();
            let waits = move || held.lock().map(|held| held.recv().is_ok()).is_ok();
            assert_eq!(within(Duration::from_millis(1), waits), None);
        }
        assert_eq!(within(Duration::from_secs(60), || 1), None, "too many wait");
        drop(hold);
        // They end, and make place.
        while within(Duration::from_secs(60), || 1).is_none() {
            thread::yield_now();
        }
    }
}
