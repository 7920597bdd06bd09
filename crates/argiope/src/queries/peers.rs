//! The connections between the processes of a query.
//!
//! Each process listens, and connects to those before it in the list: for the dataflow to all of them, for what is gathered to the
//! first. A connection begins with the secret of the query, who connects, and what for; any other is refused.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{QUERY_SECONDS_MAX, QueryError};

/// Bytes of what is gathered from one process.
const MESSAGE_BYTES_MAX: u64 = 256 << 20;
/// The longest that a connection may take to be made, or to say what it is.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// The secret, the index of who connects, and the purpose.
const HELLO_BYTES: usize = 16 + 4 + 1;
/// The purposes.
const DATAFLOW: u8 = 0;
const GATHERING: u8 = 1;

/// The other processes, as one of them is connected to them.
pub(super) struct Peers {
    index: usize,
    /// For the first process: to all others, in order. For any other: to the first.
    gathering: Vec<TcpStream>,
}

/// Connections for the dataflow, by process; none to itself.
pub(super) type Sockets = Vec<Option<TcpStream>>;

impl Peers {
    /// Connects the process of this index to all others.
    pub(super) fn connect(
        listener: &TcpListener,
        secret: [u8; 16],
        index: usize,
        addresses: &[String],
    ) -> anyhow::Result<(Self, Sockets)> {
        let mut sockets: Sockets = addresses.iter().map(|_| None).collect();
        let mut gathering: Sockets = addresses.iter().map(|_| None).collect();
        let hello = |purpose| [&secret[..], &(index as u32).to_le_bytes(), &[purpose]].concat();
        for (other, address) in addresses[..index].iter().enumerate() {
            sockets[other] = Some(connect_to(address, &hello(DATAFLOW))?);
            if other == 0 {
                gathering[other] = Some(connect_to(address, &hello(GATHERING))?);
            }
        }
        let behind = addresses.len() - index - 1;
        let mut awaited = if index == 0 { 2 * behind } else { behind };
        while awaited > 0 {
            let (stream, from) = listener.accept().context("cannot accept a connection")?;
            let place = match hello_of(&stream, secret, from) {
                Some((other, DATAFLOW)) if other > index => sockets.get_mut(other),
                Some((other, GATHERING)) if other > index && index == 0 => gathering.get_mut(other),
                _ => None,
            };
            if let Some(place) = place.filter(|place| place.is_none()) {
                *place = Some(stream);
                awaited -= 1;
            }
        }
        let gathering: Vec<TcpStream> = gathering.into_iter().flatten().collect();
        for stream in gathering.iter().chain(sockets.iter().flatten()) {
            stream.set_nodelay(true)?;
        }
        for stream in &gathering {
            stream.set_read_timeout(Some(Duration::from_secs(QUERY_SECONDS_MAX)))?;
        }
        Ok((Peers { index, gathering }, sockets))
    }

    /// Whether it is the one that gives the answer.
    pub(super) fn is_first(&self) -> bool {
        self.index == 0
    }

    /// What the first process makes of what every process has, in their order. All have to call it, as often and in the same order.
    pub(super) fn gather<T, U>(&mut self, own: T, join: impl FnOnce(Vec<T>) -> U) -> anyhow::Result<U>
    where
        T: Serialize + DeserializeOwned,
        U: Serialize + DeserializeOwned,
    {
        self.exchange(own, join).map_err(|error| QueryError::Lost(format!("another member was lost: {error:#}")).into())
    }

    fn exchange<T, U>(&mut self, own: T, join: impl FnOnce(Vec<T>) -> U) -> anyhow::Result<U>
    where
        T: Serialize + DeserializeOwned,
        U: Serialize + DeserializeOwned,
    {
        if !self.is_first() {
            let first = &mut self.gathering[0];
            send(first, &own)?;
            return receive(first);
        }
        let mut all = vec![own];
        for stream in &mut self.gathering {
            all.push(receive(stream)?);
        }
        let joined = join(all);
        for stream in &mut self.gathering {
            send(stream, &joined)?;
        }
        Ok(joined)
    }
}

fn connect_to(address: &str, hello: &[u8]) -> anyhow::Result<TcpStream> {
    let connect = || -> anyhow::Result<TcpStream> {
        let mut failure = None;
        for address in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT_TIME_MAX) {
                Ok(mut stream) => {
                    stream.write_all(hello)?;
                    return Ok(stream);
                }
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.map_or_else(|| anyhow::anyhow!("it has no address"), Into::into))
    };
    connect().with_context(|| format!("cannot connect to the process of the query at {address}"))
}

/// Who connects, and what for; `None` if it is nobody of this query.
fn hello_of(mut stream: &TcpStream, secret: [u8; 16], from: SocketAddr) -> Option<(usize, u8)> {
    let mut hello = [0; HELLO_BYTES];
    let read = stream.set_read_timeout(Some(CONNECT_TIME_MAX)).and_then(|()| stream.read_exact(&mut hello));
    let is_ours = read.is_ok() && blake3::hash(&hello[..16]) == blake3::hash(&secret);
    if !is_ours {
        eprintln!("argiope: a connection from {from} that is none of the query was refused");
        return None;
    }
    stream.set_read_timeout(None).ok()?;
    let index = hello[16..20].iter().rev().fold(0, |index, byte| index << 8 | usize::from(*byte));
    Some((index, hello[20]))
}

fn send(stream: &mut TcpStream, message: &impl Serialize) -> anyhow::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    stream.write_all(&(bytes.len() as u64).to_le_bytes())?;
    Ok(stream.write_all(&bytes)?)
}

fn receive<T: DeserializeOwned>(stream: &mut TcpStream) -> anyhow::Result<T> {
    let mut length = [0; 8];
    stream.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > MESSAGE_BYTES_MAX {
        bail!("a message of {length} bytes, more than {MESSAGE_BYTES_MAX}");
    }
    let mut bytes = Vec::new();
    stream.take(length).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_gets_what_all_have_and_strangers_are_refused() {
        const PROCESSES: usize = 3;
        let listeners: Vec<TcpListener> =
            (0..PROCESSES).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
        let addresses: Vec<String> =
            listeners.iter().map(|listener| listener.local_addr().expect("an address").to_string()).collect();
        // Before anyone else: another query's, one of a process that is not there, and half a hello.
        let hello = |secret: u8, index: u8| [&[secret; 16][..], &[index, 0, 0, 0, DATAFLOW]].concat();
        let _strangers: Vec<TcpStream> = [hello(8, 1), hello(7, 9), vec![7; 3]]
            .iter()
            .map(|hello| {
                let mut stream = TcpStream::connect(&addresses[0]).expect("it listens");
                stream.write_all(hello).expect("sent");
                stream.shutdown(std::net::Shutdown::Write).expect("ended");
                stream
            })
            .collect();
        let gathered = |index: usize, listener: &TcpListener| {
            let (mut peers, sockets) = Peers::connect(listener, [7; 16], index, &addresses).expect("connections");
            let own: Vec<usize> = (0..PROCESSES).filter(|other| sockets[*other].is_none()).collect();
            assert_eq!(own, [index]);
            let first = peers.gather(index * 10, |all| all).expect("numbers");
            (first, peers.gather(format!("{index}"), |all| all.concat()).expect("texts"))
        };
        std::thread::scope(|scope| {
            let gathered = &gathered;
            let running: Vec<_> = listeners
                .iter()
                .enumerate()
                .map(|(index, listener)| scope.spawn(move || gathered(index, listener)))
                .collect();
            for process in running {
                assert_eq!(process.join().expect("no panic"), (vec![0, 10, 20], "012".to_owned()));
            }
        });
    }
}
