//! Visits after the first: the validators of a request, and what the answer says about earlier visits.
//!
//! A server may be wrong about its content. Three rules keep that from hiding changes:
//!
//! - The first page of each site in a run is requested without validators, and each page once in a number of visits ([`PROBED_ONE_IN`]). If such a page has changed although
//!   its validators have not, or although the server answers 304 to the old validators, the site loses its credit: its pages are always
//!   requested without validators.
//! - An entity tag that changed while the content did not is not kept: it would hide the changes that `Last-Modified` shows.
//! - A `Last-Modified` later than the answer is not kept.
//! - What is no entity tag is neither kept nor sent: `If-None-Match: *` brings a 304 whatever the content is ([`is_entity_tag`]).

use std::ops::RangeInclusive;
use std::time::UNIX_EPOCH;

use model::{Announced, Change, Headers, Limit, Outcome, Past, Timestamp, Validators, Visit, can_be_compared};

/// Each page is requested without validators once in so many visits that find it unchanged: as many as half the pages that its site has
/// given, between these. So a page of a small site waits less for its turn, and a large site sends no more than one page in 128 for nothing.
pub const PROBED_ONE_IN: RangeInclusive<u64> = 8..=128;

/// The usable validators of an answer.
#[must_use]
pub fn validators_of(headers: &Headers, at: Timestamp) -> Validators {
    let kept = |name: &str| {
        let value = headers.get(name).map(str::trim).unwrap_or_default();
        (!value.is_empty() && value.len() <= Validators::BYTES_MAX).then(|| value.to_owned())
    };
    let is_past = |value: &String| {
        let date = httpdate::parse_http_date(value).ok().and_then(|date| date.duration_since(UNIX_EPOCH).ok());
        date.is_some_and(|date| date <= at.since(Timestamp::default()))
    };
    let etag = kept("etag").filter(|tag| is_entity_tag(tag));
    Validators { etag, last_modified: kept("last-modified").filter(is_past) }
}

/// True if a request may bear this as the tag of one representation: an entity tag (RFC 9110 §8.8.3), or one whose server forgot the quotes.
/// Such servers compare what they get with what they gave, so it is sent as it came. All else may mean something else in `If-None-Match`: `*`
/// is any representation, a comma begins another tag. A replacement character was no UTF-8, so the tag is not that of the server any more.
#[must_use]
pub fn is_entity_tag(tag: &str) -> bool {
    let opaque = tag.strip_prefix("W/").unwrap_or(tag);
    match opaque.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"').is_some_and(|tag| tag.chars().all(is_etagc)),
        None => !opaque.is_empty() && opaque.chars().all(|c| c.is_ascii_alphanumeric() || UNQUOTED.contains(c)),
    }
}

/// Characters of unquoted tags, beside letters and digits: those of hexadecimal and Base64 hashes, dates and versions.
const UNQUOTED: &str = "-._~+/=:";

/// `etagc` of RFC 9110 §8.8.3. Space is none, nor are control characters.
fn is_etagc(c: char) -> bool {
    match c {
        '\x21' | '\x23'..='\x7e' => true,
        c => !c.is_ascii() && !c.is_control() && c != char::REPLACEMENT_CHARACTER,
    }
}

/// What of validators may be sent. A state from an earlier version may have others.
#[must_use]
pub fn sendable(validators: &Validators) -> Validators {
    let etag = validators.etag.clone().filter(|tag| is_entity_tag(tag));
    Validators { etag, last_modified: validators.last_modified.clone() }
}

/// True if the content of a visit is not all there: it looks changed, whatever the server has.
#[must_use]
pub fn is_cut(visit: &Visit) -> bool {
    let cut_by = [Limit::Length, Limit::Decompression, Limit::Time, Limit::Disconnect, Limit::SitemapBytes];
    cut_by.into_iter().any(|limit| visit.limits.contains(limit))
}

/// Makes a failure of a visit whose body broke off, or was cut short by a smaller limit than before, if the URL had a whole content before: it does not
/// say what the content is now, and the one before stays. Where the page before had broken off, too, one part follows another, whatever failed between:
/// some servers announce more than they ever send. `last` is the visit before. Called before [`follow`].
pub fn fail_if_broken_off(visit: &mut Visit, last: &Visit) {
    let Some(outcome) = broken_off(visit).or_else(|| cut_short(visit, last)) else { return };
    let had_content = match last.outcome.is_fetched() {
        true => broken_off(last).is_none(),
        // A failure keeps the identity of the content before, which a part has not.
        false => last.content_at.is_some() && last.identity.is_some(),
    };
    if visit.outcome.is_fetched() && had_content {
        visit.outcome = outcome;
        let note = "the content from before stays";
        visit.reason = if visit.reason.is_empty() { note.to_owned() } else { format!("{}; {note}", visit.reason) };
    }
}

/// The failure that a body has that is not whole because the connection or the time ended.
fn broken_off(visit: &Visit) -> Option<Outcome> {
    match visit.limits {
        limits if limits.contains(Limit::Disconnect) => Some(Outcome::ConnectionError),
        limits if limits.contains(Limit::Time) => Some(Outcome::Timeout),
        _ => None,
    }
}

/// The failure that a body is which `--max-body-bytes` cut before it was as long as that of the visit before. A page that has outgrown the limit is longer
/// than it was: it has changed. Behind such a failure it is not known how long the content was.
fn cut_short(visit: &Visit, last: &Visit) -> Option<Outcome> {
    let is_cut = |visit: &Visit| visit.limits.contains(Limit::Length);
    let is_short = match last.outcome.is_fetched() {
        true => !is_cut(last) && visit.length < last.length,
        false => is_cut(last),
    };
    (is_cut(visit) && is_short).then_some(Outcome::TooLarge)
}

/// The validators with which to request the content of the last visit again; none for an unconditional request. `is_probe` says
/// that this request tests the site, or that the site has lost its credit. `pages_of_site` is what its site has given so far.
#[must_use]
pub fn condition(last: &Visit, is_probe: bool, pages_of_site: u64) -> Validators {
    let turns = (pages_of_site / 2).clamp(*PROBED_ONE_IN.start(), *PROBED_ONE_IN.end());
    let turn = u64::from(last.past.unchanged()).wrapping_add(last.key.url) % turns;
    if !has_whole_content(last) || is_probe || turn == turns - 1 {
        return Validators::default();
    }
    sendable(&last.validators)
}

/// True if a request for the page of the last visit without validators tests whether its site is right about changes: it has a content that may
/// differ, and validators that may be the same.
#[must_use]
pub fn is_test(last: &Visit) -> bool {
    has_whole_content(last) && !sendable(&last.validators).is_empty()
}

fn has_whole_content(last: &Visit) -> bool {
    last.payload().is_known()
        && last.outcome.is_fetched()
        && last.duplicate_of.is_none()
        && !is_cut(last)
        && !last.past.is_lost()
}

/// The visit of an unchanged content. A tag counts only beside the tag of the content: where [`follow`] has dropped that, each answer has another.
#[must_use]
pub fn not_modified(last: &Visit, headers: &Headers, at: Timestamp) -> Visit {
    let sent = validators_of(headers, at);
    Visit {
        outcome: Outcome::NotModified,
        reason: String::new(),
        status: 304,
        duplicate_kind: last.kind(),
        content_at: Some(last.content_at.unwrap_or(last.at)),
        location: None,
        announced: Announced::default(),
        validators: Validators {
            etag: last.validators.etag.clone().map(|tag| sent.etag.unwrap_or(tag)),
            last_modified: sent.last_modified.or_else(|| last.validators.last_modified.clone()),
        },
        at,
        ..last.clone()
    }
}

/// Completes a visit by the visits before it, and tells whether its server was wrong. `last` is the visit before; `was_asked_in_any_case` says that no
/// validators were sent.
pub fn follow(visit: &mut Visit, last: &Visit, was_asked_in_any_case: bool) -> bool {
    let change = Change::between(Some(last), visit);
    let is_same = change == Change::Unchanged && visit.outcome.is_fetched();
    let had_content = last.outcome.is_fetched();
    if !visit.outcome.is_fetched() {
        visit.content_at = if had_content { Some(last.content_at.unwrap_or(last.at)) } else { last.content_at };
        visit.content_url = last.content_url.clone();
        // All are those of the content.
        (visit.validators, visit.identity, visit.wording) = (last.validators.clone(), last.identity, last.wording);
    }
    let is_first = last.past.visits == 0;
    let has_changed = !matches!(change, Change::Unchanged | Change::Failed);
    // Where nothing was known, nothing has changed.
    let is_known = can_be_compared(last) || last.content_at.is_some();
    let says_the_same = !visit.validators.is_empty() && visit.validators == last.validators;
    visit.past = Past {
        visits: last.past.visits.saturating_add(1),
        changes: last.past.changes.saturating_add(u32::from(has_changed && is_known)),
        first_at: if is_first { last.at } else { last.past.first_at },
        changed_at: match has_changed {
            true => visit.at,
            false if is_first => last.at,
            false => last.past.changed_at,
        },
        not_modified: match visit.outcome {
            Outcome::NotModified => last.past.unchanged().saturating_add(1),
            _ if is_same => last.past.unchanged().saturating_add(u32::from(was_asked_in_any_case)),
            _ => 0,
        },
    };
    // Behind a failure, the content may be another.
    let is_compared = had_content && !is_cut(last) && visit.outcome != Outcome::NotModified;
    if is_same && is_compared && visit.validators.etag != last.validators.etag {
        visit.validators.etag = None;
    }
    change == Change::Changed && says_the_same && !is_cut(last) && !is_cut(visit)
}

#[cfg(test)]
mod tests {
    use model::{LimitSet, PayloadDigest};
    use weburl::{SiteKey, UrlKey};

    use super::*;

    const AT: Timestamp = Timestamp(1_800_000_000_000_000);
    const PAST: &str = "Wed, 01 Jan 2025 00:00:00 GMT";

    fn validators(etag: &str, last_modified: &str) -> Validators {
        let some = |value: &str| (!value.is_empty()).then(|| value.to_owned());
        Validators { etag: some(etag), last_modified: some(last_modified) }
    }

    /// A page whose content begins with this letter.
    fn page(content: u8, etag: &str) -> Visit {
        let key = UrlKey { site: SiteKey(1), url: 0 };
        Visit {
            status: 200,
            digest: Some(PayloadDigest([content; 20])),
            validators: validators(etag, PAST),
            ..Visit::without_fetch(key, Outcome::Html, String::new(), AT)
        }
    }

    fn gone() -> Visit {
        let key = page(1, "").key;
        Visit { status: 404, ..Visit::without_fetch(key, Outcome::HttpError, String::new(), Timestamp(AT.0 + 1)) }
    }

    #[test]
    fn validators_are_kept_where_they_can_be_right() {
        let long = "x".repeat(Validators::BYTES_MAX + 1);
        for (fields, kept) in [
            (vec![("ETag", "\"a\""), ("Last-Modified", PAST)], validators("\"a\"", PAST)),
            (vec![("etag", " W/\"a\" ")], validators("W/\"a\"", "")),
            (vec![("ETag", ""), ("Last-Modified", "")], validators("", "")),
            (vec![("ETag", &*long), ("Last-Modified", PAST)], validators("", PAST)),
            (vec![("Last-Modified", "Fri, 01 Jan 2100 00:00:00 GMT")], validators("", "")),
            (vec![("Last-Modified", "yesterday")], validators("", "")),
            (vec![("ETag", "*"), ("Last-Modified", "*")], validators("", "")),
            (vec![("ETag", "*"), ("Last-Modified", PAST)], validators("", PAST)),
        ] {
            let headers = Headers(fields.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect());
            assert_eq!(validators_of(&headers, AT), kept, "{fields:?}");
        }
    }

    #[test]
    fn only_what_names_one_representation_is_sent_as_a_tag() {
        for (tag, is_one) in [
            ("\"a\"", true),
            ("W/\"a\"", true),
            ("\"\"", true),
            ("W/\"\"", true),
            ("\"*\"", true),
            ("\"comma,in,tag\"", true),
            ("\"a'`{|}~!\"", true),
            ("\"é\"", true),
            // Without quotes, as some servers write and compare them.
            ("bxyV1WsBXaU8VEI7_C0d", true),
            ("W/abc", true),
            ("5d41402a-1c+/=", true),
            ("*", false),
            ("W/*", false),
            ("a*", false),
            ("*, \"a\"", false),
            ("", false),
            ("W/", false),
            ("\"", false),
            ("W/\"", false),
            ("\"unterminated", false),
            ("unopened\"", false),
            ("\"a\"b\"", false),
            ("\"a\", \"b\"", false),
            ("\"a\"; evil", false),
            ("\"a b\"", false),
            ("W/ \"a\"", false),
            ("w/\"a\"", false),
            ("'single'", false),
            ("a,b", false),
            ("\"a\tb\"", false),
            ("\"\x7f\"", false),
            ("\"\u{85}\"", false),
            ("\"\u{fffd}\"", false),
        ] {
            assert_eq!(is_entity_tag(tag), is_one, "{tag:?}");
            let sent = condition(&page(1, tag), false, 1_000).etag;
            assert_eq!(sent.as_deref(), Some(tag).filter(|_| is_one), "of an earlier version: {tag:?}");
        }
    }

    #[test]
    fn a_page_is_asked_for_in_any_case_where_its_server_may_be_wrong() {
        let asked = |last: &Visit| condition(last, false, 1_000) == last.validators;
        let original = Some(UrlKey { site: SiteKey(1), url: 9 });
        let turn = |not_modified| Past { not_modified, ..Past::default() };
        for (last, is_asked_so) in [
            (page(1, "a"), true),
            (not_modified(&page(1, "a"), &Headers::default(), AT), true),
            (Visit { outcome: Outcome::Duplicate, duplicate_of: original, ..page(1, "a") }, false),
            (Visit { limits: LimitSet::from(Limit::Length), ..page(1, "a") }, false),
            (Visit { limits: LimitSet::from(Limit::Links), ..page(1, "a") }, true),
            (Visit { digest: None, ..page(1, "a") }, false),
            (Visit { outcome: Outcome::HttpError, ..page(1, "a") }, false),
            (Visit { past: turn(126), ..page(1, "a") }, true),
            (Visit { past: turn(127), ..page(1, "a") }, false),
            (Visit { past: turn(128), ..page(1, "a") }, true),
            (Visit { past: turn(Past::LOST), ..page(1, "a") }, false),
        ] {
            assert_eq!(asked(&last), is_asked_so, "{last:?}");
        }
        assert_eq!(condition(&page(1, "a"), true, 1_000), Validators::default(), "a probe");
        // Of a small site each page has its turn soon.
        for (pages, turns) in [(0, 8), (16, 8), (30, 15), (256, 128), (1 << 40, 128)] {
            let is_tested = |n: &u32| condition(&Visit { past: turn(*n), ..page(1, "a") }, false, pages).is_empty();
            assert_eq!((0..turns).filter(is_tested).collect::<Vec<_>>(), [turns - 1], "{pages}");
        }
    }

    #[test]
    fn an_unchanged_content_is_that_of_the_visit_that_recorded_it() {
        let first = Visit { title: Some("t".to_owned()), length: 7, ..page(1, "a") };
        let headers = Headers(vec![("ETag".to_owned(), "b".to_owned())]);
        let mut second = not_modified(&first, &headers, Timestamp(AT.0 + 1));
        follow(&mut second, &first, false);
        assert_eq!((second.kind(), second.content_at), (Some(Outcome::Html), Some(AT)));
        assert_eq!((second.title.clone(), second.length, second.digest), (first.title.clone(), 7, first.digest));
        assert_eq!(second.validators, validators("b", PAST), "what it says now counts");
        let without = not_modified(&page(1, ""), &headers, Timestamp(AT.0 + 1));
        assert_eq!(without.validators, validators("", PAST), "the tag that was dropped does not come back");
        let mut third = not_modified(&second, &Headers::default(), Timestamp(AT.0 + 2));
        follow(&mut third, &second, false);
        assert_eq!((third.content_at, third.kind()), (Some(AT), Some(Outcome::Html)));
        assert_eq!((third.past.visits, third.past.not_modified, third.past.changed_at), (2, 2, AT));
    }

    #[test]
    fn a_body_that_broke_off_takes_no_content_away() {
        let cut = |limit: Limit| Visit { limits: limit.into(), ..page(2, "a") };
        let failed = Visit::without_fetch(page(1, "").key, Outcome::Timeout, String::new(), AT);
        for (now, last, outcome) in [
            (cut(Limit::Disconnect), page(1, "a"), Outcome::ConnectionError),
            (cut(Limit::Time), page(1, "a"), Outcome::Timeout),
            (cut(Limit::Disconnect), cut(Limit::Disconnect), Outcome::Html),
            (cut(Limit::Disconnect), Visit { digest: page(3, "a").digest, ..cut(Limit::Time) }, Outcome::Html),
            (
                cut(Limit::Disconnect),
                Visit { content_at: Some(AT), identity: Some(1), ..failed.clone() },
                Outcome::ConnectionError,
            ),
            // Part of a page is more than nothing, and what a limit cuts is cut each time.
            (cut(Limit::Disconnect), Visit { content_at: Some(AT), ..failed.clone() }, Outcome::Html),
            (cut(Limit::Disconnect), failed, Outcome::Html),
            (cut(Limit::Length), page(1, "a"), Outcome::Html),
            // By a smaller limit than before, it says no more than what broke off.
            (cut(Limit::Length), Visit { length: 9, ..page(1, "a") }, Outcome::TooLarge),
            (page(2, "a"), page(1, "a"), Outcome::Html),
        ] {
            let mut visit = now.clone();
            fail_if_broken_off(&mut visit, &last);
            assert_eq!((visit.outcome, visit.reason.is_empty()), (outcome, outcome == Outcome::Html), "{now:?}");
            follow(&mut visit, &last, true);
            let is_other = last.outcome.is_fetched() && last.digest != now.digest;
            assert_eq!(visit.past.changes > 0, outcome == Outcome::Html && is_other, "{now:?}");
        }
    }

    #[test]
    fn only_a_content_that_was_whole_stays_where_the_next_one_breaks_off_whatever_failed_between() {
        let failed = Visit::without_fetch(page(1, "").key, Outcome::Timeout, String::new(), AT);
        let whole = |content: u8| Visit { identity: Some(content.into()), length: 9, ..page(content, "a") };
        let short = |content: u8| Visit { limits: Limit::Length.into(), length: 5, ..page(content, "a") };
        let part = |content: u8| Visit { limits: Limit::Disconnect.into(), ..page(content, "a") };
        let fetched = Outcome::Html;
        for (visits, outcomes) in [
            (vec![part(1), gone(), part(2), part(3)], vec![fetched; 2]),
            (vec![part(1), failed.clone(), gone(), part(2)], vec![fetched]),
            (vec![whole(1), gone(), part(2), part(3)], vec![Outcome::ConnectionError; 2]),
            (vec![whole(1), part(2), failed.clone(), part(3)], vec![Outcome::ConnectionError; 2]),
            (vec![part(1), failed.clone(), whole(2), part(3), failed], vec![fetched, Outcome::ConnectionError]),
            (vec![whole(1), short(2), short(2), whole(1)], vec![Outcome::TooLarge, Outcome::TooLarge, fetched]),
            (vec![short(2), short(2)], vec![fetched]),
        ] {
            let (mut last, mut found) = (visits[0].clone(), Vec::new());
            for mut visit in visits[1..].iter().cloned() {
                fail_if_broken_off(&mut visit, &last);
                follow(&mut visit, &last, true);
                found.extend(Some(visit.outcome).filter(|_| visit.status == 200));
                last = visit;
            }
            assert_eq!(found, outcomes, "{visits:?}");
        }
    }

    #[test]
    fn a_content_that_changed_behind_a_failure_has_changed_and_keeps_its_tag() {
        let failed = Visit::without_fetch(page(1, "").key, Outcome::Timeout, String::new(), AT);
        let of = |content: u8, identity: Option<u64>, etag: &str| Visit { identity, ..page(content, etag) };
        for (before, now, next, changes, tags) in [
            (of(1, Some(1), "a"), of(1, Some(1), "a"), of(1, Some(1), "a"), 0, [Some("a"), Some("a")]),
            (of(1, Some(1), "a"), of(2, Some(2), "b"), of(2, Some(2), "b"), 1, [Some("b"), Some("b")]),
            // Of an earlier version: it cannot be compared.
            (of(1, None, "a"), of(2, Some(2), "b"), of(2, Some(2), "b"), 0, [Some("b"), Some("b")]),
            // A tag that changes by itself is found out by the next visit.
            (of(1, Some(1), "a"), of(1, Some(1), "b"), of(1, Some(1), "c"), 0, [Some("b"), None]),
        ] {
            let mut last = before.clone();
            let kept = [failed.clone(), now.clone(), next].map(|mut visit| {
                follow(&mut visit, &last, true);
                last = visit;
                last.validators.etag.clone()
            });
            assert_eq!(kept[1..].iter().map(Option::as_deref).collect::<Vec<_>>(), tags, "{before:?} {now:?}");
            assert_eq!(last.past.changes, changes, "{before:?} {now:?}");
        }
    }

    #[test]
    fn another_coding_of_a_content_is_no_change() {
        let coded = |sent: u8, identity: u64| Visit { identity: Some(identity), ..page(sent, "a") };
        for (last, now, changes) in
            [(coded(1, 7), coded(2, 7), 0), (coded(1, 7), coded(2, 8), 1), (page(1, "a"), coded(1, 7), 0)]
        {
            let mut visit = now;
            assert_eq!((follow(&mut visit, &last, true), visit.past.changes), (changes > 0, changes), "{last:?}");
        }
    }

    #[test]
    fn a_visit_says_what_became_of_those_before() {
        let later = |visit: Visit| Visit { at: Timestamp(AT.0 + 1), ..visit };
        let followed = |now: Visit, last: &Visit| {
            let mut now = later(now);
            let misleads = follow(&mut now, last, true);
            (now, misleads)
        };
        // Changes, whether the server is believed, and the validators afterwards.
        for (last, now, changes, is_misleading, etag) in [
            (page(1, "a"), page(1, "a"), 0, false, Some("a")),
            (page(1, "a"), page(1, "b"), 0, false, None),
            (page(1, ""), page(1, "b"), 0, false, None),
            (page(1, "a"), page(2, "b"), 1, false, Some("b")),
            (page(1, "a"), page(2, "a"), 1, true, Some("a")),
            (page(1, "a"), gone(), 1, false, Some("a")),
        ] {
            let (now, misleads) = followed(now, &last);
            let is = (now.past.changes, misleads, now.validators.etag.as_deref());
            assert_eq!(is, (changes, is_misleading, etag), "{last:?}");
            assert_eq!((now.past.visits, now.past.first_at), (1, AT));
            assert_eq!(now.past.changed_at, if changes > 0 { now.at } else { AT });
            assert_eq!((last.past.found_change(AT), now.past.found_change(now.at)), (None, Some(changes > 0)));
        }
        // What the archive has lost and the server still has is recorded again, and counts from there. The tag is still the right one.
        let lost = Visit { past: Past { visits: 3, not_modified: Past::LOST, ..Past::default() }, ..page(1, "a") };
        let (now, _) = followed(page(1, "a"), &lost);
        assert_eq!((now.past.not_modified, now.past.changes, now.validators.etag.as_deref()), (1, 0, Some("a")));
        // Where nothing was known, nothing has changed, and the content is as old as this visit.
        let excluded = Visit::without_fetch(page(1, "").key, Outcome::Excluded, String::new(), AT);
        let (now, _) = followed(page(1, "a"), &excluded);
        assert_eq!((now.past.visits, now.past.changes, now.past.changed_at), (1, 0, now.at));
        assert_eq!(now.past.found_change(now.at), None);
        // The tag outlives a failure.
        let failed = Visit::without_fetch(page(1, "").key, Outcome::Timeout, String::new(), AT);
        let (failed, _) = followed(failed, &page(1, "a"));
        assert_eq!(followed(page(1, "a"), &failed).0.validators.etag.as_deref(), Some("a"));
        // What broke off says nothing of the server.
        let cut = |visit: Visit| Visit { limits: Limit::Disconnect.into(), ..visit };
        assert!(!followed(cut(page(2, "a")), &page(1, "a")).1 && !followed(page(2, "a"), &cut(page(1, "a"))).1);
        let (gone, _) = followed(gone(), &page(1, "a"));
        assert_eq!(gone.content_at, Some(AT), "what was there is in the archive");
        let (still, _) = followed(self::gone(), &gone);
        assert_eq!((still.content_at, still.past.changes), (Some(AT), 1));
        let (back, _) = followed(page(1, "a"), &still);
        assert_eq!((back.content_at, back.past.changes), (None, 2));
    }
}
