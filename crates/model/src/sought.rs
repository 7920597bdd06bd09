//! What is looked for in a page beyond what every crawl looks for.

use serde::{Deserialize, Serialize};

/// What was looked for in a page. A setting that is given later looks for more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sought {
    /// Its images.
    pub images: bool,
    /// What it needs to be shown.
    pub requisites: bool,
    /// Links that it asks not to follow.
    pub nofollow: bool,
}

impl Sought {
    /// As stores keep it: a bit for each.
    #[must_use]
    pub fn bits(self) -> u8 {
        u8::from(self.images) | u8::from(self.requisites) << 1 | u8::from(self.nofollow) << 2
    }

    /// The inverse of [`Sought::bits`].
    #[must_use]
    pub fn from_bits(bits: u8) -> Self {
        Sought { images: bits & 1 > 0, requisites: bits & 1 << 1 > 0, nofollow: bits & 1 << 2 > 0 }
    }

    /// True where nothing was looked for that others have not.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits() == 0
    }

    /// True where all of `wanted` was looked for.
    #[must_use]
    pub fn covers(self, wanted: Sought) -> bool {
        wanted.bits() & !self.bits() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Sought;

    #[test]
    fn each_part_has_its_bit_and_is_covered_only_by_itself() {
        for bits in 0..8 {
            let sought = Sought::from_bits(bits);
            assert_eq!((sought.bits(), sought.is_empty()), (bits, bits == 0));
            for wanted in 0..8 {
                assert_eq!(sought.covers(Sought::from_bits(wanted)), bits | wanted == bits, "{bits} {wanted}");
            }
        }
    }
}
