//! A crawl with its settings and its scheduler.

use std::path::PathBuf;

use crawl::steer::Retried;
use crawl::{Change, Changed, CrawlDir, LiveView};
use engine::clock::Clock;
use engine::{Prospect, Settings, State};
use model::Timestamp;
use settings::plan::Plan;
use store::CrawlView;
use weburl::{CanonicalUrl, Pattern, Site};

use crate::urls::LOOKED_AT_MAX;

/// Changes from outside that are told of one site or URL.
const CHANGES_TOLD_MAX: usize = 10;

/// How much of a large site an explanation looks at. What is beyond is not counted, and the explanation says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    /// URLs of a site whose outcomes are counted.
    pub(super) urls_max: usize,
    /// How far into a site's queue a URL's place is looked for, in URLs.
    pub(super) queued_max: usize,
    /// Records of sites among which those of a host at unusual ports are looked for.
    pub(super) sites_max: usize,
}

impl Looks {
    const LONG: Self = Looks { urls_max: 200_000, queued_max: 100_000, sites_max: usize::MAX };
    const SHORT: Self = Looks { urls_max: LOOKED_AT_MAX, queued_max: LOOKED_AT_MAX, sites_max: LOOKED_AT_MAX };
}

/// A crawl in its directory, with its settings. Its scope is as wide as its seeds made it.
pub struct Crawl<'a> {
    pub(super) dir: &'a CrawlDir,
    pub(super) view: &'a dyn CrawlView,
    pub(super) settings: Settings,
    pub(super) keeps_archive: bool,
    /// A file of exclude patterns that the settings name, whose patterns they do not have.
    pub(super) patterns_unread: Option<PathBuf>,
    /// The run under way.
    live: Option<&'a LiveView>,
    pub(super) now: Timestamp,
    pub(super) looks: Looks,
    /// What was changed from outside, the oldest first.
    changes: Vec<Changed>,
}

impl<'a> Crawl<'a> {
    /// A crawl with a view of its state, and the run under way, if there is one.
    ///
    /// # Errors
    /// The settings or the state cannot be read.
    pub fn new(dir: &'a CrawlDir, view: &'a dyn CrawlView, live: Option<&'a LiveView>) -> anyhow::Result<Self> {
        // Certificates are for fetching.
        let options = settings::options::Options { ca_cert: Vec::new(), ..dir.options()? };
        let unread = options.unread_files().into_iter().map(|(_, path)| path).next();
        let Plan { mut settings, archive, .. } = Plan::new(&options)?;
        for seed in view.seeds()? {
            settings.filter.scope.add_seed(&seed);
        }
        let (changes, now) = (Changed::all_of(dir)?, Clock::start().date());
        Ok(Crawl {
            dir,
            view,
            settings,
            keeps_archive: archive,
            patterns_unread: unread,
            live,
            now,
            looks: Looks::LONG,
            changes,
        })
    }

    /// The same for a page that somebody waits for: an explanation looks at no more than [`LOOKED_AT_MAX`] URLs of a site.
    #[must_use]
    pub fn in_short(self) -> Self {
        Crawl { looks: Looks::SHORT, ..self }
    }

    pub(super) fn store(&self) -> &dyn CrawlView {
        self.view
    }

    pub(super) fn is_running(&self) -> bool {
        self.live.is_some()
    }

    /// What the scheduler of the run says of a site; or that of a run which would go on now. `None` if a crawl is running that cannot be asked.
    pub(super) fn prospect(&self, site: &Site) -> anyhow::Result<Option<Prospect>> {
        if let Some(live) = self.live {
            return live.prospect(site.key());
        }
        let state = State::resumed(self.settings.clone(), self.view, site.key(), self.now)?;
        Ok(Some(state.prospect(self.now, site.key())))
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
        let Ok(url) = CanonicalUrl::parse(text, &self.settings.canonical) else { return Ok(None) };
        Ok(self.store().get(url.key())?.map(|_| url))
    }

    /// The last changes from outside that concern a site, or a URL of it, each with its date.
    pub(super) fn changes_of(&self, site: &Site, url: Option<&CanonicalUrl>) -> Vec<String> {
        changes_of(&self.changes, site, url)
    }
}

/// The last changes from outside, the oldest first, that concern a site, or a URL of it, each in words with its date.
#[must_use]
pub fn changes_of(changes: &[Changed], site: &Site, url: Option<&CanonicalUrl>) -> Vec<String> {
    let matches = |patterns: &[String]| {
        let patterns = patterns.iter().filter_map(|pattern| Pattern::new(pattern).ok());
        url.is_none_or(|url| patterns.into_iter().any(|pattern| pattern.matches(url.as_str())))
    };
    let concerns = |changed: &&Changed| match &changed.change {
        Change::Exclude(patterns) | Change::Include(patterns) | Change::Remove(patterns) => matches(patterns),
        Change::Retry(words) => {
            Retried::read(words).is_ok_and(|retried| url.is_none_or(|url| retried.matches(url.as_str())))
        }
        Change::Hold(sites) | Change::Release(sites) => sites.iter().any(|named| named.names(site)),
        Change::DelayFor(delays) => delays.iter().any(|delay| delay.site.names(site)),
        Change::Seeds(seeds) => url.is_some_and(|url| seeds.iter().any(|seed| seed == url.as_str())),
        Change::Pause | Change::Resume | Change::Stop | Change::Set(_) | Change::Unset(_) => true,
    };
    let told = |Changed { at, change, .. }: &Changed| format!("{change}, {at}");
    let mut last: Vec<String> = changes.iter().rev().filter(concerns).take(CHANGES_TOLD_MAX).map(told).collect();
    last.reverse();
    last
}
