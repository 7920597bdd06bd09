//! A web computed from the names of its pages: nothing is stored, so it can have any size, and its graph is known.
//!
//! Site `s` has the host `sNNNN.synthetic.test` (at least four digits) and the pages `/p/0`, `/p/1`, …. Each page's
//! links follow from the seed, the site and the page's number:
//!
//! - inside a site page `k` links to the pages `2k + 1` and `2k + 2`, and page 0 of site `s` links to page 0 of the
//!   sites `2s + 1` and `2s + 2`: so every page is reachable from page 0 of site 0;
//! - links to random pages come on top, so that a page has [`Settings::degree`] links on average; of the random ones
//!   80 % stay inside the site. Links may repeat and may lead to the page itself, as they do on the web.

mod graph;
mod page;
mod text;

pub use graph::Synthetic;

use std::fmt;
use std::str::FromStr;

/// The most sites there can be.
pub const SITES_MAX: u64 = 1 << 32;
/// The most pages there can be, over all sites.
pub const PAGES_MAX: u64 = 1 << 40;
/// The most links a page can have on average.
pub const DEGREE_MAX: u64 = 1_000;
/// The text on a page, on average, if not said otherwise.
pub const TEXT_BYTES_MEAN: usize = 1_000;
/// The most text there can be on a page, on average.
pub const TEXT_BYTES_MEAN_MAX: usize = 1_000_000;

/// What a synthetic web is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Webs of different seeds differ in all random links.
    pub seed: u64,
    /// The number of sites, from 1 to [`SITES_MAX`].
    pub sites: u64,
    /// The number of pages over all sites, from [`Settings::sites`] to [`PAGES_MAX`]; sites differ by at most one page.
    pub pages: u64,
    /// The links of a page on average, from 1 to [`DEGREE_MAX`].
    pub degree: u64,
    /// The text of a page on average, in bytes, up to [`TEXT_BYTES_MEAN_MAX`]; a page has between a quarter and seven quarters of it.
    pub text_bytes_mean: usize,
}

/// A page of a synthetic web.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageId {
    /// The number of the site.
    pub site: u64,
    /// The number of the page inside the site.
    pub page: u64,
}

/// Why there is no such web.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The text is not four numbers.
    #[error("`{0}` is not `seed,sites,pages,degree`, four whole numbers")]
    Syntax(String),
    /// A number is out of its range.
    #[error("the number of {what} must be from {min} to {max}, not {value}")]
    Range {
        /// Which number.
        what: &'static str,
        /// What was given.
        value: u64,
        /// The least allowed.
        min: u64,
        /// The greatest allowed.
        max: u64,
    },
}

impl Settings {
    fn checked(self) -> Result<Self, SettingsError> {
        within("sites", self.sites, 1, SITES_MAX)?;
        within("pages", self.pages, self.sites, PAGES_MAX)?;
        within("links a page", self.degree, 1, DEGREE_MAX)?;
        within("text bytes", self.text_bytes_mean as u64, 0, TEXT_BYTES_MEAN_MAX as u64)?;
        Ok(self)
    }
}

/// Reads `seed,sites,pages,degree`, with [`TEXT_BYTES_MEAN`] of text.
impl FromStr for Settings {
    type Err = SettingsError;

    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let numbers: Option<Vec<u64>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
        let Some([seed, sites, pages, degree]) = numbers.as_deref() else {
            return Err(SettingsError::Syntax(text.to_owned()));
        };
        let (seed, sites, pages, degree) = (*seed, *sites, *pages, *degree);
        Settings { seed, sites, pages, degree, text_bytes_mean: TEXT_BYTES_MEAN }.checked()
    }
}

fn within(what: &'static str, value: u64, min: u64, max: u64) -> Result<(), SettingsError> {
    if (min..=max).contains(&value) { Ok(()) } else { Err(SettingsError::Range { what, value, min, max }) }
}

impl PageId {
    /// The host of the page's site.
    pub fn host(self) -> String {
        format!("s{:04}.synthetic.test", self.site)
    }

    /// The path of the page.
    pub fn path(self) -> String {
        format!("/p/{}", self.page)
    }

    /// The URL of the page, `http`.
    pub fn url(self) -> String {
        self.to_string()
    }

    /// The page with that host and path; only the spelling of [`PageId::host`] and [`PageId::path`] is taken.
    pub fn from_host_and_path(host: &str, path: &str) -> Option<Self> {
        let site = host.strip_prefix('s')?.strip_suffix(".synthetic.test")?.parse().ok()?;
        let page = path.strip_prefix("/p/")?.parse().ok()?;
        let id = PageId { site, page };
        (id.host() == host && id.path() == path).then_some(id)
    }
}

/// The URL of the page, `http`.
impl fmt::Display for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://s{:04}.synthetic.test/p/{}", self.site, self.page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let got = match text.parse::<Settings>() {
            Ok(Settings { seed, sites, pages, degree, .. }) => format!("{seed} {sites} {pages} {degree}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(got, expect, "{text}");
    }

    #[test]
    fn settings_from_text() {
        check("7,10,1000,5", "7 10 1000 5");
        check("7, 10, 1000, 5", "7 10 1000 5");
        check("7,10,1000", "`7,10,1000` is not `seed,sites,pages,degree`, four whole numbers");
        check("7,10,x,5", "`7,10,x,5` is not `seed,sites,pages,degree`, four whole numbers");
        check("7,0,10,5", "the number of sites must be from 1 to 4294967296, not 0");
        check("7,10,9,5", "the number of pages must be from 10 to 1099511627776, not 9");
        check("7,10,10,0", "the number of links a page must be from 1 to 1000, not 0");
    }

    #[test]
    fn names_are_taken_in_one_spelling_only() {
        let id = PageId { site: 12, page: 345 };
        assert_eq!(id.url(), "http://s0012.synthetic.test/p/345");
        assert_eq!(PageId::from_host_and_path("s0012.synthetic.test", "/p/345"), Some(id));
        let wide = PageId { site: 123_456, page: 0 };
        assert_eq!(PageId::from_host_and_path(&wide.host(), &wide.path()), Some(wide));
        for (host, path) in [
            ("s12.synthetic.test", "/p/345"),
            ("s0012.synthetic.test", "/p/0345"),
            ("s0012.synthetic.test", "/p/+1"),
            ("s0012.synthetic.test", "/p/"),
            ("s0012.synthetic.test", "/"),
            ("www.test", "/p/1"),
        ] {
            assert_eq!(PageId::from_host_and_path(host, path), None, "{host} {path}");
        }
    }
}
