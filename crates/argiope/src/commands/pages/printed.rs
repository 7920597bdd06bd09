//! The progress as the course wants it: each URL explored and each URL found, indented by depth.

use std::fmt;
use std::io::{self, Write};

use frontier::{Excluded, Filter};
use model::{Outcome, Visit};
use weburl::CanonicalUrl;

use printable::Printable;

/// The deepest indentation, in levels.
const LEVELS_MAX: u32 = 40;

/// One line: a depth, a word, a URL and maybe a remark.
pub(super) struct Line<'a> {
    pub(super) depth: u32,
    /// It is about a URL found on a page, not about the page.
    pub(super) found: bool,
    pub(super) word: &'static str,
    pub(super) url: &'a CanonicalUrl,
    /// What stands behind the URL, with its separator.
    pub(super) remark: String,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = 2 * (self.depth.min(LEVELS_MAX) + u32::from(self.found)) as usize;
        let Line { depth, word, url, remark, .. } = self;
        write!(f, "{depth:<2} {:indent$}{word}: {url}{}", "", Printable(remark))
    }
}

/// Prints lines on standard output at once.
pub(super) fn print(lines: &[Line<'_>]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    out.flush()
}

/// The word for what became of a URL, and the remark. `is_page` says that it is saved as a page.
pub(super) fn shown_url(filter: &Filter, url: &CanonicalUrl, visit: &Visit, is_page: bool) -> (&'static str, String) {
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
pub(super) fn failure(visit: &Visit) -> String {
    match (visit.status, visit.reason.as_str()) {
        (0, reason) => reason.to_owned(),
        (status, "") => format!("status {status}"),
        (status, reason) => format!("status {status}, {reason}"),
    }
}

/// Whether a URL is left alone because it is not internal.
pub(super) fn is_external(filter: &Filter, url: &CanonicalUrl) -> bool {
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
        let line = Line { depth: 1, found: outcome == Outcome::Excluded, word, url: &url, remark };
        assert_eq!(line.to_string(), expect);
    }

    #[test]
    fn lines() {
        check(Outcome::Html, "", 200, "1    Fetched: http://a.test/x");
        check(Outcome::Html, "truncated: size limit", 200, "1    Fetched: http://a.test/x (truncated: size limit)");
        check(Outcome::Binary, "", 200, "1    NotHTML: http://a.test/x (application/pdf)");
        check(Outcome::Redirect, "", 301, "1    Redirect: http://a.test/x -> http://a.test/y");
        check(Outcome::Disallowed, "line 3", 0, "1    Disallowed: http://a.test/x (line 3)");
        check_url("http://b.test/", Outcome::Excluded, "whatever it says", 0, "1      External: http://b.test/");
        check(Outcome::Excluded, "exclude *x", 0, "1      Excluded: http://a.test/x (exclude *x)");
        check(Outcome::HttpError, "", 404, "1    Failed: http://a.test/x (status 404)");
        check(
            Outcome::HttpError,
            "after 4 attempts",
            503,
            "1    Failed: http://a.test/x (status 503, after 4 attempts)",
        );
        check(Outcome::DomainError, "\u{1b}[2J", 0, "1    Failed: http://a.test/x (\\u{1b}[2J)");
    }
}
