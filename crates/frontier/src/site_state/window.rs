//! The URLs of a site that wait in memory, in order, and their bytes.

use std::collections::BTreeMap;

use model::{Position, Queued};

/// Bytes of a tree node with room for eleven entries, and the entries it usually has.
const NODE_BYTES: usize = 11 * (size_of::<Position>() + size_of::<Box<Queued>>()) + 2 * size_of::<usize>();
const NODE_URLS: usize = 7;

/// Bytes of a URL in addition to its text and its entry: reference counts, and the rounding of the allocator.
const URL_BYTES: usize = 2 * size_of::<usize>() + 16;

/// The head of a site's queue.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// Boxed: a node of the tree has room for eleven entries, and about half of them are empty.
    urls: BTreeMap<Position, Box<Queued>>,
    /// Their bytes without the tree nodes.
    bytes: usize,
}

impl Window {
    /// Its bytes on the heap, about.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.urls.len().div_ceil(NODE_URLS) * NODE_BYTES
    }

    pub(super) fn len(&self) -> usize {
        self.urls.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.urls.is_empty()
    }

    pub(super) fn first(&self) -> Option<&Queued> {
        self.urls.first_key_value().map(|(_, waiting)| &**waiting)
    }

    pub(super) fn last_position(&self) -> Option<Position> {
        self.urls.last_key_value().map(|(position, _)| *position)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Queued> {
        self.urls.values().map(|waiting| &**waiting)
    }

    pub(super) fn insert(&mut self, position: Position, waiting: Queued) {
        self.bytes += bytes_of(&waiting);
        let before = self.urls.insert(position, Box::new(waiting));
        self.bytes -= before.map_or(0, |before| bytes_of(&before));
    }

    /// Removes the URL that had this position. Where another worker moved it there, it may still be further behind here.
    pub(super) fn remove(&mut self, position: Position) {
        let removed = self.urls.remove(&position).or_else(|| {
            let held = self.urls.range(position..).find(|(held, _)| held.url == position.url).map(|(held, _)| *held)?;
            self.urls.remove(&held)
        });
        self.bytes -= removed.map_or(0, |waiting| bytes_of(&waiting));
    }

    pub(super) fn pop_first(&mut self) -> Option<(Position, Queued)> {
        let (position, waiting) = self.urls.pop_first()?;
        self.bytes -= bytes_of(&waiting);
        Some((position, *waiting))
    }

    /// Drops the last URLs beyond this number.
    pub(super) fn cut_to(&mut self, urls: usize) {
        while self.urls.len() > urls
            && let Some((_, waiting)) = self.urls.pop_last()
        {
            self.bytes -= bytes_of(&waiting);
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Window::default();
    }
}

fn bytes_of(waiting: &Queued) -> usize {
    let again = waiting.again.iter();
    let visit_bytes = again.clone().map(|visit| size_of_val(&**visit)).sum::<usize>();
    let outlinks = waiting.visited.iter().flat_map(|visited| &visited.outlinks);
    let outlinks = outlinks.chain(again.flat_map(|visit| &visit.outlinks));
    let kept: usize = outlinks.map(|link| size_of::<String>() + link.capacity()).sum();
    size_of::<Queued>() + waiting.candidate.url.as_str().len() + visit_bytes + kept + URL_BYTES
}
