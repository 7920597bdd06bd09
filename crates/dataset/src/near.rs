//! Near duplicates: pages whose fingerprints (`extract::simhash`) differ in at most three bits.
//!
//! The 64 bits are cut into five blocks. If two fingerprints differ in at most three bits, at least two blocks are equal; so
//! for each of the ten pairs of blocks the fingerprints are sorted by these blocks, and only those with the same two blocks
//! (25 or 26 bits) are compared (Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007, §3). For n
//! fingerprints that are ten sorts, and up to 2^25 fingerprints about one comparison each: the work a page does not grow
//! with the crawl but by the logarithm of the sort. Memory is 24 bytes a distinct fingerprint.

/// Fingerprints that differ in no more bits than this are near duplicates.
pub const NEAR_BITS_MAX: u32 = 3;

/// The bits of the five blocks.
const BLOCKS: [u64; 5] = [0x1fff, 0x1fff << 13, 0x1fff << 26, 0x1fff << 39, 0xfff << 52];

/// Fingerprints with the same two blocks that are compared with each other, at most: of more, each with as many that follow
/// it. Only pages made for it come so close to each other in such numbers.
const COMPARED_MAX: usize = 4_096;

/// A near duplicate that comes earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Near {
    /// In how many bits the fingerprints differ.
    pub distance: u32,
    /// The index of the earlier one.
    pub index: usize,
}

/// For each fingerprint the nearest of those before it, the earliest of several; `None` where there is none within
/// [`NEAR_BITS_MAX`] bits, and for a fingerprint of 0, that of a page without text.
#[must_use]
pub fn nearest_earlier(fingerprints: &[u64]) -> Vec<Option<Near>> {
    nearest_counted(fingerprints).0
}

/// The same with the number of comparisons made.
fn nearest_counted(fingerprints: &[u64]) -> (Vec<Option<Near>>, u64) {
    let mut nearest: Vec<Option<Near>> = vec![None; fingerprints.len()];
    let mut order: Vec<usize> = (0..fingerprints.len()).filter(|index| fingerprints[*index] != 0).collect();
    // Equal ones first: each has the first as its nearest, and only the first goes on.
    order.sort_unstable_by_key(|index| (fingerprints[*index], *index));
    let mut first = 0;
    for at in 1..order.len() {
        if fingerprints[order[at]] == fingerprints[order[first]] {
            nearest[order[at]] = Some(Near { distance: 0, index: order[first] });
        } else {
            first = at;
        }
    }
    order.dedup_by_key(|index| fingerprints[*index]);
    let mut comparisons = 0;
    for (one, first_block) in BLOCKS.iter().enumerate() {
        for second_block in &BLOCKS[one + 1..] {
            let blocks = first_block | second_block;
            order.sort_unstable_by_key(|index| (fingerprints[*index] & blocks, *index));
            for bucket in order.chunk_by(|a, b| fingerprints[*a] & blocks == fingerprints[*b] & blocks) {
                for (at, &earlier) in bucket.iter().enumerate() {
                    for &later in bucket[at + 1..].iter().take(COMPARED_MAX) {
                        comparisons += 1;
                        let distance = (fingerprints[earlier] ^ fingerprints[later]).count_ones();
                        let near = Near { distance, index: earlier };
                        if distance <= NEAR_BITS_MAX && nearest[later].is_none_or(|known| near < known) {
                            nearest[later] = Some(near);
                        }
                    }
                }
            }
        }
    }
    (nearest, comparisons)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Well-mixed numbers from a seed (SplitMix64).
    fn random(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let hash = (*seed ^ (*seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^ (hash >> 31)
    }

    fn flip(fingerprint: u64, bits: u32, seed: &mut u64) -> u64 {
        let mut flipped = fingerprint;
        while (flipped ^ fingerprint).count_ones() < bits {
            flipped ^= 1 << (random(seed) % 64);
        }
        flipped
    }

    #[test]
    fn the_blocks_are_a_partition() {
        assert_eq!(BLOCKS.iter().fold(0, |all, block| all | block), u64::MAX);
        assert_eq!(BLOCKS.iter().map(|block| block.count_ones()).sum::<u32>(), 64);
    }

    #[test]
    fn all_pairs_are_found_as_by_comparing_each_with_each() {
        let mut seed = 1;
        let mut fingerprints: Vec<u64> = Vec::new();
        for _ in 0..300 {
            let one = random(&mut seed);
            fingerprints.push(one);
            for bits in 0..6 {
                fingerprints.push(flip(one, bits, &mut seed));
            }
        }
        fingerprints.extend([0, 0, 1]);
        let expect: Vec<Option<Near>> = fingerprints
            .iter()
            .enumerate()
            .map(|(later, b)| {
                let earlier = fingerprints[..later].iter().enumerate();
                let near = earlier.map(|(index, a)| Near { distance: (a ^ b).count_ones(), index });
                near.filter(|near| *b != 0 && fingerprints[near.index] != 0 && near.distance <= NEAR_BITS_MAX).min()
            })
            .collect();
        assert_eq!(nearest_earlier(&fingerprints), expect);
    }

    #[test]
    fn comparisons_grow_no_faster_than_fingerprints() {
        for count in [1_000usize, 10_000, 100_000] {
            let mut seed = 7;
            let fingerprints: Vec<u64> = (0..count).map(|_| random(&mut seed)).collect();
            let (_, comparisons) = nearest_counted(&fingerprints);
            // By each with each it were count²/2.
            assert!(comparisons <= count as u64, "{comparisons} comparisons among {count}");
        }
    }

    #[test]
    fn a_crowd_is_bounded() {
        let crowd: Vec<u64> = (0..20_000u64).map(|n| n + 1).collect();
        let (_, comparisons) = nearest_counted(&crowd);
        assert!(comparisons <= 10 * 20_000 * COMPARED_MAX as u64);
    }
}
