//! A port for the user of this machine alone.

use std::sync::Arc;

use axum::routing::Router;
use console::stopping::Signals;
use settings::usage;
use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::access::Guard;
use crate::port::{Refusal, listen, resolve, serve_or};

/// Listens at an address of this machine, which an option gives, and says where and until when. The future that this gives serves.
///
/// # Errors
/// It is no address of this machine alone, or cannot be had.
pub async fn serve_here(
    (option, address): (&str, &str),
    until: &str,
    router: Router,
    refusal: Refusal,
) -> anyhow::Result<impl Future<Output = ()> + Send + use<>> {
    let resolved = resolve(option, address)?;
    if !resolved.ip().is_loopback() {
        return Err(usage(format!(
            "{option} {resolved}: other machines could steer the crawl: use an address of this machine alone, such as 127.0.0.1:7880, and \
             from elsewhere `ssh -L 7880:127.0.0.1:7880`"
        )));
    }
    let guard = Guard::open();
    let listener = listen(option, address, &guard).await?;
    console::say!("http://{} {until}", listener.local_addr()?);
    Ok(serve_or(listener, router, guard, refusal))
}

/// Changes at a time. Others wait for their turn.
const CHANGES_MAX: u32 = 1_000;

/// The changes that a port makes of crawls. A process waits for those under way before it ends: one that is cut would leave a crawl half changed.
#[derive(Clone)]
pub struct Changes(Arc<Semaphore>);

impl Default for Changes {
    fn default() -> Self {
        Changes(Arc::new(Semaphore::new(CHANGES_MAX as usize)))
    }
}

impl Changes {
    /// A change, under way until this is dropped; `None` after [`Changes::end`].
    pub async fn begin(&self) -> Option<OwnedSemaphorePermit> {
        self.0.clone().acquire_owned().await.ok()
    }

    /// Waits for the changes under way, or for a signal. No other begins then. It says that it waits.
    pub async fn end(&self, signals: &mut Signals) {
        let mut all = self.0.try_acquire_many(CHANGES_MAX).ok();
        if all.is_none() {
            console::say!(
                "a change of the crawl is under way: this ends after it. Ctrl-C ends it now, the change half made"
            );
            tokio::select! {
                permits = self.0.acquire_many(CHANGES_MAX) => all = permits.ok(),
                _ = signals.next() => {}
            }
        }
        self.0.close();
        drop(all);
    }
}

/// A port beside a crawl, served until this is dropped.
pub struct Beside(Option<(Runtime, Changes)>);

impl Beside {
    /// Serves a router that makes these changes, at the address that an option gives.
    ///
    /// # Errors
    /// As [`serve_here`].
    pub fn start(given: (&str, &str), router: Router, changes: Changes, refusal: Refusal) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let served = runtime.block_on(serve_here(given, "until the crawl ends", router, refusal))?;
        runtime.spawn(served);
        Ok(Beside(Some((runtime, changes))))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let Some((runtime, changes)) = self.0.take() else { return };
        runtime.block_on(async {
            // The run listened for signals, and does no more.
            if let Ok(mut signals) = Signals::new() {
                changes.end(&mut signals).await;
            }
        });
        // An answer under way keeps no crawl from ending.
        runtime.shutdown_background();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_change_under_way_is_waited_for_and_no_other_begins() {
        let changes = Changes::default();
        let mut signals = Signals::new().expect("signals");
        let change = changes.begin().await.expect("it may begin");
        let waited = timeout(Duration::from_millis(50), changes.end(&mut signals)).await;
        assert!(waited.is_err(), "it is under way");
        drop(change);
        changes.end(&mut signals).await;
        assert!(changes.begin().await.is_none());
    }
}
