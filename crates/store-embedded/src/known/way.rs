//! By what way a URL is known, in a byte.

use model::{Distance, Purpose};

use store::Standing;

/// By what way a URL is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A page so far from the nearest seed. Its record is in the queue, or else in the table of URLs.
    Page { distance: Distance, is_in_queue: bool },
    /// Only its record says: a sitemap, or a page far away. Its record is in the table of URLs, also while it waits.
    InRecord,
    /// Several URLs share a fingerprint: the record of each says whether it is there.
    Shared,
}

/// The greatest depth and the most redirects that fit into a byte beside [`IN_QUEUE`].
const DEPTH_MAX: u32 = 30;
const REDIRECTS_MAX: u8 = 3;
const REDIRECTS_BITS: u32 = 2;
const IN_QUEUE: u8 = 1 << 7;
/// The depth of these would be greater than any.
const IN_RECORD: u8 = u8::MAX;
const SHARED: u8 = u8::MAX - 1;

impl Way {
    /// What is remembered of a URL that stands so.
    pub(crate) fn of(standing: &Standing) -> Self {
        let Standing { purpose, distance, .. } = *standing;
        let fits = purpose == Purpose::Page && distance.depth <= DEPTH_MAX && distance.redirects <= REDIRECTS_MAX;
        if fits { Way::Page { distance, is_in_queue: standing.is_in_queue() } } else { Way::InRecord }
    }

    /// True if the URL's record belongs into the queue. The path gives its place there.
    pub(crate) fn is_record_in_queue(self) -> bool {
        matches!(self, Way::Page { is_in_queue: true, .. })
    }

    #[expect(clippy::cast_possible_truncation, reason = "no page is remembered whose depth is greater than DEPTH_MAX")]
    pub(super) fn to_byte(self) -> u8 {
        match self {
            Way::Page { distance: Distance { depth, redirects }, is_in_queue } => {
                (depth as u8) << REDIRECTS_BITS | redirects | if is_in_queue { IN_QUEUE } else { 0 }
            }
            Way::InRecord => IN_RECORD,
            Way::Shared => SHARED,
        }
    }

    pub(super) fn from_byte(byte: u8) -> Self {
        match byte {
            IN_RECORD => Way::InRecord,
            SHARED => Way::Shared,
            page => {
                let depth = u32::from((page & !IN_QUEUE) >> REDIRECTS_BITS);
                let distance = Distance { depth, redirects: page & REDIRECTS_MAX };
                Way::Page { distance, is_in_queue: page & IN_QUEUE != 0 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_a_byte() {
        for depth in 0..=DEPTH_MAX {
            for redirects in 0..=REDIRECTS_MAX {
                for is_in_queue in [true, false] {
                    let way = Way::Page { distance: Distance { depth, redirects }, is_in_queue };
                    assert_eq!(Way::from_byte(way.to_byte()), way);
                }
            }
        }
        for way in [Way::InRecord, Way::Shared] {
            assert_eq!(Way::from_byte(way.to_byte()), way);
        }
    }
}
