//! Limits, and what they left out: one vocabulary for the state, summaries, reports, `explain` and the dataset.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $word:literal, $meaning:literal;)*) => {
        /// A limit or trap rule that kept something out of the crawl. Each belongs to the visit of a URL, except
        /// [`Limit::RobotsTxt`], which belongs to a site.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Limit { $($(#[$doc])* $name,)* }

        impl Limit {
            /// All limits, in the order of their codes.
            pub const ALL: &'static [Limit] = &[$(Limit::$name),*];

            /// The word used everywhere, for example `links`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Limit::$name => $word),* }
            }

            /// What was left out, and the option or default that decides it, for people.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Limit::$name => $meaning),* }
            }

            /// The number used in stores, below 64. Codes are never reused.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self { $(Limit::$name => $code),* }
            }
        }
    };
}

limits! {
    /// A body longer than [`crate::Limits::body_bytes_max`].
    Length = 0, "length", "bodies cut at --max-body-bytes";
    /// A body that decodes to more than [`crate::Limits::decompression_ratio_max`] times its bytes.
    Decompression = 1, "decompression", "bodies cut at --max-decompression-ratio";
    /// A body that took longer, or came slower, than the limits of time allow.
    Time = 2, "time", "bodies cut by --total-timeout or --min-transfer-rate";
    /// A head longer than [`crate::Limits::header_bytes_max`].
    Head = 3, "head", "answers refused for heads over --max-header-bytes";
    /// More redirects in a row than [`crate::Limits::redirects_max`].
    Redirects = 4, "redirects", "redirects not followed after --max-redirects in a row";
    /// More different link targets on a page than [`crate::Limits::links_per_page_max`].
    Links = 5, "links", "pages with link targets left out beyond --max-links-per-page";
    /// More links on a page than [`crate::Limits::links_per_page_max`], of which repeats are left out.
    LinkRepeats = 6, "link_repeats", "pages with repeated links left out beyond --max-links-per-page";
    /// More images on a page than are kept.
    Images = 7, "images", "pages with images left out";
    /// More text on a page than [`crate::Limits::text_bytes_max`].
    Text = 8, "text", "pages with text left out beyond 1 MiB";
    /// A title longer than is kept.
    Title = 9, "title", "pages with their title cut";
    /// A text of a link or image longer than is kept.
    LinkText = 10, "link_text", "pages with a text of a link or image cut";
    /// A URL longer than is kept.
    Href = 11, "href", "pages and sitemaps with a URL left out for its length";
    /// An image in a `data:` URI larger than is decoded.
    DataImages = 12, "data_images", "pages with a data: image left out for its size";
    /// More entries in a sitemap than [`crate::Limits::sitemap_entries_max`].
    SitemapEntries = 13, "sitemap_entries", "sitemaps with entries left out beyond --max-sitemap-entries";
    /// A sitemap larger than [`crate::Limits::sitemap_bytes_max`].
    SitemapBytes = 14, "sitemap_bytes", "sitemaps cut at 50 MiB";
    /// A sitemap below more indexes than [`crate::Limits::sitemap_nesting_max`].
    SitemapNesting = 15, "sitemap_nesting", "sitemap indexes not followed below three others";
    /// More sitemaps of a site than [`crate::Limits::sitemaps_per_site_max`].
    Sitemaps = 16, "sitemaps", "sitemaps not read beyond --max-sitemaps-per-site";
    /// A robots.txt longer than [`crate::Limits::robots_bytes_max`].
    RobotsTxt = 17, "robots_txt", "robots.txt files cut at 500 KiB";
    /// A trap rule: the depth of a path.
    PathDepth = 18, "path_depth", "URLs not fetched: more segments than --max-path-depth";
    /// A trap rule: segments that repeat.
    RepeatedSegments = 19, "repeated_segments", "URLs not fetched: segments repeat beyond --max-repeated-segments";
    /// A trap rule: URLs that differ in their dates.
    Calendar = 20, "calendar", "URLs not fetched by --max-calendar-pages, nor what lies behind";
    /// A trap rule: URLs that differ in a session id.
    Session = 21, "session", "URLs not fetched by --max-session-pages, nor what lies behind";
    /// A trap rule: queries of three or more parameters on one path.
    Queries = 22, "queries", "URLs not fetched by --max-queries-per-path, nor what lies behind";
    /// A trap rule: queries of one or two parameters on one path.
    SimpleQueries = 23, "simple_queries", "URLs not fetched by --max-simple-queries-per-path, nor what lies behind";
    /// A body whose connection ended early at each attempt.
    Disconnect = 24, "disconnect", "bodies of which the connection ended before they were whole, --max-attempts times";
    /// A robots.txt with too many rules to check for a URL.
    RobotsSteps = 25, "robots_steps", "URLs not fetched since robots.txt has too many rules to try for them";
    /// A trap rule: URLs of a group that brings only more of itself.
    LowYield = 26, "low_yield", "URLs not fetched by --max-low-yield-pages, nor what lies behind";
    /// More structured data on a page than is kept.
    Structured = 27, "structured", "pages with structured data left out";
    /// More items on a page than rules take, or selectors that take too many steps.
    Items = 28, "items", "pages with items left out";
    /// More of a page than its tree holds: its main text, structured data and items come from the tree.
    Tree = 29, "tree", "pages read for main text, structured data and items up to 8 MiB or 262,144 nodes";
    /// More requisites of a page than [`crate::Limits::requisites_per_page_max`].
    Requisites = 30, "requisites", "pages and requisites with requisites left out beyond --max-requisites-per-page";
    /// More bytes of requisites of a page than [`crate::Limits::requisite_bytes_per_page_max`].
    RequisiteBytes = 31, "requisite_bytes", "requisites not fetched beyond --max-requisite-bytes-per-page";
    /// A document that cannot be read whole: damaged, locked, or more than its process may take.
    Document = 32, "document", "documents without all of their text: damaged, locked, or too much for their process";
    /// Something on a page in a browser that was not clicked, scrolled or played.
    Actions = 33, "actions", "pages in the browser with actions left out: clicks, scrolls, films";
    /// A script of the user's on a page in a browser that failed, or did not end in its time.
    Behaviours = 34, "behaviours", "pages on which a --behaviour failed or ran out of its time";
    /// A request of a page in a browser beyond what pages may ask for.
    PageRequests = 35, "page_requests", "pages in the browser with requests refused by a limit: number, rate, bytes";
    /// A picture of a page that is cut or missing.
    Pictures = 36, "pictures", "pages with pictures cut or left out";
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The limits that a visit reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LimitSet(u64);

impl LimitSet {
    /// None.
    pub const EMPTY: LimitSet = LimitSet(0);

    /// The set as stores keep it: a bit for each code.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The inverse of [`LimitSet::bits`]. Bits without a meaning stay.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        LimitSet(bits)
    }

    /// Adds a limit.
    pub const fn insert(&mut self, limit: Limit) {
        self.0 |= 1 << limit.code();
    }

    /// Both sets together.
    #[must_use]
    pub const fn union(self, other: LimitSet) -> Self {
        LimitSet(self.0 | other.0)
    }

    /// True where the limit is in the set.
    #[must_use]
    pub const fn contains(self, limit: Limit) -> bool {
        self.0 >> limit.code() & 1 == 1
    }

    /// True where nothing is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The limits, in the order of their codes.
    pub fn iter(self) -> impl Iterator<Item = Limit> {
        Limit::ALL.iter().copied().filter(move |limit| self.contains(*limit))
    }
}

impl From<Limit> for LimitSet {
    fn from(limit: Limit) -> Self {
        LimitSet(1 << limit.code())
    }
}

impl FromIterator<Limit> for LimitSet {
    fn from_iter<I: IntoIterator<Item = Limit>>(limits: I) -> Self {
        limits.into_iter().fold(LimitSet::EMPTY, |set, limit| set.union(limit.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Limit, LimitSet};

    #[test]
    fn a_set_has_each_limit_once_and_reads_back() {
        for (at, limit) in Limit::ALL.iter().enumerate() {
            assert_eq!(usize::from(limit.code()), at);
            let set = LimitSet::from(*limit);
            assert_eq!((set.iter().collect::<Vec<_>>(), set.contains(*limit)), (vec![*limit], true));
        }
        let all: LimitSet = Limit::ALL.iter().copied().collect();
        assert_eq!(LimitSet::from_bits(all.bits()).iter().collect::<Vec<_>>(), Limit::ALL);
        assert!(LimitSet::EMPTY.is_empty());
    }
}
