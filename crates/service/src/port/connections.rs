//! Limits of connections, and which one ends if there are too many.
//!
//! Where a peer has its share, or the port has all it can have, a new connection takes the place of the oldest one whose request is not
//! wholly there: it is silent, idle, or slow. So who connects and sends nothing keeps nobody out. Where all are being answered, the new
//! one is refused.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use settings::files;

/// Connections to a port at a time. Where the system allows few open files it is less ([`files::connections_max`]).
pub(super) const CONNECTIONS_MAX: usize = 4_096;
/// Connections to a port at a time that one peer may have, as a share of all: a peer is an IPv4 address or an IPv6 network of 64 bits.
pub(super) const PER_PEER_MAX: usize = 1_024;
/// Bits of an IPv6 address that identify a peer, who controls all addresses with this prefix.
const PEER_BITS: u32 = 64;

/// The connections to a port.
pub(super) struct Connections {
    all: Arc<Mutex<Table>>,
    max: usize,
    per_peer_max: usize,
}

/// By age.
#[derive(Default)]
struct Table {
    next: u64,
    connections: BTreeMap<u64, (IpAddr, Arc<State>)>,
}

/// A connection that was admitted. It has its place until it is dropped.
pub(super) struct Connection {
    number: u64,
    state: Arc<State>,
    all: Arc<Mutex<Table>>,
}

struct State {
    /// Requests whose head is there, until their answer has been taken.
    under_way: watch::Sender<usize>,
    /// Those of them that are wholly there.
    received: AtomicUsize,
    has_to_go: Notify,
}

/// A request, from its head to the end of its answer.
pub(super) struct UnderWay {
    state: Arc<State>,
    is_received: AtomicBool,
}

impl Default for Connections {
    fn default() -> Self {
        let max = CONNECTIONS_MAX.min(files::connections_max());
        Connections::of(max, PER_PEER_MAX.min(max.div_ceil(2)))
    }
}

impl Connections {
    fn of(max: usize, per_peer_max: usize) -> Self {
        Connections { all: Arc::default(), max, per_peer_max }
    }

    /// A place for a new connection of this address, if there is one.
    pub(super) fn admit(&self, address: IpAddr) -> Option<Arc<Connection>> {
        let peer = peer_of(address);
        let mut all = lock(&self.all);
        let of_peer = all.connections.values().filter(|(other, _)| *other == peer).count();
        if of_peer >= self.per_peer_max {
            all.turn_out(|other| other == peer)?;
        } else if all.connections.len() >= self.max {
            all.turn_out(|_| true)?;
        }
        let state = Arc::new(State {
            under_way: watch::Sender::new(0),
            received: AtomicUsize::new(0),
            has_to_go: Notify::new(),
        });
        let number = all.next;
        all.next += 1;
        all.connections.insert(number, (peer, state.clone()));
        Some(Arc::new(Connection { number, state, all: self.all.clone() }))
    }
}

impl Table {
    /// Tells the oldest of these that is not being answered to go. `None` where all are.
    fn turn_out(&mut self, whose: impl Fn(IpAddr) -> bool) -> Option<()> {
        let of_those = |(_, (peer, state)): &(&u64, &(IpAddr, Arc<State>))| {
            whose(*peer) && state.received.load(Ordering::Relaxed) == 0
        };
        let number = *self.connections.iter().find(of_those)?.0;
        let (_, state) = self.connections.remove(&number)?;
        state.has_to_go.notify_one();
        Some(())
    }
}

impl Connection {
    /// Begins with a request whose head is there.
    pub(super) fn begin(&self) -> Arc<UnderWay> {
        self.state.under_way.send_modify(|under_way| *under_way += 1);
        Arc::new(UnderWay { state: self.state.clone(), is_received: AtomicBool::new(false) })
    }

    /// Resolves when the connection has to make place.
    pub(super) async fn turned_out(&self) {
        self.state.has_to_go.notified().await;
    }

    /// Resolves when no first request has come in `first_max`, or none was under way for `idle_max`.
    pub(super) async fn idle(&self, first_max: Duration, idle_max: Duration) {
        let mut under_way = self.state.under_way.subscribe();
        let mut patience = first_max;
        loop {
            // The sender lives as long as this.
            if under_way.wait_for(|under_way| *under_way == 0).await.is_err() {
                return;
            }
            if !matches!(timeout(patience, under_way.changed()).await, Ok(Ok(()))) {
                return;
            }
            patience = idle_max;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        lock(&self.all).connections.remove(&self.number);
    }
}

impl UnderWay {
    /// Says that the whole request is there.
    pub(super) fn received(&self) {
        if !self.is_received.swap(true, Ordering::Relaxed) {
            self.state.received.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if self.is_received.load(Ordering::Relaxed) {
            self.state.received.fetch_sub(1, Ordering::Relaxed);
        }
        self.state.under_way.send_modify(|under_way| *under_way -= 1);
    }
}

fn lock(all: &Mutex<Table>) -> MutexGuard<'_, Table> {
    // A thread that panicked while it held the table left nothing half done in it.
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

fn peer_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << (128 - PEER_BITS))).into(),
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, sleep};

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn has_to_go(connection: &Connection) -> bool {
        let told = std::pin::pin!(connection.turned_out());
        let mut nobody = std::task::Context::from_waker(std::task::Waker::noop());
        told.poll(&mut nobody).is_ready()
    }

    #[test]
    fn a_new_connection_takes_the_place_of_the_oldest_that_is_not_being_answered() {
        let connections = Connections::of(4, 2);
        let admit = |text: &str| connections.admit(address(text));
        let first = admit("192.0.2.1").expect("a place");
        let answered = first.begin();
        answered.received();
        let silent = admit("192.0.2.1").expect("a place");
        let third = admit("192.0.2.1").expect("the place of the silent one");
        assert!(has_to_go(&silent) && !has_to_go(&first) && !has_to_go(&third));

        let busy = third.begin();
        busy.received();
        assert!(admit("192.0.2.1").is_none(), "all are being answered");
        let other = admit("192.0.2.2").expect("another peer has its own share");
        let last = admit("192.0.2.3").expect("the last place");
        let newest = admit("192.0.2.4").expect("the place of the oldest silent one");
        assert!(has_to_go(&other) && !has_to_go(&last) && !has_to_go(&newest));

        // It is answered: the next request has to come before it is safe again.
        drop(busy);
        assert!(admit("192.0.2.1").is_some() && has_to_go(&third));
    }

    #[test]
    fn a_request_whose_body_is_missing_keeps_no_place() {
        let connections = Connections::of(1, 1);
        let slow = connections.admit(address("192.0.2.1")).expect("a place");
        let _request = slow.begin();
        assert!(connections.admit(address("192.0.2.1")).is_some() && has_to_go(&slow));
    }

    #[test]
    fn a_place_is_free_again_when_the_connection_has_ended() {
        let connections = Connections::of(1, 1);
        for _ in 0..3 {
            let connection = connections.admit(address("192.0.2.1")).expect("a place");
            let request = connection.begin();
            request.received();
            assert!(connections.admit(address("192.0.2.2")).is_none());
            drop((request, connection));
        }
        assert!(lock(&connections.all).connections.is_empty());
    }

    /// Time without a request counts from the last answer on, and not while one is under way.
    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_from_its_last_answer_on() {
        const FIRST_MAX: Duration = Duration::from_secs(10);
        const IDLE_MAX: Duration = Duration::from_secs(300);
        const MOMENT: Duration = Duration::from_millis(10);
        let connection = Connections::of(1, 1).admit(address("192.0.2.1")).expect("a place");
        let idle_for = || timeout(IDLE_MAX * 9, connection.idle(FIRST_MAX, IDLE_MAX));
        let began = Instant::now();
        idle_for().await.expect("no request comes");
        assert!((FIRST_MAX..FIRST_MAX + MOMENT).contains(&began.elapsed()), "{:?}", began.elapsed());

        let answering = async {
            for _ in 0..2 {
                let request = connection.begin();
                sleep(IDLE_MAX * 2).await;
                drop(request);
                sleep(IDLE_MAX / 2).await;
            }
            Instant::now() - IDLE_MAX / 2
        };
        let ((), answered) = tokio::join!(async { idle_for().await.expect("no other comes") }, answering);
        assert!((IDLE_MAX..IDLE_MAX + MOMENT).contains(&answered.elapsed()), "{:?}", answered.elapsed());
    }

    #[test]
    fn an_ipv6_network_is_one_peer() {
        assert_eq!(peer_of(address("2001:db8:1:2:3:4:5:6")), peer_of(address("2001:db8:1:2::1")));
        assert_ne!(peer_of(address("2001:db8:1:2::1")), peer_of(address("2001:db8:1:3::1")));
        assert_eq!(peer_of(address("::ffff:192.0.2.1")), address("192.0.2.1"));
    }
}
