//! The synthetic web of one simulation: hosts on addresses, sites, pages, and how each of them misbehaves.
//!
//! It is written down in full, so that the oracle can work out what a crawl of it must find without any of the crawler's
//! code. URLs are plain text in canonical form.

mod changing;
mod farm;
mod furnished;
mod generate;
mod spelling;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

pub use changing::Changing;
pub(crate) use farm::FARM_DEPTH_MAX;

/// A web.
#[derive(Clone, Debug, Default)]
pub struct Web {
    /// The sites, by their text (`http://h0.test`).
    pub sites: BTreeMap<String, Site>,
    /// The pages, by canonical URL. What is not here is answered with 404.
    pub pages: BTreeMap<String, Page>,
    /// Where the crawl begins.
    pub seeds: Vec<String>,
    /// The sites that belong to a farm of hosts; none where there is no farm.
    pub farm: BTreeSet<String>,
    /// robots.txt is asked for once, and whatever is not rules then counts as none.
    pub robots_once: bool,
    /// How pages change.
    pub changing: Changing,
}

/// A site.
#[derive(Clone, Debug)]
pub struct Site {
    /// What its name resolves to.
    pub addresses: Vec<IpAddr>,
    /// What comes of asking for its name.
    pub name: Name,
    /// What comes of connecting to it.
    pub reach: Reach,
    /// Its robots.txt.
    pub robots: Robots,
    /// How long it takes for an answer, about, in milliseconds.
    pub pace_ms: u64,
}

/// What comes of asking for a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// Its addresses, after the name server has failed so often.
    Found {
        /// How often it fails first.
        failures_first: u32,
    },
    /// It does not exist.
    NotFound,
    /// The name server never answers.
    ServerFails,
}

/// What comes of connecting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The host answers.
    Answers,
    /// It refuses all connections.
    Refuses,
    /// It never says anything.
    Silent,
}

/// A robots.txt.
#[derive(Clone, Debug)]
pub struct Robots {
    /// How the first requests for it fail.
    pub faults: Vec<Fault>,
    /// What comes then.
    pub reply: RobotsReply,
    /// Path prefixes that its rules forbid.
    pub disallow: Vec<String>,
    /// Path prefixes that they allow, although a shorter one is forbidden.
    pub allow: Vec<String>,
    /// Seconds to wait between visits.
    pub crawl_delay: Option<u64>,
    /// Sitemaps it names.
    pub sitemaps: Vec<String>,
}

/// How robots.txt is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RobotsReply {
    /// The rules.
    Rules,
    /// An error status: 4xx allows all, 5xx forbids all.
    Status(u16),
    /// A redirect to the robots.txt of another site, whose rules then hold.
    RedirectTo(String),
}

/// How one request fails where the next may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing comes until the time limit.
    Lost,
    /// The connection ends before the answer's head is whole.
    Broken,
    /// The connection is refused.
    Refused,
    /// The answer says that the server is busy.
    Busy(Busy),
}

/// An answer 429 or 503.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    /// The status.
    pub status: u16,
    /// After how many seconds to come again; none for no such field.
    pub retry_after_s: Option<u64>,
    /// It is said by a date.
    pub as_date: bool,
}

/// A page.
#[derive(Clone, Debug)]
pub struct Page {
    /// How the first requests for it fail.
    pub faults: Vec<Fault>,
    /// What comes then.
    pub reply: Reply,
}

/// How a URL is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// An HTML page.
    Html(Html),
    /// Something else than HTML, of this content.
    Document(u64),
    /// An image of this content.
    Image(u64),
    /// A style sheet.
    StyleSheet {
        /// What it imports, and shows.
        needs: Vec<String>,
        /// What makes its content its own.
        text: u64,
    },
    /// A redirect.
    Redirect {
        /// The status.
        status: u16,
        /// Where it leads to.
        to: Link,
    },
    /// A redirect without Location.
    RedirectNowhere,
    /// An error status.
    Status(u16),
    /// Busy for ever.
    AlwaysBusy(Busy),
    /// It fails for ever, in the same way.
    AlwaysFails(AlwaysFails),
    /// A sitemap of pages.
    Sitemap(Vec<String>),
    /// A sitemap of sitemaps.
    SitemapIndex(Vec<String>),
}

/// A failure without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlwaysFails {
    /// Nothing comes until the time limit.
    Lost,
    /// The connection ends before the head.
    Broken,
    /// What comes is not HTTP.
    Garbage,
    /// The head is too large.
    HugeHead,
}

/// An HTML page.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Html {
    /// Its links.
    pub links: Vec<Link>,
    /// What makes its content its own. Pages with the same links and the same text are duplicates.
    pub text: u64,
    /// What it needs to be shown.
    pub needs: Vec<String>,
    /// It says all that it needs, an icon too.
    pub is_furnished: bool,
    /// It asks that its links be not followed.
    pub nofollow: bool,
    /// The connection ends in the middle: this many of its links were sent.
    pub breaks_after: Option<usize>,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it leads to, in canonical form.
    pub target: String,
    /// How it is written.
    pub href: String,
}

impl Html {
    /// The links that can be read.
    #[must_use]
    pub fn links_sent(&self) -> &[Link] {
        &self.links[..self.breaks_after.unwrap_or(self.links.len())]
    }
}

impl Web {
    /// The site of a URL, with its text. URLs of the web always have one.
    #[must_use]
    pub fn site_of<'a>(&'a self, url: &str) -> Option<(&'a str, &'a Site)> {
        self.sites.get_key_value(site_text(url)).map(|(text, site)| (text.as_str(), site))
    }

    /// The site whose robots.txt says what holds on a site: itself, or where its robots.txt redirects to.
    #[must_use]
    pub fn rules_of<'a>(&'a self, site: &'a Site) -> &'a Robots {
        match &site.robots.reply {
            _ if self.robots_once => &site.robots,
            RobotsReply::RedirectTo(other) => self.sites.get(other).map_or(&site.robots, |other| &other.robots),
            _ => &site.robots,
        }
    }

    /// Whether the robots.txt that holds on a site has rules, where it can be had.
    #[must_use]
    pub fn has_rules(&self, robots: &Robots) -> bool {
        match robots.reply {
            RobotsReply::Rules => true,
            RobotsReply::Status(_) => false,
            RobotsReply::RedirectTo(_) => !self.robots_once,
        }
    }

    /// Whether nothing is allowed since a robots.txt cannot be had.
    #[must_use]
    pub fn forbids_all(&self, robots: &Robots) -> bool {
        !self.robots_once && matches!(robots.reply, RobotsReply::Status(500..))
    }

    /// Has robots.txt be asked for once. What fails by chance would tell nobody then what holds: so nothing does.
    pub(crate) fn ask_for_robots_once(&mut self) {
        self.robots_once = true;
        for site in self.sites.values_mut() {
            site.robots.faults.clear();
            site.reach = Reach::Answers;
        }
    }
}

/// `scheme://host[:port]` of a URL.
#[must_use]
pub fn site_text(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find('/').map_or(url, |at| &url[..host + at])
}

/// Path and query of a URL.
#[must_use]
pub fn path_of(url: &str) -> &str {
    &url[site_text(url).len()..]
}

impl Web {
    /// True where the URL answers with something that is no redirect.
    #[must_use]
    pub fn is_page(&self, url: &str) -> bool {
        !matches!(self.pages.get(url), Some(Page { reply: Reply::Redirect { .. }, .. }))
    }
}
