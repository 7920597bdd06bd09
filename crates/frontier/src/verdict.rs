//! What the end of a fetch means for the URL and its site.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use model::{Failure, FailureKind, Fetched, Limit, LimitSet, Outcome, Purpose, Response, Timestamp, Truncation};

use crate::politeness::Trouble;

/// Characters of a `Retry-After` that are shown.
const UNREAD_CHARS_MAX: usize = 40;

/// What to do after a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The URL has its outcome.
    Final {
        /// The outcome before the content is parsed: [`Outcome::Html`] stands for any success.
        outcome: Outcome,
        /// The reason, if the outcome is not enough.
        reason: String,
        /// True if the site was reached, which ends its failures in a row.
        reached: bool,
    },
    /// The failure may pass.
    Retry {
        /// The kind of a failure, from the view of the site.
        trouble: Trouble,
        /// The wait that the server asked for.
        retry_after: Option<Duration>,
        /// The outcome if there is no further attempt, before the content is parsed.
        outcome: Outcome,
        /// Why.
        reason: String,
    },
}

/// Judges the end of a fetch. `now` is needed for dates in Retry-After; `is_conditional` says that the request had validators.
#[must_use]
pub fn judge(fetched: &Fetched, is_conditional: bool, now: Timestamp) -> Verdict {
    match fetched {
        Fetched::Response(response) if response.status == 304 && is_conditional => {
            Verdict::Final { outcome: Outcome::NotModified, reason: String::new(), reached: true }
        }
        Fetched::Response(response) => judge_response(response, now),
        Fetched::Failed(failure) => judge_failure(failure),
    }
}

fn judge_response(response: &Response, now: Timestamp) -> Verdict {
    let reached = |outcome, reason| Verdict::Final { outcome, reason, reached: true };
    match response.status {
        // It may be whole the next time; if it never is, what came is better than nothing.
        200..=299 if response.truncated == Some(Truncation::Disconnect) => Verdict::Retry {
            trouble: Trouble::Own,
            retry_after: None,
            outcome: Outcome::Html,
            reason: truncation(response),
        },
        200..=299 => reached(Outcome::Html, truncation(response)),
        300 | 304..=306 => reached(Outcome::HttpError, format!("status {} is of no use to a crawler", response.status)),
        301..=303 | 307 | 308 => reached(Outcome::Redirect, String::new()),
        408 | 429 | 502 | 503 | 504 => Verdict::Retry {
            trouble: if response.status == 429 { Trouble::TooFast } else { Trouble::Answer },
            retry_after: response.headers.all("retry-after").filter_map(|value| retry_after(value, now)).max(),
            outcome: Outcome::HttpError,
            reason: unread_wait(response, now),
        },
        _ => reached(Outcome::HttpError, String::new()),
    }
}

fn truncation(response: &Response) -> String {
    let cause = match response.truncated {
        None => return response.note.clone().unwrap_or_default(),
        Some(Truncation::Length | Truncation::Ratio) => "size limit",
        Some(Truncation::Time) => "time limit",
        Some(Truncation::Disconnect) => "disconnected",
        Some(Truncation::Unwanted) => return response.note.clone().unwrap_or_default(),
    };
    match &response.note {
        Some(note) => format!("truncated: {note}"),
        None => format!("truncated: {cause}"),
    }
}

fn judge_failure(failure: &Failure) -> Verdict {
    let reason = failure.detail.clone();
    let outcome = outcome_of(failure.kind);
    let retry = |trouble, reason| Verdict::Retry { trouble, retry_after: None, outcome, reason };
    match failure.kind {
        FailureKind::NameServer | FailureKind::Connect => retry(Trouble::Unreached, reason),
        FailureKind::Timeout | FailureKind::Disconnected => retry(Trouble::Answer, reason),
        FailureKind::Internal => retry(Trouble::Own, reason),
        FailureKind::NameNotFound | FailureKind::AddressDenied | FailureKind::Tls => {
            Verdict::Final { outcome, reason, reached: false }
        }
        FailureKind::Protocol | FailureKind::HeadTooLarge | FailureKind::Busy => {
            Verdict::Final { outcome, reason, reached: true }
        }
    }
}

/// The limits that ended a fetch for this purpose.
#[must_use]
pub fn limits_reached(fetched: &Fetched, purpose: Purpose) -> LimitSet {
    let length = match purpose {
        Purpose::Page | Purpose::Requisite => Limit::Length,
        Purpose::Sitemap => Limit::SitemapBytes,
        Purpose::Robots => Limit::RobotsTxt,
    };
    let limit = match fetched {
        Fetched::Response(response) => match response.truncated {
            Some(Truncation::Length) => Some(length),
            Some(Truncation::Ratio) => Some(Limit::Decompression),
            Some(Truncation::Time) => Some(Limit::Time),
            Some(Truncation::Disconnect) => (purpose != Purpose::Robots).then_some(Limit::Disconnect),
            Some(Truncation::Unwanted) | None => None,
        },
        Fetched::Failed(failure) => (failure.kind == FailureKind::HeadTooLarge).then_some(Limit::Head),
    };
    limit.map_or(LimitSet::EMPTY, LimitSet::from)
}

/// The outcome of a URL that could not be fetched for this reason.
#[must_use]
pub fn outcome_of(kind: FailureKind) -> Outcome {
    match kind {
        FailureKind::NameNotFound | FailureKind::NameServer => Outcome::DomainError,
        FailureKind::AddressDenied => Outcome::Excluded,
        FailureKind::Connect | FailureKind::Disconnected | FailureKind::Protocol | FailureKind::Internal => {
            Outcome::ConnectionError
        }
        FailureKind::Tls => Outcome::TlsError,
        FailureKind::Timeout => Outcome::Timeout,
        FailureKind::HeadTooLarge => Outcome::TooLarge,
        FailureKind::Busy => Outcome::HttpError,
    }
}

/// The outcome of the URLs of a site that was given up for this reason. A name that does not resolve says so for each of them; other
/// failures say that the site was given up.
#[must_use]
pub fn given_up(kind: FailureKind) -> Outcome {
    match outcome_of(kind) {
        outcome @ (Outcome::DomainError | Outcome::Excluded | Outcome::TlsError) => outcome,
        _ => Outcome::GivenUp,
    }
}

/// The wait asked for by a `Retry-After` field: a date or seconds (RFC 9110 §10.2.3), these as freely written as a Crawl-delay. The longest of
/// several. `None` if nothing in it can be read.
fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    if let Some(date) = date(value.trim()) {
        return Some((Timestamp::default() + date.duration_since(UNIX_EPOCH).unwrap_or_default()).since(now));
    }
    // A comma with a space behind it is between two values: without, it may be a decimal comma.
    value.split(", ").filter_map(|one| robots::wait(one.trim().as_bytes())).max()
}

/// Says which `Retry-After` cannot be read, so that the wait is that of a failure without one.
fn unread_wait(response: &Response, now: Timestamp) -> String {
    let unread = response.headers.all("retry-after").find(|value| retry_after(value, now).is_none());
    unread.map_or_else(String::new, |value| {
        let shown: String = value.escape_debug().take(UNREAD_CHARS_MAX).collect();
        format!("Retry-After `{shown}` cannot be read")
    })
}

/// An HTTP date. One beyond the year 9999 is in that year.
fn date(value: &str) -> Option<SystemTime> {
    let parts: Vec<&str> = value.split_whitespace().collect();
    match parts[..] {
        [day, date, month, year, time, zone] if year.len() > 4 && year.bytes().all(|byte| byte.is_ascii_digit()) => {
            httpdate::parse_http_date(&format!("{day} {date} {month} 9999 {time} {zone}")).ok()
        }
        _ => httpdate::parse_http_date(value).ok(),
    }
}

#[cfg(test)]
mod tests {
    use model::Headers;

    use super::*;

    fn response(status: u16, headers: &[(&str, &str)]) -> Fetched {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Fetched::Response(Response {
            status,
            headers: Headers(headers),
            body: Default::default(),
            truncated: None,
            is_undecoded: false,
            note: None,
        })
    }

    fn now() -> Timestamp {
        Timestamp::from_millis(784_111_767_000) // Sun, 06 Nov 1994 08:49:27 GMT
    }

    #[test]
    fn statuses() {
        for (status, expect) in [
            (200, Some(Outcome::Html)),
            (204, Some(Outcome::Html)),
            (301, Some(Outcome::Redirect)),
            (304, Some(Outcome::HttpError)),
            (308, Some(Outcome::Redirect)),
            (404, Some(Outcome::HttpError)),
            (500, Some(Outcome::HttpError)),
            (429, None),
            (503, None),
            (999, Some(Outcome::HttpError)),
        ] {
            let is = match judge(&response(status, &[]), false, now()) {
                Verdict::Final { outcome, .. } => Some(outcome),
                Verdict::Retry { .. } => None,
            };
            assert_eq!(is, expect, "{status}");
        }
        let as_it_was = judge(&response(304, &[]), true, now());
        assert!(matches!(as_it_was, Verdict::Final { outcome: Outcome::NotModified, reached: true, .. }));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        for (value, expect) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("18446744073709551616", Some(u64::MAX)),
            ("99999999999999999999999999999999", Some(u64::MAX)),
            ("60s", Some(60)),
            ("2 minutes", Some(120)),
            ("1e2", Some(100)),
            ("60.0", Some(60)),
            ("120, 60", Some(120)),
            ("60, soon, 120", Some(120)),
            ("Fri, 31 Dec 99999 23:59:59 GMT", Some(252_618_189_032)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(252_618_189_032)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(10)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("soon", None),
            ("", None),
            (", ", None),
            ("1m30s", None),
            ("Fri, 31 Foo 99999 23:59:59 GMT", None),
            ("-1", None),
        ] {
            let Verdict::Retry { retry_after, .. } = judge(&response(429, &[("Retry-After", value)]), false, now())
            else {
                panic!("429 is tried again");
            };
            let seconds = retry_after.map(|wait| wait.as_secs());
            assert_eq!(seconds, expect, "{value}");
        }
    }

    #[test]
    fn the_longest_retry_after_counts_and_one_that_cannot_be_read_is_named() {
        let long = "x".repeat(1_000);
        let shown = format!("Retry-After `{}` cannot be read", "x".repeat(UNREAD_CHARS_MAX));
        for (values, expect, said) in [
            (&["1", "3600", "60"][..], Some(3_600), ""),
            (&["60", "soon"], Some(60), "Retry-After `soon` cannot be read"),
            (&["1m30s"], None, "Retry-After `1m30s` cannot be read"),
            (&[&long], None, &shown),
            (&[], None, ""),
        ] {
            let fields: Vec<_> = values.iter().map(|value| ("Retry-After", *value)).collect();
            let Verdict::Retry { retry_after, reason, .. } = judge(&response(503, &fields), false, now()) else {
                panic!("503 is tried again");
            };
            assert_eq!((retry_after, reason.as_str()), (expect.map(Duration::from_secs), said), "{values:?}");
        }
    }

    #[test]
    fn failures() {
        for (kind, retried, expect) in [
            (FailureKind::NameNotFound, None, Outcome::DomainError),
            (FailureKind::NameServer, Some(Trouble::Unreached), Outcome::DomainError),
            (FailureKind::AddressDenied, None, Outcome::Excluded),
            (FailureKind::Connect, Some(Trouble::Unreached), Outcome::ConnectionError),
            (FailureKind::Tls, None, Outcome::TlsError),
            (FailureKind::Timeout, Some(Trouble::Answer), Outcome::Timeout),
            (FailureKind::Disconnected, Some(Trouble::Answer), Outcome::ConnectionError),
            (FailureKind::Protocol, None, Outcome::ConnectionError),
            (FailureKind::HeadTooLarge, None, Outcome::TooLarge),
        ] {
            let failed = Fetched::Failed(Failure { kind, detail: "why".to_owned() });
            let is = match judge(&failed, false, now()) {
                Verdict::Final { outcome, .. } => (None, outcome),
                Verdict::Retry { trouble, outcome, .. } => (Some(trouble), outcome),
            };
            assert_eq!(is, (retried, expect), "{kind:?}");
        }
    }
}
