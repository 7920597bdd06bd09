//! Connections kept open between requests, bounded in number and in time.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::connection::Connection;

/// Idle connections in all: each is a socket and some kilobytes.
const IDLE_MAX: usize = 2_000;

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

/// The idle connections.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Idle>);

#[derive(Default)]
struct Idle {
    /// By the number of their turn, which is also the order of time.
    connections: BTreeMap<u64, (Key, Instant, Connection)>,
    turns: HashMap<Key, Vec<u64>>,
    next_turn: u64,
}

impl Pool {
    /// An open connection for `key`, the one used last.
    pub(crate) fn take(&self, key: &Key) -> Option<Connection> {
        let mut idle = self.lock();
        idle.drop_old(Instant::now());
        while let Some(turn) = idle.turns.get(key).and_then(|turns| turns.last()).copied() {
            match idle.remove(turn) {
                Some(connection) if !connection.is_closed() => return Some(connection),
                _ => {}
            }
        }
        None
    }

    /// Keeps `connection` for the next request.
    pub(crate) fn put(&self, key: Key, connection: Connection) {
        if connection.is_closed() {
            return;
        }
        let (mut idle, now) = (self.lock(), Instant::now());
        idle.drop_old(now);
        while idle.connections.len() >= IDLE_MAX {
            idle.drop_oldest();
        }
        let turn = idle.next_turn;
        idle.next_turn += 1;
        idle.turns.entry(key.clone()).or_default().push(turn);
        idle.connections.insert(turn, (key, now, connection));
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        // A panic within leaves at worst a turn without a connection, which `take` passes over.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Idle {
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

    fn remove(&mut self, turn: u64) -> Option<Connection> {
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
