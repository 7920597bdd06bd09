//! The progress as the course wants it: each URL explored and each URL found.

use frontier::{Excluded, Filter};
use model::{Outcome, Visit};
use serde::Serialize;
use weburl::CanonicalUrl;

/// One line: a depth, a word, a URL and maybe a remark.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// The depth of the page.
    pub depth: u32,
    /// It is about a URL found on a page, not about the page.
    pub found: bool,
    /// What became of the URL.
    pub word: &'static str,
    /// The URL.
    pub url: String,
    /// What stands behind the URL, with its separator.
    pub remark: String,
}

/// The word for what became of a URL, and the remark. `is_page` says that it is saved as a page.
pub(crate) fn shown_url(filter: &Filter, url: &CanonicalUrl, visit: &Visit, is_page: bool) -> (&'static str, String) {
    let in_brackets = |text: &str| if text.is_empty() { String::new() } else { format!(" ({text})") };
    match visit.outcome {
        _ if is_page => ("Fetched", in_brackets(&visit.reason)),
        outcome if outcome.is_fetched() => ("NotHTML", in_brackets(visit.content_type.as_deref().unwrap_or_default())),
        Outcome::Redirect => {
            let target = visit.target.as_ref().map(|target| format!(" -> {target}")).unwrap_or_default();
            ("Redirect", target + &in_brackets(&visit.reason))
        }
        Outcome::Disallowed => ("Disallowed", in_brackets(&visit.reason)),
        Outcome::Excluded if is_external(filter, url) => ("External", String::new()),
        Outcome::Excluded => ("Excluded", in_brackets(&visit.reason)),
        Outcome::Trap => ("Trap", in_brackets(&visit.reason)),
        _ => ("Failed", in_brackets(&failure(visit))),
    }
}

/// Why a URL could not be fetched: the status, the reason, or both.
pub(crate) fn failure(visit: &Visit) -> String {
    match (visit.status, visit.reason.as_str()) {
        (0, reason) => reason.to_owned(),
        (status, "") => format!("status {status}"),
        (status, reason) => format!("status {status}, {reason}"),
    }
}

/// Whether a URL is left alone because it is not internal.
pub(crate) fn is_external(filter: &Filter, url: &CanonicalUrl) -> bool {
    matches!(filter.judge(url), Err(Excluded::OutOfScope(_)))
}

#[cfg(test)]
mod tests {
    use model::Timestamp;
    use weburl::{CanonicalRules, Scope, ScopeKind};

    use super::*;

    fn check(outcome: Outcome, reason: &str, status: u16, expect: &str) {
        check_url("http://a.test/x", outcome, reason, status, expect);
    }

    fn check_url(text: &str, outcome: Outcome, reason: &str, status: u16, expect: &str) {
        let parse = |text| CanonicalUrl::parse(text, &CanonicalRules::default()).expect("a URL");
        let url = parse(text);
        let mut scope = Scope::new(ScopeKind::Host);
        scope.add_seed(&parse("http://a.test/"));
        let filter = Filter { scope, include: Vec::new(), exclude: Vec::new() };
        let visit = Visit {
            status,
            target: Some("http://a.test/y".to_owned()),
            content_type: Some("application/pdf".to_owned()),
            ..Visit::without_fetch(url.key(), outcome, reason.to_owned(), Timestamp::default())
        };
        let (word, remark) = shown_url(&filter, &url, &visit, outcome == Outcome::Html);
        assert_eq!(format!("{word}{remark}"), expect, "{url}");
    }

    #[test]
    fn what_became_of_urls() {
        check(Outcome::Html, "", 200, "Fetched");
        check(Outcome::Html, "truncated: size limit", 200, "Fetched (truncated: size limit)");
        check(Outcome::Binary, "", 200, "NotHTML (application/pdf)");
        check(Outcome::Redirect, "", 301, "Redirect -> http://a.test/y");
        check(Outcome::Disallowed, "line 3", 0, "Disallowed (line 3)");
        check_url("http://b.test/", Outcome::Excluded, "whatever it says", 0, "External");
        check(Outcome::Excluded, "exclude *x", 0, "Excluded (exclude *x)");
        check(Outcome::HttpError, "", 404, "Failed (status 404)");
        check(Outcome::HttpError, "after 4 attempts", 503, "Failed (status 503, after 4 attempts)");
        check(Outcome::DomainError, "\u{1b}[2J", 0, "Failed (\u{1b}[2J)");
    }
}
