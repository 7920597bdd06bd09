//! Answers whose payload an archive holds already, and the ids by which records refer to each other.

use model::{Method, Timestamp, Visit};
use warc::RecordId;
use weburl::CanonicalUrl;

/// An answer whose payload the archive holds already.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// The record with that payload.
    pub original: Original,
    /// The profile of its record.
    pub says: Says,
}

/// The profiles of a revisit record (WARC 1.1 §6.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// The payload is the same.
    IdenticalPayload,
    /// The server sent none, since the content has not changed.
    NotModified,
}

/// A response whose payload an archive holds already.
#[derive(Clone, Debug)]
pub struct Original {
    /// Its URL.
    pub url: String,
    /// The date of its record.
    pub at: Timestamp,
    /// Where its record is.
    pub place: Place,
}

/// Where the record of an original is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In this archive.
    Here,
    /// In an earlier archive, with this id if it is known.
    Elsewhere(Option<String>),
}

impl Original {
    /// The response that a visit has recorded, or that its record refers to. `own` is its URL.
    #[must_use]
    pub fn of(visit: &Visit, own: &CanonicalUrl) -> Self {
        let at = visit.content_at.unwrap_or(visit.at);
        match &visit.content_url {
            Some(url) => Original { url: url.clone(), at, place: Place::Elsewhere(None) },
            None => Original { url: own.to_string(), at, place: Place::Here },
        }
    }

    /// Its URL where the record is in an earlier archive.
    #[must_use]
    pub fn url_elsewhere(&self) -> Option<String> {
        (self.place != Place::Here).then(|| self.url.clone())
    }

    /// The id of its record, if it is known.
    pub(crate) fn record_id(&self) -> Option<String> {
        match &self.place {
            Place::Here => Some(record_id("response", &self.url, self.at).to_string()),
            Place::Elsewhere(id) => id.clone(),
        }
    }
}

/// The id of a record, computed from its URL, method and microsecond. So a revisit can name the record it refers to without a
/// lookup.
pub(crate) fn record_id(kind: &str, about: &str, at: Timestamp) -> RecordId {
    let hash = blake3::hash(format!("{kind} {about} {}", at.0).as_bytes());
    let mut id = [0; 16];
    id.copy_from_slice(&hash.as_bytes()[..16]);
    RecordId::new(id)
}

pub(crate) fn response_id(method: Method, url: &CanonicalUrl, at: Timestamp) -> RecordId {
    record_id(if method == Method::Head { "response to HEAD" } else { "response" }, url.as_str(), at)
}
