//! Which of a site's addresses is used: connections to them are tried one after the other, and the first that stands decides (RFC 8305,
//! "Happy Eyeballs Version 2").
//!
//! A visit stays with one address, since politeness goes by it. So the race is run when a name has been resolved, and not for each
//! request; its connections carry no request and are closed. They have a rate for each network, since anybody can have names that lead to
//! the addresses of others; and what an attempt has shown holds for a minute, for all names that lead there.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::Network;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::gate::Gate;

/// From the begin of one attempt to that of the next, unless it fails before ("Connection Attempt Delay", RFC 8305 §5).
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// Addresses tried in a race, at most.
const ATTEMPTS_MAX: usize = 6;

/// How long the end of an attempt is believed.
const SHOWN_FOR: Duration = Duration::from_secs(60);

/// One attempt in this time goes to a network, after a burst of [`ATTEMPTS_MAX`]: a name may have that many addresses in one network.
const NETWORK_INTERVAL: Duration = Duration::from_secs(10);

/// Peers, and networks, that are remembered, at most. Where there are more, all are forgotten.
const REMEMBERED_MAX: usize = 65_536;

/// Runs races, and remembers what they have shown.
pub(crate) struct Race {
    shown: Mutex<Shown>,
    time_max: Duration,
    gate: Gate,
}

impl Race {
    /// No race takes longer than `time_max`. While the gate is closed, none begins.
    pub(crate) fn new(time_max: Duration, gate: Gate) -> Self {
        Race { shown: Mutex::default(), time_max, gate }
    }

    /// The addresses by turns of their families, IPv6 first (§4), and in front of them the one that connects first. No connection is made
    /// to those for which `may_try` does not hold, nor where there is no choice.
    pub(crate) async fn order(
        &self,
        addresses: Vec<IpAddr>,
        port: u16,
        may_try: impl Fn(IpAddr) -> bool,
    ) -> Vec<IpAddr> {
        if addresses.len() < 2 {
            return addresses;
        }
        let mut ordered = interleaved(addresses);
        let may_win = ordered.iter().enumerate().filter(|(_, address)| may_try(**address));
        let mut peers: Vec<_> = may_win.map(|(index, address)| (index, SocketAddr::new(*address, port))).collect();
        if peers.len() > ATTEMPTS_MAX {
            // Those that did not connect in an earlier race leave their places to others.
            let shown = self.shown();
            peers.sort_by_key(|(_, peer)| matches!(shown.peers.get(peer), Some((false, _))));
            peers.truncate(ATTEMPTS_MAX);
        }
        if peers.len() < 2 {
            return ordered;
        }
        self.gate.pass().await;
        let mut begun = Vec::new();
        let first = tokio::time::timeout(self.time_max, self.first_to_connect(&peers, &mut begun)).await;
        let winner = first.ok().flatten();
        let now = Instant::now();
        let mut shown = self.shown();
        for (index, peer) in begun {
            // One that is slower than another is left alone, too.
            shown.note(peer, Some(index) == winner, now);
        }
        if let Some(winner) = winner {
            ordered[..=winner].rotate_right(1);
        }
        ordered
    }

    /// The index of the peer to which a connection stands first; `None` if none does. The attempts go to `begun`.
    async fn first_to_connect(
        &self,
        peers: &[(usize, SocketAddr)],
        begun: &mut Vec<(usize, SocketAddr)>,
    ) -> Option<usize> {
        let mut attempts = JoinSet::new();
        let mut waiting = peers.iter().copied();
        loop {
            let mut is_last = true;
            for (index, peer) in waiting.by_ref() {
                match self.shown().turn(peer, Instant::now()) {
                    Turn::Connects => return Some(index),
                    Turn::No => {}
                    Turn::Try => {
                        begun.push((index, peer));
                        attempts.spawn(async move { TcpStream::connect(peer).await.is_ok().then_some(index) });
                        is_last = false;
                        break;
                    }
                }
            }
            let next = attempts.join_next();
            let ended =
                if is_last { next.await } else { tokio::time::timeout(ATTEMPT_DELAY, next).await.unwrap_or(None) };
            match ended {
                Some(Ok(Some(winner))) => return Some(winner),
                None if is_last => return None,
                // It failed, or its time is over: the next one begins.
                _ => {}
            }
        }
    }

    /// It is never half changed.
    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is done about a peer when its turn in a race comes.
#[derive(Debug, PartialEq, Eq)]
enum Turn {
    /// It is tried.
    Try,
    /// An attempt has shown that it connects.
    Connects,
    /// An attempt has shown that it does not, or there were too many attempts in its network.
    No,
}

/// What attempts have shown, and their rate.
#[derive(Default)]
struct Shown {
    peers: HashMap<SocketAddr, (bool, Instant)>,
    /// The time up to which the attempts in a network use up its rate: in the past by one interval for each of an unused burst.
    networks: HashMap<Network, Instant>,
}

impl Shown {
    /// What was shown is asked again when its time is over. Where that cannot be, it still counts.
    fn turn(&mut self, peer: SocketAddr, now: Instant) -> Turn {
        let known = self.peers.get(&peer).copied();
        let is_fresh = known.is_some_and(|(_, until)| until > now);
        if !is_fresh && self.takes_turn(Network::of(peer.ip()), now) {
            return Turn::Try;
        }
        match known {
            Some((true, _)) => Turn::Connects,
            Some((false, _)) | None => Turn::No,
        }
    }

    fn takes_turn(&mut self, network: Network, now: Instant) -> bool {
        let full_at = self.networks.get(&network).map_or(now, |full_at| (*full_at).max(now)) + NETWORK_INTERVAL;
        let has_turn = full_at <= now + NETWORK_INTERVAL * ATTEMPTS_MAX as u32;
        if has_turn {
            make_room(&mut self.networks, |full_at| *full_at > now);
            self.networks.insert(network, full_at);
        }
        has_turn
    }

    fn note(&mut self, peer: SocketAddr, connects: bool, now: Instant) {
        make_room(&mut self.peers, |(_, until)| *until > now);
        self.peers.insert(peer, (connects, now + SHOWN_FOR));
    }
}

/// Makes room for one more. What is over goes first.
fn make_room<K: Eq + Hash, V>(all: &mut HashMap<K, V>, is_in_force: impl Fn(&V) -> bool) {
    if all.len() >= REMEMBERED_MAX {
        all.retain(|_, value| is_in_force(value));
    }
    // To have a network forgotten takes as many others.
    if all.len() >= REMEMBERED_MAX {
        all.clear();
    }
}

fn interleaved(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let (v6, v4): (Vec<IpAddr>, Vec<IpAddr>) = addresses.into_iter().partition(IpAddr::is_ipv6);
    let (mut v6, mut v4) = (v6.into_iter(), v4.into_iter());
    let mut ordered = Vec::with_capacity(v6.len() + v4.len());
    loop {
        let before = ordered.len();
        ordered.extend(v6.next());
        ordered.extend(v4.next());
        if ordered.len() == before {
            return ordered;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use tokio::net::{TcpListener, TcpSocket};

    use super::*;

    const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);
    /// Nobody listens here on the ports of the tests.
    const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
    const TIME_MAX: Duration = Duration::from_secs(10);

    fn race() -> Race {
        Race::new(TIME_MAX, Gate::default())
    }

    /// A listener at 127.0.0.1, and its port.
    async fn listener() -> (TcpListener, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        (listener, port)
    }

    /// A listener whose queue is full: it answers no further attempt, as a host does that is gone.
    async fn silent(at: SocketAddr) -> (TcpListener, Vec<TcpStream>) {
        let full = if at.is_ipv6() { TcpSocket::new_v6() } else { TcpSocket::new_v4() }.expect("a socket");
        full.bind(at).expect("the same port");
        let full = full.listen(0).expect("a listener");
        let mut queued = Vec::new();
        while let Ok(stream) = tokio::time::timeout(Duration::from_millis(500), TcpStream::connect(at)).await {
            queued.push(stream.expect("queued"));
        }
        (full, queued)
    }

    /// How many connections have come.
    async fn accepted(listener: &TcpListener) -> usize {
        let mut count = 0;
        while tokio::time::timeout(Duration::from_millis(50), listener.accept()).await.is_ok() {
            count += 1;
        }
        count
    }

    #[test]
    fn families_take_turns() {
        let of = |texts: &[&str]| texts.iter().map(|text| text.parse().expect(text)).collect::<Vec<IpAddr>>();
        let mixed = of(&["10.0.0.1", "10.0.0.2", "10.0.0.3", "2001:db8::1", "2001:db8::2"]);
        let expect = of(&["2001:db8::1", "10.0.0.1", "2001:db8::2", "10.0.0.2", "10.0.0.3"]);
        assert_eq!(interleaved(mixed), expect);
    }

    #[tokio::test]
    async fn the_one_that_connects_comes_first() {
        let (listener, port) = listener().await;
        assert_eq!(race().order(vec![V4, V6], port, |_| true).await, [V4, V6], "nobody listens on IPv6");
        assert_eq!(race().order(vec![OTHER, V4], port, |_| true).await, [V4, OTHER], "nor at the other IPv4");
        drop(listener);
        assert_eq!(race().order(vec![V4, V6], port, |_| true).await, [V6, V4], "nobody listens at all");
    }

    #[tokio::test]
    async fn one_that_stays_silent_does_not_hold_up_the_others() {
        for silent_one in [V6, OTHER] {
            let (listener, port) = listener().await;
            let _silent = silent(SocketAddr::new(silent_one, port)).await;
            let (race, begun) = (race(), Instant::now());
            assert_eq!(race.order(vec![silent_one, V4], port, |_| true).await, [V4, silent_one]);
            assert!(begun.elapsed() >= ATTEMPT_DELAY, "it has its time first");
            // For another name that leads there, it is known.
            assert_eq!(race.order(vec![silent_one, V4], port, |_| true).await, [V4, silent_one]);
            assert_eq!(accepted(&listener).await, 1, "connections");
        }
    }

    #[tokio::test]
    async fn of_many_addresses_those_come_next_that_were_not_tried() {
        let at = |last| IpAddr::V4(Ipv4Addr::new(127, 0, 1, last));
        let listener = TcpListener::bind((at(9), 0)).await.expect("a port");
        let (port, race) = (listener.local_addr().expect("an address").port(), race());
        let all: Vec<IpAddr> = (1..=9).map(at).collect();
        assert_eq!(race.order(all.clone(), port, |_| true).await, all, "the first six do not connect");
        let second = race.order(all.clone(), port, |_| true).await;
        assert_eq!((second[0], second.len()), (at(9), all.len()));
    }

    #[tokio::test]
    async fn nothing_is_tried_where_it_may_not_be_or_there_is_no_choice() {
        let (listener, port) = listener().await;
        assert_eq!(race().order(vec![V4], port, |_| true).await, [V4]);
        assert_eq!(race().order(vec![OTHER, V4], port, |_| false).await, [OTHER, V4]);
        assert_eq!(race().order(vec![OTHER, V4], port, |address| address == V4).await, [OTHER, V4]);
        assert_eq!(accepted(&listener).await, 0);
        let closed = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));
        let ordered = race().order(vec![closed, V4, OTHER], port, |address| address != V4).await;
        assert_eq!((ordered, accepted(&listener).await), (vec![closed, V4, OTHER], 0));
    }

    #[test]
    fn attempts_in_a_network_have_a_rate_after_a_burst() {
        let (mut shown, now) = (Shown::default(), Instant::now());
        let peer = |port| SocketAddr::new(IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, port]), port);
        let turns: Vec<Turn> = (1..=100).map(|port| shown.turn(peer(port), now)).collect();
        assert!(turns[..ATTEMPTS_MAX].iter().all(|turn| *turn == Turn::Try), "{turns:?}");
        assert!(turns[ATTEMPTS_MAX..].iter().all(|turn| *turn == Turn::No), "{turns:?}");
        assert_eq!(shown.turn(SocketAddr::new(V4, 1), now), Turn::Try, "another network");
        let later = now + NETWORK_INTERVAL;
        assert_eq!((shown.turn(peer(101), later), shown.turn(peer(102), later)), (Turn::Try, Turn::No));
    }

    #[test]
    fn what_was_shown_holds_for_a_while_and_where_it_cannot_be_asked_again() {
        let (mut shown, now) = (Shown::default(), Instant::now());
        let [live, dead] = [V4, OTHER].map(|address| SocketAddr::new(address, 80));
        shown.note(live, true, now);
        shown.note(dead, false, now);
        let turns = |shown: &mut Shown, at| (shown.turn(live, at), shown.turn(dead, at));
        assert_eq!(turns(&mut shown, now), (Turn::Connects, Turn::No));
        let later = now + SHOWN_FOR;
        assert_eq!(turns(&mut shown, later), (Turn::Try, Turn::Try));
        let spent = later + NETWORK_INTERVAL * ATTEMPTS_MAX as u32;
        for network in [V4, OTHER].map(Network::of) {
            shown.networks.insert(network, spent);
        }
        assert_eq!(turns(&mut shown, later), (Turn::Connects, Turn::No));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (mut shown, now) = (Shown::default(), Instant::now());
        for number in 0..=REMEMBERED_MAX as u32 {
            let peer = SocketAddr::new(IpAddr::V4(Ipv4Addr::from_bits(number)), 80);
            assert_eq!(shown.turn(peer, now), Turn::Try);
            shown.note(peer, true, now);
        }
        assert!(shown.peers.len() <= REMEMBERED_MAX && shown.networks.len() <= REMEMBERED_MAX);
    }
}
