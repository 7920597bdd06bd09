//! Questions as they are asked, and as they are put to the workers.

use std::collections::HashSet;

use api::{
    LinkingRequest, LinkingResponse, LinksRequest, LinksResponse, OverlapRequest, OverlapResponse, PageRankRequest,
    PageRankResponse, PathRequest, PathResponse, PictureRequest, PictureResponse, SearchRequest, SearchResponse,
};
use graph::Pattern;
use query_wire::{Named, Piece, Query, QueryError, Vertices};
use report::Gathered;
use serde::de::DeserializeOwned;
use settings::site_name::SiteName;
use weburl::{CanonicalRules, CanonicalUrl, SiteKey};

use ask::page::PageRows;
use ask::picture::VERTICES_MAX;
use ask::target::with_scheme;

/// Ranks told if their number is not given, and at most.
const TOP: usize = 20;
const TOP_MAX: usize = 10_000;
/// Pages told by a search if their number is not given, and at most.
const LIMIT: usize = 100;
const LIMIT_MAX: usize = 10_000;
/// URLs of which the linking pages are asked for, at most; and pages named of one, if their number is not given and at most.
const LINKED_MAX: usize = 1_000;
const LINKING_PAGES: usize = 3;
const LINKING_PAGES_MAX: usize = 100;
/// Sites of seeds that each worker gets: about 2 MB.
const SEED_SITES_MAX: usize = 100_000;

/// The URL of a client. Without a scheme it is http, or https if the crawl knows that one.
fn named(given: &str, rules: &CanonicalRules) -> Result<Named, QueryError> {
    let parse = |text: &str| CanonicalUrl::parse(text, rules).map(|url| url.as_str().to_owned());
    let url = parse(&with_scheme(given))
        .map_err(|rejected| QueryError::Refused(format!("{given}: no URL of a crawl: {rejected}")))?;
    let secure = (!given.contains("://")).then(|| parse(&format!("https://{given}")).ok()).flatten();
    Ok(Named([url].into_iter().chain(secure).collect()))
}

/// What clients ask, and how they are answered.
pub trait Request {
    /// The answer.
    type Response: DeserializeOwned;

    /// The question as it is put to the workers; URLs are canonical by these rules.
    ///
    /// # Errors
    /// There is something wrong with it.
    fn query(&self, rules: &CanonicalRules) -> Result<Query, QueryError>;
}

impl Request for PageRankRequest {
    type Response = PageRankResponse;

    fn query(&self, rules: &CanonicalRules) -> Result<Query, QueryError> {
        let url = self.url.as_deref().map(|url| named(url, rules)).transpose()?;
        let top = bounded("top", self.top, TOP, TOP_MAX)?;
        let by = vertices(&self.by, Vertices::Pages)?;
        if url.is_some() && by != Vertices::Pages {
            return Err(QueryError::Refused(format!("a URL has a rank among pages, not among {}", self.by)));
        }
        Ok(Query::PageRank { url, top, is_normalized: self.normalized, by })
    }
}

impl Request for OverlapRequest {
    type Response = OverlapResponse;

    fn query(&self, rules: &CanonicalRules) -> Result<Query, QueryError> {
        let urls = [named(&self.url1, rules)?, named(&self.url2, rules)?];
        Ok(Query::Overlap { urls, is_listed: self.list })
    }
}

impl Request for SearchRequest {
    type Response = SearchResponse;

    fn query(&self, _: &CanonicalRules) -> Result<Query, QueryError> {
        pattern(&self.text, self.ignore_case, self.regex)?;
        Ok(Query::Search {
            text: self.text.clone(),
            ignore_case: self.ignore_case,
            is_regex: self.regex,
            in_main_text: self.main_text,
            sites: sites(&self.site)?,
            since: (self.since > 0.0).then_some((self.since * 1e6) as u64),
            limit: bounded("limit", self.limit, LIMIT, LIMIT_MAX)?,
        })
    }
}

impl Request for PathRequest {
    type Response = PathResponse;

    fn query(&self, rules: &CanonicalRules) -> Result<Query, QueryError> {
        Ok(Query::Path { ends: [named(&self.url1, rules)?, named(&self.url2, rules)?] })
    }
}

impl Request for LinksRequest {
    type Response = LinksResponse;

    fn query(&self, rules: &CanonicalRules) -> Result<Query, QueryError> {
        Ok(Query::Links { url: named(&self.url, rules)? })
    }
}

impl Request for LinkingRequest {
    type Response = LinkingResponse;

    fn query(&self, _: &CanonicalRules) -> Result<Query, QueryError> {
        if self.urls.len() > LINKED_MAX {
            return Err(QueryError::Refused(format!("{} URLs: at most {LINKED_MAX} are looked up", self.urls.len())));
        }
        let key = |text: &String| match CanonicalUrl::from_canonical(text) {
            Some(url) => Ok((url.key().site.0, url.key().url)),
            None => Err(QueryError::Refused(format!("{text}: no URL as the crawl has it"))),
        };
        let keys = self.urls.iter().map(key).collect::<Result<_, _>>()?;
        Ok(Query::Linking { keys, pages_max: bounded("pages_max", self.pages_max, LINKING_PAGES, LINKING_PAGES_MAX)? })
    }
}

/// The rows of a page in the datasets of all workers.
#[derive(Clone, Debug)]
pub struct RowsRequest {
    /// The page.
    pub url: CanonicalUrl,
}

impl Request for RowsRequest {
    type Response = PageRows;

    fn query(&self, _: &CanonicalRules) -> Result<Query, QueryError> {
        Ok(Query::Row { url: Named(vec![self.url.as_str().to_owned()]) })
    }
}

/// Bytes of a segment that a worker writes.
#[derive(Clone, Debug)]
pub struct PieceRequest {
    /// The name of its file.
    pub segment: String,
    /// Where they begin.
    pub offset: u64,
    /// How many, at most [`query_wire::PIECE_BYTES_MAX`].
    pub bytes: u64,
}

impl Request for PieceRequest {
    type Response = Piece;

    fn query(&self, _: &CanonicalRules) -> Result<Query, QueryError> {
        let PieceRequest { segment, offset, bytes } = self.clone();
        Ok(Query::Piece { segment, offset, bytes })
    }
}

impl Request for PictureRequest {
    type Response = PictureResponse;

    fn query(&self, _: &CanonicalRules) -> Result<Query, QueryError> {
        let of = vertices(&self.of, Vertices::Sites)?;
        Ok(Query::Picture { of, max: bounded("max", self.max, VERTICES_MAX, VERTICES_MAX)? })
    }
}

/// What the vertices of a graph are, as a client says it.
fn vertices(text: &str, default: Vertices) -> Result<Vertices, QueryError> {
    Ok(match text {
        "" => default,
        "sites" => Vertices::Sites,
        "domains" => Vertices::Domains,
        "pages" => Vertices::Pages,
        other => {
            let wrong = format!("`{other}` is no graph; possible are sites, domains, pages");
            return Err(QueryError::Refused(wrong));
        }
    })
}

/// What the datasets of all workers tell for a report.
#[derive(Clone, Debug, Default)]
pub struct ContentsRequest {
    /// The sites that seeds lie on.
    pub seed_sites: HashSet<SiteKey>,
}

impl Request for ContentsRequest {
    type Response = Gathered;

    fn query(&self, _: &CanonicalRules) -> Result<Query, QueryError> {
        if self.seed_sites.len() > SEED_SITES_MAX {
            let count = self.seed_sites.len();
            return Err(QueryError::Refused(format!("seeds lie on {count} sites, more than {SEED_SITES_MAX}")));
        }
        Ok(Query::Contents { seed_sites: self.seed_sites.iter().map(|site| site.0).collect() })
    }
}

/// The keys of a site that is named; none if no name is given.
fn sites(name: &str) -> Result<Vec<u64>, QueryError> {
    if name.is_empty() {
        return Ok(Vec::new());
    }
    let site: SiteName = name.parse().map_err(QueryError::Refused)?;
    Ok(site.keys().map(|key| key.0).collect())
}

/// What a text is searched for by.
pub(super) fn pattern(text: &str, ignore_case: bool, is_regex: bool) -> Result<Pattern, QueryError> {
    let pattern = if is_regex { Pattern::regex(text, ignore_case) } else { Pattern::text(text, ignore_case) };
    pattern.map_err(|error| QueryError::Refused(error.to_string()))
}

/// A number that has a value if none is given.
fn bounded(name: &str, given: u32, default: usize, max: usize) -> Result<usize, QueryError> {
    match given as usize {
        0 => Ok(default),
        given if given <= max => Ok(given),
        given => Err(QueryError::Refused(format!("{name} {given}: at most {max} are returned"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_checked_before_anyone_is_asked() {
        let rules = CanonicalRules::default();
        let rank =
            |url: &str, top| PageRankRequest { url: Some(url.to_owned()), top, ..Default::default() }.query(&rules);
        let these = |urls: &[&str]| Named(urls.iter().map(|&url| url.to_owned()).collect());
        let (is_normalized, by) = (false, Vertices::Pages);
        let expect = |urls: &[&str], top| Ok(Query::PageRank { url: Some(these(urls)), top, is_normalized, by });
        assert_eq!(rank("HTTP://A.test", 0), expect(&["http://a.test/"], 20));
        assert_eq!(rank("a.test/x", 10_000), expect(&["http://a.test/x", "https://a.test/x"], 10_000));
        let refused = |text: &str| Err(QueryError::Refused(text.to_owned()));
        assert_eq!(rank("a.test", 10_001), refused("top 10001: at most 10000 are returned"));
        assert!(matches!(rank("mailto:a@b.test", 0), Err(QueryError::Refused(_))));
        let of_groups = |url: Option<&str>, by: &str| {
            PageRankRequest { url: url.map(str::to_owned), by: by.to_owned(), ..Default::default() }.query(&rules)
        };
        let by = Vertices::Domains;
        assert_eq!(of_groups(None, "domains"), Ok(Query::PageRank { url: None, top: TOP, is_normalized, by }));
        assert_eq!(of_groups(Some("a.test"), "sites"), refused("a URL has a rank among pages, not among sites"));
        assert_eq!(of_groups(None, "site"), refused("`site` is no graph; possible are sites, domains, pages"));
        let picture = |of: &str, max| PictureRequest { of: of.to_owned(), max }.query(&rules);
        assert_eq!(picture("", 0), Ok(Query::Picture { of: Vertices::Sites, max: VERTICES_MAX }));
        assert_eq!(picture("pages", 20_001), refused("max 20001: at most 20000 are returned"));
        assert_eq!(picture("page", 1), refused("`page` is no graph; possible are sites, domains, pages"));
        let linking = |urls: &[&str]| {
            let urls = urls.iter().map(|&url| url.to_owned()).collect();
            LinkingRequest { urls, pages_max: 0 }.query(&rules)
        };
        let key = CanonicalUrl::from_canonical("http://a.test/").expect("a URL").key();
        let of_one = Query::Linking { keys: vec![(key.site.0, key.url)], pages_max: LINKING_PAGES };
        assert_eq!(linking(&["http://a.test/"]), Ok(of_one));
        assert_eq!(linking(&["a.test"]), refused("a.test: no URL as the crawl has it"));
        assert_eq!(linking(&["http://a.test/"; 1_001]), refused("1001 URLs: at most 1000 are looked up"));
        let search = SearchRequest { text: " ".to_owned(), ..SearchRequest::default() };
        assert_eq!(search.query(&rules), refused("there is nothing to search for"));
    }
}
