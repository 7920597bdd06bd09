//! The URLs that are behind the numbers of a table: what a reader selects to see them.

use ask::urls::FAILED;
use dataset::rows::FRONTIER;
use model::Outcome;
use serde_json::Value;

/// The word for URLs that were not visited yet, in selections.
const WAITING: &str = "waiting";
/// The column of a table of measures whose numbers are of all sites. No selection has the seed sites alone.
const ALL_SITES: usize = 2;

/// A selection of URLs. What is empty selects nothing in particular.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behind {
    /// Only of this site.
    pub site: String,
    /// Only in this state: an outcome, `waiting` or `failed`.
    pub state: &'static str,
    /// Only with this status.
    pub status: String,
    /// Only so many links from a seed.
    pub depth: String,
}

pub(crate) fn none(_: &[Value], _: usize) -> Option<Behind> {
    None
}

fn text(row: &[Value]) -> &str {
    row.first().and_then(Value::as_str).unwrap_or_default()
}

/// The URLs in the state that the first column names.
pub(crate) fn state(row: &[Value], column: usize) -> Option<Behind> {
    let name = text(row);
    let outcome = Outcome::ALL.iter().map(|outcome| outcome.as_str()).find(|outcome| *outcome == name);
    let state = outcome.or((name == FRONTIER).then_some(WAITING))?;
    (column == ALL_SITES).then(|| Behind { state, ..Behind::default() })
}

/// The URLs that a measure of the overview counts.
pub(crate) fn measure(row: &[Value], column: usize) -> Option<Behind> {
    let state = match text(row) {
        "HTML pages" => Outcome::Html.as_str(),
        "duplicates" => Outcome::Duplicate.as_str(),
        "binary files" => Outcome::Binary.as_str(),
        "redirects" => Outcome::Redirect.as_str(),
        "errors" => FAILED,
        "disallowed by robots.txt" => Outcome::Disallowed.as_str(),
        "still in the frontier" => WAITING,
        _ => return None,
    };
    (column == ALL_SITES).then(|| Behind { state, ..Behind::default() })
}

/// The URLs with the status that the first column names.
pub(crate) fn status(row: &[Value], column: usize) -> Option<Behind> {
    (column == ALL_SITES).then(|| Behind { status: text(row).to_owned(), ..Behind::default() })
}

/// The URLs at the depth that the first column names, which may stand for all greater ones.
pub(crate) fn depth(row: &[Value], column: usize) -> Option<Behind> {
    let depth = text(row).parse::<u32>().ok()?;
    (column == ALL_SITES).then(|| Behind { depth: depth.to_string(), ..Behind::default() })
}

/// The URLs of the site that the first column names.
pub(crate) fn pages_of_site(row: &[Value], column: usize) -> Option<Behind> {
    let state = match column {
        2 => "",
        3 => Outcome::Html.as_str(),
        4 => Outcome::Binary.as_str(),
        5 => Outcome::Duplicate.as_str(),
        6 => FAILED,
        7 => WAITING,
        _ => return None,
    };
    Some(of_site(row, state))
}

/// Those of them that failed.
pub(crate) fn errors_of_site(row: &[Value], column: usize) -> Option<Behind> {
    (column == 1).then(|| of_site(row, FAILED))
}

/// Those of them that robots.txt forbids.
pub(crate) fn disallowed_of_site(row: &[Value], column: usize) -> Option<Behind> {
    (column == 1).then(|| of_site(row, Outcome::Disallowed.as_str()))
}

fn of_site(row: &[Value], state: &'static str) -> Behind {
    Behind { site: text(row).to_owned(), state, ..Behind::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_are_failures_and_nothing_else() {
        for outcome in Outcome::ALL {
            assert_eq!(crate::scan::ERRORS.contains(outcome), outcome.is_failure(), "{outcome}");
        }
    }

    #[test]
    fn a_number_leads_to_its_urls() {
        let row = |first: &str| [json!(first), json!(1), json!(2)];
        for (of, first, state) in [
            (measure as fn(&[Value], usize) -> Option<Behind>, "errors", FAILED),
            (measure, "redirects", "redirect"),
            (super::state, "frontier", WAITING),
            (super::state, "http_error", "http_error"),
        ] {
            assert_eq!(of(&row(first), 2), Some(Behind { state, ..Behind::default() }), "{first}");
            assert_eq!(of(&row(first), 1), None, "{first} of the seed sites");
        }
        assert_eq!(measure(&row("images"), 2), None);
        let site = [json!("http://a.test"), json!("yes"), json!(9), json!(1), json!(1), json!(1), json!(5), json!(1)];
        let failed = Behind { site: "http://a.test".to_owned(), state: FAILED, ..Behind::default() };
        assert_eq!(pages_of_site(&site, 6), Some(failed));
    }
}
