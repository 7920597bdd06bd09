//! Visits after the first: validators, the history of a URL, and changes.

use std::fmt;

use serde::{Deserialize, Serialize};

use weburl::CanonicalUrl;

use crate::{Outcome, Timestamp, Visit};

/// A round: the first is the crawl, each later one visits its pages again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Its number; 1 is the first.
    pub number: u32,
    /// When it began; the epoch for the first.
    pub began_at: Timestamp,
    /// Its URLs are still being chosen. After a crash they are chosen again.
    pub is_choosing: bool,
}

impl Default for Round {
    fn default() -> Self {
        Round { number: 1, began_at: Timestamp::default(), is_choosing: false }
    }
}

/// How a visit differs from an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A page or document at a URL that had none.
    New,
    /// The content differs.
    Changed,
    /// The server reports that it no longer exists (404, 410).
    Gone,
    /// A redirect replaced it.
    Moved,
    /// It was gone or moved, and exists again.
    Back,
    /// The visit failed, which tells nothing about the content; or it is the first one, and found none.
    Failed,
    /// The same content, or none as before.
    Unchanged,
}

impl Change {
    /// All changes, in the order in which they are reported.
    pub const ALL: [Change; 7] =
        [Change::New, Change::Changed, Change::Gone, Change::Moved, Change::Back, Change::Failed, Change::Unchanged];

    /// The word used everywhere, for example `changed`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Change::New => "new",
            Change::Changed => "changed",
            Change::Gone => "gone",
            Change::Moved => "moved",
            Change::Back => "back",
            Change::Failed => "failed",
            Change::Unchanged => "unchanged",
        }
    }

    /// How `now` differs from the visit `before`; `None` where there was none.
    #[must_use]
    pub fn between(before: Option<&Visit>, now: &Visit) -> Self {
        let Some(before) = before else {
            return match Presence::of(now) {
                Presence::There => Change::New,
                Presence::Gone | Presence::Failed => Change::Failed,
                // Its target is what may be new.
                Presence::Moved => Change::Unchanged,
            };
        };
        match (Presence::of(before), Presence::of(now)) {
            (Presence::There, Presence::There) if now.has_content_of(before) => Change::Unchanged,
            // Nothing tells whether they differ.
            (Presence::There, Presence::There) if now.may_be_part_of(before) => Change::Unchanged,
            (Presence::There, Presence::There) => Change::Changed,
            (Presence::Gone | Presence::Moved, Presence::There) if before.content_at.is_some() => Change::Back,
            (Presence::Failed, Presence::There) if before.content_at.is_some() => {
                // Of visits of earlier versions it is not known.
                let is_another = now.has_kept_content_of(before) == Some(false);
                if is_another { Change::Changed } else { Change::Unchanged }
            }
            (_, Presence::There) => Change::New,
            (Presence::There | Presence::Moved, Presence::Gone) => Change::Gone,
            (Presence::Failed, Presence::Gone) if before.content_at.is_some() => Change::Gone,
            (Presence::There, Presence::Moved) => Change::Moved,
            (Presence::Failed | Presence::Gone, Presence::Moved) if before.content_at.is_some() => Change::Moved,
            (Presence::Moved, Presence::Moved) if before.target != now.target => Change::Moved,
            (_, Presence::Failed) => Change::Failed,
            _ => Change::Unchanged,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// True if a visit describes the content of its URL: a page, a redirect, or that there is none.
#[must_use]
pub fn says_what_is_there(visit: &Visit) -> bool {
    visit.outcome != Outcome::NotModified && !matches!(Presence::of(visit), Presence::Failed)
}

/// True if a visit says that there is nothing at its URL: 404 or 410.
#[must_use]
pub fn says_gone(visit: &Visit) -> bool {
    matches!(Presence::of(visit), Presence::Gone)
}

/// True if a visit can be compared with others of its URL: it says what is there, or that it is as before.
#[must_use]
pub fn can_be_compared(visit: &Visit) -> bool {
    visit.outcome == Outcome::NotModified || says_what_is_there(visit)
}

/// True if a visit makes a page, or what redirected to one, look as if it had vanished since `last`: the server says 404 or 410, or a redirect is
/// where a page was. One such answer may be an accident of the server.
#[must_use]
pub fn looks_vanished(last: &Visit, visit: &Visit) -> bool {
    match (Presence::of(last), Presence::of(visit)) {
        (Presence::There | Presence::Moved, Presence::Gone) | (Presence::There, Presence::Moved) => true,
        // Behind a failure.
        (Presence::Failed, Presence::Gone | Presence::Moved) => last.content_at.is_some(),
        _ => false,
    }
}

/// Whether a URL had a content.
#[derive(Clone, Copy)]
enum Presence {
    There,
    Moved,
    Gone,
    Failed,
}

impl Presence {
    fn of(visit: &Visit) -> Self {
        match (visit.outcome, visit.status) {
            (outcome, _) if outcome.is_fetched() => Presence::There,
            // A redirect to itself leads nowhere: the server is in trouble.
            (Outcome::Redirect, _) if leads_to_itself(visit) => Presence::Failed,
            (Outcome::Redirect, _) => Presence::Moved,
            (Outcome::HttpError, 404 | 410) => Presence::Gone,
            _ => Presence::Failed,
        }
    }
}

fn leads_to_itself(visit: &Visit) -> bool {
    let target = visit.target.as_deref().and_then(CanonicalUrl::from_canonical);
    target.is_some_and(|target| target.key() == visit.key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limit, PayloadDigest};

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::from_canonical(text).expect("a URL")
    }

    /// A visit with this outcome and status, whose content begins with a letter.
    fn visit(outcome: Outcome, status: u16, content: u8) -> Visit {
        let key = url("http://a.test/").key();
        let digest = outcome.is_fetched().then_some(PayloadDigest([content; 20]));
        // What was once there is remembered by whatever comes after it.
        let content_at = (!outcome.is_fetched() && content > 0).then_some(Timestamp(1));
        Visit { status, digest, content_at, ..Visit::without_fetch(key, outcome, String::new(), Timestamp(2)) }
    }

    #[test]
    fn two_visits_say_what_changed() {
        let page = |content| visit(Outcome::Html, 200, content);
        let gone = |content| visit(Outcome::HttpError, 404, content);
        let failed = |content| visit(Outcome::Timeout, 0, content);
        let of_length = |content, length| Visit { length, ..page(content) };
        let cut = |content, length| Visit { limits: Limit::Length.into(), ..of_length(content, length) };
        let moved = |content, to: &str| Visit { target: Some(to.to_owned()), ..visit(Outcome::Redirect, 301, content) };
        for (before, now, change) in [
            (None, page(1), Change::New),
            (None, gone(0), Change::Failed),
            (None, failed(0), Change::Failed),
            (None, moved(0, "/a"), Change::Unchanged),
            (Some(page(1)), page(1), Change::Unchanged),
            (Some(page(1)), visit(Outcome::NotModified, 304, 1), Change::Unchanged),
            (Some(page(1)), page(2), Change::Changed),
            (Some(page(1)), visit(Outcome::Duplicate, 200, 2), Change::Changed),
            (Some(page(1)), gone(1), Change::Gone),
            (Some(page(1)), visit(Outcome::HttpError, 410, 1), Change::Gone),
            (Some(page(1)), visit(Outcome::HttpError, 500, 1), Change::Failed),
            (Some(page(1)), failed(1), Change::Failed),
            (Some(page(1)), moved(1, "/a"), Change::Moved),
            (Some(page(1)), moved(1, "http://a.test/b"), Change::Moved),
            (Some(page(1)), moved(1, "http://a.test/"), Change::Failed),
            (Some(moved(1, "http://a.test/")), page(1), Change::Unchanged),
            (Some(moved(1, "/a")), moved(1, "/b"), Change::Moved),
            (Some(moved(1, "/a")), moved(1, "/a"), Change::Unchanged),
            // What a page has moved to, or that it has moved, is no longer so.
            (Some(moved(1, "/a")), gone(1), Change::Gone),
            (Some(moved(1, "/a")), visit(Outcome::HttpError, 410, 1), Change::Gone),
            // One that never was a page, too.
            (Some(moved(0, "/a")), gone(0), Change::Gone),
            (Some(gone(1)), moved(1, "/a"), Change::Moved),
            (Some(gone(0)), moved(0, "/a"), Change::Unchanged),
            (Some(gone(1)), moved(1, "http://a.test/"), Change::Failed),
            (Some(gone(1)), gone(1), Change::Unchanged),
            (Some(gone(1)), page(1), Change::Back),
            (Some(gone(0)), page(1), Change::New),
            (Some(moved(1, "/a")), page(1), Change::Back),
            (Some(moved(0, "/a")), page(1), Change::New),
            (Some(failed(1)), page(1), Change::Unchanged),
            (Some(Visit { identity: Some(1), ..failed(1) }), page(2), Change::Unchanged),
            (Some(Visit { identity: Some(1), ..failed(1) }), Visit { identity: Some(1), ..page(2) }, Change::Unchanged),
            (Some(Visit { identity: Some(1), ..failed(1) }), Visit { identity: Some(2), ..page(2) }, Change::Changed),
            (
                Some(Visit { identity: Some(1), wording: Some(3), ..failed(1) }),
                Visit { identity: Some(2), wording: Some(3), ..page(2) },
                Change::Unchanged,
            ),
            (
                Some(Visit { identity: Some(1), wording: Some(3), ..failed(1) }),
                Visit { identity: Some(1), wording: Some(4), ..page(2) },
                Change::Changed,
            ),
            // A cut content may be the beginning of a longer one, and of no other.
            (Some(cut(1, 5)), of_length(2, 9), Change::Unchanged),
            (Some(of_length(1, 9)), cut(2, 5), Change::Unchanged),
            (Some(cut(1, 5)), cut(2, 9), Change::Unchanged),
            (Some(cut(1, 5)), cut(2, 5), Change::Changed),
            (Some(cut(1, 5)), of_length(2, 4), Change::Changed),
            (Some(of_length(1, 5)), cut(2, 9), Change::Changed),
            (Some(failed(0)), page(1), Change::New),
            (Some(failed(1)), gone(1), Change::Gone),
            (Some(failed(0)), gone(0), Change::Unchanged),
            (Some(failed(0)), failed(0), Change::Failed),
            (Some(failed(1)), failed(1), Change::Failed),
            (Some(gone(1)), failed(1), Change::Failed),
            (Some(moved(1, "/a")), failed(1), Change::Failed),
        ] {
            assert_eq!(Change::between(before.as_ref(), &now), change, "{before:?} {now:?}");
        }
    }
}
