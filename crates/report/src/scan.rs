//! What the state tells: one pass over all URLs. Those of a site lie together.

use std::collections::{BTreeMap, HashMap, HashSet};

use dataset::originals::Originals;
use extract::media_type::sniff;
use model::{Outcome, Purpose, Visit, essence};
use store::{CrawlView, Entry, aside_with_queue};
use weburl::{SiteKey, UrlKey};

use crate::picture::{PICTURE_PAGES_MAX, PageNode};
use crate::speed::{Speed, SpeedCounter};
use crate::statistics::{
    Copied, LinkedPage, Named, Overview, Ranked, Share, SiteErrors, SiteInTrouble, SitePages, SizedDocument, SlowSite,
};
use crate::top::{ROWS_MAX, Tally, Top};
use crate::{Both, ReportError};

/// Entries and sites read from the store at once.
const AT_ONCE: usize = 1_000;

/// Pages from here on are counted under one depth.
const DEPTH_MAX: u32 = 100;

/// The outcomes that the table of types always names.
const TYPES: [&str; 4] =
    [dataset::rows::FRONTIER, Outcome::Html.as_str(), Outcome::Binary.as_str(), Outcome::Duplicate.as_str()];

/// What the state tells.
pub(crate) struct Scanned {
    pub(crate) overview: Overview,
    pub(crate) lists: Lists,
    pub(crate) most_copied: Ranked<Copied>,
    /// The most linked HTML pages, the most linked first.
    pub(crate) popular: Vec<(UrlKey, PageNode)>,
}

pub(crate) struct Lists {
    pub(crate) sites: Ranked<SitePages>,
    pub(crate) types: Ranked<Named>,
    pub(crate) errors_by_kind: Ranked<Named>,
    pub(crate) errors_by_site: Ranked<SiteErrors>,
    pub(crate) disallowed_by_site: Ranked<Share>,
    pub(crate) declared_kinds: Tally,
    pub(crate) status_codes: Ranked<Named>,
    pub(crate) content_types: Ranked<Named>,
    pub(crate) depths: Vec<Named>,
    pub(crate) largest: Ranked<SizedDocument>,
    /// Visits by the limits that they reached.
    pub(crate) limits: Tally,
    pub(crate) most_linked: Ranked<LinkedPage>,
    pub(crate) speed: Speed,
}

/// How many pages link to a URL.
pub(crate) type LinksTo<'a> = &'a dyn Fn(UrlKey) -> u64;

/// Reads all URLs. With their links, those that most pages link to are found too.
pub(crate) fn scan(
    store: &dyn CrawlView,
    seed_sites: &HashSet<SiteKey>,
    links: Option<LinksTo<'_>>,
) -> Result<Scanned, ReportError> {
    let mut counter = Counter::new();
    // A crawl that keeps no archive has lost nothing.
    let has_archive = !store.segments()?.is_empty();
    let mut originals = Originals::new(store)?;
    let mut after = None;
    loop {
        let entries = store.scan(after, AT_ONCE)?;
        let Some(last) = entries.last() else { break };
        after = Some(last.candidate.url.key());
        for entry in entries {
            // The last visit knows it, whichever is the current one.
            let has_lost = has_archive && entry.visit.as_ref().is_some_and(Visit::has_lost);
            let entry = &originals.now(entry)?;
            counter.count_limits(entry, seed_sites);
            if entry.candidate.purpose == Purpose::Page {
                counter.count(entry, seed_sites, links);
                if has_lost {
                    counter.overview.lost.add(seed_sites.contains(&entry.candidate.url.key().site), 1);
                }
            }
        }
    }
    counter.end_site();
    let most_copied = most_copied(store, std::mem::take(&mut counter.copies))?;
    Ok(counter.finish(most_copied))
}

/// A site while its URLs go by.
struct OpenSite {
    key: SiteKey,
    pages: SitePages,
    disallowed: u64,
}

struct Counter {
    overview: Overview,
    site: Option<OpenSite>,
    sites: Top<SitePages>,
    errors_by_site: Top<SiteErrors>,
    disallowed_by_site: Top<Share>,
    types: Tally,
    errors: Tally,
    declared_kinds: Tally,
    status_codes: Tally,
    content_types: Tally,
    depths: BTreeMap<u32, Both<u64>>,
    largest: Top<SizedDocument>,
    limits: Tally,
    most_linked: Top<LinkedPage>,
    popular: Top<(UrlKey, PageNode)>,
    /// Duplicates by the URL that had the bytes first.
    copies: HashMap<UrlKey, u64>,
    speed: SpeedCounter,
}

impl Counter {
    fn new() -> Self {
        Counter {
            overview: Overview::default(),
            site: None,
            sites: Top::new(ROWS_MAX),
            errors_by_site: Top::new(ROWS_MAX),
            disallowed_by_site: Top::new(ROWS_MAX),
            types: Tally::default(),
            errors: Tally::default(),
            declared_kinds: Tally::default(),
            status_codes: Tally::default(),
            content_types: Tally::default(),
            depths: BTreeMap::new(),
            largest: Top::new(ROWS_MAX),
            limits: Tally::default(),
            most_linked: Top::new(ROWS_MAX),
            popular: Top::new(PICTURE_PAGES_MAX),
            copies: HashMap::new(),
            speed: SpeedCounter::default(),
        }
    }

    fn count(&mut self, entry: &Entry, seed_sites: &HashSet<SiteKey>, links: Option<LinksTo<'_>>) {
        let key = entry.candidate.url.key();
        let is_seed_site = seed_sites.contains(&key.site);
        let outcome = entry.visit.as_ref().map(|visit| visit.outcome);
        self.types.add(outcome.map_or(dataset::rows::FRONTIER, Outcome::as_str), is_seed_site);
        if let Some(links_to) = links {
            self.count_links(entry, key, links_to(key));
        }
        // What lies outside the scope is known only because something links to it.
        if outcome == Some(Outcome::Excluded) {
            return;
        }
        if self.site.as_ref().is_none_or(|site| site.key != key.site) {
            self.end_site();
            self.overview.sites.add(is_seed_site, 1);
        }
        let site = self.site.get_or_insert_with(|| OpenSite {
            key: key.site,
            pages: SitePages {
                site: entry.candidate.url.site().to_string(),
                is_seed_site,
                pages: 0,
                html_pages: 0,
                binary_files: 0,
                duplicates: 0,
                errors: 0,
                frontier: 0,
            },
            disallowed: 0,
        });
        let overview = &mut self.overview;
        overview.pages.add(is_seed_site, 1);
        site.pages.pages += 1;
        let (total, of_site) = match outcome {
            None => (&mut overview.frontier, Some(&mut site.pages.frontier)),
            Some(Outcome::Html) => (&mut overview.html_pages, Some(&mut site.pages.html_pages)),
            Some(Outcome::Binary) => (&mut overview.binary_files, Some(&mut site.pages.binary_files)),
            Some(Outcome::Duplicate) => (&mut overview.duplicates, Some(&mut site.pages.duplicates)),
            Some(Outcome::Disallowed) => (&mut overview.disallowed, Some(&mut site.disallowed)),
            Some(Outcome::Redirect) => (&mut overview.redirects, None),
            Some(outcome) if outcome.is_failure() => (&mut overview.errors, Some(&mut site.pages.errors)),
            Some(_) => (&mut Both::default(), None),
        };
        total.add(is_seed_site, 1);
        if let Some(count) = of_site {
            *count += 1;
        }
        self.depths.entry(entry.candidate.depth.min(DEPTH_MAX)).or_default().add(is_seed_site, 1);
        if let Some(visit) = &entry.visit {
            self.count_visit(entry, visit, is_seed_site);
        }
    }

    fn count_visit(&mut self, entry: &Entry, visit: &Visit, is_seed_site: bool) {
        if visit.outcome.is_failure() {
            self.errors.add(visit.outcome.as_str(), is_seed_site);
        }
        if let Some(original) = visit.duplicate_of {
            *self.copies.entry(original).or_default() += 1;
        }
        // Without a status there was no answer.
        if visit.status == 0 {
            return;
        }
        self.overview.fetched.add(is_seed_site, 1);
        self.overview.bytes.add(is_seed_site, visit.length);
        self.speed.add(visit.at, visit.length);
        self.status_codes.add(&visit.status.to_string(), is_seed_site);
        let declared = visit.content_type.as_deref().map(essence).unwrap_or_default();
        self.content_types.add(if declared.is_empty() { "(none)" } else { &declared }, is_seed_site);
        if visit.kind() == Some(Outcome::Binary) {
            let media = sniff(b"", visit.content_type.as_deref(), entry.candidate.url.path_extension());
            self.declared_kinds.add(media.kind.as_str(), is_seed_site);
        }
        if visit.outcome.has_content() {
            self.largest.offer(visit.length, || SizedDocument {
                url: entry.candidate.url.to_string(),
                content_type: visit.content_type.clone(),
                bytes: visit.length,
            });
        }
    }

    fn count_limits(&mut self, entry: &Entry, seed_sites: &HashSet<SiteKey>) {
        let Some(visit) = &entry.visit else { return };
        for limit in visit.limits.iter() {
            self.limits.add(limit.as_str(), seed_sites.contains(&visit.key.site));
        }
    }

    fn count_links(&mut self, entry: &Entry, key: UrlKey, links: u64) {
        let visit = entry.visit.as_ref();
        let title = || visit.and_then(|visit| visit.title.clone());
        self.most_linked.offer(links, || LinkedPage {
            url: entry.candidate.url.to_string(),
            title: title(),
            outcome: visit.map_or(dataset::rows::FRONTIER, |visit| visit.outcome.as_str()).to_owned(),
            links,
        });
        if visit.is_some_and(|visit| visit.outcome == Outcome::Html) {
            let (url, site) = (entry.candidate.url.to_string(), entry.candidate.url.site().to_string());
            self.popular.offer(links, || (key, PageNode { url, title: title(), site, links, x: 0.0, y: 0.0 }));
        }
    }

    fn end_site(&mut self) {
        let Some(OpenSite { pages: site, disallowed, .. }) = self.site.take() else { return };
        let ended = site.pages - site.frontier;
        #[expect(clippy::cast_precision_loss, reason = "a share is shown")]
        let share = site.errors as f64 / ended.max(1) as f64;
        self.errors_by_site.offer(site.errors, || SiteErrors { site: site.site.clone(), errors: site.errors, share });
        self.disallowed_by_site.offer(disallowed, || Share { site: site.site.clone(), pages: disallowed });
        self.sites.offer(site.pages, || site);
    }

    fn finish(self, most_copied: Ranked<Copied>) -> Scanned {
        let depth = |(depth, count): (u32, Both<u64>)| {
            let more = if depth == DEPTH_MAX { " and more" } else { "" };
            Named { name: format!("{depth}{more}"), count }
        };
        let lists = Lists {
            sites: self.sites.ranked(),
            types: self.types.ranked(&TYPES),
            errors_by_kind: self.errors.ranked(&[]),
            errors_by_site: self.errors_by_site.ranked(),
            disallowed_by_site: self.disallowed_by_site.ranked(),
            declared_kinds: self.declared_kinds,
            status_codes: self.status_codes.ranked(&[]),
            content_types: self.content_types.ranked(&[]),
            depths: self.depths.into_iter().map(depth).collect(),
            largest: self.largest.ranked(),
            limits: self.limits,
            most_linked: self.most_linked.ranked(),
            speed: self.speed.finish(),
        };
        let popular = self.popular.ranked().rows;
        Scanned { overview: self.overview, lists, most_copied, popular }
    }
}

fn most_copied(store: &dyn CrawlView, copies: HashMap<UrlKey, u64>) -> Result<Ranked<Copied>, ReportError> {
    let total = copies.len() as u64;
    let mut copies: Vec<(u64, UrlKey)> = copies.into_iter().map(|(key, copies)| (copies, key)).collect();
    copies.sort_unstable_by_key(|(copies, key)| (std::cmp::Reverse(*copies), *key));
    let mut rows = Vec::new();
    for (copies, key) in copies.into_iter().take(ROWS_MAX) {
        let Some(entry) = store.get(key)? else { continue };
        rows.push(Copied { url: entry.candidate.url.to_string(), copies });
    }
    Ok(Ranked { total, rows })
}

/// What the records of sites tell.
pub(crate) struct OfSites {
    /// Those that took longest to answer the last time.
    pub slowest: Ranked<SlowSite>,
    /// Those in trouble.
    pub in_trouble: Ranked<SiteInTrouble>,
}

/// Reads the records of all sites. Adds the limits that sites reached to `limits`.
pub(crate) fn of_sites(
    store: &dyn CrawlView,
    seed_sites: &HashSet<SiteKey>,
    limits: &mut Tally,
) -> Result<OfSites, ReportError> {
    let (mut slowest, mut in_trouble) = (Top::new(ROWS_MAX), Top::new(ROWS_MAX));
    let mut after = None;
    loop {
        let sites = store.sites(after, AT_ONCE)?;
        let Some(last) = sites.last() else {
            return Ok(OfSites { slowest: slowest.ranked(), in_trouble: in_trouble.ranked() });
        };
        after = Some(last.site.key());
        let waiting = aside_with_queue(store, &sites)?;
        for site in sites {
            let response_ms = u64::try_from(site.response_time.as_millis()).unwrap_or(u64::MAX);
            for limit in site.robots.iter().flat_map(|robots| robots.limits().iter()) {
                limits.add(limit.as_str(), seed_sites.contains(&site.site.key()));
            }
            if let Some(aside) = site.aside.as_ref().filter(|_| waiting.contains(&site.site.key())) {
                // The first that is due comes first.
                in_trouble.offer(u64::MAX - site.due_at.0, || SiteInTrouble {
                    site: site.site.to_string(),
                    until: site.due_at.to_rfc3339(),
                    fetched: site.pages_fetched,
                    reason: aside.reason.detail.clone(),
                });
            }
            slowest.offer(response_ms, || SlowSite {
                site: site.site.to_string(),
                response_ms,
                fetched: site.pages_fetched,
                given_up: site.given_up.map(|failure| failure.detail),
            });
        }
    }
}
