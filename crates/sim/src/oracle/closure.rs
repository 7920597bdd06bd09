//! What a crawl of a web must find: every URL with its distance and what should become of it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use model::{Limits, Outcome, Purpose};

use super::robots_txt;
use crate::Scenario;
use crate::web::{AlwaysFails, Name, Reach, Reply, path_of, site_text};

/// What should become of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    /// Links and redirects from the nearest seed; for a sitemap, the indexes above it.
    pub(super) distance: (u32, u8),
    /// What it is fetched for.
    pub(super) purpose: Purpose,
    /// Its outcome, before payloads are compared.
    pub(super) outcome: Outcome,
    /// It is one of the pages of a calendar, of which only some are fetched.
    pub(super) is_calendar: bool,
    /// It is settled when it is found: its depth comes from the page that was first to link to it.
    pub(super) is_settled: bool,
}

/// Works out what a crawl must find: every way is followed, the shortest first, and again where a shorter one turns up.
pub(super) fn closure(scenario: &Scenario, lost: BTreeMap<String, Outcome>) -> BTreeMap<String, Expected> {
    let mut search = Search { scenario, lost, found: BTreeMap::new(), ways: BinaryHeap::new(), hosts: BTreeSet::new() };
    for seed in &scenario.web.seeds {
        search.hosts.insert(host_of(seed).to_owned());
    }
    for seed in &scenario.web.seeds {
        search.ways.push(Reverse(Way { rank: 1, distance: (0, 0), url: seed.clone(), kind: Kind::Seed }));
    }
    while let Some(Reverse(way)) = search.ways.pop() {
        search.follow(&way);
    }
    search.found
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    /// Sitemaps come first: a URL that is both is a sitemap only if nothing else was known before; there is none such.
    rank: u32,
    distance: (u32, u8),
    url: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Seed,
    Page,
    Requisite,
    Sitemap,
}

struct Search<'a> {
    scenario: &'a Scenario,
    /// What ended as broken by outages.
    lost: BTreeMap<String, Outcome>,
    found: BTreeMap<String, Expected>,
    ways: BinaryHeap<Reverse<Way>>,
    /// Hosts in scope.
    hosts: BTreeSet<String>,
}

impl Search<'_> {
    fn follow(&mut self, way: &Way) {
        // A site's sitemaps turn up with its first URL and may make others nearer than they seemed.
        let known = self.found.get(&way.url);
        if known.is_some_and(|known| {
            known.distance <= way.distance || known.purpose == Purpose::Sitemap || known.is_settled
        }) {
            return;
        }
        let expected = self.expect(way);
        let (outcome, settled) = (expected.outcome, expected.is_settled);
        self.found.insert(way.url.clone(), expected);
        if settled {
            return;
        }
        // A site of which pages need files and nothing else gives no sitemaps.
        if way.kind != Kind::Requisite {
            self.find_sitemaps(site_text(&way.url));
        }
        if outcome.has_content() || outcome == Outcome::Redirect {
            self.follow_on(way);
        }
    }

    fn expect(&self, way: &Way) -> Expected {
        let settled = match way.kind {
            Kind::Seed => self.is_excluded(&way.url).then_some(Outcome::Excluded),
            Kind::Page => self.settled(&way.url, self.is_in_scope(&way.url)),
            Kind::Requisite => self.settled(&way.url, true),
            Kind::Sitemap => None,
        };
        Expected {
            distance: way.distance,
            purpose: match way.kind {
                Kind::Seed | Kind::Page => Purpose::Page,
                Kind::Requisite => Purpose::Requisite,
                Kind::Sitemap => Purpose::Sitemap,
            },
            outcome: settled.unwrap_or_else(|| self.outcome(&way.url)),
            is_calendar: is_calendar(&way.url),
            is_settled: settled.is_some(),
        }
    }

    fn is_in_scope(&self, url: &str) -> bool {
        !self.scenario.wishes.seed_hosts_only || self.hosts.contains(host_of(url))
    }

    /// What becomes of a URL as soon as it is found.
    fn settled(&self, url: &str, in_scope: bool) -> Option<Outcome> {
        if self.is_excluded(url) || !in_scope {
            return Some(Outcome::Excluded);
        }
        // More than three of the same in a row.
        path_of(url).contains("/loop/loop/loop/loop/").then_some(Outcome::Trap)
    }

    fn is_excluded(&self, url: &str) -> bool {
        self.scenario.wishes.excludes && (url.ends_with(".pdf") || url.contains("/cgi-bin/"))
    }

    /// What becomes of a URL that has its turn.
    fn outcome(&self, url: &str) -> Outcome {
        let web = &self.scenario.web;
        let Some((_, site)) = web.site_of(url) else { return Outcome::DomainError };
        if !matches!(site.name, Name::Found { .. }) {
            return Outcome::DomainError;
        }
        if site.reach != Reach::Answers || !robots_txt::is_ever_had(web, site) {
            return Outcome::GivenUp;
        }
        if !robots_txt::allows(web, &site.robots, path_of(url)) {
            return Outcome::Disallowed;
        }
        if let Some(outcome) = self.lost.get(url) {
            return *outcome;
        }
        match web.pages.get(url).map(|page| &page.reply) {
            None | Some(Reply::Status(_) | Reply::AlwaysBusy(_)) => Outcome::HttpError,
            Some(Reply::Html(_)) => Outcome::Html,
            Some(
                Reply::Document(_)
                | Reply::Image(_)
                | Reply::StyleSheet { .. }
                | Reply::Sitemap(_)
                | Reply::SitemapIndex(_),
            ) => Outcome::Binary,
            Some(Reply::Redirect { .. } | Reply::RedirectNowhere) => Outcome::Redirect,
            Some(Reply::AlwaysFails(AlwaysFails::Lost)) => Outcome::Timeout,
            Some(Reply::AlwaysFails(AlwaysFails::Broken | AlwaysFails::Garbage)) => Outcome::ConnectionError,
            Some(Reply::AlwaysFails(AlwaysFails::HugeHead)) => Outcome::TooLarge,
        }
    }

    /// A request for a site's robots.txt finds its sitemaps.
    fn find_sitemaps(&mut self, site_text: &str) {
        let web = &self.scenario.web;
        let Some(site) = web.sites.get(site_text).filter(|_| self.scenario.wishes.sitemaps) else { return };
        let speaks = !web.forbids_all(&site.robots);
        if !matches!(site.name, Name::Found { .. }) || site.reach != Reach::Answers || !speaks {
            return;
        }
        let declared = if web.has_rules(&site.robots) { &web.rules_of(site).sitemaps } else { &[][..] };
        let default = [format!("{site_text}/sitemap.xml")];
        let urls = if declared.is_empty() { &default[..] } else { declared };
        for url in urls {
            self.ways.push(Reverse(Way { rank: 0, distance: (0, 0), url: url.clone(), kind: Kind::Sitemap }));
        }
    }

    fn follow_on(&mut self, way: &Way) {
        let Some(page) = self.scenario.web.pages.get(&way.url) else { return };
        let (depth, redirects) = way.distance;
        match &page.reply {
            Reply::Html(html) if way.kind != Kind::Sitemap => {
                let links = if html.nofollow { &[][..] } else { html.links_sent() };
                for link in links {
                    self.add((depth + 1, 0), &link.target, Kind::Page);
                }
                self.add_needs(depth, &html.needs);
            }
            Reply::StyleSheet { needs, .. } if way.kind == Kind::Requisite => self.add_needs(depth, needs),
            Reply::Redirect { to, .. } if redirects < Limits::default().redirects_max => {
                let is_page = matches!(way.kind, Kind::Seed | Kind::Page);
                let kind = if depth == 0 && is_page { Kind::Seed } else { way.kind };
                if kind == Kind::Seed && !self.is_excluded(&to.target) {
                    self.hosts.insert(host_of(&to.target).to_owned());
                }
                self.add((depth, redirects + 1), &to.target, kind);
            }
            Reply::Sitemap(urls) if way.kind == Kind::Sitemap => {
                urls.iter().for_each(|url| self.add((1, 0), url, Kind::Page));
            }
            Reply::SitemapIndex(urls) if way.kind == Kind::Sitemap => {
                for url in urls {
                    let distance = (depth + 1, 0);
                    self.ways.push(Reverse(Way { rank: 0, distance, url: url.clone(), kind: Kind::Sitemap }));
                }
            }
            _ => {}
        }
    }

    /// What is needed belongs to the page, and is as far from a seed.
    fn add_needs(&mut self, depth: u32, needs: &[String]) {
        for url in needs {
            self.ways.push(Reverse(Way { rank: 0, distance: (depth, 0), url: url.clone(), kind: Kind::Requisite }));
        }
    }

    fn add(&mut self, distance: (u32, u8), url: &str, kind: Kind) {
        if self.scenario.wishes.depth_max.is_none_or(|max| distance.0 <= max) {
            self.ways.push(Reverse(Way { rank: distance.0 + 1, distance, url: url.to_owned(), kind }));
        }
    }
}

/// The host without its port.
fn host_of(url: &str) -> &str {
    let authority = site_text(url).split_once("://").map_or("", |(_, authority)| authority);
    authority.split_once(':').map_or(authority, |(host, _)| host)
}

fn is_calendar(url: &str) -> bool {
    path_of(url).starts_with("/cal/")
}
