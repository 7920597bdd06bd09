//! Answers that may take longer than a viewer waits: pictures, and reports. They read a whole crawl.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, oneshot};
use tokio::time::timeout;

use crate::failure::Failure;

/// How long a request waits for an answer, and for one that another request has begun.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// Held while an answer is made: one at a time. It has why the last one could not be made, if no request waited for that any more.
pub(crate) type Turn = Arc<Mutex<Option<Failure>>>;

/// An answer, if it is there before a request has waited long; `None` otherwise. It is made to its end then, for the next request.
///
/// # Errors
/// It cannot be made, or the one before could not: the next request says so, and the one behind it makes the answer.
pub(crate) async fn made_in_time<T: Send + Sync + 'static>(
    turn: &Turn,
    make: impl Future<Output = Result<Arc<T>, Failure>> + Send + 'static,
) -> Result<Option<Arc<T>>, Failure> {
    let Ok(mut turn) = timeout(WAIT_MAX, turn.clone().lock_owned()).await else { return Ok(None) };
    if let Some(failure) = turn.take() {
        return Err(failure);
    }
    let (made, answer) = oneshot::channel();
    tokio::spawn(async move {
        let result = match tokio::spawn(make).await {
            Ok(result) => result,
            Err(error) => Err(Failure::Failed(format!("internal error: {error}"))),
        };
        *turn = made.send(result).err().and_then(Result::err);
    });
    match timeout(WAIT_MAX, answer).await {
        Ok(Ok(result)) => result.map(Some),
        // The runtime ends.
        Ok(Err(_)) | Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_next_request_is_told_why_there_is_no_answer() {
        let turn = Turn::default();
        let (fail, fails) = oneshot::channel();
        let late = async {
            let _ = fails.await;
            Err(Failure::Failed("the disk is full".to_owned()))
        };
        assert!(matches!(made_in_time::<u8>(&turn, late).await, Ok(None)), "nobody knows yet");
        fail.send(()).expect("it is being made");
        let told = made_in_time::<u8>(&turn, std::future::pending()).await;
        assert_eq!(told.expect_err("it was not made").text(), "the disk is full");
        let made = made_in_time(&turn, async { Ok(Arc::new(7)) }).await.expect("made");
        assert_eq!(made.as_deref(), Some(&7));
        let broken = made_in_time::<u8>(&turn, async { panic!("a fault") }).await.expect_err("it broke off");
        assert!(broken.text().starts_with("internal error"), "{}", broken.text());
    }
}
