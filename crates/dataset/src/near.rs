//! Pages that may be near duplicates: those whose fingerprints (`extract::simhash`) differ in at most three bits. Whether they are is for
//! their texts to say, since short pages of one template can have fingerprints as near.
//!
//! The 64 bits are cut into five blocks. If two fingerprints differ in at most three bits, at least two blocks are equal; so
//! for each of the ten pairs of blocks the fingerprints are sorted by these blocks, and only those with the same two blocks
//! (25 or 26 bits) are compared (Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007, §3). For n
//! fingerprints that are ten sorts, and up to 2^25 fingerprints about one comparison each: the work a page does not grow
//! with the crawl but by the logarithm of the sort. Memory is 16 bytes a page.

/// Pages whose fingerprints differ in no more bits than this may be near duplicates.
pub const NEAR_BITS_MAX: u32 = 3;

/// Of those, pages that have this share of their words in common are near duplicates (`extract::Sketch::resembles`).
pub const RESEMBLANCE_MIN: f64 = 0.85;

/// The bits of the five blocks.
const BLOCKS: [u64; 5] = [0x1fff, 0x1fff << 13, 0x1fff << 26, 0x1fff << 39, 0xfff << 52];

/// Fingerprints with the same two blocks that are compared with each other, at most: of more, each with as many that follow
/// it. Only pages made for it come so close to each other in such numbers.
const COMPARED_MAX: usize = 256;

/// Pages with the same fingerprint that are listed as pairs, at most: of more, each with as many that follow it.
const SAME_COMPARED_MAX: usize = 64;

/// Pages of each of two near fingerprints that are listed as pairs, at most. With more, the pairs of one fingerprint join the rest.
const NEAR_COMPARED_MAX: usize = 8;

/// Calls `each` with the indices of pages that may be near duplicates, the smaller first; with some pairs more than once. Pages without text
/// have the fingerprint 0 and are in none.
///
/// The list depends on the pages and their order alone: in an order of their own, such as that of keys, not on how they were recorded.
pub fn candidates(fingerprints: &[u64], mut each: impl FnMut(usize, usize)) {
    candidates_counted(fingerprints, &mut each);
}

/// The same with the number of comparisons of fingerprints made.
fn candidates_counted(fingerprints: &[u64], each: &mut impl FnMut(usize, usize)) -> u64 {
    let mut pages: Vec<usize> = (0..fingerprints.len()).filter(|index| fingerprints[*index] != 0).collect();
    pages.sort_unstable_by_key(|index| (fingerprints[*index], *index));
    let same: Vec<&[usize]> = pages.chunk_by(|a, b| fingerprints[*a] == fingerprints[*b]).collect();
    for pages in &same {
        for (at, &page) in pages.iter().enumerate() {
            pages[at + 1..].iter().take(SAME_COMPARED_MAX).for_each(|&other| each(page, other));
        }
    }
    let print = |class: &usize| fingerprints[same[*class][0]];
    let mut order: Vec<usize> = (0..same.len()).collect();
    let mut comparisons = 0;
    for (one, first_block) in BLOCKS.iter().enumerate() {
        for second_block in &BLOCKS[one + 1..] {
            let blocks = first_block | second_block;
            order.sort_unstable_by_key(|class| (print(class) & blocks, *class));
            for bucket in order.chunk_by(|a, b| print(a) & blocks == print(b) & blocks) {
                for (at, a) in bucket.iter().enumerate() {
                    for b in bucket[at + 1..].iter().take(COMPARED_MAX) {
                        comparisons += 1;
                        if (print(a) ^ print(b)).count_ones() <= NEAR_BITS_MAX {
                            pairs(same[*a], same[*b], each);
                        }
                    }
                }
            }
        }
    }
    comparisons
}

/// Pairs of pages of two fingerprints.
fn pairs(a: &[usize], b: &[usize], each: &mut impl FnMut(usize, usize)) {
    for &a in a.iter().take(NEAR_COMPARED_MAX) {
        b.iter().take(NEAR_COMPARED_MAX).for_each(|&b| each(a.min(b), a.max(b)));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
        let is_near = |a: usize, b: usize| {
            let (a, b) = (fingerprints[a], fingerprints[b]);
            a != 0 && b != 0 && (a ^ b).count_ones() <= NEAR_BITS_MAX
        };
        let each_with_each = (0..fingerprints.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let expect: BTreeSet<(usize, usize)> = each_with_each.filter(|(a, b)| is_near(*a, *b)).collect();
        let mut found = BTreeSet::new();
        candidates(&fingerprints, |a, b| {
            found.insert((a, b));
        });
        assert_eq!(found, expect);
    }

    #[test]
    fn comparisons_grow_no_faster_than_fingerprints() {
        for count in [1_000usize, 10_000, 100_000] {
            let mut seed = 7;
            let fingerprints: Vec<u64> = (0..count).map(|_| random(&mut seed)).collect();
            let comparisons = candidates_counted(&fingerprints, &mut |_, _| {});
            // By each with each it were count²/2.
            assert!(comparisons <= count as u64, "{comparisons} comparisons among {count}");
        }
    }

    #[test]
    fn a_crowd_is_bounded() {
        let crowd: Vec<u64> = (0..20_000u64).map(|n| n + 1).collect();
        let comparisons = candidates_counted(&crowd, &mut |_, _| {});
        assert!(comparisons <= 10 * 20_000 * COMPARED_MAX as u64);
    }
}
