//! One TCP connection from accept to close: its first byte shows plain or TLS, and ALPN HTTP/1.1 or HTTP/2.

use std::io;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::http1::LoopEnd;
use crate::session::Session;
use crate::{Scheme, http1, http2};

/// The first byte of a TLS handshake (RFC 8446 section 5.1: content type 22).
const TLS_HANDSHAKE: u8 = 22;
/// How long a client may take to say its first byte or to finish the TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(60);

/// Serves a connection until it is closed. Errors are the client's business and are not reported.
pub(crate) async fn serve(mut stream: TcpStream, session: Session) -> io::Result<()> {
    stream.set_nodelay(true)?;
    loop {
        let mut first = [0];
        let peeked = timeout(HANDSHAKE, stream.peek(&mut first)).await??;
        if peeked == 0 {
            return Ok(());
        }
        if first[0] == TLS_HANDSHAKE {
            return serve_tls(stream, &session).await;
        }
        match http1::serve(&mut stream, &session, Scheme::Http).await? {
            LoopEnd::Closed => return Ok(()),
            LoopEnd::Tunnel => {}
        }
    }
}

async fn serve_tls(stream: TcpStream, session: &Session) -> io::Result<()> {
    let mut stream = timeout(HANDSHAKE, session.tls.accept(stream)).await??;
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        return http2::serve(stream, session).await;
    }
    http1::serve(&mut stream, session, Scheme::Https).await.map(|_| ())
}
