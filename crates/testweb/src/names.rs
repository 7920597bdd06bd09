//! A name server, for tests in which it matters where a name leads: it asks a function for each name.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// The longest query that is read, in bytes (RFC 1035 §2.3.4).
const QUERY_BYTES_MAX: usize = 512;
/// Bytes of the header of a message (RFC 1035 §4.1.1).
const HEADER_BYTES: usize = 12;
/// The type of a record that is an IPv4 address (RFC 1035 §3.2.2).
const TYPE_A: u16 = 1;

/// What a name server says of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// It has this address; nobody is to remember that.
    At(Ipv4Addr),
    /// The server has failed.
    Fails,
}

/// A running name server, on a free port of loopback. Dropping it stops it.
pub struct NameServer {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl NameServer {
    /// Starts it, on the runtime it is called in. `named` is called for each query, with the name in lower case.
    ///
    /// # Errors
    /// There is no free port.
    pub async fn start(named: impl Fn(&str) -> Named + Send + Sync + 'static) -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = socket.local_addr()?;
        let task = tokio::spawn(async move {
            let mut query = [0; QUERY_BYTES_MAX];
            while let Ok((length, from)) = socket.recv_from(&mut query).await {
                if let Some(answer) = query.get(..length).and_then(|query| answer(query, &named)) {
                    // Who asked may have gone.
                    let _ = socket.send_to(&answer, from).await;
                }
            }
        });
        Ok(NameServer { address, task })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The answer to a query of one question; `None` to anything else.
fn answer(query: &[u8], named: impl Fn(&str) -> Named) -> Option<Vec<u8>> {
    let mut labels = Vec::new();
    let mut at = HEADER_BYTES;
    loop {
        let length = usize::from(*query.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        labels.push(std::str::from_utf8(query.get(at..at + length)?).ok()?.to_ascii_lowercase());
        at += length;
    }
    let question = query.get(HEADER_BYTES..at + 4)?;
    let kind = u16::from_be_bytes([*query.get(at)?, *query.get(at + 1)?]);
    let (code, address) = match named(&labels.join(".")) {
        Named::At(address) => (0, Some(address).filter(|_| kind == TYPE_A)),
        Named::Fails => (2, None),
    };
    // It is an answer, recursion is available; one question, and an answer if there is an address.
    let mut packet = vec![query[0], query[1], 0x81, 0x80 | code, 0, 1, 0, u8::from(address.is_some()), 0, 0, 0, 0];
    packet.extend(question);
    if let Some(address) = address {
        // The name of the question, its type, class IN, a TTL of no time, four bytes.
        packet.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
        packet.extend(address.octets());
    }
    Some(packet)
}
