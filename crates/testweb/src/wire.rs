//! A connection as the HTTP/1.1 loop sees it: plain TCP, or TLS over it.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::Step;
use crate::log::Exchange;
use crate::reply::Steps;

/// How long the server goes on reading after it has closed its side, so that the client gets to read the reply
/// before a reset for its own unread bytes destroys it.
const LINGER: Duration = Duration::from_secs(1);

/// Bytes both ways, with the TCP stream underneath.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Unpin + Send {
    /// The TCP stream that carries the bytes.
    fn tcp(&self) -> &TcpStream;
}

impl Wire for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Wire for TlsStream<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

/// Carries out the steps of a raw reply. The connection is not usable afterwards.
pub(crate) async fn carry_out<W: Wire>(wire: &mut W, steps: Steps, exchange: &mut Exchange) -> io::Result<()> {
    for step in steps {
        match step {
            Step::Send(bytes) => {
                exchange.end();
                wire.write_all(&bytes).await?;
                wire.flush().await?;
            }
            Step::Wait(duration) => tokio::time::sleep(duration).await,
            Step::Hang => return drain(wire).await,
            Step::Reset => {
                exchange.end();
                return wire.tcp().set_zero_linger();
            }
        }
    }
    exchange.end();
    close(wire).await
}

/// Says that nothing more comes, and waits a little for the client to do the same.
pub(crate) async fn close<W: Wire>(wire: &mut W) -> io::Result<()> {
    wire.shutdown().await?;
    tokio::time::timeout(LINGER, drain(wire)).await.unwrap_or(Ok(()))
}

/// Reads and forgets until the client goes away.
async fn drain<W: Wire>(wire: &mut W) -> io::Result<()> {
    let mut buffer = [0; 4096];
    while wire.read(&mut buffer).await? > 0 {}
    Ok(())
}
