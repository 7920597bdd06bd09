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

/// The URLs that a number counts, or why it has no list of them.
pub type Counted = Result<Behind, &'static str>;

/// Why a number has no list.
const OF_SEED_SITES: &str = "no selection has the seed sites alone";
const SUM: &str = "sums are kept, and not what they count";
const OF_SITES: &str = "the page Sites has the sites";
const MEASURE: &str = "shares, means, sizes and times count no URLs";
const BESIDE: &str = "the page beside a number leads to what it counts";

/// Numbers of things that are no URLs, or of which only sums are kept.
pub(crate) fn sum(_: &[Value], _: usize) -> Counted {
    Err(SUM)
}

/// Numbers about the page in the same row.
pub(crate) fn beside(_: &[Value], _: usize) -> Counted {
    Err(BESIDE)
}

/// Numbers that are measured or estimated.
pub(crate) fn measured(_: &[Value], _: usize) -> Counted {
    Err(MEASURE)
}

fn text(row: &[Value]) -> &str {
    row.first().and_then(Value::as_str).unwrap_or_default()
}

/// The URLs in the state that the first column names.
pub(crate) fn state(row: &[Value], column: usize) -> Counted {
    let name = text(row);
    let outcome = Outcome::ALL.iter().map(|outcome| outcome.as_str()).find(|outcome| *outcome == name);
    let state = outcome.or((name == FRONTIER).then_some(WAITING)).ok_or(SUM)?;
    of_all_sites(column, Behind { state, ..Behind::default() })
}

/// The URLs that a measure of the overview counts.
pub(crate) fn measure(row: &[Value], column: usize) -> Counted {
    let state = match text(row) {
        "HTML pages" => Outcome::Html.as_str(),
        "duplicates" => Outcome::Duplicate.as_str(),
        "binary files" => Outcome::Binary.as_str(),
        "redirects" => Outcome::Redirect.as_str(),
        "errors" => FAILED,
        "disallowed by robots.txt" => Outcome::Disallowed.as_str(),
        "still in the frontier" => WAITING,
        "sites" => return Err(OF_SITES),
        _ => return Err(SUM),
    };
    of_all_sites(column, Behind { state, ..Behind::default() })
}

/// The URLs with the status that the first column names.
pub(crate) fn status(row: &[Value], column: usize) -> Counted {
    of_all_sites(column, Behind { status: text(row).to_owned(), ..Behind::default() })
}

/// The URLs at the depth that the first column names, which may stand for all greater ones.
pub(crate) fn depth(row: &[Value], column: usize) -> Counted {
    let depth = text(row).parse::<u32>().map_err(|_| SUM)?;
    of_all_sites(column, Behind { depth: depth.to_string(), ..Behind::default() })
}

/// The URLs of the site that the first column names.
pub(crate) fn pages_of_site(row: &[Value], column: usize) -> Counted {
    let state = match column {
        2 => "",
        3 => Outcome::Html.as_str(),
        4 => Outcome::Binary.as_str(),
        5 => Outcome::Duplicate.as_str(),
        6 => FAILED,
        7 => WAITING,
        _ => return Err(MEASURE),
    };
    Ok(of_site(row, state))
}

/// Those of them that failed.
pub(crate) fn errors_of_site(row: &[Value], column: usize) -> Counted {
    if column == 1 { Ok(of_site(row, FAILED)) } else { Err(MEASURE) }
}

/// Those of them that robots.txt forbids.
pub(crate) fn disallowed_of_site(row: &[Value], column: usize) -> Counted {
    if column == 1 { Ok(of_site(row, Outcome::Disallowed.as_str())) } else { Err(MEASURE) }
}

/// The URLs that the column of all sites counts; the other is of the seed sites.
fn of_all_sites(column: usize, behind: Behind) -> Counted {
    if column == ALL_SITES { Ok(behind) } else { Err(OF_SEED_SITES) }
}

fn of_site(row: &[Value], state: &'static str) -> Behind {
    Behind { site: text(row).to_owned(), state, ..Behind::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_leads_to_its_urls() {
        let row = |first: &str| [json!(first), json!(1), json!(2)];
        for (of, first, state) in [
            (measure as fn(&[Value], usize) -> Counted, "errors", FAILED),
            (measure, "redirects", "redirect"),
            (super::state, "frontier", WAITING),
            (super::state, "http_error", "http_error"),
        ] {
            assert_eq!(of(&row(first), 2), Ok(Behind { state, ..Behind::default() }), "{first}");
            assert_eq!(of(&row(first), 1), Err(OF_SEED_SITES), "{first} of the seed sites");
        }
        assert_eq!(measure(&row("images"), 2), Err(SUM));
        let site = [json!("http://a.test"), json!("yes"), json!(9), json!(1), json!(1), json!(1), json!(5), json!(1)];
        let failed = Behind { site: "http://a.test".to_owned(), state: FAILED, ..Behind::default() };
        assert_eq!(pages_of_site(&site, 6), Ok(failed));
    }
}
