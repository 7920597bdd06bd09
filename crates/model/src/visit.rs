//! The record of a visit: what the store keeps of a URL once its outcome is known.

use serde::{Deserialize, Serialize};
use weburl::UrlKey;

use crate::{Distance, LimitSet, Outcome, Past, PayloadDigest, Timestamp, Validators, essence};

/// Where a record lies in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ArchiveLocation {
    /// The serial number of the segment.
    pub segment: u32,
    /// The offset of the record in the segment, in bytes.
    pub offset: u64,
    /// The length of the record in the segment (compressed), in bytes.
    pub length: u64,
}

/// What became of a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit {
    /// The URL.
    pub key: UrlKey,
    /// The outcome.
    pub outcome: Outcome,
    /// Why: the robots line, the scope rule, the trap rule, the error. Empty where the outcome says it all.
    pub reason: String,
    /// The HTTP status, 0 where there was no answer.
    pub status: u16,
    /// The media type declared by the answer.
    pub content_type: Option<String>,
    /// Bytes of the payload as received; of one that is as it was, of that.
    pub length: u64,
    /// The label of the payload.
    pub digest: Option<PayloadDigest>,
    /// The URL whose payload this one equals.
    pub duplicate_of: Option<UrlKey>,
    /// What a duplicate, or a content that is as it was, is besides: `html` or `binary`. `None` also for duplicates that were recorded before
    /// this was kept; [`Visit::kind`] knows those too.
    pub duplicate_kind: Option<Outcome>,
    /// The target of a redirect, or the canonical URL the page names: the canonical text of the URL.
    pub target: Option<String>,
    /// The title of the page.
    pub title: Option<String>,
    /// How many URLs that the crawl may fetch an HTML page links to, each counted once, itself not.
    pub out_degree: Option<u32>,
    /// The limits and trap rules that kept something of it out of the crawl.
    pub limits: LimitSet,
    /// When the fetch ended, or the URL was judged without a fetch.
    pub at: Timestamp,
    /// How many times it was asked for.
    pub attempts: u8,
    /// The response record in the archive.
    pub location: Option<ArchiveLocation>,
    /// The distance from which its links were judged. If the URL is known to be nearer by now, they must be judged again.
    pub judged_at: Distance,
    /// What its links lead to, kept only where a shorter way to the URL may still turn up and make them count again
    /// (a crawl with a depth limit; redirects): canonical URLs.
    pub outlinks: Vec<String>,
    /// The round of the crawl.
    pub round: u32,
    /// When the payload was recorded that is the URL's content, where this visit recorded none: an earlier visit of this URL, or of the one
    /// that it is a duplicate of. Where there is no content now, when the last one was recorded.
    pub content_at: Option<Timestamp>,
    /// What the server gave with the content.
    pub validators: Validators,
    /// What earlier visits came to.
    pub past: Past,
}

impl Visit {
    /// A visit that needed no fetch.
    #[must_use]
    pub fn without_fetch(key: UrlKey, outcome: Outcome, reason: String, at: Timestamp) -> Self {
        Visit {
            key,
            outcome,
            reason,
            status: 0,
            content_type: None,
            length: 0,
            digest: None,
            duplicate_of: None,
            duplicate_kind: None,
            target: None,
            title: None,
            out_degree: None,
            limits: LimitSet::EMPTY,
            at,
            attempts: 0,
            location: None,
            judged_at: Distance::default(),
            outlinks: Vec::new(),
            round: 1,
            content_at: None,
            validators: Validators::default(),
            past: Past::default(),
        }
    }

    /// Marks a page or document as a duplicate of the URL that had its content first. What it is besides stays known.
    pub fn repeat(&mut self, original: UrlKey) {
        self.duplicate_kind = self.kind();
        self.duplicate_of = Some(original);
        self.outcome = Outcome::Duplicate;
    }

    /// Whether the content is that of `earlier`, byte for byte as it came.
    #[must_use]
    pub fn has_content_of(&self, earlier: &Visit) -> bool {
        self.outcome == Outcome::NotModified || (self.digest, self.length) == (earlier.digest, earlier.length)
    }

    /// What a fetched page is, be its content new or repeated: `html` or `binary`; `None` for all that is no success.
    #[must_use]
    pub fn kind(&self) -> Option<Outcome> {
        match self.outcome {
            outcome if outcome.has_content() => Some(outcome),
            Outcome::Duplicate | Outcome::NotModified => self.duplicate_kind.or_else(|| {
                let declared = essence(self.content_type.as_deref().unwrap_or_default());
                let is_html = declared == "text/html" || declared == "application/xhtml+xml";
                Some(if is_html { Outcome::Html } else { Outcome::Binary })
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use weburl::{SiteKey, UrlKey};

    use super::*;

    #[test]
    fn a_duplicate_keeps_its_kind() {
        let [key, original] = [1, 2].map(|url| UrlKey { site: SiteKey(1), url });
        for kind in [Outcome::Html, Outcome::Binary] {
            let mut visit = Visit::without_fetch(key, kind, String::new(), Timestamp(1));
            visit.repeat(original);
            assert_eq!((visit.outcome, visit.duplicate_of), (Outcome::Duplicate, Some(original)));
            assert_eq!(visit.kind(), Some(kind));
            visit.repeat(key);
            assert_eq!(visit.kind(), Some(kind), "of another original");
            // As it was recorded before the kind was kept.
            let declared = if kind == Outcome::Html { "text/HTML; charset=utf-8" } else { "application/pdf" };
            let before = Visit { duplicate_kind: None, content_type: Some(declared.to_owned()), ..visit };
            assert_eq!(before.kind(), Some(kind));
        }
        assert_eq!(Visit::without_fetch(key, Outcome::Trap, String::new(), Timestamp(1)).kind(), None);
    }
}
