//! The sandbox for everything a crawler meets on decent sites: robots rules, redirects, errors, duplicates, spellings,
//! encodings, documents, sitemaps and (bounded) traps. What a crawl with default settings must make of it is written
//! down by hand in [`EXPECTED`].

mod documents;
mod duplicates;
mod encodings;
mod errors;
mod expected;
mod html;
mod links;
mod redirects;
mod robots;
mod sitemaps;
mod traps;

pub use encodings::TITLES;
pub use expected::{AUXILIARY, EXPECTED, FIRST_MATCH, NEVER_REQUESTED};
pub use traps::{TRAPS, Trap};

use crate::{Faults, Pages, Reply, Request, Site};

/// The host of the site.
pub const HOST: &str = "advanced.test";
/// A host that the site links and redirects to: outside the scope of a crawl of the site.
pub const OTHER_HOST: &str = "other.test";
/// The Crawl-delay of the sandbox, in seconds, where nobody says otherwise.
pub const CRAWL_DELAY_S: f32 = 0.1;

/// The site, whose robots.txt asks for that delay in seconds; for none if it is 0. It counts the requests for pages
/// that fail at first, so each crawl in a test needs a site of its own.
pub fn site(crawl_delay_s: f32) -> impl Site {
    Advanced { pages: errors::passing(pages(crawl_delay_s)) }
}

/// The site at [`OTHER_HOST`]: three pages.
pub fn other_site() -> impl Site {
    Pages::new()
        .html("/", html::list("Another site", &["/landing.html", "http://advanced.test/"]))
        .html("/landing.html", html::list("Where a redirect lands", &["/"]))
        .html("/from-sitemap.html", html::list("Listed in the sitemap of another site", &["/"]))
}

/// All that is not computed.
fn pages(crawl_delay_s: f32) -> Pages {
    let sections =
        ["/redirects/", "/errors/", "/duplicates/", "/links/", "/encodings/", "/documents/", "/robots/", "/traps/"];
    let pages = Pages::new().html("/", html::list("The advanced sandbox", &sections));
    let pages = robots::add(pages, crawl_delay_s);
    let pages = redirects::add(pages);
    let pages = errors::add(pages);
    let pages = duplicates::add(pages);
    let pages = links::add(pages);
    let pages = encodings::add(pages);
    let pages = documents::add(pages);
    let pages = sitemaps::add(pages);
    traps::add(pages)
}

struct Advanced {
    pages: Faults<Pages>,
}

impl Site for Advanced {
    fn reply(&self, request: &Request) -> Reply {
        traps::reply(request).unwrap_or_else(|| self.pages.reply(request))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_page_has_its_place_in_the_tables() {
        let pages = pages(0.0);
        let told: BTreeSet<&str> = EXPECTED
            .iter()
            .map(|(url, ..)| *url)
            .chain(NEVER_REQUESTED.iter().copied())
            .chain(AUXILIARY.iter().copied())
            .collect();
        let forgotten: Vec<_> = pages
            .targets()
            .filter(|target| !told.contains(target) && !TRAPS.iter().any(|trap| target.starts_with(trap.prefix)))
            .collect();
        assert!(forgotten.is_empty(), "{forgotten:?}");
    }

    #[test]
    fn tables_say_each_thing_once() {
        let urls: Vec<&str> = EXPECTED.iter().map(|(url, ..)| *url).chain(NEVER_REQUESTED.iter().copied()).collect();
        let unique: BTreeSet<&str> = urls.iter().copied().collect();
        assert_eq!(urls.len(), unique.len());
        for (url, _) in FIRST_MATCH {
            assert!(unique.contains(url), "{url}");
        }
    }
}
