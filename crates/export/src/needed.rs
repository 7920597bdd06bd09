//! What pages need to be shown comes along with them, wherever it lies: it is read out of the pages as the crawl did.

use std::collections::HashSet;

use engine::requisites::{of_document, of_html};
use engine::{ImportMap, Needs};
use model::{Visit, essence};
use replay::{Lost, Replay};
use store::Entry;
use weburl::{CanonicalUrl, UrlKey};

use crate::{Crawl, ExportError, Filter, html_of};

/// What the pages that a filter chooses need, and what that needs in turn: style sheets import others, and name fonts and images.
#[derive(Debug, Default)]
pub(crate) struct Needed {
    /// URLs of the crawl, in memory: some 40 bytes each.
    pub(crate) urls: HashSet<UrlKey>,
    /// Pages and requisites that could not be read: their records are lost or damaged.
    pub(crate) unread: u64,
}

impl Needed {
    /// Reads the pages that the filter chooses. Nothing if that is all there is, or if the crawl fetched no requisites.
    ///
    /// # Errors
    /// The state cannot be read.
    pub(crate) fn by_pages(crawl: &Crawl<'_>, filter: &Filter) -> Result<Self, ExportError> {
        let mut needed = Needed::default();
        if filter.is_everything() || crawl.store.totals()?.requisites.is_empty() {
            return Ok(needed);
        }
        // Counted here: what the copy lacks itself is counted by its records.
        let lost = Lost::default();
        let (mut replay, mut unfollowed) = (crawl.replay().counting(lost.clone()), Vec::new());
        crawl.select(filter, false, &mut |_| {}, |selected| {
            let mut imports = ImportMap::default();
            let needs = needed.of_page(crawl, &selected.entry, &mut replay);
            let urls = urls_of(needs, &mut imports, &selected.entry, crawl);
            needed.add(crawl, urls, &mut unfollowed)?;
            // Each page before the next: what is not followed yet is then what one page needs.
            while let Some(key) = unfollowed.pop() {
                let Some(entry) = crawl.current(key)? else { continue };
                let urls = needed.of_requisite(crawl, &entry, &mut replay, &mut imports);
                needed.add(crawl, urls, &mut unfollowed)?;
            }
            Ok(())
        })?;
        needed.unread += lost.count();
        Ok(needed)
    }

    /// Adds those that the crawl knows.
    fn add(
        &mut self,
        crawl: &Crawl<'_>,
        urls: Vec<CanonicalUrl>,
        unfollowed: &mut Vec<UrlKey>,
    ) -> Result<(), ExportError> {
        for key in urls.iter().map(CanonicalUrl::key) {
            if !self.urls.contains(&key) && crawl.store.get(key)?.is_some() {
                self.urls.insert(key);
                unfollowed.push(key);
            }
        }
        Ok(())
    }

    fn of_page(&mut self, crawl: &Crawl<'_>, entry: &Entry, replay: &mut Replay<'_>) -> Needs {
        match html_of(entry, replay, crawl.body_bytes_max()) {
            Ok(Some(html)) => {
                let url = &entry.candidate.url;
                of_html(url, &html.body, html.content_type.as_deref(), &html.headers, crawl.settings)
            }
            Ok(None) => Needs::default(),
            Err(_) => {
                self.unread += 1;
                Needs::default()
            }
        }
    }

    /// What a requisite needs: another document, or what it redirects to.
    fn of_requisite(
        &mut self,
        crawl: &Crawl<'_>,
        entry: &Entry,
        replay: &mut Replay<'_>,
        imports: &mut ImportMap,
    ) -> Vec<CanonicalUrl> {
        let Some(visit) = &entry.visit else { return Vec::new() };
        if let Some(target) = visit.target.as_deref().and_then(CanonicalUrl::from_canonical) {
            return vec![target];
        }
        if !may_need(visit) {
            return Vec::new();
        }
        match replay.answer(visit) {
            Ok(Some(answer)) => {
                let body = answer.body(usize::try_from(crawl.body_bytes_max()).unwrap_or(usize::MAX));
                let headers = answer.headers();
                let found = of_document(&entry.candidate.url, &body, headers.get("content-type"), crawl.settings);
                urls_of(found.of(&entry.candidate), imports, entry, crawl)
            }
            Ok(None) => Vec::new(),
            Err(_) => {
                self.unread += 1;
                Vec::new()
            }
        }
    }
}

fn urls_of(mut needs: Needs, imports: &mut ImportMap, entry: &Entry, crawl: &Crawl<'_>) -> Vec<CanonicalUrl> {
    needs.resolve(imports, &entry.candidate.url, crawl.settings);
    needs.urls.into_iter().map(|(url, _)| url).collect()
}

/// False for what needs nothing by its media type, so that it is not read: images without SVG, fonts, sound, video.
fn may_need(visit: &Visit) -> bool {
    let media_type = essence(visit.content_type.as_deref().unwrap_or_default());
    let (kind, _) = media_type.split_once('/').unwrap_or_default();
    !matches!(kind, "image" | "font" | "audio" | "video") || media_type == "image/svg+xml"
}
