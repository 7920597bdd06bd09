//! A crawl with its settings and its scheduler.

use std::path::PathBuf;

use crawl::opened::Opened;
use crawl::{Changed, CrawlDir};
use engine::Settings;
use settings::plan::Plan;
use store::CrawlView;
use weburl::CanonicalUrl;

use super::asked::{Asked, Looks, Run};
use super::text::At;

/// A crawl in its directory, with its settings. Its scope is as wide as its seeds made it.
pub struct Crawl<'a> {
    pub(super) dir: &'a CrawlDir,
    pub(super) asked: Asked<'a>,
    pub(super) keeps_archive: bool,
    /// A file of exclude patterns that the settings name, whose patterns they do not have.
    pub(super) patterns_unread: Option<PathBuf>,
}

impl<'a> Crawl<'a> {
    /// A crawl whose directory is open: as the run under way sees it, if there is one.
    ///
    /// # Errors
    /// The settings or the state cannot be read.
    pub fn of(opened: &'a Opened) -> anyhow::Result<Self> {
        let (dir, view) = (&opened.dir, opened.view());
        // Certificates are for fetching.
        let options = settings::options::Options { ca_cert: Vec::new(), ..dir.options()? };
        let unread = options.unread_files().into_iter().map(|(_, path)| path).next();
        let Plan { mut settings, archive, .. } = Plan::new(&options)?;
        for seed in view.seeds()? {
            settings.filter.scope.add_seed(&seed);
        }
        let run = match opened.live() {
            Some(live) => Run::Live(live),
            None if opened.is_of_workers()? => Run::Workers(None),
            None => Run::Nobody,
        };
        let asked = Asked::new(view, settings, run, Changed::all_of(dir)?);
        Ok(Crawl { dir, asked, keeps_archive: archive, patterns_unread: unread })
    }

    /// The same for a page that somebody waits for: an explanation looks at no more than [`crate::urls::LOOKED_AT_MAX`] URLs of a site.
    #[must_use]
    pub fn in_short(mut self) -> Self {
        self.asked.looks = Looks::SHORT;
        self
    }

    /// Where the commands that a text of it names find it.
    #[must_use]
    pub fn at(&self) -> At<'a> {
        match self.asked.run {
            Run::Workers(_) => At::Archive(self.dir.root()),
            Run::Live(_) | Run::Nobody => At::Dir(self.dir.root()),
        }
    }

    pub(super) fn store(&self) -> &dyn CrawlView {
        self.asked.view
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.asked.settings
    }

    /// The https form of a URL that was given without a scheme, if the crawl knows that one alone.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn by_known_scheme(&self, given: &str, url: CanonicalUrl) -> anyhow::Result<CanonicalUrl> {
        if given.contains("://") || self.store().get(url.key())?.is_some() {
            return Ok(url);
        }
        let secure = self.known(&url.as_str().replacen("http://", "https://", 1))?;
        Ok(secure.unwrap_or(url))
    }

    /// URLs that the crawl knows and that differ from one it does not know in scheme, `www.` or a final slash.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn similar(&self, url: &CanonicalUrl) -> anyhow::Result<Vec<CanonicalUrl>> {
        let text = url.as_str();
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        let schemes = [scheme, if scheme == "http" { "https" } else { "http" }];
        let hosts = [rest.to_owned(), rest.strip_prefix("www.").map_or(format!("www.{rest}"), str::to_owned)];
        let mut similar = Vec::new();
        for (scheme, rest) in schemes.iter().flat_map(|scheme| hosts.iter().map(move |rest| (scheme, rest))) {
            for rest in [rest.clone(), rest.strip_suffix('/').map_or(format!("{rest}/"), str::to_owned)] {
                similar.extend(self.known(&format!("{scheme}://{rest}"))?);
            }
        }
        similar.retain(|known| known != url);
        Ok(similar)
    }

    fn known(&self, text: &str) -> anyhow::Result<Option<CanonicalUrl>> {
        let Ok(url) = CanonicalUrl::parse(text, &self.asked.settings.canonical) else { return Ok(None) };
        Ok(self.store().get(url.key())?.map(|_| url))
    }
}
