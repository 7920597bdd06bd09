//! SHA-1 (FIPS 180-4 §6.1.2) of two messages at once, by the processor's instructions for it.
//!
//! Each round waits for the one before; in that time the rounds of another message can be made. So two digests take little longer than one.

use std::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_extract_epi32, _mm_set_epi32, _mm_set_epi64x, _mm_setzero_si128, _mm_sha1msg1_epu32,
    _mm_sha1msg2_epu32, _mm_sha1nexte_epu32, _mm_sha1rnds4_epu32, _mm_xor_si128,
};

type Block = [u8; BLOCK_BYTES];

const BLOCK_BYTES: usize = 64;
const LENGTH_BYTES: usize = 8;
const INITIAL: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// The digests of `payload` and of `head` and `payload` together. `None` if the processor has no instructions for it, or nothing would be won by
/// them.
pub(super) fn of(head: &[u8], payload: &[u8]) -> Option<([u8; 20], [u8; 20])> {
    let is_able = is_x86_feature_detected!("sha") && is_x86_feature_detected!("sse4.1");
    if !is_able || payload.len() < BLOCK_BYTES {
        return None;
    }
    #[expect(unsafe_code, reason = "an instruction that the processor was asked for; there is no other way to call it")]
    // SAFETY: the processor has what the function is compiled for, as was asked above; nothing else about it is unsafe.
    Some(unsafe { of_both(head, payload) })
}

#[target_feature(enable = "sha,sse4.1")]
fn of_both(head: &[u8], payload: &[u8]) -> ([u8; 20], [u8; 20]) {
    let (head_blocks, head_rest) = head.as_chunks();
    // The payload continues the head's last block.
    let (seam_bytes, rest) = payload.split_at(head_rest.len().next_multiple_of(BLOCK_BYTES) - head_rest.len());
    let mut seam = [0; BLOCK_BYTES];
    seam[..head_rest.len()].copy_from_slice(head_rest);
    seam[head_rest.len()..head_rest.len() + seam_bytes.len()].copy_from_slice(seam_bytes);
    let seam = &[seam][..usize::from(!head_rest.is_empty())];

    let (mut first, mut second) = (State::new(), State::new());
    for blocks in [head_blocks, seam] {
        [second] = State::extended([second], [blocks]);
    }
    let (first_blocks, first_rest) = payload.as_chunks();
    let (second_blocks, second_rest) = rest.as_chunks();
    // They differ by the seam, which is a block at most.
    let (together, alone) = first_blocks.split_at(second_blocks.len());
    [first, second] = State::extended([first, second], [together, second_blocks]);
    [first] = State::extended([first], [alone]);
    (first.finished(first_rest, payload.len()), second.finished(second_rest, head.len() + payload.len()))
}

/// Where a digest stands: the five words, as the instructions have them.
#[derive(Clone, Copy)]
struct State {
    abcd: __m128i,
    e: __m128i,
}

impl State {
    #[target_feature(enable = "sha,sse4.1")]
    fn new() -> Self {
        let [a, b, c, d, e] = INITIAL.map(u32::cast_signed);
        State { abcd: _mm_set_epi32(a, b, c, d), e: _mm_set_epi32(e, 0, 0, 0) }
    }

    /// Each extended by its blocks, of which all have as many.
    ///
    /// Without closures: where one is given to a function that is not compiled for these instructions, as `map` of arrays, each instruction
    /// may become a call. It is up to the compiler, and took ten times as long without optimization across crates.
    #[inline]
    #[target_feature(enable = "sha,sse4.1")]
    fn extended<const LANES: usize>(mut states: [Self; LANES], blocks: [&[Block]; LANES]) -> [Self; LANES] {
        for at in 0..blocks[0].len() {
            let starts = states;
            let (mut words, mut before) = ([[_mm_setzero_si128(); 4]; LANES], [_mm_setzero_si128(); LANES]);
            for (words, blocks) in words.iter_mut().zip(blocks) {
                for (part, words) in words.iter_mut().enumerate() {
                    *words = quarter(&blocks[at], part);
                }
            }
            // Four rounds at a time; the instruction wants to know the function as a constant.
            macro_rules! rounds {
                ($function:literal: $($group:literal)+) => { $(
                    for lane in 0..LANES {
                        let State { abcd, e } = states[lane];
                        let words = next_words::<$group>(&mut words[lane]);
                        // After the first four, E is the A of four rounds before, turned.
                        let e = if $group == 0 { _mm_add_epi32(e, words) } else { _mm_sha1nexte_epu32(before[lane], words) };
                        before[lane] = abcd;
                        states[lane].abcd = _mm_sha1rnds4_epu32(abcd, e, $function);
                    }
                )+ };
            }
            rounds!(0: 0 1 2 3 4);
            rounds!(1: 5 6 7 8 9);
            rounds!(2: 10 11 12 13 14);
            rounds!(3: 15 16 17 18 19);
            for lane in 0..LANES {
                states[lane] = State {
                    abcd: _mm_add_epi32(states[lane].abcd, starts[lane].abcd),
                    e: _mm_sha1nexte_epu32(before[lane], starts[lane].e),
                };
            }
        }
        states
    }

    /// The digest of a message of so many bytes that ends with `rest`, less than a block.
    #[target_feature(enable = "sha,sse4.1")]
    fn finished(self, rest: &[u8], message_bytes: usize) -> [u8; 20] {
        let mut blocks = [[0; BLOCK_BYTES]; 2];
        let count = if rest.len() + 1 + LENGTH_BYTES <= BLOCK_BYTES { 1 } else { 2 };
        let blocks = &mut blocks[..count];
        let padded = blocks.as_flattened_mut();
        padded[..rest.len()].copy_from_slice(rest);
        padded[rest.len()] = 0x80;
        let end = padded.len() - LENGTH_BYTES;
        padded[end..].copy_from_slice(&(8 * message_bytes as u64).to_be_bytes());
        let [State { abcd, e }] = State::extended([self], [blocks]);
        let words = [
            _mm_extract_epi32::<3>(abcd),
            _mm_extract_epi32::<2>(abcd),
            _mm_extract_epi32::<1>(abcd),
            _mm_extract_epi32::<0>(abcd),
            _mm_extract_epi32::<3>(e),
        ];
        let mut digest = [0; 20];
        for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_be_bytes();
        }
        digest
    }
}

/// The four words of a quarter of a block, the first one highest.
#[inline]
#[target_feature(enable = "sha,sse4.1")]
fn quarter(block: &Block, part: usize) -> __m128i {
    let words = u128::from_be_bytes(block.as_chunks::<16>().0[part]);
    _mm_set_epi64x((words >> 64) as i64, words as i64)
}

/// The words of the next four rounds, in the place of those they follow from: of sixteen rounds there are any.
#[inline]
#[target_feature(enable = "sha,sse4.1")]
fn next_words<const GROUP: usize>(words: &mut [__m128i; 4]) -> __m128i {
    let at = GROUP % 4;
    if GROUP >= 4 {
        let (next, second, third) = (words[(at + 1) % 4], words[(at + 2) % 4], words[(at + 3) % 4]);
        words[at] = _mm_sha1msg2_epu32(_mm_xor_si128(_mm_sha1msg1_epu32(words[at], next), second), third);
    }
    words[at]
}
