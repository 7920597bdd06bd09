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

/// The entry with the visit that describes the present content of the URL.
///
/// # Errors
/// The store cannot be read.
pub fn with_current_visit(view: &dyn CrawlView, entry: Entry) -> Result<Entry, StoreError> {
    let Some(last) = entry.visit.as_ref().filter(|last| last.past.visits > 0 && !says_what_is_there(last)) else {
        return Ok(entry);
    };
    let earlier = view.earlier(last.key)?;
    let visit = Some(current_visit(last, &earlier).clone());
    Ok(Entry { visit, ..entry })
}

#[cfg(test)]
mod tests {
    use model::{Outcome, Timestamp};
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
}
