//! Which visit of a URL describes its present content.

use model::{Visit, says_what_is_there};

use crate::{CrawlView, Entry, StoreError};

/// The visit that describes the present content of a URL. That is the last one, unless it found the content unchanged, or failed for a
/// reason that tells nothing about the content. `earlier` are the visits before it, the oldest first.
#[must_use]
pub fn current_visit<'v>(last: &'v Visit, earlier: &'v [Visit]) -> &'v Visit {
    let newest_first = || std::iter::once(last).chain(earlier.iter().rev());
    newest_first().find(|visit| says_what_is_there(visit)).unwrap_or(last)
}

/// The visit whose row and record show the present content of a URL. That is the [`current_visit`], unless a repair found its record lost: then
/// it is the newest other one with the same content that has a record, if there is one.
#[must_use]
pub fn shown_visit<'v>(last: &'v Visit, earlier: &'v [Visit]) -> &'v Visit {
    let current = current_visit(last, earlier);
    if !may_be_shown_by_another(current) {
        return current;
    }
    // A visit that found the content unchanged has another outcome.
    let shows_it =
        |other: &&Visit| other.location.is_some() && other.outcome == current.outcome && other.digest == current.digest;
    std::iter::once(last).chain(earlier.iter().rev()).find(shows_it).unwrap_or(current)
}

/// Whether a visit has no record of the content that it found. In a crawl without an archive, that is so of all.
fn may_be_shown_by_another(visit: &Visit) -> bool {
    visit.location.is_none() && visit.outcome.is_fetched() && visit.digest.is_some()
}

/// The entry with the visit that shows the present content of the URL ([`shown_visit`]).
///
/// # Errors
/// The store cannot be read.
pub fn with_current_visit(view: &dyn CrawlView, entry: Entry) -> Result<Entry, StoreError> {
    let may_be_another = |last: &Visit| !says_what_is_there(last) || may_be_shown_by_another(last);
    let Some(last) = entry.visit.as_ref().filter(|last| last.past.visits > 0 && may_be_another(last)) else {
        return Ok(entry);
    };
    let earlier = view.earlier(last.key)?;
    let visit = Some(shown_visit(last, &earlier).clone());
    Ok(Entry { visit, ..entry })
}

#[cfg(test)]
mod tests {
    use model::{ArchiveLocation, Outcome, PayloadDigest, Timestamp};
    use weburl::{SiteKey, UrlKey};

    use super::*;

    #[test]
    fn what_is_there_is_said_by_the_newest_visit_that_knows() {
        let visit = |(n, (outcome, status)): (usize, &(Outcome, u16))| {
            let at = Timestamp(u64::try_from(n).expect("a small number"));
            let key = UrlKey { site: SiteKey(1), url: 1 };
            Visit { status: *status, ..Visit::without_fetch(key, *outcome, String::new(), at) }
        };
        let (page, same) = ((Outcome::Html, 200), (Outcome::NotModified, 304));
        let (gone, late, busy) = ((Outcome::HttpError, 404), (Outcome::Timeout, 0), (Outcome::HttpError, 503));
        let (moved, copy, refused) = ((Outcome::Redirect, 301), (Outcome::Duplicate, 200), (Outcome::Disallowed, 0));
        for (visits, current) in [
            (vec![page], 0),
            (vec![page, same, same], 0),
            (vec![page, page, same], 1),
            (vec![page, late], 0),
            (vec![page, busy, same, refused], 0),
            (vec![page, gone], 1),
            (vec![page, gone, late], 1),
            (vec![page, moved], 1),
            (vec![page, copy, same], 1),
            (vec![late, late], 1),
        ] {
            let mut visits: Vec<Visit> = visits.iter().enumerate().map(visit).collect();
            let last = visits.pop().expect("a visit");
            assert_eq!(current_visit(&last, &visits).at, Timestamp(current), "{visits:?} {last:?}");
        }
    }

    #[test]
    fn what_is_lost_is_shown_by_another_record_of_the_same_content() {
        let page = |content: u8, is_kept: bool| {
            (Outcome::Html, content, is_kept.then_some(ArchiveLocation { segment: 0, offset: 0, length: 1 }))
        };
        let same = |content| (Outcome::NotModified, content, page(content, true).2);
        let copy = (Outcome::Duplicate, 1, page(1, true).2);
        let moved = |is_kept| (Outcome::Redirect, 1, page(1, is_kept).2);
        for (visits, shown) in [
            (vec![page(1, true), page(1, true)], 1),
            (vec![page(1, true), same(1), page(1, false)], 0),
            (vec![page(1, true), same(1), page(1, false), same(1)], 0),
            (vec![page(1, true), page(1, true), page(1, false), same(1)], 1),
            (vec![page(1, true), page(2, true), page(1, false), same(1)], 0),
            // Nothing else has the content.
            (vec![page(2, true), page(1, false), same(1)], 1),
            (vec![page(1, false), page(1, false), same(1)], 1),
            (vec![copy, page(1, false)], 1),
            // Where it led to is not in its digest.
            (vec![moved(true), moved(false)], 1),
        ] {
            let visit = |(n, (outcome, content, location)): (usize, &(Outcome, u8, Option<ArchiveLocation>))| {
                let at = Timestamp(u64::try_from(n).expect("a small number"));
                let key = UrlKey { site: SiteKey(1), url: 1 };
                let (status, digest) = (200, Some(PayloadDigest([*content; 20])));
                let visit = Visit::without_fetch(key, *outcome, String::new(), at);
                Visit { status, digest, location: *location, ..visit }
            };
            let mut visits: Vec<Visit> = visits.iter().enumerate().map(visit).collect();
            let last = visits.pop().expect("a visit");
            assert_eq!(shown_visit(&last, &visits).at, Timestamp(shown), "{visits:?} {last:?}");
        }
    }
}
