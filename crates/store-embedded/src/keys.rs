//! The keys of the tables: fixed lengths and big-endian numbers, so that byte order is the order of the trait.

use model::{Outcome, Position, Timestamp};
use weburl::{SiteKey, UrlKey};

/// Length of a key of the table of URLs: site, URL.
pub(crate) const URL_KEY_BYTES: usize = 16;
/// Length of a key of the queue: site, rank, URL.
pub(crate) const QUEUE_KEY_BYTES: usize = 20;
/// A key of the queue.
pub(crate) type QueueKey = [u8; QUEUE_KEY_BYTES];

/// The format version, under its own key so that every version of the program finds it.
pub(crate) const FORMAT: &[u8] = b"format";
/// What tells the crawl from all others.
pub(crate) const CRAWL_ID: &[u8] = b"crawl-id";
/// What every commit counts up.
pub(crate) const PROGRESS: &[u8] = b"progress";

/// There if URLs can be found by their outcomes: since the store was made.
pub(crate) const BY_OUTCOME: &[u8] = b"by-outcome";

const SEED_ORDINAL: u8 = b'o';
const SEED_URL: u8 = b'u';
const SEGMENT: u8 = b's';

/// The name of the queue's table of a generation. The first has the name that it had when there was only one.
pub(crate) fn queue_table(generation: u8) -> String {
    if generation == 0 { "queue".to_owned() } else { format!("queue-{generation}") }
}

/// A place in the queue.
pub(crate) fn queue(site: SiteKey, position: Position) -> QueueKey {
    let mut key = [0; QUEUE_KEY_BYTES];
    key[..8].copy_from_slice(&site.to_bytes());
    key[8..12].copy_from_slice(&position.rank.to_be_bytes());
    key[12..].copy_from_slice(&position.url.to_be_bytes());
    key
}

/// The first place that there may be in the queue of a site.
pub(crate) fn first_of(site: SiteKey) -> QueueKey {
    queue(site, Position { rank: 0, url: 0 })
}

/// The last place that there may be in the queue of a site.
pub(crate) fn last_of(site: SiteKey) -> QueueKey {
    queue(site, Position { rank: u32::MAX, url: u64::MAX })
}

/// The site and the position of a place in the queue. `None` if the bytes are not such a place.
pub(crate) fn queued(key: &[u8]) -> Option<(SiteKey, Position)> {
    let key: &QueueKey = key.try_into().ok()?;
    let (site, position) = key.split_first_chunk::<8>()?;
    let (rank, url) = position.split_first_chunk::<4>()?;
    let position = Position { rank: u32::from_be_bytes(*rank), url: u64::from_be_bytes(url.try_into().ok()?) };
    Some((SiteKey::from_bytes(*site), position))
}

/// The counter of a shape of a site.
pub(crate) fn shape(site: SiteKey, shape: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&site.to_bytes());
    key[8..].copy_from_slice(&shape.to_be_bytes());
    key
}

/// A visit of a URL before its last, by when it was.
pub(crate) fn earlier(url: UrlKey, at: Timestamp) -> [u8; 24] {
    let mut key = [0; 24];
    key[..16].copy_from_slice(&url.to_bytes());
    key[16..].copy_from_slice(&at.0.to_be_bytes());
    key
}

/// A URL whose last visit had this outcome.
pub(crate) fn by_outcome(outcome: Outcome, url: UrlKey) -> [u8; 17] {
    prefixed(outcome.code(), url.to_bytes())
}

/// The URL of such a key. `None` if the bytes are no such key.
pub(crate) fn url_by_outcome(key: &[u8]) -> Option<UrlKey> {
    let (_, url) = key.split_first()?;
    Some(UrlKey::from_bytes(url.try_into().ok()?))
}

/// The hash of a shape. `None` if the bytes are not the key of one.
pub(crate) fn shape_hash(key: &[u8]) -> Option<u64> {
    let key: &[u8; 16] = key.try_into().ok()?;
    key.last_chunk::<8>().map(|hash| u64::from_be_bytes(*hash))
}

/// The seed with this ordinal number.
pub(crate) fn seed(ordinal: u64) -> [u8; 9] {
    prefixed(SEED_ORDINAL, ordinal.to_be_bytes())
}

/// The mark that a URL is a seed.
pub(crate) fn is_seed(url: UrlKey) -> [u8; 17] {
    prefixed(SEED_URL, url.to_bytes())
}

/// The segment with this serial number.
pub(crate) fn segment(serial: u32) -> [u8; 5] {
    prefixed(SEGMENT, serial.to_be_bytes())
}

/// The serial number of a segment. `None` if the bytes are not the key of one.
pub(crate) fn segment_serial(key: &[u8]) -> Option<u32> {
    let (prefix, serial) = key.split_first()?;
    Some(u32::from_be_bytes(serial.try_into().ok()?)).filter(|_| *prefix == SEGMENT)
}

fn prefixed<const BYTES: usize, const LENGTH: usize>(prefix: u8, bytes: [u8; BYTES]) -> [u8; LENGTH] {
    let mut key = [prefix; LENGTH];
    key[1..].copy_from_slice(&bytes);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_read_back_and_keep_the_order() {
        let (site, position) = (SiteKey(1), Position { rank: 2, url: u64::MAX });
        let later = [(SiteKey(1), Position { rank: 3, url: 0 }), (SiteKey(2), Position { rank: 0, url: 0 })];
        for (other_site, other) in later {
            assert!(queue(site, position) < queue(other_site, other));
        }
        assert_eq!(queued(&queue(site, position)), Some((site, position)));
        assert_eq!(queued(&[0; 19]), None);
        let url = UrlKey { site: SiteKey(1), url: 2 };
        assert_eq!(url_by_outcome(&by_outcome(Outcome::Timeout, url)), Some(url));
        assert_eq!(url_by_outcome(&segment(7)), None);
        assert_eq!(segment_serial(&segment(7)), Some(7));
        assert_eq!(shape_hash(&shape(site, u64::MAX - 1)), Some(u64::MAX - 1));
        assert_eq!(shape_hash(&[0; 15]), None);
        assert_eq!(segment_serial(&seed(7)), None);
    }
}
