//! What pages need to be shown: style sheets that import others, images, some of them elsewhere, missing, or behind redirects.

use super::{Html, Link, Name, Page, Reach, Reply, Robots, RobotsReply, Site, Web};
use crate::rng::{Rng, mix};

/// The site of most of it, to which no page links.
const STATIC: &str = "http://static.test";

/// Files of each kind.
const IMAGES: u64 = 12;
const STYLE_SHEETS: u64 = 5;

/// Different contents of the images: fewer than images, so that some are duplicates.
const IMAGE_CONTENTS: u64 = 9;

/// What a page needs, at most.
const NEEDS_MAX: u64 = 4;

/// What is mixed into the text of a page, so that pages that are the same need the same.
const SALT: u64 = 0x1357_9bdf_2468_ace0;

impl Web {
    /// Lets pages need files. A farm's pages need none, nor do those of a calendar, of which nobody knows where it ends.
    pub(crate) fn furnish(&mut self, rng: &mut Rng) {
        let mut sites: Vec<String> = self.sites.keys().cloned().collect();
        self.sites.insert(STATIC.to_owned(), site(rng));
        sites.extend(std::iter::repeat_n(STATIC.to_owned(), sites.len()));
        let files = self.files(rng, &sites);
        for (url, page) in &mut self.pages {
            let Reply::Html(html) = &mut page.reply else { continue };
            html.is_furnished = true;
            let mut rng = Rng::new(mix(html.text ^ SALT));
            let count = if url.contains("/cal/") { 0 } else { rng.below(NEEDS_MAX + 1) };
            html.needs = (0..count).map(|_| files[rng.index(files.len())].clone()).collect();
        }
    }

    /// The files, by their URLs. One is not there.
    fn files(&mut self, rng: &mut Rng, sites: &[String]) -> Vec<String> {
        let mut urls = vec![format!("{STATIC}/missing.png")];
        for n in 0..IMAGES {
            let dir = rng.pick(&["", "private/", "res/"]);
            let url = format!("{}/{dir}i{n}.png", sites[rng.index(sites.len())]);
            self.pages.insert(url.clone(), file(Reply::Image(n % IMAGE_CONTENTS)));
            urls.push(url);
        }
        let moved = format!("{STATIC}/moved.png");
        let to = Link { target: urls[1].clone(), href: urls[1].clone() };
        self.pages.insert(moved.clone(), file(Reply::Redirect { status: 302, to }));
        urls.push(moved);
        for n in 0..STYLE_SHEETS {
            // Only of those before, but for the last, which imports itself by way of the first.
            let mut needs: Vec<String> = (0..rng.below(4)).map(|_| urls[rng.index(urls.len())].clone()).collect();
            if n == 0 {
                needs.push(style_sheet(STYLE_SHEETS - 1));
            }
            self.pages.insert(style_sheet(n), file(Reply::StyleSheet { needs, text: n }));
            urls.push(style_sheet(n));
        }
        urls
    }
}

fn style_sheet(n: u64) -> String {
    format!("{STATIC}/s{n}.css")
}

fn file(reply: Reply) -> Page {
    Page { faults: Vec::new(), reply }
}

impl Html {
    /// What of its head is about the files that it needs.
    pub(crate) fn furniture(&self) -> String {
        let needed = |url: &String| match url.ends_with(".css") {
            true => format!("<link rel=\"stylesheet\" href=\"{url}\">"),
            false => format!("<link rel=\"preload\" as=\"image\" href=\"{url}\">"),
        };
        // Without an icon of its own a page needs its site's.
        let icon = if self.is_furnished { "<link rel=\"icon\" href=\"data:,\">" } else { "" };
        self.needs.iter().map(needed).fold(icon.to_owned(), |all, one| all + &one)
    }
}

fn site(rng: &mut Rng) -> Site {
    Site {
        addresses: vec![std::net::IpAddr::from([10, 2, 0, 1])],
        name: Name::Found { failures_first: 0 },
        reach: Reach::Answers,
        robots: Robots {
            faults: Vec::new(),
            reply: RobotsReply::Rules,
            disallow: vec!["/private".to_owned()],
            allow: Vec::new(),
            crawl_delay: None,
            sitemaps: Vec::new(),
        },
        pace_ms: rng.pick(&[5, 50, 300]),
    }
}
