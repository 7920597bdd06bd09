//! Room for received bytes: from the heap, or large room in pages of its own.
//!
//! An allocator keeps memory for a while that was freed. With bodies of megabytes that is as much again as the bodies take. Pages that are mapped
//! take memory only once they are written to, and give it back when they are dropped.

use memmap2::{MmapMut, MmapOptions};

/// Room of this size and more is mapped.
pub(crate) const MAPPED_BYTES_MIN: usize = 256 * 1024;

/// Room that is filled from its begin.
#[derive(Debug)]
pub(crate) enum Room {
    Heap(Vec<u8>),
    /// In a box, so that a fetch that waits is not larger for it.
    Mapped(Box<Mapped>),
}

/// Pages, and how many bytes are in them.
#[derive(Debug)]
pub(crate) struct Mapped {
    pages: MmapMut,
    length: usize,
}

impl Default for Room {
    fn default() -> Self {
        Room::Heap(Vec::new())
    }
}

impl From<Vec<u8>> for Room {
    fn from(bytes: Vec<u8>) -> Self {
        Room::Heap(bytes)
    }
}

impl Room {
    /// Room for so many bytes. It comes from the heap if the system maps no more.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Room::mapped(bytes).unwrap_or_else(|| Room::Heap(Vec::with_capacity(bytes)))
    }

    /// Pages for so many bytes; `None` if these are few, or the system maps no more.
    pub(crate) fn mapped(bytes: usize) -> Option<Self> {
        let pages = (bytes >= MAPPED_BYTES_MIN).then(|| MmapOptions::new().len(bytes).map_anon())?.ok()?;
        Some(Room::Mapped(Box::new(Mapped { pages, length: 0 })))
    }

    pub(crate) fn capacity(&self) -> usize {
        match self {
            Room::Heap(bytes) => bytes.capacity(),
            Room::Mapped(mapped) => mapped.pages.len(),
        }
    }

    /// How many bytes fit in besides those that are there.
    pub(crate) fn left(&self) -> usize {
        self.capacity() - self.as_slice().len()
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Room::Heap(bytes) => bytes,
            Room::Mapped(mapped) => &mapped.pages[..mapped.length],
        }
    }

    /// Appends bytes for which there is room.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        match self {
            Room::Heap(room) => room.extend_from_slice(bytes),
            Room::Mapped(mapped) => {
                let end = mapped.length + bytes.len();
                mapped.pages[mapped.length..end].copy_from_slice(bytes);
                mapped.length = end;
            }
        }
    }

    /// Forgets what is beyond so many bytes.
    pub(crate) fn truncate(&mut self, bytes: usize) {
        match self {
            Room::Heap(room) => room.truncate(bytes),
            Room::Mapped(mapped) => mapped.length = bytes.min(mapped.length),
        }
    }

    /// Gives back what is left of it, if that is much. Pages that were never written to take no memory.
    pub(crate) fn shrink(&mut self) {
        if let Room::Heap(bytes) = self
            && bytes.capacity() - bytes.len() > bytes.len() / 4
        {
            bytes.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_of_either_kind_holds_what_was_appended() {
        for capacity in [10, MAPPED_BYTES_MIN - 1, MAPPED_BYTES_MIN, 3_000_000] {
            let mut room = Room::with_capacity(capacity);
            assert_eq!(matches!(room, Room::Mapped(_)), capacity >= MAPPED_BYTES_MIN);
            room.append(b"hello");
            room.append(b" you");
            assert_eq!((room.as_slice(), room.left()), (&b"hello you"[..], room.capacity() - 9));
            room.truncate(20);
            room.truncate(5);
            room.append(b"!");
            room.shrink();
            assert_eq!(room.as_slice(), b"hello!");
        }
    }
}
