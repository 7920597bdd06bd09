//! What a site is in trouble for, in words.

use model::SiteRecord;

/// What keeps a site from being asked now; `None` where no trouble is known.
#[must_use]
pub(crate) fn trouble_of(record: &SiteRecord) -> Option<String> {
    let robots = record.robots.as_ref().filter(|robots| robots.failed_tries > 0);
    let aside = record.aside.as_ref().map(|aside| aside.reason.detail.clone());
    aside.or_else(|| robots.map(|robots| format!("robots.txt: {}", robots.answer)))
}
