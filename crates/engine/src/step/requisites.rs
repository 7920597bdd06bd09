//! What pages need to be shown: taken up wherever it lies, as far as its page may have it.

use std::collections::VecDeque;

use foldhash::{HashMap, HashSet};
use frontier::Settled;
use model::{Candidate, Exchange, Limit, LimitSet, Method, Outcome, Purpose, Rendering, Timestamp, Via, Visit};
use weburl::{CanonicalUrl, Site, SiteKey, UrlKey};

use super::{State, is_robots_txt};
use crate::content::{bounded, is_redirect};
use crate::import_map::ImportMap;
use crate::requisites::{Needs, via_of};
use crate::{Record, Settings};

/// Pages whose requisites are counted at a time, some 100 bytes each. One that is forgotten, as all are between runs, may have as many again.
const PAGES_MAX: usize = 10_000;
/// Requisites of these together, some 30 bytes each. If there are more, pages are forgotten earlier.
const TAKEN_MAX: usize = 500_000;
/// Sites of pages that are remembered, some 100 bytes each. If there are more, all are forgotten.
const REFERERS_MAX: usize = 50_000;

/// The reason in the row of a file that needed no request of its own.
pub const LOADED_WITH_PAGE: &str = "loaded by the browser with its page";

/// The requisites that wait, and what those of each page have taken.
#[derive(Default)]
pub(super) struct Requisites {
    /// In the queues of all sites, by the last commit.
    waiting: i64,
    taken: HashMap<UrlKey, Taken>,
    /// The pages counted, the earliest first.
    order: VecDeque<UrlKey>,
    /// The requisites of all of them.
    count: usize,
    /// The sites whose pages need something, as far as they are known; `None` for one whose last page may not be named.
    referers: HashMap<SiteKey, Option<Site>>,
}

/// What a page has taken.
#[derive(Default)]
struct Taken {
    /// Whatever names them, and however often.
    requisites: HashSet<UrlKey>,
    bytes: u64,
    /// By which its scripts name modules.
    imports: ImportMap,
}

impl Taken {
    /// What it takes of memory, in requisites.
    fn weight(&self) -> usize {
        self.requisites.len() + self.imports.bytes() / 30
    }
}

impl Requisites {
    /// At the begin of a run, so many wait.
    pub(super) fn begin(&mut self, waiting: u64) {
        self.waiting = i64::try_from(waiting).unwrap_or(i64::MAX);
    }

    /// So many more wait.
    pub(super) fn add(&mut self, more: i64) {
        self.waiting = self.waiting.saturating_add(more);
    }

    fn of(&mut self, page: UrlKey) -> &mut Taken {
        if !self.taken.contains_key(&page) {
            while (self.order.len() >= PAGES_MAX || self.count >= TAKEN_MAX)
                && let Some(earliest) = self.order.pop_front()
            {
                self.count -= self.taken.remove(&earliest).map_or(0, |taken| taken.weight());
            }
            self.order.push_back(page);
        }
        self.taken.entry(page).or_default()
    }

    /// Remembers a site whose pages need something, and whether they may be named.
    pub(super) fn know(&mut self, site: Site, is_unnamed: bool) {
        if self.referers.len() >= REFERERS_MAX {
            self.referers.clear();
        }
        self.referers.insert(site.key(), Some(site).filter(|_| !is_unnamed));
    }

    /// Remembers a site that comes to front, unless its pages have said more: in a round, what they need may come before they do.
    pub(super) fn know_of(&mut self, site: &Site) {
        if !self.referers.contains_key(&site.key()) {
            self.know(site.clone(), false);
        }
    }

    /// What `Referer` names in a request for what a page needs: the site of the page, and nothing on the way from https to http.
    pub(super) fn referer(&self, needed: &Candidate) -> Option<Site> {
        let (page, to) = (needed.found_on?.site, needed.url.site());
        let own = || Some(to.clone()).filter(|to| to.key() == page);
        let from = self.referers.get(&page).cloned().unwrap_or_else(own)?;
        (to.is_https() || !from.is_https()).then_some(from)
    }

    /// Resolves the modules that a document of a page names. The import maps of the page itself replace those of its visit before.
    fn resolve(&mut self, page: UrlKey, needs: &mut Needs, from: &CanonicalUrl, settings: &Settings) {
        if needs.imports.is_empty() && needs.modules.is_empty() {
            return;
        }
        let taken = self.of(page);
        let before = taken.weight();
        if from.key() == page && !needs.imports.is_empty() {
            taken.imports = ImportMap::default();
        }
        needs.resolve(&mut taken.imports, from, settings);
        let after = taken.weight();
        self.count = self.count + after - before;
    }

    fn bytes_of(&self, page: UrlKey) -> u64 {
        self.taken.get(&page).map_or(0, |taken| taken.bytes)
    }

    /// Takes a URL for a page that may have so many, unless it has. `None` if it has as many as it may.
    fn take(&mut self, page: UrlKey, url: UrlKey, max: usize) -> Option<bool> {
        let taken = &mut self.of(page).requisites;
        if taken.contains(&url) {
            return Some(false);
        }
        if taken.len() >= max {
            return None;
        }
        taken.insert(url);
        self.count += 1;
        Some(true)
    }
}

/// The page that a document belongs to: itself, or the one that needs it.
fn page_of(document: &Candidate) -> UrlKey {
    let needed_by = document.found_on.filter(|_| document.purpose == Purpose::Requisite);
    needed_by.unwrap_or_else(|| document.url.key())
}

impl State {
    /// Judges what a page, or a requisite of one, needs. It belongs to the page, so it is as far from a seed, and the scope does not count:
    /// only the patterns by which the user excludes URLs, the trap rules and hooks. Gives the limit that leaves out some.
    pub(super) fn judge_requisites(
        &mut self,
        now: Timestamp,
        source: &Candidate,
        needs: Option<Box<Needs>>,
        record: &mut Record,
    ) -> LimitSet {
        let (page, max) = (page_of(source), self.settings.limits.requisites_per_page_max);
        let mut needs = needs.map(|needs| needs.of(source)).unwrap_or_default();
        self.requisites.resolve(page, &mut needs, &source.url, &self.settings);
        let Needs { urls, mut is_cut, is_unnamed, .. } = needs;
        if source.purpose == Purpose::Page && !urls.is_empty() {
            self.requisites.know(source.url.site(), is_unnamed);
        }
        for (url, role) in urls {
            let Some(is_new) = self.requisites.take(page, url.key(), max) else {
                is_cut = true;
                continue;
            };
            if is_new {
                let (depth, via, purpose) = (source.depth, via_of(role), Purpose::Requisite);
                self.judge(now, Candidate { url, depth, redirects: 0, via, purpose, found_on: Some(page) }, record);
            }
        }
        if is_cut { Limit::Requisites.into() } else { LimitSet::EMPTY }
    }

    /// Records what a browser loaded with a page as requisites that need no request. Where their records lie, the recorder notes.
    pub(super) fn record_loaded(&self, page: &Candidate, rendering: &Rendering, record: &mut Record) {
        if !self.settings.requisites {
            return;
        }
        let images = record.loaded.iter().map(|(image, ..)| image.url.key());
        let mut known: HashSet<UrlKey> = images.chain([page.url.key()]).collect();
        let is_file = |exchange: &&Exchange| !is_robots_txt(&exchange.url);
        for exchange in rendering.resources.iter().filter(|exchange| exchange.method == Method::Get).filter(is_file) {
            let (url, key) = (exchange.url.clone(), exchange.url.key());
            let status = fetch::parse_status(&exchange.response_head).unwrap_or_default();
            let headers = fetch::parse_fields(&exchange.response_head);
            let target = headers.get("location").filter(|_| is_redirect(status));
            let target = target.and_then(|to| url.join(to, &self.settings.canonical).ok()).map(|to| to.to_string());
            if !((200..=299).contains(&status) || target.is_some()) || !known.insert(key) {
                continue;
            }
            let (purpose, found_on) = (Purpose::Requisite, Some(page.url.key()));
            let candidate = Candidate { url, depth: page.depth, redirects: 0, via: Via::Link, purpose, found_on };
            let reason = LOADED_WITH_PAGE.to_owned();
            let outcome = if target.is_some() { Outcome::Redirect } else { Outcome::Binary };
            let visit = Visit {
                status,
                outlinks: Vec::from_iter(target.clone()),
                target,
                content_type: headers.get("content-type").map(bounded),
                length: exchange.payload.len() as u64,
                attempts: 1,
                judged_at: candidate.judges_from(),
                ..Visit::without_fetch(key, outcome, reason, exchange.started_at)
            };
            record.settled.push((candidate, visit));
        }
    }

    /// Counts the bytes of a requisite for its page.
    pub(super) fn count_requisite(&mut self, source: &Candidate, visit: &Visit) {
        self.requisites.of(page_of(source)).bytes += visit.length;
    }

    /// The end of a requisite whose page has had as many bytes as it may have.
    pub(super) fn beyond_bytes(&self, waiting: &Candidate) -> Option<Settled> {
        let max = self.settings.limits.requisite_bytes_per_page_max;
        let is_beyond = waiting.purpose == Purpose::Requisite && self.requisites.bytes_of(page_of(waiting)) >= max;
        is_beyond.then(|| Settled {
            outcome: Outcome::GivenUp,
            reason: format!("more than {max} bytes of requisites of its page"),
            limits: Limit::RequisiteBytes.into(),
        })
    }

    /// True if there is a limit of pages: what pages need must not wait as a page that may never be fetched.
    pub(super) fn pages_are_few(&self) -> bool {
        let settings = &self.settings;
        settings.requisites && (settings.pages_max.is_some() || settings.site_rules.pages_per_site_max.is_some())
    }

    /// True if only requisites are fetched from now on: there are as many pages as there may be.
    pub(super) fn pages_are_over(&self) -> bool {
        self.settings.requisites && self.has_all_pages()
    }

    /// True if the requests under way may bring as many pages as there may be. What pages need is requested when they have.
    pub(super) fn is_budget_under_way(&self) -> bool {
        let begun = self.counts.pages_in_round() + self.in_flight.len() as u64;
        !self.pages_are_over() && self.settings.pages_max.is_some_and(|max| begun >= max)
    }

    /// True if something may be missing that a page needs.
    pub(super) fn lacks_requisites(&self) -> bool {
        let is_open = self.requisites.waiting > 0 || !self.open.is_empty() || !self.in_parts.is_empty();
        self.settings.requisites && is_open
    }

    fn has_all_pages(&self) -> bool {
        self.settings.pages_max.is_some_and(|max| self.counts.pages_in_round() >= max)
    }
}

#[cfg(test)]
mod tests {
    use model::Headers;
    use weburl::CanonicalRules;

    use super::*;
    use crate::requisites::of_html;
    use crate::step::tests::settings;

    #[test]
    fn a_later_visit_of_a_page_brings_its_import_map_and_frames_add_to_it_within_the_limit() {
        let url = |text: &str| CanonicalUrl::parse(text, &CanonicalRules::default()).expect("a URL");
        let mut settings = settings();
        settings.limits.requisites_per_page_max = 2;
        let (page, mut requisites) = (url("http://a.test/"), Requisites::default());
        for (document, map, name, expect) in [
            ("http://a.test/", r#""a/": "/1/""#, "a/x", Some("http://a.test/1/x")),
            ("http://a.test/", r#""b/": "/2/""#, "a/x", None),
            ("http://b.test/", r#""b/": "/3/", "c/": "/3/""#, "b/x", Some("http://a.test/2/x")),
            ("http://b.test/", "", "c/x", Some("http://b.test/3/x")),
            ("http://b.test/", r#""d/": "/4/""#, "d/x", None),
        ] {
            let document = url(document);
            let html = format!(
                "<link rel=icon href=data:,><script type=importmap>{{\"imports\": {{{map}}}}}</script>
                 <script type=module>import '{name}'</script>"
            );
            let mut needs = of_html(&document, html.as_bytes(), Some("text/html"), &Headers::default(), &settings);
            requisites.resolve(page.key(), &mut needs, &document, &settings);
            let urls: Vec<&str> = needs.urls.iter().map(|(url, _)| url.as_str()).collect();
            assert_eq!((urls.as_slice(), needs.is_cut), (expect.as_slice(), map.contains("/4/")), "{document} {map}");
        }
        let of_page = requisites.taken[&page.key()].weight();
        assert_eq!(requisites.count, of_page, "what is replaced counts no more");
    }
}
