//! What is found on a page, judged: into the frontier, settled at once, or beyond the depth.

use foldhash::HashSet;
use frontier::{Brought, Excluded};
use model::{Candidate, Distance, Limit, LimitSet, Outcome, Purpose, Timestamp, Via, Visit};
use weburl::{CanonicalUrl, UrlKey};

use super::State;
use super::in_parts::Rest;
use super::requisites::LOADED_WITH_PAGE;
use crate::Record;
use crate::content::{Finding, Loaded};
use crate::details::Details;

/// Pages listed in a sitemap count as linked from a seed.
const SITEMAP_PAGE_DEPTH: u32 = 1;

/// The visit of an image that a browser has loaded, and the values of its answer.
fn visit_of(image: Loaded, candidate: &Candidate) -> (Visit, Option<Box<Details>>) {
    let Loaded { url, at, status, content } = image;
    let (outcome, reason, target) = match content.finding {
        Finding::Unwanted(reason) => (Outcome::Binary, reason, None),
        Finding::Redirect(Ok(target)) => (Outcome::Redirect, LOADED_WITH_PAGE.to_owned(), Some(target.to_string())),
        _ => (Outcome::Binary, LOADED_WITH_PAGE.to_owned(), None),
    };
    let visit = Visit {
        status,
        outlinks: Vec::from_iter(target.clone()),
        target,
        content_type: content.content_type,
        length: content.length,
        digest: content.digest,
        identity: content.identity,
        limits: content.limits,
        attempts: 1,
        judged_at: candidate.judges_from(),
        ..Visit::without_fetch(url.key(), outcome, reason, at)
    };
    (visit, content.details)
}

impl State {
    /// Judges the links of a page, each given once, and takes up those that lead on, unless `is_followed` is false. Gives the
    /// page's out-degree: how many of them lead to other URLs that the crawl may fetch. `brought` counts the new URLs.
    pub(super) fn judge_links(
        &mut self,
        now: Timestamp,
        source: &Candidate,
        links: &[CanonicalUrl],
        is_followed: bool,
        record: &mut Record,
        mut brought: Option<&mut Brought>,
    ) -> u32 {
        let depth = source.depth.saturating_add(1);
        let is_followed = is_followed && !self.is_too_deep(depth);
        let found_on = Some(source.url.key());
        let distance = Distance { depth, redirects: 0 };
        let mut out_degree: u32 = 0;
        if is_followed {
            self.remembered.prefetch(links);
        }
        for url in links {
            let is_other = url.key() != source.url.key();
            let remembered = if is_followed { self.remembered.admitted(url.key(), distance) } else { None };
            let verdict = match remembered {
                Some(_) => Ok(()),
                None => self.settings.filter.judge(url),
            };
            if remembered.unwrap_or(verdict.is_ok()) && is_other {
                out_degree = out_degree.saturating_add(1);
            }
            let mut is_fresh = false;
            if is_followed && remembered.is_none() {
                let purpose = Purpose::Page;
                let candidate = Candidate { url: url.clone(), depth, redirects: 0, via: Via::Link, purpose, found_on };
                is_fresh = self.take_up(now, candidate, verdict, record);
            }
            if let Some(brought) = brought.as_deref_mut().filter(|_| is_fresh && is_other) {
                brought.add(&source.url, url);
            }
            self.watch.link(source, url, is_fresh);
        }
        out_degree
    }

    /// Judges the images that a page shows. What a browser has loaded is settled: with this page, or with the one for which it was loaded. They belong to the page, so they are as far from a seed as it is, and the scope
    /// does not count: only the patterns by which the user excludes URLs, and the trap rules. Gives the rules that some break.
    pub(super) fn judge_images(
        &mut self,
        now: Timestamp,
        page: &Candidate,
        images: Vec<CanonicalUrl>,
        (loaded, shared): (Vec<Loaded>, &[UrlKey]),
        record: &mut Record,
    ) -> LimitSet {
        let (filter, traps) = (&self.settings.filter, &self.settings.site_rules.traps);
        let mut broken = LimitSet::EMPTY;
        let mut is_wanted = |url: &CanonicalUrl| {
            let rule = filter.judge_seed(url).is_ok().then(|| traps.broken_by(url));
            broken = broken.union(rule.iter().flatten().map(|(limit, _)| *limit).collect());
            rule.is_some_and(|rule| rule.is_none())
        };
        let known: HashSet<UrlKey> = loaded.iter().map(|image| image.url.key()).chain(shared.iter().copied()).collect();
        let further = images.into_iter().filter(|url| !known.contains(&url.key())).map(|url| (url, None));
        let all = loaded.into_iter().map(|image| (image.url.clone(), Some(image))).chain(further);
        let mut redirects = Vec::new();
        for (url, image) in all.filter(|(url, _)| is_wanted(url)) {
            let key = url.key();
            let candidate = Candidate {
                url,
                depth: page.depth,
                redirects: 0,
                via: Via::Link,
                purpose: Purpose::Page,
                found_on: Some(page.url.key()),
            };
            // Only what the filter admits may be remembered as such: to others a link does not lead into the crawl.
            let is_admitted = filter.judge(&candidate.url).is_ok();
            if let Some(reason) = self.hooks.refusal(&candidate) {
                if self.remembered.settle(key, is_admitted) {
                    let visit = Visit::without_fetch(key, Outcome::Excluded, reason, self.dates.of(now));
                    record.settled.push((candidate, visit));
                }
            } else if let Some(image) = image {
                if self.remembered.settle(key, is_admitted) {
                    if let Finding::Redirect(Ok(target)) = &image.content.finding {
                        redirects.push((candidate.clone(), target.clone()));
                    }
                    let (visit, details) = visit_of(image, &candidate);
                    if visit.outcome.is_fetched() {
                        self.counts.add_page();
                    }
                    self.counts.add_bytes(visit.length);
                    record.loaded.push((candidate, visit, details));
                }
            } else if !is_admitted || self.remembered.find(&candidate) {
                record.found.push(candidate);
            }
        }
        // Others were not loaded, or are no images.
        redirects.retain(|(_, target)| !known.contains(&target.key()));
        for (source, target) in redirects {
            self.judge_redirect(now, &source, &target, record, None);
        }
        broken
    }

    /// Judges the target of a redirect. It is no further from a seed than what redirects; what a seed redirects to is a
    /// seed.
    pub(super) fn judge_redirect(
        &mut self,
        now: Timestamp,
        source: &Candidate,
        target: &CanonicalUrl,
        record: &mut Record,
        brought: Option<&mut Brought>,
    ) {
        let candidate = Candidate {
            url: target.clone(),
            redirects: source.redirects.saturating_add(1),
            via: source.via.of_redirect(),
            found_on: source.found_on.filter(|_| source.purpose == Purpose::Requisite).or(Some(source.url.key())),
            ..source.clone()
        };
        let from_seed =
            source.via == Via::Seed || (source.via == Via::Redirect && self.seeds.contains(&source.url.key()));
        if from_seed && source.purpose == Purpose::Page && self.settings.filter.judge_seed(target).is_ok() {
            self.add_seed(target);
            if candidate.depth == 0 {
                self.sitemap_sites.add_seed(target);
            }
            record.seeds.push(target.clone());
            record.found.push(candidate);
        } else {
            let is_fresh = self.judge(now, candidate, record);
            if let Some(brought) = brought.filter(|_| is_fresh) {
                brought.add(&source.url, target);
            }
            self.watch.link(source, target, is_fresh);
        }
    }

    /// The entries of a sitemap that are to be judged, and the limits that keep others from being followed.
    pub(super) fn entries_to_judge(
        &self,
        source: &Candidate,
        mut pages: Vec<CanonicalUrl>,
        mut sitemaps: Vec<CanonicalUrl>,
    ) -> (Rest, LimitSet) {
        let mut limits = LimitSet::EMPTY;
        if self.is_too_deep(SITEMAP_PAGE_DEPTH) {
            pages.clear();
        }
        if source.depth >= self.settings.limits.sitemap_nesting_max {
            if !sitemaps.is_empty() {
                limits.insert(Limit::SitemapNesting);
            }
            sitemaps.clear();
        }
        (Rest::Entries(pages.into_iter(), sitemaps.into_iter()), limits)
    }

    /// Judges an entry of a sitemap.
    pub(super) fn judge_entry(
        &mut self,
        now: Timestamp,
        source: &Candidate,
        url: CanonicalUrl,
        purpose: Purpose,
        record: &mut Record,
    ) {
        let depth = if purpose == Purpose::Sitemap { source.depth + 1 } else { SITEMAP_PAGE_DEPTH };
        let found_on = Some(source.url.key());
        let candidate = Candidate { url, depth, redirects: 0, via: Via::Sitemap, purpose, found_on };
        match purpose {
            Purpose::Sitemap => record.found.push(candidate),
            Purpose::Page | Purpose::Requisite | Purpose::Robots => {
                self.judge(now, candidate, record);
            }
        }
    }

    fn is_too_deep(&self, depth: u32) -> bool {
        self.settings.depth_max.is_some_and(|max| depth > max)
    }

    /// True if the URL is new and will be fetched.
    pub(super) fn judge(&mut self, now: Timestamp, candidate: Candidate, record: &mut Record) -> bool {
        let filter = &self.settings.filter;
        let verdict = match candidate.purpose {
            Purpose::Requisite => filter.judge_seed(&candidate.url),
            Purpose::Page | Purpose::Sitemap | Purpose::Robots => filter.judge(&candidate.url),
        };
        self.take_up(now, candidate, verdict, record)
    }

    /// Records what was found with the filter's verdict on it, unless that is recorded already. True if the URL is new and will be fetched.
    fn take_up(
        &mut self,
        now: Timestamp,
        candidate: Candidate,
        verdict: Result<(), Excluded>,
        record: &mut Record,
    ) -> bool {
        let is_recorded = matches!(candidate.purpose, Purpose::Page | Purpose::Requisite);
        // Only what the filter admits as a page counts as a link into the crawl.
        let is_admitted = match candidate.purpose {
            Purpose::Requisite => self.settings.filter.judge(&candidate.url).is_ok(),
            Purpose::Page | Purpose::Sitemap | Purpose::Robots => verdict.is_ok(),
        };
        let settled = match verdict {
            Err(rule) => Some((Outcome::Excluded, rule.to_string(), LimitSet::EMPTY)),
            Ok(()) => {
                let broken = self.settings.site_rules.traps.broken_by(&candidate.url);
                let trap = broken.map(|(limit, reason)| (Outcome::Trap, reason, limit.into()));
                let refused = || self.hooks.refusal(&candidate).filter(|_| is_recorded);
                trap.or_else(|| refused().map(|reason| (Outcome::Excluded, reason, LimitSet::EMPTY)))
            }
        };
        match settled {
            // A sitemap named by another site is fetched for that site's sake, wherever it lies.
            Some((outcome, reason, limits)) if is_recorded => {
                if self.remembered.settle(candidate.url.key(), is_admitted) {
                    let at = self.dates.of(now);
                    let judged_at = candidate.judges_from();
                    let visit = Visit::without_fetch(candidate.url.key(), outcome, reason, at);
                    let visit = Visit { limits, judged_at, ..visit };
                    record.settled.push((candidate, visit));
                }
                false
            }
            _ => {
                let is_new = self.remembered.find(&candidate);
                if is_new {
                    record.found.push(candidate);
                }
                is_new
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use weburl::CanonicalRules;

    use super::*;
    use crate::Content;

    #[test]
    fn an_image_that_a_browser_loaded_is_known_by_its_content() {
        let url = CanonicalUrl::parse("http://a.test/a.svg", &CanonicalRules::default()).expect("a URL");
        let content = Content { identity: Some(7), length: 3, ..Content::default() };
        let image = Loaded { url: url.clone(), at: Timestamp(1), status: 200, content };
        let (visit, _) = visit_of(image, &Candidate::seed(url));
        assert_eq!((visit.outcome, visit.identity, visit.length), (Outcome::Binary, Some(7), 3));
    }
}
