//! The body of a request, which has to come in time, and that of the answer, with whose end the request ends.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes};
use axum::http::Response;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep, sleep};
use tonic::Status;

use super::connections::UnderWay;
use crate::changes;

/// The longest that no byte of a body may come.
pub(super) const PIECE_TIME_MAX: Duration = Duration::from_secs(10);
/// The longest that a body may take.
pub(super) const WHOLE_TIME_MAX: Duration = Duration::from_secs(120);

/// The body of a request. It fails where it does not come in time.
pub(super) struct Timely {
    inner: Incoming,
    under_way: Arc<UnderWay>,
    piece: Pin<Box<Sleep>>,
    whole: Pin<Box<Sleep>>,
}

impl Timely {
    pub(super) fn new(inner: Incoming, under_way: Arc<UnderWay>) -> Self {
        if inner.is_end_stream() {
            under_way.received();
        }
        Timely { inner, under_way, piece: Box::pin(sleep(PIECE_TIME_MAX)), whole: Box::pin(sleep(WHOLE_TIME_MAX)) }
    }
}

impl HttpBody for Timely {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(cx) else {
            if this.piece.as_mut().poll(cx).is_ready() || this.whole.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Some(Err(too_slow().into())));
            }
            return Poll::Pending;
        };
        if frame.is_none() || this.inner.is_end_stream() {
            this.under_way.received();
        } else {
            this.piece.as_mut().reset(Instant::now() + PIECE_TIME_MAX);
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// What is said of a request whose body does not come: as gRPC's status, which JSON has a form of too.
fn too_slow() -> Status {
    Status::deadline_exceeded(format!(
        "the request's body does not come: nothing for {} seconds, or not all of it in {}",
        PIECE_TIME_MAX.as_secs(),
        WHOLE_TIME_MAX.as_secs()
    ))
}

/// The body of an answer.
pub(super) struct TrackedBody {
    inner: Body,
    _under_way: Arc<UnderWay>,
    /// The change that the answer is about.
    _change: Option<changes::UnderWay>,
}

impl TrackedBody {
    pub(super) fn answer(mut response: Response<Body>, under_way: Arc<UnderWay>) -> Response<Self> {
        let change = changes::UnderWay::of(response.extensions_mut());
        response.map(|inner| TrackedBody { inner, _under_way: under_way, _change: change })
    }
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Poll::Ready(ready!(Pin::new(&mut self.inner).poll_frame(cx)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use console::stopping::Signals;
    use tokio::time::timeout;

    use super::super::connections::Connections;
    use super::*;
    use crate::changes::Changes;

    #[tokio::test]
    async fn a_change_is_under_way_until_its_answer_is_written() {
        let (changes, connections) = (Changes::default(), Connections::default());
        let connection = connections.admit(Ipv4Addr::LOCALHOST.into()).expect("a place");
        let change = changes.begin().await.expect("it may begin");
        let answer = change.until_written(Response::new(Body::from("made")));
        let (head, body) = TrackedBody::answer(answer, connection.begin()).into_parts();
        drop(head);
        let mut signals = Signals::new().expect("signals");
        let waited = timeout(Duration::from_millis(50), changes.end(&mut signals)).await;
        assert!(waited.is_err(), "the body is not written");
        drop(body);
        changes.end(&mut signals).await;
    }
}
