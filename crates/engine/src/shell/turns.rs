//! Whose turn it is to look into a large body: as many as there are cores, and only so many bytes at once. What was found in others
//! takes memory too until it is recorded: with much of that, bodies wait.

use fetch::Division;
use tokio::sync::{Semaphore, SemaphorePermit, watch};

/// The unit in which bytes are counted.
const UNIT_BYTES: u64 = 64 << 10;

/// The turns of large bodies.
pub(super) struct Turns {
    cores: Semaphore,
    units: Semaphore,
    units_max: u32,
    /// Bytes of texts and links that are not recorded yet.
    contents: watch::Sender<u64>,
    contents_max: u64,
}

/// The turn of a body, until this is dropped.
pub(super) struct Turn<'t> {
    _core: Option<SemaphorePermit<'t>>,
    _units: Option<SemaphorePermit<'t>>,
}

impl Turns {
    /// For so many cores. Bodies that are looked into at once have no more bytes in sum than `pages_read`, or there is one.
    pub(super) fn new(cores: usize, Division { pages_read, contents, .. }: Division) -> Self {
        let units_max = units(pages_read).max(1);
        let units = Semaphore::new(usize::try_from(units_max).unwrap_or(Semaphore::MAX_PERMITS));
        let contents_max = contents.max(1);
        Turns { cores: Semaphore::new(cores), units, units_max, contents: watch::Sender::new(0), contents_max }
    }

    /// Takes note of how many bytes of texts and links are not recorded yet.
    pub(super) fn set_contents(&self, bytes: u64) {
        self.contents.send_if_modified(|before| std::mem::replace(before, bytes) != bytes);
    }

    /// Waits for the turn of a body of so many bytes. A body above the limit has its turn alone.
    pub(super) async fn turn(&self, body_bytes: usize) -> Turn<'_> {
        let wanted = units(body_bytes as u64).min(self.units_max);
        // None of them is ever closed. A large body takes no core while it waits for bytes.
        let units = self.units.acquire_many(wanted).await.ok();
        let core = self.cores.acquire().await.ok();
        // Last: of many that wait, only as many go on as there are cores. Records need no turn, so there is an end to it.
        let _ = self.contents.subscribe().wait_for(|bytes| *bytes < self.contents_max).await;
        Turn { _units: units, _core: core }
    }
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;

    const MIB: usize = 1 << 20;

    /// Whether the last of these bodies waits while the others have their turns.
    async fn waits(turns: &Turns, bodies: &[usize]) -> bool {
        let mut held = Vec::new();
        for bytes in &bodies[..bodies.len() - 1] {
            held.push(turns.turn(*bytes).await);
        }
        let last = turns.turn(bodies[bodies.len() - 1]);
        tokio::pin!(last);
        std::future::poll_fn(|cx| Poll::Ready(last.as_mut().poll(cx).is_pending())).await
    }

    #[tokio::test]
    async fn there_are_as_many_as_cores_and_as_bytes_allow() {
        let turns = Turns::new(3, Division::of(256 << 20));
        for (bodies, expect) in [
            (&[100 * MIB][..], false),
            (&[9 * MIB, 9 * MIB], true),
            (&[8 * MIB, 8 * MIB], false),
            (&[MIB, MIB, MIB], false),
            (&[MIB, MIB, MIB, MIB], true),
            (&[100 * MIB, 1], true),
        ] {
            assert_eq!(waits(&turns, bodies).await, expect, "{bodies:?}");
        }
        assert!(!waits(&Turns::new(1, Division::of(1)), &[MIB]).await, "a body above the limit has its turn alone");
    }

    #[tokio::test]
    async fn bodies_wait_while_much_that_was_found_in_others_is_not_recorded() {
        let turns = Turns::new(2, Division::of(256 << 20));
        for (contents, expect) in [(0, false), ((16 << 20) - 1, false), (16 << 20, true), (1 << 40, true), (0, false)] {
            turns.set_contents(contents);
            assert_eq!(waits(&turns, &[MIB]).await, expect, "{contents}");
        }
        turns.set_contents(16 << 20);
        let waiting = turns.turn(MIB);
        tokio::pin!(waiting);
        assert!(std::future::poll_fn(|cx| Poll::Ready(waiting.as_mut().poll(cx).is_pending())).await);
        turns.set_contents(0);
        drop(waiting.await);
    }
}
