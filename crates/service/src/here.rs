//! A port for the user of this machine alone, or for those who know a token.

use axum::routing::Router;
use console::stopping::Signals;
use settings::usage;
use tokio::runtime::Runtime;

use crate::access::Guard;
use crate::changes::Changes;
use crate::entry::Entry;
use crate::port::{Refusal, listen, resolve, serve_or};
use crate::random::random_id;

/// What is served.
pub struct Interface {
    /// Its pages.
    pub router: Router,
    /// The page of a refusal. Of one for a missing token, it has a form that sends a token to [`crate::entry::PATH`].
    pub refusal: Refusal,
    /// The paths that such a page needs.
    pub open: &'static [&'static str],
    /// The guard whose token opens it, if it does not serve all users of this machine.
    pub guard: Option<Guard>,
}

/// Listens at an address, which an option gives, and says where and until when. The future that this gives serves. Without a token, the address is
/// one of this machine.
///
/// # Errors
/// It is no address of this machine alone, and there is no token; or it cannot be had.
pub async fn serve_here(
    (option, address): (&str, &str),
    until: &str,
    Interface { router, refusal, open, guard }: Interface,
) -> anyhow::Result<impl Future<Output = ()> + Send + use<>> {
    let resolved = resolve(option, address)?;
    if !resolved.ip().is_loopback() && guard.is_none() {
        return Err(usage(format!(
            "{option} {resolved}: other machines could steer the crawl: choose who may, with --ui-token-file, or use an address of this machine \
             alone, such as 127.0.0.1:7880, and from elsewhere `ssh -L 7880:127.0.0.1:7880`"
        )));
    }
    let outside = if guard.is_some() { Guard::asked_behind() } else { Guard::open() };
    let listener = listen(option, address, &outside).await?;
    let local = listener.local_addr()?;
    let router = match guard {
        Some(guard) => Entry::new(guard, &random_id()?, local.port(), open, refusal).before(router),
        None => router,
    };
    console::say!("http://{local} {until}");
    Ok(serve_or(listener, router, outside, refusal))
}

/// A port beside a crawl, served until this is dropped.
pub struct Beside(Option<(Runtime, Changes)>);

impl Beside {
    /// Serves an interface that makes these changes, at the address that an option gives.
    ///
    /// # Errors
    /// As [`serve_here`].
    pub fn start(given: (&str, &str), interface: Interface, changes: Changes) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let served = runtime.block_on(serve_here(given, "until the crawl ends", interface))?;
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
