//! Whether anything may be asked at all at the moment.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};

/// Waits until something may be asked.
type Wait = dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync;

/// What every request passes, last thing before it is sent; and every connection, before it is made. The default is always
/// open.
#[derive(Clone, Default)]
pub struct Gate(Option<Arc<Wait>>);

impl Gate {
    /// A gate. `wait` resolves when it is open.
    pub fn new<F: Future<Output = ()> + Send + 'static>(wait: impl Fn() -> F + Send + Sync + 'static) -> Self {
        Gate(Some(Arc::new(move || Box::pin(wait()))))
    }

    /// True if whatever passes now is not held up.
    pub(crate) fn is_open(&self) -> bool {
        self.0.as_ref().is_none_or(|wait| wait().as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready())
    }

    pub(crate) async fn pass(&self) {
        if let Some(wait) = &self.0 {
            wait().await;
        }
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Gate" } else { "Gate (always open)" })
    }
}
