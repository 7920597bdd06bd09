//! A port for the user of this machine alone.

use axum::routing::Router;
use console::stopping::Signals;
use settings::usage;
use tokio::runtime::Runtime;

use crate::access::Guard;
use crate::changes::Changes;
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
