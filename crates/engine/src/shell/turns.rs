//! Whose turn it is to look into a large body: as many as there are cores, and only so many bytes at once.

use tokio::sync::{Semaphore, SemaphorePermit};

/// Bodies that are looked into at once have no more bytes in sum than the budget of bodies divided by this, or there is one. The tree of a page takes
/// four times its bytes, and no budget counts it.
const TREES_PART: u64 = 16;

/// The unit in which bytes are counted.
const UNIT_BYTES: u64 = 64 << 10;

/// The turns of large bodies.
pub(super) struct Turns {
    cores: Semaphore,
    units: Semaphore,
    units_max: u32,
}

/// The turn of a body, until this is dropped.
pub(super) struct Turn<'t> {
    _core: Option<SemaphorePermit<'t>>,
    _units: Option<SemaphorePermit<'t>>,
}

impl Turns {
    /// For so many cores, and a budget of bodies of so many bytes.
    pub(super) fn new(cores: usize, in_flight_bytes_max: u64) -> Self {
        let units_max = units(in_flight_bytes_max / TREES_PART).max(1);
        let units = Semaphore::new(usize::try_from(units_max).unwrap_or(Semaphore::MAX_PERMITS));
        Turns { cores: Semaphore::new(cores), units, units_max }
    }

    /// Waits for the turn of a body of so many bytes. A body above the limit has its turn alone.
    pub(super) async fn turn(&self, body_bytes: usize) -> Turn<'_> {
        let wanted = units(body_bytes as u64).min(self.units_max);
        // Neither is ever closed. A large body takes no core while it waits for bytes.
        let units = self.units.acquire_many(wanted).await.ok();
        Turn { _units: units, _core: self.cores.acquire().await.ok() }
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
        let turns = Turns::new(3, 256 << 20);
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
        assert!(!waits(&Turns::new(1, 1), &[MIB]).await, "a body above the limit has its turn alone");
    }
}
