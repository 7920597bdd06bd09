//! Why a schedule visits no page now.

use std::fmt;

use model::Timestamp;
use printable::counted;

/// The pages of a crawl that a schedule cannot choose now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Pages that were visited a short time ago, or are missing and wait longer with each visit.
    pub resting: u64,
    /// When the first of them may be visited.
    pub until: Option<Timestamp>,
    /// Pages of sites on hold or in trouble, and pages that a rule excludes.
    pub closed: u64,
}

impl Waits {
    /// Counts a page that may be visited from this time on.
    pub(crate) fn rest(&mut self, until: Timestamp) {
        self.resting += 1;
        self.until = Some(self.until.map_or(until, |earliest| earliest.min(until)));
    }
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Waits { resting, until, closed } = self;
        let resting = until.map(|until| {
            let pages = counted(*resting, "page");
            format!("{pages} visited too recently, the first may be visited from {} on", until.to_rfc3339())
        });
        let closed =
            (*closed > 0).then(|| format!("{} excluded, or of sites on hold or in trouble", counted(*closed, "page")));
        let why: Vec<String> = resting.into_iter().chain(closed).collect();
        match why.is_empty() {
            true => f.write_str("no page is due: the crawl has none"),
            false => write!(f, "no page is due: {}", why.join("; ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reasons_are_named() {
        let mut waits = Waits::default();
        assert_eq!(waits.to_string(), "no page is due: the crawl has none");
        waits.closed = 1;
        assert_eq!(waits.to_string(), "no page is due: 1 page excluded, or of sites on hold or in trouble");
        [7_000_000, 5_000_000, 6_000_000].into_iter().for_each(|until| waits.rest(Timestamp(until)));
        let expect = "no page is due: 3 pages visited too recently, the first may be visited from 1970-01-01T00:00:05.000Z on; \
                      1 page excluded, or of sites on hold or in trouble";
        assert_eq!(waits.to_string(), expect);
    }
}
