//! Received pieces of a body, kept as they came until all of it is needed.
//!
//! A crawl waits for many bodies at once. In one buffer each they would be moved whenever it is full, or take the room of what is
//! still to come; in pieces they take little more than what is there.

/// The least room of a piece, except the last one if the end is known.
const PIECE_BYTES_MIN: usize = 4 * 1024;

/// The bytes.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    whole: Vec<u8>,
    /// What follows. All are full but the last.
    rest: Vec<Vec<u8>>,
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
        let room = self.rest.last().map_or(0, |last| last.capacity() - last.len());
        let (fitting, beyond) = bytes.split_at(room.min(bytes.len()));
        if let Some(last) = self.rest.last_mut() {
            last.extend_from_slice(fitting);
        }
        if !beyond.is_empty() {
            let left = left.and_then(|left| usize::try_from(left).ok()).unwrap_or(usize::MAX);
            let room = PIECE_BYTES_MIN.min(beyond.len().saturating_add(left)).max(beyond.len());
            let mut piece = Vec::with_capacity(room);
            piece.extend_from_slice(beyond);
            self.rest.push(piece);
        }
        self.length += bytes.len();
    }

    /// Forgets what is beyond so many bytes.
    pub(crate) fn truncate(&mut self, length: usize) {
        while self.length > length {
            let beyond = self.length - length;
            let last = self.rest.last_mut().unwrap_or(&mut self.whole);
            let forgotten = beyond.min(last.len());
            last.truncate(last.len() - forgotten);
            self.length -= forgotten;
            if last.is_empty() {
                self.rest.pop();
            }
        }
    }

    /// All of it, in one piece.
    pub(crate) fn whole(&mut self) -> &[u8] {
        self.join();
        &self.whole
    }

    /// All of it.
    pub(crate) fn into_whole(mut self) -> Vec<u8> {
        self.join();
        self.whole
    }

    fn join(&mut self) {
        if self.whole.is_empty() && self.rest.len() == 1 {
            self.whole = self.rest.pop().unwrap_or_default();
        }
        self.whole.reserve(self.length - self.whole.len());
        for piece in self.rest.drain(..) {
            self.whole.extend_from_slice(&piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn room(pieces: &Pieces) -> usize {
        pieces.whole.capacity() + pieces.rest.iter().map(Vec::capacity).sum::<usize>()
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
    fn what_came_at_once_is_not_moved() {
        let mut pieces = Pieces::default();
        pieces.append(&[b'x'; 30_000], Some(0));
        let place = pieces.rest[0].as_ptr();
        let whole = pieces.into_whole();
        assert_eq!((whole.as_ptr(), whole.capacity()), (place, 30_000));
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
            prop_assert_eq!(pieces.into_whole(), expect);
        }
    }
}
