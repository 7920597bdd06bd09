//! Pieces with nearly the same words: their fingerprints (`extract::simhash`) differ in few bits, and their words agree.

use dataset::near::NEAR_BITS_MAX;
use extract::simhash;
use foldhash::HashMap;

use super::Place;

/// Pieces that are remembered; later ones are compared with these, but not remembered. They take some 100 bytes each.
const PIECES_MAX: usize = 4_000_000;
/// Earlier pieces that one is compared with, at most, in each table.
const COMPARED_MAX: usize = 64;
/// Words of the shortest piece whose fingerprint says something; a shorter one must be the same.
const WORDS_MIN: usize = 24;
/// If two fingerprints differ in three bits at most, one of four parts is the same.
const PARTS: u32 = NEAR_BITS_MAX + 1;
const PART_BITS: u32 = u64::BITS / PARTS;

/// The pieces so far.
#[derive(Default)]
pub(super) struct Alike {
    pieces: Vec<Piece>,
    /// By a part of the fingerprint and its place: the pieces that have it.
    tables: HashMap<(u32, u64), Vec<u32>>,
    urls: Vec<String>,
    uncompared: u64,
}

struct Piece {
    fingerprint: u64,
    words: u32,
    url: u32,
    position: u32,
}

impl Alike {
    /// The earliest piece that has nearly the same words; remembers this one if there is none.
    pub(super) fn earlier(&mut self, url: &str, position: u32, text: &str) -> Option<Place> {
        let fingerprint = simhash::of_text(text);
        let words = text.split_whitespace().count();
        if fingerprint == 0 {
            return None;
        }
        let is_alike = |piece: &&Piece| {
            let bits = (piece.fingerprint ^ fingerprint).count_ones();
            let (fewer, more) = (words.min(piece.words as usize), words.max(piece.words as usize));
            bits == 0 && fewer == more || bits <= NEAR_BITS_MAX && fewer >= WORDS_MIN && fewer * 10 >= more * 9
        };
        let parts = (0..PARTS).map(|part| (part, fingerprint >> (part * PART_BITS) & ((1 << PART_BITS) - 1)));
        let near = parts.clone().filter_map(|part| self.tables.get(&part));
        let near = near.flat_map(|pieces| pieces.iter().take(COMPARED_MAX));
        let found = near.filter(|at| is_alike(&&self.pieces[**at as usize])).min();
        if let Some(found) = found {
            let piece = &self.pieces[*found as usize];
            return Some(Place { url: self.urls[piece.url as usize].clone(), position: piece.position });
        }
        if self.pieces.len() >= PIECES_MAX {
            self.uncompared += 1;
            return None;
        }
        if self.urls.last().is_none_or(|last| last != url) {
            self.urls.push(url.to_owned());
        }
        let at = self.pieces.len() as u32;
        self.pieces.push(Piece {
            fingerprint,
            words: u32::try_from(words).unwrap_or(u32::MAX),
            url: self.urls.len() as u32 - 1,
            position,
        });
        parts.for_each(|part| self.tables.entry(part).or_default().push(at));
        None
    }

    /// Pieces that were not remembered.
    pub(super) fn uncompared(&self) -> u64 {
        self.uncompared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_with_nearly_the_same_words_are_found() {
        let words: Vec<String> = (0..200).map(|n| format!("word{n}")).collect();
        let text = words.join(" ");
        let mut alike = Alike::default();
        assert_eq!(alike.earlier("a", 0, &text), None);
        let first = Some(Place { url: "a".to_owned(), position: 0 });
        assert_eq!(alike.earlier("b", 3, &text), first);
        assert_eq!(alike.earlier("b", 4, &text.replace("word7 ", "other ")), first);
        assert_eq!(alike.earlier("c", 0, &words[..100].join(" ")), None);
        assert_eq!(alike.earlier("c", 1, "Read more"), None);
        assert_eq!(alike.earlier("d", 1, "Read more"), Some(Place { url: "c".to_owned(), position: 1 }));
        assert_eq!(alike.earlier("d", 2, "Read less"), None);
        assert_eq!(alike.earlier("d", 3, "…"), None);
    }
}
