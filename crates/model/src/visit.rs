//! The record of a visit: the store keeps it once the outcome of a URL is known.

use serde::{Deserialize, Serialize};
use weburl::UrlKey;

use crate::{
    Announced, Distance, Limit, LimitSet, Outcome, Past, PayloadDigest, Sought, Timestamp, Validators, essence,
};

/// The place of a record in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ArchiveLocation {
    /// The serial number of the segment.
    pub segment: u32,
    /// The offset of the record in the segment, in bytes.
    pub offset: u64,
    /// The length of the record in the segment (compressed), in bytes.
    pub length: u64,
}

/// The outcome of a URL, with its details.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit {
    /// The URL.
    pub key: UrlKey,
    /// The outcome.
    pub outcome: Outcome,
    /// The reason: the robots line, the scope rule, the trap rule, the error. Empty if the outcome is enough.
    pub reason: String,
    /// The HTTP status; 0 without an answer.
    pub status: u16,
    /// The media type declared by the answer.
    pub content_type: Option<String>,
    /// Bytes of the payload as received; for an unchanged page, of the earlier payload.
    pub length: u64,
    /// The label of the payload. A crawl that keeps only its state has it only where there is no `identity`.
    pub digest: Option<PayloadDigest>,
    /// The URL whose payload this one equals.
    pub duplicate_of: Option<UrlKey>,
    /// The kind of a duplicate or an unchanged content: `html` or `binary`. `None` also for duplicates recorded by earlier versions;
    /// [`Visit::kind`] handles those too.
    pub duplicate_kind: Option<Outcome>,
    /// The target of a redirect, or the canonical URL the page names: the canonical text of the URL.
    pub target: Option<String>,
    /// The title of the page.
    pub title: Option<String>,
    /// The number of distinct other URLs to which an HTML page links, of those that the crawl may fetch.
    pub out_degree: Option<u32>,
    /// The limits and trap rules that left out something of it.
    pub limits: LimitSet,
    /// When the fetch ended, or the URL was judged without a fetch.
    pub at: Timestamp,
    /// The number of requests.
    pub attempts: u8,
    /// The response record in the archive.
    pub location: Option<ArchiveLocation>,
    /// The distance from which its links were judged. If a shorter path to the URL is known now, they must be judged again.
    pub judged_at: Distance,
    /// The targets of its links, as canonical URLs. They are kept only if a shorter path to the URL may make them count again
    /// (a crawl with a depth limit; redirects).
    pub outlinks: Vec<String>,
    /// The round of the crawl.
    pub round: u32,
    /// If this visit recorded no payload: when the URL's content was recorded, by an earlier visit of this URL or of its original.
    /// Without a content now: when the last one was recorded.
    pub content_at: Option<Timestamp>,
    /// The URL under which that payload was recorded, where it is in an earlier archive (`--against`) and not in this crawl's.
    pub content_url: Option<String>,
    /// The validators of the content.
    pub validators: Validators,
    /// The body without its content coding, as a number. `None` of a body that is not whole, and of visits of earlier versions. Without a content
    /// now: that of the last one.
    pub identity: Option<u64>,
    /// The words of a page, as a number, where only a change of its text counts as a change (`extract::wording`). `None` of a body that broke off.
    /// Without a content now: that of the last one.
    pub wording: Option<u64>,
    /// What was looked for in the page; nothing in what is no HTML page. Visits of earlier versions do not say it.
    pub sought: Sought,
    /// What the site says of changes since this visit.
    pub announced: Announced,
    /// A summary of the earlier visits.
    pub past: Past,
}

impl Visit {
    /// False where the URL was judged without a request.
    #[must_use]
    pub fn was_asked_for(&self) -> bool {
        self.attempts > 0
    }

    /// True where the archive has lost what this visit, the last of its URL, found or confirmed: its own response, or the content from before.
    /// The same of all answers of a crawl that keeps no archive.
    #[must_use]
    pub fn has_lost(&self) -> bool {
        self.past.is_lost() || self.location.is_none() && self.status > 0
    }

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
            content_url: None,
            validators: Validators::default(),
            identity: None,
            wording: None,
            sought: Sought::default(),
            announced: Announced::default(),
            past: Past::default(),
        }
    }

    /// Orders the visits of a URL: by their number. Their dates do not, since the system clock may be set back between two visits.
    #[must_use]
    pub fn order(&self) -> (u32, Timestamp) {
        (self.past.visits, self.at)
    }

    /// Marks a page or document as a duplicate of the URL that had its content first. Its kind stays known.
    pub fn repeat(&mut self, original: UrlKey) {
        self.duplicate_kind = self.kind();
        self.duplicate_of = Some(original);
        self.outcome = Outcome::Duplicate;
    }

    /// Whether the content equals that of `earlier`: in the words where both have them, or else in the body without its content coding, or in each
    /// byte that was sent.
    #[must_use]
    pub fn has_content_of(&self, earlier: &Visit) -> bool {
        let is_the_same = || self.has_identity_of(earlier) == Some(true) || self.payload().is(earlier.payload());
        self.outcome == Outcome::NotModified || self.has_wording_of(earlier).unwrap_or_else(is_the_same)
    }

    /// As [`Visit::has_content_of`], where the payload of `earlier` is not known; `None` where nothing can be compared.
    #[must_use]
    pub fn has_kept_content_of(&self, earlier: &Visit) -> Option<bool> {
        self.has_wording_of(earlier).or_else(|| self.has_identity_of(earlier))
    }

    /// The same bytes have other words if they are decoded or rendered in another way.
    fn has_wording_of(&self, earlier: &Visit) -> Option<bool> {
        Some(self.wording? == earlier.wording?)
    }

    fn has_identity_of(&self, earlier: &Visit) -> Option<bool> {
        Some(self.identity? == earlier.identity?)
    }

    /// Whether `--max-body-bytes` cut one of two contents, and it may be the beginning of the other, which is longer. Only a comparison of the bytes
    /// would tell.
    #[must_use]
    pub fn may_be_part_of(&self, other: &Visit) -> bool {
        let begins = |cut: &Visit, other: &Visit| cut.limits.contains(Limit::Length) && cut.length < other.length;
        begins(self, other) || begins(other, self)
    }

    /// What identifies the payload that the visit found.
    #[must_use]
    pub fn payload(&self) -> Payload {
        Payload { label: self.digest, identity: self.identity, length: self.length }
    }

    /// The kind of a fetched page, be its content new or repeated: `html` or `binary`; `None` without success.
    #[must_use]
    pub fn kind(&self) -> Option<Outcome> {
        match self.outcome {
            outcome if outcome.has_content() => Some(outcome),
            outcome if outcome.repeats_content() => self.duplicate_kind.or_else(|| {
                let declared = essence(self.content_type.as_deref().unwrap_or_default());
                let is_html = declared == "text/html" || declared == "application/xhtml+xml";
                Some(if is_html { Outcome::Html } else { Outcome::Binary })
            }),
            _ => None,
        }
    }
}

/// What identifies the payload of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Payload {
    /// [`Visit::digest`].
    pub label: Option<PayloadDigest>,
    /// [`Visit::identity`].
    pub identity: Option<u64>,
    /// [`Visit::length`].
    pub length: u64,
}

impl Payload {
    /// Whether each byte that was sent is the same: by the labels, if both have one, or else by the identities. A crawl that keeps only its state
    /// labels payloads from its second run on. Of two that nothing identifies, the lengths decide.
    #[must_use]
    pub fn is(self, other: Payload) -> bool {
        let is_the_same = match (self.label, other.label) {
            (Some(label), Some(other)) => label == other,
            (label, of_other) => self.identity == other.identity && (self.identity.is_some() || label == of_other),
        };
        is_the_same && self.length == other.length
    }

    /// Whether it can be distinguished from another.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.label.is_some() || self.identity.is_some()
    }
}

#[cfg(test)]
mod tests {
    use weburl::{SiteKey, UrlKey};

    use super::*;

    #[test]
    fn payloads_are_compared_by_their_labels_or_else_by_their_identities() {
        let payload = |label: Option<u8>, identity, length| Payload {
            label: label.map(|label| PayloadDigest([label; 20])),
            identity,
            length,
        };
        for (one, other, is_the_same) in [
            (payload(Some(1), Some(1), 9), payload(Some(1), Some(1), 9), true),
            (payload(Some(1), None, 9), payload(Some(1), Some(1), 9), true),
            (payload(Some(1), Some(1), 9), payload(Some(2), Some(1), 9), false),
            (payload(Some(1), Some(1), 9), payload(Some(1), Some(1), 8), false),
            (payload(None, Some(1), 9), payload(None, Some(1), 9), true),
            (payload(None, Some(1), 9), payload(None, Some(2), 9), false),
            (payload(None, Some(1), 9), payload(None, Some(1), 8), false),
            (payload(None, Some(1), 9), payload(None, None, 9), false),
            (payload(None, None, 0), payload(None, None, 0), true),
            (payload(Some(1), Some(1), 9), payload(None, Some(1), 9), true),
            (payload(Some(1), Some(1), 9), payload(None, Some(2), 9), false),
            (payload(Some(1), Some(1), 9), payload(None, Some(1), 8), false),
            (payload(Some(1), Some(1), 9), payload(None, None, 9), false),
            (payload(Some(1), None, 9), payload(None, Some(1), 9), false),
            (payload(Some(1), None, 9), payload(None, None, 9), false),
        ] {
            assert_eq!((one.is(other), other.is(one)), (is_the_same, is_the_same), "{one:?} {other:?}");
        }
    }

    #[test]
    fn words_decide_where_both_visits_have_them() {
        let key = UrlKey { site: SiteKey(1), url: 1 };
        let visit = |wording, identity, digest: u8| Visit {
            wording,
            identity,
            digest: Some(PayloadDigest([digest; 20])),
            ..Visit::without_fetch(key, Outcome::Html, String::new(), Timestamp(1))
        };
        for (one, other, is_the_same, is_kept) in [
            (visit(Some(1), Some(1), 1), visit(Some(1), Some(2), 2), true, Some(true)),
            (visit(Some(1), Some(1), 1), visit(Some(2), Some(1), 1), false, Some(false)),
            (visit(Some(1), None, 1), visit(Some(2), None, 1), false, Some(false)),
            (visit(Some(1), Some(1), 1), visit(None, Some(1), 2), true, Some(true)),
            (visit(Some(1), Some(1), 1), visit(None, Some(2), 2), false, Some(false)),
            (visit(None, Some(1), 1), visit(None, Some(2), 1), true, Some(false)),
            (visit(Some(1), None, 1), visit(None, Some(1), 1), true, None),
            (visit(None, None, 1), visit(None, None, 2), false, None),
        ] {
            for (one, other) in [(&one, &other), (&other, &one)] {
                let found = (one.has_content_of(other), one.has_kept_content_of(other));
                assert_eq!(found, (is_the_same, is_kept), "{one:?} {other:?}");
            }
        }
        let confirmed = Visit { outcome: Outcome::NotModified, ..visit(Some(1), Some(1), 1) };
        assert!(confirmed.has_content_of(&visit(Some(2), Some(2), 2)));
    }

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
