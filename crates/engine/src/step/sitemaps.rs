//! Which sites' sitemaps are read.
//!
//! One process reads those of every site that it comes to. Where several workers crawl, a seed may have a depth of its own (`Crawl`):
//! links are followed so far, and no sitemap is read for it, since its entries are not links. So workers read the sitemaps of the sites
//! that belong to the crawl by a seed at depth 0, from which the crawl goes as deep as it may.
//!
//! A site of which pages elsewhere need files only has no page in the crawl: its robots.txt is read, and no sitemap before a page comes.

use foldhash::HashSet;
use frontier::RobotsState;
use model::{Candidate, Purpose, RobotsRecord, Via};
use weburl::{CanonicalRules, CanonicalUrl, Scope, ScopeKind, Site, SiteKey};

use super::robots_txt::robots_state;
use super::{Front, Slot, Start, State};
use crate::{Record, Settings};

/// Where sitemaps lie when robots.txt does not say.
const SITEMAP_PATH: &str = "/sitemap.xml";

/// The sites whose sitemaps are read.
pub(super) struct SitemapSites {
    /// All that the crawl comes to.
    all: bool,
    /// Those of seeds at depth 0.
    sites: HashSet<SiteKey>,
    /// As far as the crawl goes from those seeds.
    scope: Scope,
}

impl SitemapSites {
    pub(super) fn all(kind: &ScopeKind) -> Self {
        SitemapSites { all: true, ..SitemapSites::of_seeds(kind) }
    }

    pub(super) fn of_seeds(kind: &ScopeKind) -> Self {
        SitemapSites { all: false, sites: HashSet::default(), scope: Scope::new(kind.clone()) }
    }

    /// Takes in a seed at depth 0. Says whether there may be more sites than before.
    pub(super) fn add_seed(&mut self, seed: &CanonicalUrl) -> bool {
        if self.all {
            return false;
        }
        // Such a scope is the same whatever the seeds are, and a site that is come to has URLs in it.
        self.all = matches!(self.scope.kind(), ScopeKind::Any | ScopeKind::HostSuffix(_) | ScopeKind::Matching(_));
        let is_new = self.sites.insert(seed.key().site);
        self.scope.add_seed(seed) || is_new || self.all
    }

    fn includes(&self, site: &Site) -> bool {
        let root = || CanonicalUrl::from_canonical(&format!("{site}/"));
        let has_seed = !self.sites.is_empty();
        self.all
            || has_seed && (self.sites.contains(&site.key()) || root().is_some_and(|url| self.scope.contains(&url)))
    }
}

impl State {
    /// Takes in seeds that came while the run went on.
    pub(super) fn seeds_added(&mut self, seeds: &[Candidate]) {
        let mut is_wider = false;
        for seed in seeds {
            self.add_seed(&seed.url);
            is_wider |= seed.depth == 0 && self.sitemap_sites.add_seed(&seed.url);
        }
        if !is_wider || !self.settings.sitemaps {
            return;
        }
        // Sites whose robots.txt was read before.
        let mut sites: Vec<SiteKey> = self.sites.keys().copied().collect();
        sites.sort_unstable();
        for site in sites {
            self.name_sitemaps(site);
        }
    }

    /// True if a site in front has requests other than its robots.txt.
    pub(super) fn has_more_than_robots_waiting(&mut self, site: SiteKey) -> bool {
        self.front(site).is_some_and(|front| front.state.has_more_than_robots_waiting())
    }

    /// Takes up the sitemaps of a site whose robots.txt was known before a page of it: it was asked for on behalf of other sites, whose
    /// robots.txt leads there, or of files that pages of other sites need.
    pub(super) fn take_up_late_sitemaps(&mut self, site: SiteKey) {
        let may_be_late = |front: &Front| {
            !front.sitemaps_named
                && front.state.has_fetched_nothing()
                && front.state.has_more_than_robots_waiting()
                && !front.state.has_only_requisites_waiting()
        };
        let may_be_early = self.start == Start::Shared || self.settings.requisites;
        if !self.settings.sitemaps || !may_be_early || !self.front(site).is_some_and(|front| may_be_late(front)) {
            return;
        }
        self.name_sitemaps(site);
    }

    /// Records the sitemaps of a site, as soon as its rules are read.
    pub(super) fn name_sitemaps(&mut self, site: SiteKey) {
        let found = self.sitemaps_to_read(site, None);
        if !found.is_empty() {
            let mut record = Record::of(site);
            record.found = found;
            self.record(record);
        }
        if self.front(site).is_some_and(|front| front.names_sitemaps && !front.reading.is_under_way()) {
            self.ask_for_rules(site, None);
        }
    }

    /// The sitemaps of a site in front, once, if the crawl reads them. While the rules are in the store, `file` tells them, if it is given.
    pub(super) fn sitemaps_to_read(&mut self, site: SiteKey, file: Option<&[u8]>) -> Vec<Candidate> {
        let Some(Slot::Here(front)) = self.sites.get_mut(&site) else { return Vec::new() };
        let is_wanted =
            self.settings.sitemaps && !front.sitemaps_named && self.sitemap_sites.includes(front.state.site());
        let has_page = !front.state.has_fetched_nothing() || !front.state.has_only_requisites_waiting();
        let is_wanted = is_wanted && has_page;
        let is_stored = matches!(front.state.robots(), RobotsState::Stored { .. });
        front.names_sitemaps = is_wanted && is_stored && file.is_none();
        if !is_wanted {
            return Vec::new();
        }
        let (site, canonical) = (front.state.site(), &self.settings.canonical);
        let found = match (front.state.robots(), file) {
            (RobotsState::Known { rules, .. }, _) => named(site, rules.sitemaps(), canonical),
            (RobotsState::Stored { .. }, Some(file)) => named(site, &robots::sitemaps(file), canonical),
            _ => return Vec::new(),
        };
        front.sitemaps_named = true;
        found
    }
}

/// The sitemaps of a site by its robots.txt, to be fetched; none if that could not be fetched.
#[must_use]
pub fn sitemaps_of(site: &Site, record: &RobotsRecord, settings: &Settings) -> Vec<Candidate> {
    match robots_state(Some(record), settings) {
        RobotsState::Known { rules, .. } => named(site, rules.sitemaps(), &settings.canonical),
        _ => Vec::new(),
    }
}

fn named(site: &Site, sitemaps: &[String], canonical: &CanonicalRules) -> Vec<Candidate> {
    let Some(robots_txt) = CanonicalUrl::from_canonical(&format!("{site}/robots.txt")) else { return Vec::new() };
    let usual = [format!("{site}{SITEMAP_PATH}")];
    let texts = if sitemaps.is_empty() { &usual[..] } else { sitemaps };
    let urls = texts.iter().filter_map(|text| robots_txt.join(text, canonical).ok());
    urls.map(|url| Candidate {
        url,
        depth: 0,
        redirects: 0,
        via: Via::Sitemap,
        purpose: Purpose::Sitemap,
        found_on: Some(robots_txt.key()),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text, &CanonicalRules::default()).expect("a URL")
    }

    #[test]
    fn sitemaps_are_read_of_sites_that_seeds_at_depth_0_bring() {
        let check = |kind: &str, expect: [bool; 4]| {
            let mut sites = SitemapSites::of_seeds(&ScopeKind::parse(kind).expect("a scope"));
            let all = ["http://a.test/x", "https://a.test/", "http://b.a.test/", "http://c.test/"]
                .map(|text| url(text).site());
            assert!(!all.iter().any(|site| sites.includes(site)), "{kind}: there is no seed yet");
            assert!(sites.add_seed(&url("http://a.test/dir/x")), "{kind}");
            assert_eq!(all.each_ref().map(|site| sites.includes(site)), expect, "{kind}");
            assert!(!sites.add_seed(&url("http://a.test/dir/x")), "{kind}: nothing new");
        };
        check("site", [true, false, false, false]);
        check("host", [true, true, false, false]);
        check("domain", [true, true, true, false]);
        check("prefix", [true, false, false, false]);
        check("any", [true; 4]);
    }
}
