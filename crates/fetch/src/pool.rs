//! Connections kept open between requests, bounded in number and in time.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::connection::Connection;

/// How long a connection may be idle. Most servers close theirs before.
const IDLE_TIME_MAX: Duration = Duration::from_secs(60);

/// What a connection can be used for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) https: bool,
    /// Host and port of the URL; `None` for a proxy that takes requests for every host.
    pub(crate) authority: Option<(String, u16)>,
    /// Where the socket leads.
    pub(crate) peer: SocketAddr,
}

/// With each connection that is put, so many others are looked at, in turn: what their servers have closed is closed here too.
const LOOKED_AT: usize = 2;

/// The idle connections.
pub(crate) struct Pool(Mutex<Idle<Connection>>);

impl Pool {
    pub(crate) fn new(idle_max: usize) -> Self {
        Pool(Mutex::new(Idle::new(idle_max)))
    }

    /// An open connection for `key`, the one used last.
    pub(crate) fn take(&self, key: &Key) -> Option<Connection> {
        loop {
            let mut connection = self.lock().take(key, Instant::now())?;
            if connection.is_open() {
                return Some(connection);
            }
        }
    }

    /// Keeps `connection` for the next request.
    pub(crate) fn put(&self, key: Key, mut connection: Connection) {
        if connection.is_open() {
            let mut idle = self.lock();
            for _ in 0..LOOKED_AT {
                idle.look_at_next(Connection::is_open);
            }
            idle.put(key, Instant::now(), connection);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Idle<Connection>> {
        // A panic within leaves at worst a turn without a connection, which `take` passes over.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is idle, by key and by age.
struct Idle<C> {
    /// By the number of their turn, which is also the order of time.
    connections: BTreeMap<u64, (Key, Instant, C)>,
    turns: HashMap<Key, Vec<u64>>,
    next_turn: u64,
    /// The one to be looked at next has this turn, or a later one.
    look_at: u64,
    max: usize,
}

impl<C> Idle<C> {
    fn new(max: usize) -> Self {
        Idle { connections: BTreeMap::new(), turns: HashMap::new(), next_turn: 0, look_at: 0, max }
    }

    fn take(&mut self, key: &Key, now: Instant) -> Option<C> {
        self.drop_old(now);
        let turn = *self.turns.get(key)?.last()?;
        self.remove(turn)
    }

    fn put(&mut self, key: Key, now: Instant, connection: C) {
        self.drop_old(now);
        while !self.connections.is_empty() && self.connections.len() >= self.max {
            self.drop_oldest();
        }
        let turn = self.next_turn;
        self.next_turn += 1;
        self.turns.entry(key.clone()).or_default().push(turn);
        self.connections.insert(turn, (key, now, connection));
    }

    /// Looks at the next one, and drops it if it is not open.
    fn look_at_next(&mut self, is_open: impl FnOnce(&mut C) -> bool) {
        let Some((&turn, (_, _, connection))) = self.connections.range_mut(self.look_at..).next() else {
            self.look_at = 0;
            return;
        };
        self.look_at = turn + 1;
        if !is_open(connection) {
            self.remove(turn);
        }
    }

    fn drop_old(&mut self, now: Instant) {
        while self.connections.first_key_value().is_some_and(|(_, (_, since, _))| now - *since >= IDLE_TIME_MAX) {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        if let Some((&turn, _)) = self.connections.first_key_value() {
            self.remove(turn);
        }
    }

    fn remove(&mut self, turn: u64) -> Option<C> {
        let (key, _, connection) = self.connections.remove(&turn)?;
        if let Some(turns) = self.turns.get_mut(&key) {
            turns.retain(|other| *other != turn);
            if turns.is_empty() {
                self.turns.remove(&key);
            }
        }
        Some(connection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 100;

    fn key(host: &str) -> Key {
        let peer = SocketAddr::from(([127, 0, 0, 1], 80));
        Key { https: false, authority: Some((host.to_owned(), 80)), peer }
    }

    #[test]
    fn the_connection_used_last_is_taken_first() {
        let (mut idle, now) = (Idle::new(MAX), Instant::now());
        for (host, connection) in [("a", 1), ("b", 2), ("a", 3)] {
            idle.put(key(host), now, connection);
        }
        assert_eq!(["a", "a", "a", "b"].map(|host| idle.take(&key(host), now)), [Some(3), Some(1), None, Some(2)]);
        assert!(idle.turns.is_empty());
    }

    #[test]
    fn number_and_age_are_bounded() {
        let (mut idle, now) = (Idle::new(MAX), Instant::now());
        for connection in 0..=MAX {
            idle.put(key(&connection.to_string()), now, connection);
        }
        assert_eq!((idle.connections.len(), idle.turns.len()), (MAX, MAX));
        assert_eq!((idle.take(&key("0"), now), idle.take(&key("1"), now)), (None, Some(1)));
        idle.put(key("young"), now + IDLE_TIME_MAX / 2, 0);
        assert_eq!(idle.take(&key("2"), now + IDLE_TIME_MAX), None);
        assert_eq!(idle.take(&key("young"), now + IDLE_TIME_MAX), Some(0));
        assert!(idle.connections.is_empty());
    }

    #[test]
    fn what_was_closed_is_dropped_when_its_turn_to_be_looked_at_comes() {
        let (mut idle, now) = (Idle::new(MAX), Instant::now());
        for connection in 0..10 {
            idle.put(key(&connection.to_string()), now, connection);
        }
        let is_even = |connection: &mut u32| connection.is_multiple_of(2);
        for looked_at in 1..=10 {
            idle.look_at_next(is_even);
            assert_eq!(idle.connections.len(), 10 - looked_at / 2);
        }
        idle.look_at_next(|_| panic!("the end"));
        idle.look_at_next(|connection| *connection != 0);
        assert_eq!((idle.connections.len(), idle.turns.len(), idle.take(&key("0"), now)), (4, 4, None));
    }
}
