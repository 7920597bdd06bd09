//! What is behind the numbers of a table: what a reader selects to see it.

use ask::urls::{FAILED, UNDECLARED};
use dataset::rows::FRONTIER;
use model::{Limit, Outcome};
use serde_json::Value;

/// The word for URLs that were not visited yet, in selections.
const WAITING: &str = "waiting";
/// The column of a table of measures whose numbers are of the seed sites. The next one is of all sites.
const SEED_SITES: usize = 1;
/// The same of the table of limits, which has a column of words before it.
const SEED_SITES_OF_LIMITS: usize = 2;

/// What a number counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Behind {
    /// URLs.
    Urls(Chosen),
    /// The rows of another table of the report.
    Rows(&'static str),
    /// The pages that link to this URL.
    LinksTo(String),
    /// The URLs that this page links to.
    LinksFrom(String),
    /// The URLs with the same content as this one.
    Copies(String),
}

/// A selection of URLs. What is empty selects nothing in particular.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Only of this site.
    pub site: String,
    /// Only in this state: an outcome, `waiting` or `failed`.
    pub state: &'static str,
    /// Only with this status.
    pub status: String,
    /// Only so many links from a seed.
    pub depth: String,
    /// Only with this media type, as [`ask::urls::GivenChoice`] has it.
    pub content_type: String,
    /// Only those whose visits reached this limit.
    pub reached: &'static str,
    /// Only those that were answered.
    pub is_answered: bool,
    /// Only of sites that a seed lies on.
    pub of_seed_sites: bool,
}

/// What a number counts, or why it has no list of that.
pub type Counted = Result<Behind, &'static str>;

/// Why a number has no list.
const SUM: &str = "sums are kept, and not what they count";
const MEASURE: &str = "shares, means, sizes and times count nothing";
const SEED_SITES_MARKED: &str = "the table of sites marks those of seeds";
const DEEPER: &str = "no selection has all depths from one on";
const KINDS: &str = "the dataset has the kinds of documents, and the state has not";
const LOST: &str = "`argiope check` names what the archive has lost";
const NEAR: &str = "near duplicates are counted, and not kept";
const VISITS: &str = "visits of a site are counted, and not its URLs";
const ROBOTS_TXT: &str = "robots.txt files are no URLs of the crawl";
const UNUSUAL: &str = "the type has characters that no selection has";
const ROWS: &str = "the dataset has the rows of items";
const EVIDENCE: &str = "the dataset has the pages shown in a browser";

/// Numbers of which only sums are kept.
pub(crate) fn sum(_: &[Value], _: usize) -> Counted {
    Err(SUM)
}

/// Numbers that are measured or estimated.
pub(crate) fn measured(_: &[Value], _: usize) -> Counted {
    Err(MEASURE)
}

/// Numbers of near duplicates.
pub(crate) fn near(_: &[Value], _: usize) -> Counted {
    Err(NEAR)
}

/// Numbers of documents by kind.
pub(crate) fn kinds(_: &[Value], _: usize) -> Counted {
    Err(KINDS)
}

/// Numbers of visits.
pub(crate) fn visits(_: &[Value], _: usize) -> Counted {
    Err(VISITS)
}

/// A time, and a number of visits.
pub(crate) fn slowest(_: &[Value], column: usize) -> Counted {
    Err(if column == 1 { MEASURE } else { VISITS })
}

/// Numbers of items.
pub(crate) fn items(_: &[Value], _: usize) -> Counted {
    Err(ROWS)
}

/// Numbers of pages shown in a browser.
pub(crate) fn rendered(_: &[Value], _: usize) -> Counted {
    Err(EVIDENCE)
}

/// Numbers of the links to the page in the second column.
pub(crate) fn links_to(row: &[Value], _: usize) -> Counted {
    Ok(Behind::LinksTo(text(row, 1).to_owned()))
}

/// Numbers of the links from the page in the second column.
pub(crate) fn links_from(row: &[Value], _: usize) -> Counted {
    Ok(Behind::LinksFrom(text(row, 1).to_owned()))
}

/// Numbers of the copies of the page in the second column.
pub(crate) fn copies(row: &[Value], _: usize) -> Counted {
    Ok(Behind::Copies(text(row, 1).to_owned()))
}

fn text(row: &[Value], column: usize) -> &str {
    row.get(column).and_then(Value::as_str).unwrap_or_default()
}

/// The URLs in the state that the first column names.
pub(crate) fn state(row: &[Value], column: usize) -> Counted {
    let name = text(row, 0);
    let outcome = Outcome::ALL.iter().map(|outcome| outcome.as_str()).find(|outcome| *outcome == name);
    let state = outcome.or((name == FRONTIER).then_some(WAITING)).ok_or(SUM)?;
    of_sites(column, Chosen { state, ..Chosen::default() })
}

/// What a measure of the overview counts.
pub(crate) fn measure(row: &[Value], column: usize) -> Counted {
    let state = match text(row, 0) {
        "sites" if column == SEED_SITES => return Err(SEED_SITES_MARKED),
        "sites" => return Ok(Behind::Rows("sites")),
        "web pages (URLs found)" => "",
        "fetched" => return of_sites(column, Chosen { is_answered: true, ..Chosen::default() }),
        "HTML pages" => Outcome::Html.as_str(),
        "duplicates" => Outcome::Duplicate.as_str(),
        "near duplicates" => return Err(NEAR),
        "binary files" => Outcome::Binary.as_str(),
        "redirects" => Outcome::Redirect.as_str(),
        "errors" => FAILED,
        "disallowed by robots.txt" => Outcome::Disallowed.as_str(),
        "still in the frontier" => WAITING,
        "images a page, on average" | "links a page, on average" | "payload bytes received" => return Err(MEASURE),
        "lost by the archive (argiope check)" => return Err(LOST),
        kind if kind.ends_with(" documents") => return Err(KINDS),
        _ => return Err(SUM),
    };
    of_sites(column, Chosen { state, ..Chosen::default() })
}

/// The URLs with the status that the first column names.
pub(crate) fn status(row: &[Value], column: usize) -> Counted {
    of_sites(column, Chosen { status: text(row, 0).to_owned(), ..Chosen::default() })
}

/// The URLs at the depth that the first column names, which may stand for all greater ones.
pub(crate) fn depth(row: &[Value], column: usize) -> Counted {
    let depth = text(row, 0).parse::<u32>().map_err(|_| DEEPER)?;
    of_sites(column, Chosen { depth: depth.to_string(), ..Chosen::default() })
}

/// The URLs with the media type that the first column names, or without any.
pub(crate) fn content_type(row: &[Value], column: usize) -> Counted {
    let name = text(row, 0);
    // What is shown in another form than it was declared in chooses nothing.
    let is_token = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    let content_type = match name {
        UNDECLARED => name.to_owned(),
        _ if name.bytes().all(is_token) => format!("{name};"),
        _ => return Err(UNUSUAL),
    };
    of_sites(column, Chosen { content_type, ..Chosen::default() })
}

/// The URLs whose visits reached the limit that the first column names.
pub(crate) fn limit(row: &[Value], column: usize) -> Counted {
    let name = text(row, 0);
    let reached = Limit::ALL.iter().map(|limit| limit.as_str()).find(|limit| *limit == name).ok_or(SUM)?;
    if reached == Limit::RobotsTxt.as_str() {
        return Err(ROBOTS_TXT);
    }
    let of_seed_sites = column == SEED_SITES_OF_LIMITS;
    Ok(Behind::Urls(Chosen { reached, of_seed_sites, ..Chosen::default() }))
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

/// The URLs of the sites that a column of a table of measures is of.
fn of_sites(column: usize, chosen: Chosen) -> Counted {
    Ok(Behind::Urls(Chosen { of_seed_sites: column == SEED_SITES, ..chosen }))
}

fn of_site(row: &[Value], state: &'static str) -> Behind {
    Behind::Urls(Chosen { site: text(row, 0).to_owned(), state, ..Chosen::default() })
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
            (measure, "web pages (URLs found)", ""),
            (super::state, "frontier", WAITING),
            (super::state, "http_error", "http_error"),
        ] {
            for (column, of_seed_sites) in [(1, true), (2, false)] {
                let expect = Behind::Urls(Chosen { state, of_seed_sites, ..Chosen::default() });
                assert_eq!(of(&row(first), column), Ok(expect), "{first}");
            }
        }
        assert_eq!(measure(&row("images"), 2), Err(SUM));
        assert_eq!(measure(&row("sites"), 2), Ok(Behind::Rows("sites")));
        let site = [json!("http://a.test"), json!("yes"), json!(9), json!(1), json!(1), json!(1), json!(5), json!(1)];
        let failed = Chosen { site: "http://a.test".to_owned(), state: FAILED, ..Chosen::default() };
        assert_eq!(pages_of_site(&site, 6), Ok(Behind::Urls(failed)));
    }

    #[test]
    fn types_and_limits_lead_to_exactly_their_urls() {
        let of_type = |name: &str| content_type(&[json!(name), json!(1), json!(2)], 2);
        let chosen = |content_type: &str| {
            Ok(Behind::Urls(Chosen { content_type: content_type.to_owned(), ..Chosen::default() }))
        };
        assert_eq!(of_type("text/html"), chosen("text/html;"));
        assert_eq!(of_type(UNDECLARED), chosen(UNDECLARED));
        assert_eq!(of_type("text/\\u{202e}lmth"), Err(UNUSUAL));
        let of_limit = |name: &str, column| limit(&[json!(name), json!("words"), json!(1), json!(2)], column);
        let reached = |of_seed_sites| Ok(Behind::Urls(Chosen { reached: "links", of_seed_sites, ..Chosen::default() }));
        assert_eq!([of_limit("links", 2), of_limit("links", 3)], [reached(true), reached(false)]);
        assert_eq!(of_limit("robots_txt", 3), Err(ROBOTS_TXT));
    }
}
