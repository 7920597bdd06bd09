//! The source of all chance: SplitMix64, seeded by the crawl's seed.
//!
//! After Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators" (OOPSLA 2014). Small, of known quality, and
//! the same on every machine for ever, which a seed that is written down in an issue needs.

/// A stream of numbers that look random.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// The stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Rng { state: seed }
    }

    /// A stream of its own, so that more chance here does not change what happens there.
    #[must_use]
    pub fn fork(&mut self) -> Rng {
        Rng::new(self.number())
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.state)
    }

    /// A number below `end`; 0 where that is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        let wide = u128::from(self.number()) * u128::from(end);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// A number of the range, both ends included.
    pub fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last.saturating_sub(first).saturating_add(1))
    }

    /// An index of something with this many elements.
    pub fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or(0)
    }

    /// True in so many of a thousand cases.
    pub fn chance(&mut self, in_thousand: u64) -> bool {
        self.below(1000) < in_thousand
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }
}

/// Scatters the bits of a number.
#[must_use]
pub fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of SplitMix64 from 1234567, as given with the reference implementation
    /// (<https://prng.di.unimi.it/splitmix64.c>) by Rosetta Code.
    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut rng = Rng::new(1_234_567);
        let expect = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(expect, std::array::from_fn(|_| rng.number()));
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let mut rng = Rng::new(1);
        let numbers: Vec<u64> = (0..1000).map(|_| rng.between(3, 5)).collect();
        assert!((3..=5).all(|n| numbers.contains(&n)) && numbers.iter().all(|n| (3..=5).contains(n)));
        assert_eq!(rng.below(0), 0);
    }
}
