//! A stream whose other end has to take what is written to it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Fails where nothing could be written for a time.
pub(super) struct Paced<S> {
    inner: S,
    time_max: Duration,
    /// Since something waits to be written.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> Paced<S> {
    pub(super) fn new(inner: S, time_max: Duration) -> Self {
        Paced { inner, time_max, waiting: None }
    }

    fn pace<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let time_max = self.time_max;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(time_max)));
        if waiting.as_mut().poll(cx).is_ready() {
            Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
        } else {
            Poll::Pending
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.pace(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, bytes);
        self.pace(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        self.pace(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.pace(cx, ended)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_for_a_time_loses_the_connection_and_who_is_slow_keeps_it() {
        const TIME_MAX: Duration = Duration::from_secs(60);
        let (near, mut far) = duplex(4);
        let mut paced = Paced::new(near, TIME_MAX);
        let slow = tokio::spawn(async move {
            for _ in 0..3 {
                sleep(TIME_MAX - Duration::from_secs(1)).await;
                far.read_exact(&mut [0; 4]).await.expect("four bytes");
            }
            // It stays, and takes nothing more.
            far
        });
        let began = Instant::now();
        paced.write_all(&[0; 16]).await.expect("all is written in time");
        assert!(began.elapsed() > TIME_MAX, "{:?}", began.elapsed());
        let began = Instant::now();
        let ended = paced.write_all(&[0; 4]).await.expect_err("an end");
        assert_eq!((ended.kind(), began.elapsed()), (io::ErrorKind::TimedOut, TIME_MAX));
        drop(slow);
    }
}
