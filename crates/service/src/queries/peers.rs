//! The connections between the processes of a query.
//!
//! Each process listens, and connects to those before it in the list: for the dataflow to all of them, for what is gathered to the
//! first. A connection begins with the secret of the query, who connects, and what for; any other is refused.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::time::Duration;

use anyhow::Context;
use query_wire::{HELLO_BYTES, Hello, Purpose, QueryError, Secret, receive, send};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::QUERY_SECONDS_MAX;

/// The longest that a connection may take to be made.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// Connections that have not said yet what they are, at most: the oldest is refused then.
const UNSAID_MAX: usize = 1_024;
/// How often new connections and their hellos are polled.
const LOOK_EVERY: Duration = Duration::from_millis(2);

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
        secret: Secret,
        index: usize,
        addresses: &[String],
    ) -> anyhow::Result<(Self, Sockets)> {
        let mut sockets: Sockets = addresses.iter().map(|_| None).collect();
        let mut gathering: Sockets = addresses.iter().map(|_| None).collect();
        let hello = |purpose| Hello { index, purpose }.to_bytes(&secret);
        for (other, address) in addresses[..index].iter().enumerate() {
            sockets[other] = Some(connect_to(address, &hello(Purpose::Dataflow))?);
            if other == 0 {
                gathering[other] = Some(connect_to(address, &hello(Purpose::Gathering))?);
            }
        }
        let behind = addresses.len() - index - 1;
        let mut awaited = if index == 0 { 2 * behind } else { behind };
        let mut waiting = Waiting::at(listener, secret)?;
        while awaited > 0 {
            let (stream, hello) = waiting.next()?;
            let place = match hello {
                Hello { index: other, purpose: Purpose::Dataflow } if other > index => sockets.get_mut(other),
                Hello { index: other, purpose: Purpose::Gathering } if other > index && index == 0 => {
                    gathering.get_mut(other)
                }
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

    /// Whether there is another process.
    pub(super) fn are_others(&self) -> bool {
        !self.gathering.is_empty()
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
            return Ok(receive(first)?);
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

/// Those who have connected and not said yet what for. One that is silent keeps no other waiting.
struct Waiting<'a> {
    listener: &'a TcpListener,
    secret: Secret,
    /// By age, with what each has said so far.
    unsaid: VecDeque<Unsaid>,
}

struct Unsaid {
    stream: TcpStream,
    hello: [u8; HELLO_BYTES],
    length: usize,
}

impl<'a> Waiting<'a> {
    fn at(listener: &'a TcpListener, secret: Secret) -> anyhow::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Waiting { listener, secret, unsaid: VecDeque::new() })
    }

    /// The next who says that it is of this query. That not all wait for ever is for who calls to see to.
    fn next(&mut self) -> anyhow::Result<(TcpStream, Hello)> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(true)?;
                    self.unsaid.push_back(Unsaid { stream, hello: [0; HELLO_BYTES], length: 0 });
                    if self.unsaid.len() > UNSAID_MAX {
                        self.unsaid.pop_front();
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(LOOK_EVERY),
                Err(error) => return Err(error).context("cannot accept a connection"),
            }
            for _ in 0..self.unsaid.len() {
                let Some(mut one) = self.unsaid.pop_front() else { break };
                match one.read() {
                    Ok(false) => self.unsaid.push_back(one),
                    Ok(true) => match Hello::from_bytes(&one.hello, &self.secret) {
                        Some(hello) => {
                            one.stream.set_nonblocking(false)?;
                            return Ok((one.stream, hello));
                        }
                        None => one.refuse(),
                    },
                    Err(_) => one.refuse(),
                }
            }
        }
    }
}

impl Unsaid {
    /// Reads on. True when it has said all.
    fn read(&mut self) -> std::io::Result<bool> {
        while self.length < HELLO_BYTES {
            match self.stream.read(&mut self.hello[self.length..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.length += length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn refuse(self) {
        let from = self.stream.peer_addr().map_or_else(|_| "somebody".to_owned(), |from| from.to_string());
        console::say!("a connection from {from} that is none of the query was refused");
    }
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
        let hello = |secret: u8, index: usize| {
            Hello { index, purpose: Purpose::Dataflow }.to_bytes(&Secret([secret; 16])).to_vec()
        };
        let _strangers: Vec<TcpStream> = [hello(8, 1), hello(7, 9), vec![7; 3]]
            .iter()
            .map(|hello| {
                let mut stream = TcpStream::connect(&addresses[0]).expect("it listens");
                stream.write_all(hello).expect("sent");
                stream.shutdown(std::net::Shutdown::Write).expect("ended");
                stream
            })
            .collect();
        // And more silent ones than are waited for.
        let _silent: Vec<TcpStream> =
            (0..100).map(|_| TcpStream::connect(&addresses[0]).expect("it listens")).collect();
        let gathered = |index: usize, listener: &TcpListener| {
            let (mut peers, sockets) =
                Peers::connect(listener, Secret([7; 16]), index, &addresses).expect("connections");
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
