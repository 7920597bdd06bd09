//! Which of a site's addresses is used, where it has some of both families: connections to them are tried one after the other, and the
//! first that stands decides (RFC 8305, "Happy Eyeballs Version 2").
//!
//! A visit stays with one address, since politeness goes by it. So the race is run when a name has been resolved, and not for each
//! request; its connections carry no request and are closed.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// From the begin of one attempt to that of the next, unless it fails before ("Connection Attempt Delay", RFC 8305 §5).
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// Addresses tried in a race, at most.
const ATTEMPTS_MAX: usize = 6;

/// Whether there are addresses of both families.
pub(crate) fn is_needed(addresses: &[IpAddr]) -> bool {
    addresses.iter().any(IpAddr::is_ipv4) && addresses.iter().any(IpAddr::is_ipv6)
}

/// The addresses by turns of their families, IPv6 first (§4), and in front of them the one that connects first.
pub(crate) async fn order(addresses: Vec<IpAddr>, port: u16, time_max: Duration) -> Vec<IpAddr> {
    let mut ordered = interleaved(addresses);
    let peers: Vec<SocketAddr> = ordered.iter().take(ATTEMPTS_MAX).map(|ip| SocketAddr::new(*ip, port)).collect();
    if let Ok(Some(winner)) = tokio::time::timeout(time_max, first_to_connect(&peers)).await {
        ordered[..=winner].rotate_right(1);
    }
    ordered
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

/// The index of the peer to which a connection stands first; `None` if none does.
async fn first_to_connect(peers: &[SocketAddr]) -> Option<usize> {
    let mut attempts = JoinSet::new();
    let mut waiting = peers.iter().copied().enumerate();
    loop {
        let is_last = match waiting.next() {
            Some((index, peer)) => {
                attempts.spawn(async move { TcpStream::connect(peer).await.is_ok().then_some(index) });
                false
            }
            None => true,
        };
        let next = attempts.join_next();
        let ended = if is_last { next.await } else { tokio::time::timeout(ATTEMPT_DELAY, next).await.unwrap_or(None) };
        match ended {
            Some(Ok(Some(winner))) => return Some(winner),
            None if is_last => return None,
            // It failed, or its time is over: the next one begins.
            _ => {}
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
    const TIME_MAX: Duration = Duration::from_secs(10);

    /// A port on which nobody listens: its listener is closed.
    async fn closed_port() -> u16 {
        TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address").port()
    }

    #[test]
    fn families_take_turns() {
        let of = |texts: &[&str]| texts.iter().map(|text| text.parse().expect(text)).collect::<Vec<IpAddr>>();
        let mixed = of(&["10.0.0.1", "10.0.0.2", "10.0.0.3", "2001:db8::1", "2001:db8::2"]);
        let expect = of(&["2001:db8::1", "10.0.0.1", "2001:db8::2", "10.0.0.2", "10.0.0.3"]);
        assert_eq!(interleaved(mixed.clone()), expect);
        assert!(is_needed(&mixed) && !is_needed(&mixed[..3]) && !is_needed(&mixed[3..]) && !is_needed(&[]));
    }

    #[tokio::test]
    async fn the_one_that_connects_comes_first() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        assert_eq!(order(vec![V4, V6], port, TIME_MAX).await, [V4, V6], "nobody listens on IPv6");
        let none = closed_port().await;
        assert_eq!(order(vec![V4, V6], none, TIME_MAX).await, [V6, V4], "nobody listens at all");
    }

    /// A listener whose queue is full answers no further attempt, as a host does that is gone.
    #[tokio::test]
    async fn one_that_stays_silent_does_not_hold_up_the_others() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let full = TcpSocket::new_v6().expect("a socket");
        full.bind(SocketAddr::new(V6, port)).expect("the same port");
        let _full = full.listen(0).expect("a listener");
        let mut queued = Vec::new();
        while let Ok(stream) = tokio::time::timeout(Duration::from_millis(500), TcpStream::connect((V6, port))).await {
            queued.push(stream.expect("queued"));
        }
        assert_eq!(order(vec![V4, V6], port, TIME_MAX).await, [V4, V6]);
    }
}
