//! Unsigned numbers as PostgreSQL holds them: it has signed ones only.

use weburl::{SiteKey, UrlKey};

const HIGHEST_BIT: u64 = 1 << 63;

/// A number of which the order matters (a key): the highest bit flipped, so that the order stays.
pub(crate) fn ordered(number: u64) -> i64 {
    (number ^ HIGHEST_BIT).cast_signed()
}

/// The inverse of [`ordered`].
pub(crate) fn from_ordered(number: i64) -> u64 {
    number.cast_unsigned() ^ HIGHEST_BIT
}

/// A number that people may look at: itself, as far as it is less than 2^63.
pub(crate) fn plain(number: u64) -> i64 {
    number.cast_signed()
}

/// The inverse of [`plain`].
pub(crate) fn from_plain(number: i64) -> u64 {
    number.cast_unsigned()
}

/// A URL's key as two columns.
pub(crate) fn key(key: UrlKey) -> (i64, i64) {
    (ordered(key.site.0), ordered(key.url))
}

/// The inverse of [`key`].
pub(crate) fn from_key(site: i64, url: i64) -> UrlKey {
    UrlKey { site: SiteKey(from_ordered(site)), url: from_ordered(url) }
}

/// As many rows as wanted, for `LIMIT`.
pub(crate) fn limit(max: usize) -> i64 {
    i64::try_from(max).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_stays_and_numbers_read_back() {
        let numbers = [0, 1, HIGHEST_BIT - 1, HIGHEST_BIT, u64::MAX];
        assert!(numbers.map(ordered).is_sorted());
        for number in numbers {
            assert_eq!((from_ordered(ordered(number)), from_plain(plain(number))), (number, number));
        }
        assert_eq!(plain(7), 7);
    }
}
