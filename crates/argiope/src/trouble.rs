//! What a site is in trouble for, in words.

use model::{RobotsAnswer, SiteRecord};

/// Why nothing is to be had of a site now; `None` where nothing is known of any trouble.
#[must_use]
pub(crate) fn trouble_of(record: &SiteRecord) -> Option<String> {
    let robots = record.robots.as_ref().filter(|robots| robots.failed_tries > 0);
    let robots = robots.map(|robots| match &robots.answer {
        RobotsAnswer::Status { code, .. } => format!("robots.txt: status {code}"),
        RobotsAnswer::Failed(failure) => format!("robots.txt: {}", failure.detail),
    });
    record.aside.as_ref().map(|aside| aside.reason.detail.clone()).or(robots)
}
