//! Answers whose payload an archive holds already, and the ids by which records refer to each other.

use model::{Exchange, Method, Timestamp, Visit};
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
    /// In an earlier archive, with its id and its date as it stands there, if they are known.
    Elsewhere {
        /// Its id.
        id: Option<String>,
        /// Its date.
        date: Option<String>,
    },
}

impl Original {
    /// The response that a visit has recorded, or that its record refers to. `own` is its URL.
    #[must_use]
    pub fn of(visit: &Visit, own: &CanonicalUrl) -> Self {
        let at = visit.content_at.unwrap_or(visit.at);
        match &visit.content_url {
            Some(url) => Original { url: url.clone(), at, place: Place::Elsewhere { id: None, date: None } },
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
            Place::Elsewhere { id, .. } => id.clone(),
        }
    }

    /// Its date as it stands in its record, or in the form of most tools.
    pub(crate) fn record_date(&self) -> String {
        match &self.place {
            Place::Here => warc::warc_date(self.at.as_millis()),
            Place::Elsewhere { date: Some(date), .. } => date.clone(),
            Place::Elsewhere { date: None, .. } => shortest_date(self.at),
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

pub(crate) fn response_id(exchange: &Exchange) -> RecordId {
    let (url, at) = (exchange.url.as_str(), exchange.started_at);
    match exchange.method {
        Method::Get => record_id("response", url, at),
        Method::Head => record_id("response to HEAD", url, at),
        // A page may send several of them at once.
        method @ (Method::Post | Method::Options) => {
            let body = blake3::hash(&exchange.request_body);
            record_id(&format!("response to {}", method.as_str()), &format!("{url} {body}"), at)
        }
    }
}

/// A date without zeros at its end: tools write seconds, milliseconds or microseconds.
fn shortest_date(at: Timestamp) -> String {
    let date = warc::warc_date(at.as_millis());
    let seconds = date.split('.').next().unwrap_or_default();
    match at.0 % 1_000_000 {
        0 => format!("{seconds}Z"),
        micros if micros % 1_000 == 0 => date,
        micros => format!("{seconds}.{micros:06}Z"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_as_it_stands_in_its_record_or_short() {
        let date = |micros, place| Original { url: String::new(), at: Timestamp(micros), place }.record_date();
        let unknown = || Place::Elsewhere { id: None, date: None };
        let known = Place::Elsewhere { id: None, date: Some("1970-01-01T00:00:01.000000Z".to_owned()) };
        for (micros, place, expect) in [
            (1_000_000, Place::Here, "1970-01-01T00:00:01.000Z"),
            (1_000_000, known, "1970-01-01T00:00:01.000000Z"),
            (1_000_000, unknown(), "1970-01-01T00:00:01Z"),
            (1_020_000, unknown(), "1970-01-01T00:00:01.020Z"),
            (1_020_003, unknown(), "1970-01-01T00:00:01.020003Z"),
        ] {
            assert_eq!(date(micros, place), expect);
        }
    }
}
