//! Writes the page files as a function of what is recorded: page n is the n-th HTML page in the archive.
//!
//! So the ids are dense and never change, and whatever happens between a commit and its file (a crash, a full disk) is
//! made good when the saver is opened again.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use crawl::CrawlDir;
use export::page_files::head;
use export::{HtmlPage, html_of, may_be_html};
use frontier::Filter;
use model::{ArchiveLocation, Candidate, Outcome, Via};
use replay::Replay;
use store::{Batch, Committed, Entry, Store};
use weburl::UrlKey;

use crate::line::{Line, shown_url};
use crate::page_dir::PageDir;

/// Entries read from the store at once.
const SCAN_ENTRIES: usize = 4096;

/// Saves pages, and says what is going on.
pub(crate) struct Saver {
    store: Arc<dyn Store>,
    archive: PathBuf,
    body_bytes_max: u64,
    filter: Filter,
    page_dir: PageDir,
    /// A page's file before it has its name.
    staging: PathBuf,
    saved: u64,
}

impl Saver {
    /// Brings the page directory to what the store says: what is missing or has another depth by now is written.
    ///
    /// # Errors
    /// The page directory holds something else than pages of this crawl: then nothing is written.
    pub(crate) fn open(
        store: Arc<dyn Store>,
        dir: &CrawlDir,
        page_dir: PageDir,
        body_bytes_max: u64,
        filter: Filter,
    ) -> anyhow::Result<Self> {
        let (archive, staging) = (dir.archive(), dir.root().join("page.tmp"));
        let mut saver = Saver { store, archive, body_bytes_max, filter, page_dir, staging, saved: 0 };
        let keys = saver.recorded_pages()?;
        for (id, key) in saver.stale(&keys)? {
            if let Some(entry) = saver.store.get(key)? {
                saver.write(id, &entry)?;
            }
        }
        saver.saved = keys.len() as u64;
        Ok(saver)
    }

    /// How many pages are saved.
    pub(crate) fn saved(&self) -> u64 {
        self.saved
    }

    /// Saves the pages among what was committed. `show` receives the lines about it.
    pub(crate) fn committed(
        &mut self,
        batch: &Batch,
        committed: &Committed,
        show: &mut dyn FnMut(&[Line]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let fresh: HashSet<UrlKey> = committed.fresh.iter().map(|candidate| candidate.url.key()).collect();
        for (key, _, attempts) in &batch.attempts {
            if let Some(entry) = self.store.get(*key)? {
                show(&[line(&entry, "Retry", format!(" (attempt {attempts} failed)"))])?;
            }
        }
        for visit in &batch.visits {
            let Some(entry) = self.store.get(visit.key)? else { continue };
            let is_page = self.write(self.saved, &entry)?;
            self.saved += u64::from(is_page);
            let (word, remark) = shown_url(&self.filter, &entry.candidate.url, visit, is_page);
            show(&[line(&entry, word, remark)])?;
            show(&self.found(&entry, batch, &fresh))?;
        }
        for (key, _) in &batch.judged_again {
            if let Some(entry) = self.store.get(*key)? {
                show(&self.found(&entry, batch, &fresh))?;
            }
        }
        Ok(())
    }

    /// The pages in the order of their records.
    fn recorded_pages(&self) -> anyhow::Result<Vec<UrlKey>> {
        let mut pages: Vec<(ArchiveLocation, UrlKey)> = Vec::new();
        let mut after = None;
        loop {
            let entries = self.store.scan(after, SCAN_ENTRIES)?;
            let Some(last) = entries.last() else { break };
            after = Some(last.candidate.url.key());
            for entry in &entries {
                let location = entry.visit.as_ref().and_then(|visit| visit.location);
                if let Some(location) = location
                    && self.is_page(entry)?
                {
                    pages.push((location, entry.candidate.url.key()));
                }
            }
        }
        pages.sort_unstable();
        Ok(pages.into_iter().map(|(_, key)| key).collect())
    }

    /// The pages whose file is missing, or is not what it should be.
    fn stale(&self, keys: &[UrlKey]) -> anyhow::Result<Vec<(u64, UrlKey)>> {
        let present = self.page_dir.ids()?;
        if let Some(beyond) = present.range(keys.len() as u64..).next() {
            return Err(self.page_dir.foreign(&beyond.to_string()));
        }
        let mut stale = Vec::new();
        for (id, key) in (0..).zip(keys) {
            // On another disk than the state, where it gets its name before it is whole, a crash may have cut a file short.
            let may_be_cut = present.last() == Some(&id);
            if !present.contains(&id) || !self.is_right(id, *key)? || may_be_cut {
                stale.push((id, *key));
            }
        }
        Ok(stale)
    }

    /// Whether the file of a page that is there begins as it should.
    ///
    /// # Errors
    /// It is the file of something else.
    fn is_right(&self, id: u64, key: UrlKey) -> anyhow::Result<bool> {
        let Some(entry) = self.store.get(key)? else { return Ok(true) };
        let (url, head) = (format!("{}\n", entry.candidate.url), head(&entry.candidate));
        let found = self.page_dir.begins(id, head.len())?;
        if found != head.as_bytes() && !found.starts_with(url.as_bytes()) && !url.as_bytes().starts_with(&found) {
            return Err(self.page_dir.foreign(&id.to_string()));
        }
        Ok(found == head.as_bytes())
    }

    /// Writes the file of a page. Tells whether it is one.
    fn write(&self, id: u64, entry: &Entry) -> anyhow::Result<bool> {
        let Some(html) = self.html(entry)? else { return Ok(false) };
        self.page_dir.write(&self.staging, id, &[head(&entry.candidate).as_bytes(), &html.body])?;
        Ok(true)
    }

    fn html(&self, entry: &Entry) -> anyhow::Result<Option<HtmlPage>> {
        let mut replay = Replay::new(self.store.as_ref(), &self.archive, self.body_bytes_max);
        Ok(html_of(entry, &mut replay, self.body_bytes_max)?)
    }

    /// Whether a URL is a page, found out without reading where that is possible.
    fn is_page(&self, entry: &Entry) -> anyhow::Result<bool> {
        let outcome = entry.visit.as_ref().map(|visit| visit.outcome);
        Ok(may_be_html(entry) && (outcome == Some(Outcome::Html) || self.html(entry)?.is_some()))
    }

    /// The lines about what was found on a page. Where a redirect leads to stands behind it already.
    fn found(&self, page: &Entry, batch: &Batch, fresh: &HashSet<UrlKey>) -> Vec<Line> {
        let on_page = Some(page.candidate.url.key());
        let depth = page.candidate.depth;
        let links = batch.found.iter().filter(|link| link.found_on == on_page && link.via != Via::Redirect);
        let mut lines: Vec<Line> = links
            .map(|Candidate { url, .. }| {
                let word = if fresh.contains(&url.key()) { "Found" } else { "Known" };
                Line { depth, found: true, word, url: url.to_string(), remark: String::new() }
            })
            .collect();
        for (link, visit) in batch.settled.iter().filter(|(link, _)| link.found_on == on_page) {
            let (word, remark) = shown_url(&self.filter, &link.url, visit, false);
            lines.push(Line { depth, found: true, word, url: link.url.to_string(), remark });
        }
        lines
    }
}

fn line(entry: &Entry, word: &'static str, remark: String) -> Line {
    let Candidate { depth, url, .. } = &entry.candidate;
    Line { depth: *depth, found: false, word, url: url.to_string(), remark }
}
