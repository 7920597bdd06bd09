//! The statistics of a crawl as one value. Its JSON is what `argiope report --json` prints; `docs/report.md` defines each number.

use ask::freshness::Freshness;
use extract::media_type::Kind;
use serde::{Deserialize, Serialize};

use crate::picture::Picture;
use crate::{Both, RenderedPages, Speed};

/// The kinds of documents that a report always names, since people ask for them.
pub(crate) const DOCUMENT_KINDS: [&str; 5] =
    [Kind::Pdf.as_str(), Kind::Doc.as_str(), Kind::Docx.as_str(), Kind::Ppt.as_str(), Kind::Pptx.as_str()];

/// What a crawl came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// The seeds, and URLs that seeds redirect to; at most [`crate::ROWS_MAX`].
    pub seeds: Vec<String>,
    /// What is missing, and what to do about it; `None` if nothing is missing.
    pub missing: Option<String>,
    /// The crawl at a glance.
    pub overview: Overview,
    /// Pages by site.
    pub sites: Ranked<SitePages>,
    /// Pages by type: the outcomes, `frontier` and `excluded` among them.
    pub types: Ranked<Named>,
    /// Errors by kind.
    pub errors_by_kind: Ranked<Named>,
    /// Errors by site.
    pub errors_by_site: Ranked<SiteErrors>,
    /// Pages that robots.txt forbids, by site.
    pub disallowed_by_site: Ranked<Share>,
    /// Visits, and of robots.txt sites, from which a limit or trap rule kept something, by [`model::Limit`].
    pub limits: Ranked<Named>,
    /// Binary files by kind, those that repeat another among them.
    pub binary_by_type: Ranked<Named>,
    /// Images; `None` without a dataset.
    pub images: Option<Images>,
    /// Links; `None` without a dataset.
    pub links: Option<Links>,
    /// Duplicates.
    pub duplicates: Duplicates,
    /// What rules took out of pages: how many rows have each field. Empty without a dataset.
    pub items: Ranked<FilledField>,
    /// Pages shown in a browser, by what spoke for it.
    pub rendering: Vec<RenderedPages>,
    /// The last status by URL.
    pub status_codes: Ranked<Named>,
    /// Media types as declared, by URL.
    pub content_types: Ranked<Named>,
    /// Pages by links from the nearest seed.
    pub depths: Vec<Named>,
    /// The sites in trouble, those first that may be asked first.
    #[serde(default)]
    pub sites_in_trouble: Ranked<SiteInTrouble>,
    /// The sites that took longest to answer.
    pub slowest_sites: Ranked<SlowSite>,
    /// The largest documents.
    pub largest: Ranked<SizedDocument>,
    /// How fresh the pages are, by estimate; `None` before a page was visited again, and where nobody has asked for it.
    pub freshness: Option<Freshness>,
    /// Crawl speed over time.
    pub speed: Speed,
    /// The links between the most linked pages; `None` without a dataset.
    pub picture: Option<Picture>,
}

/// Rows of a list, and how many there are in all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranked<T> {
    /// Rows there are.
    pub total: u64,
    /// The first of them, at most [`crate::ROWS_MAX`].
    pub rows: Vec<T>,
}

impl<T> Default for Ranked<T> {
    fn default() -> Self {
        Ranked { total: 0, rows: Vec::new() }
    }
}

/// A count with what is counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// What.
    pub name: String,
    /// How many.
    #[serde(flatten)]
    pub count: Both<u64>,
}

/// How often a field of a table of items has a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilledField {
    /// The table.
    pub table: String,
    /// The field.
    pub field: String,
    /// The rows that no later visit has superseded: those of `export items`.
    pub rows: u64,
    /// The share of them with a value, 0 to 1.
    pub filled: f64,
    /// The share among the rows that the pages of the last round had at the visit before; `None` if they had none.
    pub filled_before: Option<f64>,
    /// Pages that had rows at the visit before, and have none since the last round.
    pub pages_lost: u64,
    /// Pages that had rows at the visit before, and are gone since the last round.
    pub pages_gone: u64,
}

/// The crawl at a glance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// Sites with a page below.
    pub sites: Both<u64>,
    /// URLs found, without those outside the crawl's scope.
    pub pages: Both<u64>,
    /// URLs that gave an answer.
    pub fetched: Both<u64>,
    /// HTML pages, without duplicates.
    pub html_pages: Both<u64>,
    /// Pages whose bytes equal those of another.
    pub duplicates: Both<u64>,
    /// Documents that are no HTML.
    pub binary_files: Both<u64>,
    /// Redirects.
    pub redirects: Both<u64>,
    /// Pages that ended with an error.
    pub errors: Both<u64>,
    /// Pages that robots.txt forbids.
    pub disallowed: Both<u64>,
    /// Pages not visited yet.
    pub frontier: Both<u64>,
    /// Pages whose response the archive has lost.
    #[serde(default)]
    pub lost: Both<u64>,
    /// Payload bytes received.
    pub bytes: Both<u64>,
}

/// The pages of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SitePages {
    /// Scheme, host and port.
    pub site: String,
    /// True if a seed lies on it.
    pub is_seed_site: bool,
    /// URLs found.
    pub pages: u64,
    /// HTML pages, without duplicates.
    pub html_pages: u64,
    /// Documents that are no HTML.
    pub binary_files: u64,
    /// Duplicates.
    pub duplicates: u64,
    /// Errors.
    pub errors: u64,
    /// Pages not visited yet.
    pub frontier: u64,
}

/// The errors of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteErrors {
    /// Scheme, host and port.
    pub site: String,
    /// Pages that ended with an error.
    pub errors: u64,
    /// The share of them among the site's pages that have ended, 0 to 1.
    pub share: f64,
}

/// How many pages of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Scheme, host and port.
    pub site: String,
    /// How many.
    pub pages: u64,
}

/// The most of something that one page has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Most {
    /// How many.
    pub count: u64,
    /// The page.
    pub url: Option<String>,
}

/// Images.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Images {
    /// Non-error HTML pages, which the mean is over: those read, duplicates among them.
    pub html_pages: Both<u64>,
    /// Images of `img` elements, one each, with repeats.
    pub images: Both<u64>,
    /// More choices for the same images, from `srcset`.
    pub srcset_candidates: Both<u64>,
    /// Images for each non-error HTML page.
    pub mean_per_page: Both<Option<f64>>,
    /// Most images on one page.
    pub most_on_a_page: Both<Option<u64>>,
    /// That page, of all sites.
    pub most: Option<Most>,
}

/// Links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Links {
    /// Non-error HTML pages, which the mean is over: those read, duplicates among them.
    pub html_pages: Both<u64>,
    /// Pairs of a page and another URL that it links to.
    pub links: Both<u64>,
    /// Links as they stand on the pages, repeats and links of a page to itself too.
    pub with_repeats: Both<u64>,
    /// Links for each non-error HTML page.
    pub mean_per_page: Both<Option<f64>>,
    /// Most links from one page.
    pub most_from_a_page: Both<Option<u64>>,
    /// Most links to one page; for the seed sites, to one of their pages.
    pub most_to_a_page: Both<Option<u64>>,
    /// The pages that most pages link to.
    pub most_linked: Ranked<LinkedPage>,
    /// The pages that link to most others.
    pub most_linking: Ranked<Most>,
}

/// A page that others link to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedPage {
    /// The URL.
    pub url: String,
    /// Its title.
    pub title: Option<String>,
    /// What became of it.
    pub outcome: String,
    /// Pages that link to it.
    pub links: u64,
}

/// Duplicates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Duplicates {
    /// Pages and documents whose bytes equal those of another one.
    pub exact: Both<u64>,
    /// What was found most often under other URLs.
    pub most_copied: Ranked<Copied>,
    /// Near duplicates; `None` without a dataset.
    #[serde(flatten)]
    pub near: Option<NearDuplicates>,
}

/// Near duplicates: HTML pages whose text is almost that of another one (docs/near-duplicates.md).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NearDuplicates {
    /// Pages whose text is almost that of another, of each group one left out; exact duplicates are not among them.
    pub near: Both<u64>,
    /// The pages that most others resemble.
    pub most_resembled: Ranked<Most>,
}

/// A page that has duplicates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copied {
    /// The URL that had the bytes first.
    pub url: String,
    /// The duplicates.
    pub copies: u64,
}

/// A site in trouble. Its URLs stay open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteInTrouble {
    /// Scheme, host and port.
    pub site: String,
    /// When it may be asked again.
    pub until: String,
    /// Pages fetched.
    pub fetched: u64,
    /// What failed last.
    pub reason: String,
}

/// A site by how long it took to answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowSite {
    /// Scheme, host and port.
    pub site: String,
    /// How long its last answer took, in milliseconds.
    pub response_ms: u64,
    /// Pages fetched.
    pub fetched: u64,
    /// Why it was given up, if it was.
    pub given_up: Option<String>,
}

/// A document by its size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizedDocument {
    /// The URL.
    pub url: String,
    /// The media type as declared.
    pub content_type: Option<String>,
    /// Bytes of the payload as received.
    pub bytes: u64,
}
