//! The smallest sandbox: ten pages about spiders, linked in a ring and across, each mentioned several times.

use std::fmt::Write as _;

use crate::{Pages, Site};

/// The host of the site.
pub const HOST: &str = "simple.test";

/// A page of the site.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Its path.
    pub path: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The paths it links to, in order.
    pub links: &'static [&'static str],
}

/// All pages. Each is linked from at least two others, and the first links of all form a ring.
pub const PAGES: [Page; 10] = [
    page("/", "Spiders", &["/web.html", "/silk.html", "/legs.html", "/index-of-families.html"]),
    page("/web.html", "The web", &["/silk.html", "/orb.html", "/"]),
    page("/silk.html", "Silk", &["/legs.html", "/web.html", "/"]),
    page("/legs.html", "Eight legs", &["/eyes.html", "/", "/venom.html"]),
    page("/eyes.html", "Eight eyes", &["/venom.html", "/legs.html"]),
    page("/venom.html", "Venom", &["/orb.html", "/eyes.html", "/"]),
    page("/orb.html", "Orb weavers", &["/argiope.html", "/web.html", "/orb.html"]),
    page("/argiope.html", "The writing spider", &["/jumping.html", "/orb.html", "/silk.html"]),
    page("/jumping.html", "Jumping spiders", &["/index-of-families.html", "/eyes.html", "/argiope.html"]),
    page("/index-of-families.html", "Families", &["/", "/orb.html", "/jumping.html", "/jumping.html#again"]),
];

/// The site: [`PAGES`] and a robots.txt that allows everything.
pub fn site() -> impl Site {
    PAGES.iter().fold(Pages::new().text("/robots.txt", "User-agent: *\nDisallow:\n"), |site, page| {
        site.html(page.path, html(page))
    })
}

const fn page(path: &'static str, title: &'static str, links: &'static [&'static str]) -> Page {
    Page { path, title, links }
}

fn html(page: &Page) -> String {
    let Page { path, title, links } = page;
    let mut html = format!("<!doctype html>\n<html lang=en>\n<title>{title}</title>\n<h1>{title}</h1>\n<ul>\n");
    for link in *links {
        // Writing to a string cannot fail.
        let _ = writeln!(html, "<li><a href=\"{link}\">See {link}</a>");
    }
    let _ = writeln!(html, "</ul>\n<p>This is {path} of the simple sandbox: {title}.");
    html
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_page_is_linked_from_at_least_two_pages() {
        for Page { path, .. } in PAGES {
            let from = PAGES.iter().filter(|page| page.path != path && page.links.contains(&path)).count();
            assert!(from >= 2, "{path} is linked from {from}");
        }
    }

    #[test]
    fn first_links_form_a_ring_of_all_pages() {
        let mut at = "/";
        let mut seen = BTreeSet::new();
        while seen.insert(at) {
            at = PAGES.iter().find(|page| page.path == at).unwrap().links[0];
        }
        assert_eq!((at, seen.len()), ("/", PAGES.len()));
    }
}
