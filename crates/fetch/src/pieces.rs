//! Received pieces of a body, kept as they came until all of it is needed.
//!
//! A crawl waits for many bodies at once. In one buffer each they would be moved whenever it is full, or take the room of what is
//! still to come; in pieces they take little more than what is there.

use crate::room::{MAPPED_BYTES_MIN, Room};

/// The least room of a piece, except the last one if the end is known.
const PIECE_BYTES_MIN: usize = 4 * 1024;

/// The same once a body is large. It takes memory as it is filled.
const LARGE_PIECE_BYTES_MIN: usize = 1 << 20;

/// The longest body that gets room for all of it at once, where its length is known and its room is mapped: pages that are not written to
/// take no memory. A length that is a lie takes so many addresses at most.
const WHOLE_BYTES_MAX: usize = 16 << 20;

/// The bytes.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    whole: Room,
    /// What follows. All are full but the last.
    rest: Vec<Room>,
    length: usize,
}

impl Pieces {
    /// How many bytes there are.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Appends `bytes`, after which `left` more are known to come.
    pub(crate) fn append(&mut self, bytes: &[u8], left: Option<u64>) {
        let last = self.rest.last_mut().unwrap_or(&mut self.whole);
        let (fitting, beyond) = bytes.split_at(last.left().min(bytes.len()));
        last.append(fitting);
        if !beyond.is_empty() {
            let left = left.and_then(|left| usize::try_from(left).ok()).unwrap_or(usize::MAX);
            let all = beyond.len().saturating_add(left);
            let least = if self.length < MAPPED_BYTES_MIN { PIECE_BYTES_MIN } else { LARGE_PIECE_BYTES_MIN };
            // What comes into one room need not be moved.
            let whole = Some(all).filter(|all| self.is_empty() && *all <= WHOLE_BYTES_MAX).and_then(Room::mapped);
            let mut piece = whole.unwrap_or_else(|| Room::with_capacity(least.min(all).max(beyond.len())));
            piece.append(beyond);
            self.rest.push(piece);
        }
        self.length += bytes.len();
    }

    /// Forgets what is beyond so many bytes.
    pub(crate) fn truncate(&mut self, length: usize) {
        while self.length > length {
            let last = self.rest.last_mut().unwrap_or(&mut self.whole);
            let before = last.as_slice().len();
            last.truncate(before.saturating_sub(self.length - length));
            let after = last.as_slice().len();
            self.length -= before - after;
            if after == 0 {
                self.rest.pop();
            }
        }
    }

    /// All of it, in one piece.
    pub(crate) fn whole(&mut self) -> &[u8] {
        self.join();
        self.whole.as_slice()
    }

    /// All of it.
    pub(crate) fn into_whole(mut self) -> Room {
        self.join();
        self.whole
    }

    fn join(&mut self) {
        if self.whole.as_slice().is_empty() && self.rest.len() == 1 {
            self.whole = self.rest.pop().unwrap_or_default();
        }
        if self.whole.capacity() < self.length {
            // Twice as much as before, so that a body that is read in steps is not moved at each.
            let mut larger = Room::with_capacity(self.length.max(2 * self.whole.as_slice().len()));
            larger.append(self.whole.as_slice());
            self.whole = larger;
        }
        for piece in self.rest.drain(..) {
            self.whole.append(piece.as_slice());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn room(pieces: &Pieces) -> usize {
        pieces.whole.capacity() + pieces.rest.iter().map(Room::capacity).sum::<usize>()
    }

    #[test]
    fn what_has_come_takes_little_more_than_its_bytes() {
        for (step_bytes, left, room_bytes) in
            [(1, None, 102_400), (1_000, None, 102_400), (50_000, None, 100_000), (5_000, Some(0), 100_000)]
        {
            let mut pieces = Pieces::default();
            for bytes in vec![b'x'; 100_000].chunks(step_bytes) {
                pieces.append(bytes, left);
            }
            assert_eq!((pieces.len(), room(&pieces)), (100_000, room_bytes), "{step_bytes}");
        }
    }

    #[test]
    fn a_large_body_comes_in_few_pieces_of_pages() {
        for left in [None, Some(0)] {
            let mut pieces = Pieces::default();
            let body: Vec<u8> = (0..10_000_000_u32).map(|n| (n >> 3) as u8).collect();
            for (n, bytes) in body.chunks(50_000).enumerate() {
                pieces.append(bytes, left.map(|left| left + (body.len() - (n + 1) * 50_000) as u64));
            }
            // All of it fits into one that is known to be so long.
            let expect = if left.is_some() { 1..=1 } else { 9..=19 };
            assert!(expect.contains(&pieces.rest.len()), "{}", pieces.rest.len());
            let mapped = pieces.rest.iter().filter(|piece| matches!(piece, Room::Mapped(_))).count();
            assert!(mapped >= *expect.start(), "{mapped}");
            assert!(matches!(pieces.whole, Room::Heap(_)));
            let whole = pieces.into_whole();
            assert!(matches!(whole, Room::Mapped(_)) && whole.capacity() == body.len());
            assert!(whole.as_slice() == body);
        }
    }

    #[test]
    fn a_length_beyond_all_measure_takes_little_room() {
        let mut pieces = Pieces::default();
        pieces.append(b"few", Some(u64::MAX));
        pieces.append(b"more", Some(u64::MAX - 4));
        assert_eq!((pieces.len(), room(&pieces)), (7, PIECE_BYTES_MIN));
    }

    #[test]
    fn a_large_body_of_known_length_is_not_moved() {
        let mut pieces = Pieces::default();
        let body: Vec<u8> = (0..3_000_000_u32).map(|n| (n >> 3) as u8).collect();
        let mut left = body.len() as u64;
        for bytes in body.chunks(10_000) {
            left -= bytes.len() as u64;
            pieces.append(bytes, Some(left));
        }
        let place = pieces.rest[0].as_slice().as_ptr();
        let whole = pieces.into_whole();
        assert!(whole.as_slice() == body);
        assert_eq!((whole.as_slice().as_ptr(), whole.capacity()), (place, body.len()));
    }

    #[test]
    fn what_came_at_once_is_not_moved() {
        let mut pieces = Pieces::default();
        pieces.append(&[b'x'; 30_000], Some(0));
        let place = pieces.rest[0].as_slice().as_ptr();
        let whole = pieces.into_whole();
        assert_eq!((whole.as_slice().as_ptr(), whole.capacity()), (place, 30_000));
    }

    proptest! {
        #[test]
        fn the_bytes_are_those_that_came(
            steps in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..9_000), any::<bool>(), 0..20_000usize), 0..8),
        ) {
            let (mut pieces, mut expect) = (Pieces::default(), Vec::new());
            for (bytes, is_whole_wanted, length) in steps {
                pieces.append(&bytes, None);
                expect.extend_from_slice(&bytes);
                if is_whole_wanted {
                    prop_assert_eq!(pieces.whole(), expect.as_slice());
                }
                pieces.truncate(length);
                expect.truncate(length);
                prop_assert_eq!((pieces.len(), pieces.is_empty()), (expect.len(), expect.is_empty()));
            }
            let whole = pieces.into_whole();
            prop_assert_eq!(whole.as_slice(), expect);
        }
    }
}
