//! The bytes that matches are looked for in, and the search.

use std::hint::select_unpredictable;

use crate::code::Code;
use crate::counts::{Counts, FIRST_LENGTH};
use crate::output::{Output, Position};
use crate::symbols::{DISTANCE_MAX, MATCH_BYTES_MAX, MATCH_BYTES_MIN, distance_symbol};

/// Bytes held, those before a block among them. Positions have 16 bits, and a block must not be longer than a stored one may be.
const HELD_BYTES: usize = 65_535;

/// What may be read, but not used, behind the bytes held.
const BEHIND_BYTES: usize = MATCH_BYTES_MAX + CHUNK_BYTES;

/// Positions remembered, each under the hash of the bytes there: few, so that they stay in the fastest cache beside page and output.
const HEADS_BITS: u32 = 13;

/// Bytes that are hashed, and the shortest match that is taken: shorter ones save few bits, and as much time as a long one is lost with each.
const HASHED_BYTES: u32 = 6;

/// What is above those in a word.
const UNHASHED_BITS: u32 = 64 - 8 * HASHED_BYTES;

type Bytes = [u8; HELD_BYTES + BEHIND_BYTES];
type Heads = [u16; 1 << HEADS_BITS];

/// Up to 64 kB, of which the last ones are to be compressed.
pub(crate) struct Window {
    bytes: Box<Bytes>,
    /// Where the block begins.
    begin: usize,
    /// Where it ends.
    end: usize,
    heads: Box<Heads>,
    /// As they were when the block began, unless that was the first.
    heads_before: Box<Heads>,
}

impl Window {
    pub(crate) fn new() -> Window {
        Window { bytes: Box::new([0; _]), begin: 0, end: 0, heads: Box::new([0; _]), heads_before: Box::new([0; _]) }
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        (self.begin, self.end) = (0, 0);
        self.heads.fill(0);
    }

    /// Takes as many bytes as have room, and says how many.
    pub(crate) fn fill(&mut self, bytes: &[u8]) -> usize {
        let len = bytes.len().min(HELD_BYTES - self.end);
        self.bytes[self.end..][..len].copy_from_slice(&bytes[..len]);
        self.end += len;
        len
    }

    /// The bytes that are to be compressed.
    pub(crate) fn block(&self) -> &[u8] {
        &self.bytes[self.begin..self.end]
    }

    pub(crate) fn is_full(&self) -> bool {
        self.end == HELD_BYTES
    }

    /// Makes room behind the block, which was compressed. What matches may be found in is kept.
    pub(crate) fn slide(&mut self) {
        self.bytes.copy_within(DISTANCE_MAX..HELD_BYTES, 0);
        self.end -= DISTANCE_MAX;
        self.begin = self.end;
        for head in self.heads.iter_mut() {
            *head = head.saturating_sub(DISTANCE_MAX as u16);
        }
        self.heads_before.copy_from_slice(&*self.heads);
    }

    /// Is to be called before the block is compressed again.
    pub(crate) fn go_back(&mut self) {
        match self.begin {
            0 => self.heads.fill(0),
            _ => self.heads.copy_from_slice(&*self.heads_before),
        }
    }

    /// Compresses the block.
    ///
    /// One pass: at each position the last one with the same hash is looked at, and a match is taken as it is found (as in LZ4). What is found is
    /// written at once, in a code that was made before. Where a branch could not be foreseen, there is none: that is most of the time it takes.
    #[inline(never)]
    pub(crate) fn compress(&mut self, code: &Code, counts: &mut Counts, output: &mut Output) {
        let Window { bytes, begin, end, heads, .. } = self;
        let (mut at, end) = (*begin, *end);
        let mut place = output.position();
        // The first byte has none before it, so that 0 may stand for no position.
        if at == 0 && end > 0 {
            place = literal(bytes[0], code, counts, output, place);
            at = 1;
        }
        while at + WORD_BYTES <= end {
            let here = word(bytes, at);
            let head = &mut heads[hash(here)];
            let before = usize::from(std::mem::replace(head, at as u16));
            let differing = word(bytes, before) ^ here;
            let distance = at - before;
            // One branch for both, since neither can be foreseen.
            if (differing << UNHASHED_BITS) | u64::from(distance > DISTANCE_MAX) != 0 {
                place = literal(here as u8, code, counts, output, place);
                at += 1;
                continue;
            }
            let len = match_len(bytes, before, at).min(end - at);
            let entry = FIRST_LENGTH + len - MATCH_BYTES_MIN;
            let (symbol, extra) = distance_symbol(distance as u32 - 1);
            counts.literals[entry % counts.literals.len()] += 1;
            counts.distances[symbol % counts.distances.len()] += 1;
            let length = code.literal_or_length(entry);
            let distance = code.distance(symbol);
            let distance_bits = u64::from(distance.bits) | u64::from(extra) << (distance.count & 63);
            let bits = length.bits | distance_bits << (length.count & 63);
            place = output.put_at(place, bits, length.count + u32::from(distance.count_in_all));
            // Of what is in the match its first and last places are remembered: with all of them it takes half as long again.
            let next = at + len;
            for at in [at + 1, at + 2, next - 2, next - 1] {
                heads[hash(word(bytes, at))] = at as u16;
            }
            at = next;
        }
        for byte in &bytes[at..end] {
            place = literal(*byte, code, counts, output, place);
        }
        output.go_to(place);
    }
}

#[inline(always)]
fn literal(byte: u8, code: &Code, counts: &mut Counts, output: &mut Output, place: Position) -> Position {
    counts.literals[usize::from(byte)] += 1;
    let literal = code.literal_or_length(usize::from(byte));
    output.put_at(place, literal.bits, literal.count)
}

const WORD_BYTES: usize = 8;

/// The 8 bytes from there on.
#[inline(always)]
fn word(bytes: &Bytes, at: usize) -> u64 {
    let at = at & 0xffff;
    bytes[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

/// By multiplication (D. E. Knuth: The Art of Computer Programming, section 6.4), of the first bytes of a word.
#[inline(always)]
fn hash(word: u64) -> usize {
    const MULTIPLIER: u64 = 0x9e37_79b1_85eb_ca87 << UNHASHED_BITS;
    (word.wrapping_mul(MULTIPLIER) >> (64 - HEADS_BITS)) as usize
}

/// How far the bytes from two positions on are the same.
#[inline(always)]
fn match_len(bytes: &Bytes, before: usize, at: usize) -> usize {
    let mut len = 0;
    while len < MATCH_BYTES_MAX
        && let (Some(one), Some(other)) = (chunk(bytes, before + len), chunk(bytes, at + len))
    {
        let same = same_bytes(one, other);
        len += same;
        if same < CHUNK_BYTES {
            break;
        }
    }
    len.min(MATCH_BYTES_MAX)
}

/// What is compared at once.
const CHUNK_BYTES: usize = 4 * WORD_BYTES;

#[inline(always)]
fn chunk(bytes: &Bytes, at: usize) -> Option<&[u8; CHUNK_BYTES]> {
    bytes.get(at..)?.first_chunk()
}

/// How many of the first bytes are the same. Without branches, none of which could be foreseen.
#[inline(always)]
fn same_bytes(one: &[u8; CHUNK_BYTES], other: &[u8; CHUNK_BYTES]) -> usize {
    let words = |chunk: &[u8; CHUNK_BYTES]| {
        let (words, _) = chunk.as_chunks();
        [0, 1, 2, 3].map(|i| u64::from_le_bytes(words[i]))
    };
    let (one, other) = (words(one), words(other));
    let differing = [0, 1, 2, 3].map(|i| one[i] ^ other[i]);
    let same = differing.map(|bits| (bits.trailing_zeros() / 8) as usize);
    let low = select_unpredictable(differing[0] != 0, same[0], 8 + same[1]);
    let high = select_unpredictable(differing[2] != 0, 16 + same[2], 24 + same[3]);
    select_unpredictable(differing[0] | differing[1] != 0, low, high)
}
