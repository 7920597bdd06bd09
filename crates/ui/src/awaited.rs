//! Answers that may take longer than a viewer waits: pictures, and reports. They read a whole crawl.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::failure::Failure;

/// How long a request waits for an answer, and for one that another request has begun.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// An answer, if it is there before a request has waited long; `None` otherwise. It is made to its end then, for the next request. Who holds
/// `turn` makes one: one at a time.
///
/// # Errors
/// It cannot be made.
pub(crate) async fn made_in_time<T: Send + Sync + 'static>(
    turn: &Arc<Mutex<()>>,
    make: impl Future<Output = Result<Arc<T>, Failure>> + Send + 'static,
) -> Result<Option<Arc<T>>, Failure> {
    let Ok(turn) = timeout(WAIT_MAX, turn.clone().lock_owned()).await else { return Ok(None) };
    let made = tokio::spawn(async move {
        let _turn = turn;
        make.await
    });
    match timeout(WAIT_MAX, made).await {
        Ok(Ok(answer)) => answer.map(Some),
        Ok(Err(error)) => Err(Failure::Failed(format!("internal error: {error}"))),
        Err(_) => Ok(None),
    }
}
