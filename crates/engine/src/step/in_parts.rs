//! Pages and sitemaps with many links, judged in parts: what else happens does not wait for all of a page. Each part is recorded as it is
//! judged, and the visit with the last: a run that ends between them fetches the page again.

use std::ops::Range;
use std::sync::Arc;
use std::vec::IntoIter;

use frontier::Brought;
use model::{Candidate, Outcome, Purpose, Timestamp};
use weburl::CanonicalUrl;

use super::State;
use crate::Record;

/// What is left of a page or sitemap.
pub(super) struct InParts {
    source: Candidate,
    rest: Rest,
    /// What is recorded with the last part.
    record: Record,
    /// What it brought so far, where that is counted.
    brought: Option<Brought>,
}

/// Links that are to be judged.
pub(super) enum Rest {
    /// Those of a page.
    Links {
        /// Where they lead, among others.
        targets: Arc<[CanonicalUrl]>,
        /// Which of those.
        left: Range<usize>,
        /// They are taken up, not only counted.
        is_followed: bool,
    },
    /// Those of a page that is visited already, as they were kept.
    Kept(IntoIter<String>),
    /// The entries of a sitemap: pages, and sitemaps.
    Entries(IntoIter<CanonicalUrl>, IntoIter<CanonicalUrl>),
}

impl InParts {
    /// Bytes that the texts and links of its content take, about.
    pub(super) fn content_bytes(&self) -> usize {
        self.record.content_bytes
    }
}

impl Rest {
    fn len(&self) -> usize {
        match self {
            Rest::Links { left, .. } => left.len(),
            Rest::Kept(links) => links.len(),
            Rest::Entries(pages, sitemaps) => pages.len() + sitemaps.len(),
        }
    }
}

impl State {
    /// Judges links, at once or in parts, and gives out the record when that is done.
    pub(super) fn judge_in_parts(
        &mut self,
        now: Timestamp,
        source: Candidate,
        rest: Rest,
        record: Record,
        brought: Option<Brought>,
    ) {
        let parts = InParts { source, rest, record, brought };
        if parts.rest.len() <= self.settings.links_at_once {
            return self.judge_last_part(now, parts);
        }
        if let Some(front) = self.front(parts.record.site) {
            // It is not done with before the record is given out.
            front.state.uncommitted += 1;
        }
        self.in_parts.push_back(parts);
    }

    /// Goes on with what is judged in parts, as far as is done at once.
    pub(super) fn go_on_in_parts(&mut self, now: Timestamp) {
        while self.judged < self.settings.links_at_once {
            let Some(mut parts) = self.in_parts.pop_front() else { return };
            let site = parts.record.site;
            if parts.rest.len() > self.settings.links_at_once {
                let mut part = Record::of(site);
                self.judge_part(now, &mut parts, &mut part);
                self.record(part);
                self.in_parts.push_front(parts);
            } else {
                self.judge_last_part(now, parts);
                if let Some(front) = self.front(site) {
                    front.state.uncommitted = front.state.uncommitted.saturating_sub(1);
                }
                self.prepare(now, site);
            }
        }
    }

    fn judge_last_part(&mut self, now: Timestamp, mut parts: InParts) {
        // The visit stays where each part finds it.
        let site = parts.record.site;
        let mut record = std::mem::replace(&mut parts.record, Record::of(site));
        std::mem::swap(&mut record.visit, &mut parts.record.visit);
        self.judge_part(now, &mut parts, &mut record);
        record.visit = parts.record.visit;
        self.brought(&parts.source, parts.brought.as_ref());
        if record.visit.is_some() {
            record.site_record = self.front(record.site).map(|front| front.state.record());
        }
        self.record(record);
    }

    /// Judges as many links as are judged at once. What comes of it goes into `part`.
    fn judge_part(&mut self, now: Timestamp, parts: &mut InParts, part: &mut Record) {
        let InParts { source, rest, record, brought } = parts;
        let max = self.settings.links_at_once;
        self.judged += rest.len().min(max);
        match rest {
            Rest::Links { targets, left, is_followed } => {
                let links = &targets[left.start..left.start + left.len().min(max)];
                left.start += links.len();
                let out_degree = self.judge_links(now, source, links, *is_followed, part, brought.as_mut());
                if let Some(visit) = &mut record.visit {
                    // That of a feed is not counted: it is no HTML page.
                    if visit.outcome != Outcome::Binary {
                        visit.out_degree = Some(visit.out_degree.unwrap_or_default().saturating_add(out_degree));
                    }
                    if *is_followed && self.settings.depth_max.is_some() {
                        visit.outlinks.extend(links.iter().map(ToString::to_string));
                    }
                }
            }
            Rest::Kept(kept) => {
                let links: Vec<CanonicalUrl> =
                    kept.take(max).filter_map(|link| CanonicalUrl::from_canonical(&link)).collect();
                self.judge_links(now, source, &links, true, part, None);
            }
            Rest::Entries(pages, sitemaps) => {
                let pages = pages.take(max).map(|url| (url, Purpose::Page));
                let entries: Vec<_> = pages.chain(sitemaps.map(|url| (url, Purpose::Sitemap))).take(max).collect();
                for (url, purpose) in entries {
                    self.judge_entry(now, source, url, purpose, part);
                }
            }
        }
    }
}
