//! Pages by number, as a store gets them in measurements.

use model::{ArchiveLocation, Candidate, Outcome, PayloadDigest, Timestamp, Via, Visit};
use weburl::{CanonicalRules, CanonicalUrl};

/// The sites among which the pages are spread.
const SITES: u64 = 20_000;

pub fn candidate(n: u64) -> Candidate {
    let site = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % SITES;
    let text = format!("https://www.site-{site}.example/section/{}/page-{n}.html", n % 97);
    let url = CanonicalUrl::parse(&text, &CanonicalRules::default()).expect("a URL");
    Candidate { depth: 3, via: Via::Link, found_on: Some(url.key()), ..Candidate::seed(url) }
}

pub fn visit(candidate: &Candidate, n: u64) -> Visit {
    Visit {
        status: 200,
        length: 20_000,
        content_type: Some("text/html".to_owned()),
        title: Some(format!("The page with the number {n}")),
        digest: Some(digest(n)),
        location: Some(ArchiveLocation { segment: 1, offset: n * 5_000, length: 5_000 }),
        ..Visit::without_fetch(candidate.url.key(), Outcome::Html, String::new(), Timestamp::from_millis(n))
    }
}

/// The digest of a page's payload.
pub fn digest(n: u64) -> PayloadDigest {
    let mut digest = [0; 20];
    digest[..8].copy_from_slice(&n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    PayloadDigest(digest)
}
