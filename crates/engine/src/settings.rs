//! The settings of a crawl for the engine.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use frontier::{Excluded, Filter, SiteRules};
use model::{Candidate, Limits, Purpose, Sought, Via};
use rules::RuleSet;
use weburl::{CanonicalRules, SiteKey, UrlKey};

use crate::Keep;

/// The budgets of a crawl, by the names of their settings.
pub(crate) const PAGES_LIMIT: &str = "max-pages";
pub(crate) const BYTES_LIMIT: &str = "max-bytes";
/// The limit that does not wait for the fetches under way.
pub(crate) const TIME_LIMIT: &str = "max-time";

/// What is spent of the budgets of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// The round.
    pub round: u32,
    /// Pages fetched with success.
    pub pages: u64,
    /// Payload bytes of visits.
    pub bytes: u64,
    /// How long the round has lasted.
    pub lasts: Duration,
}

/// Sites in memory at once, unless told otherwise.
pub const SITES_IN_FRONT_MAX: usize = 50_000;

/// Default for the bytes of the front: 50,000 sites with a window of 16 URLs of some 300 bytes each.
pub const FRONT_BYTES_MAX: usize = 320_000_000;

/// Default for the part of the places that no domain or address has to give up: one in this many.
pub const PLACES_PART: usize = 256;

/// Default for the visits after which a site leaves its place while others wait.
pub const TURNS_IN_FRONT_MAX: u32 = 256;

/// URLs in the windows of all sites in front, unless told otherwise: some 300 bytes each, and up to twice as many.
pub const WINDOWS_URLS_MAX: usize = 32_768;

/// Default for the recently found URLs in memory: some 30 bytes each.
pub const REMEMBERED_URLS_MAX: usize = 200_000;

/// Default for the size from which a robots.txt is large: reading one takes about a third of a millisecond.
pub const LARGE_ROBOTS_BYTES: usize = 16 << 10;

/// Default for the bytes of large rules in memory.
pub const RULES_BYTES_MAX: usize = 32 << 20;

/// Default for the sites whose turn waits for their large rules at once.
pub const RULES_READ_AT_ONCE_MAX: usize = 8;

/// Links judged for one event, unless told otherwise: one to three milliseconds of them.
pub const LINKS_AT_ONCE: usize = 2_048;

/// Default for how long a run waits if only sites in trouble are left.
pub const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// Which pages are rendered in a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderMode {
    /// Pages that probably show more there.
    Auto,
    /// All.
    Always,
}

/// The settings of one crawl.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which URLs belong to the crawl.
    pub filter: Filter,
    /// The rules for every site.
    pub site_rules: SiteRules,
    /// How URLs are brought into canonical form.
    pub canonical: CanonicalRules,
    /// Limits on what the web may cause.
    pub limits: Limits,
    /// robots.txt is requested once per site. Any answer except a file (2xx) counts as none, redirects are not followed, and the answer
    /// holds for the whole crawl.
    pub robots_once: bool,
    /// Our name in robots.txt and in `X-Robots-Tag`.
    pub product_token: String,
    /// The largest number of links from a seed.
    pub depth_max: Option<u32>,
    /// Fetches at once.
    pub concurrency: usize,
    /// Fetches at once from the sites of a registrable domain, so that a farm of slow servers does not hold them all.
    pub fetches_per_domain_max: usize,
    /// Fetches at once from an address, or from a network of IPv6; matters without a delay per address.
    pub fetches_per_address_max: usize,
    /// Nothing new is fetched, until other settings say so.
    pub paused: bool,
    /// Sites on hold: they get no requests. Their URLs stay in the frontier.
    pub held_sites: BTreeSet<SiteKey>,
    /// The largest number of URLs fetched successfully.
    pub pages_max: Option<u64>,
    /// How long the run waits if only sites in trouble are left.
    pub patience: Duration,
    /// The time limit of the crawl.
    pub time_max: Option<Duration>,
    /// The approximate limit of payload bytes: fetches in flight complete.
    pub bytes_max: Option<u64>,
    /// Read sitemaps.
    pub sitemaps: bool,
    /// Send HEAD before GET. A URL that failed is requested again with GET alone.
    pub head_first: bool,
    /// Sites in memory at once. URLs of further sites wait in the store.
    pub sites_in_front_max: usize,
    /// The largest size of the sites in front and outside, in bytes. A single site may take more.
    pub front_bytes_max: usize,
    /// The part of the places that no domain or address has to give up: one in this many, and one place at least.
    pub places_part: usize,
    /// The shortest time from the start of a request to that of the next one, of all sites together. Zero: only the sites have delays.
    pub pace: Duration,
    /// Visits after which a site leaves its place while others wait.
    pub turns_in_front_max: u32,
    /// URLs in the windows of all sites in front. With few sites in front, each has a larger
    /// window ([`frontier::window_urls`]).
    pub windows_urls_max: usize,
    /// Size from which a robots.txt is large: the shell reads it beside the step, and its rules may leave memory.
    pub large_robots_bytes: usize,
    /// The largest size of large rules in memory, in bytes. The step reads the others from the store when their site's turn comes.
    pub rules_bytes_max: usize,
    /// Sites whose turn waits for their large rules at once, at most. New files are read at once while there are fewer of both. Each has up
    /// to 500 KiB in memory.
    pub rules_read_at_once_max: usize,
    /// Recently found URLs in memory; finding them again is not recorded. With 0 every find is recorded, for
    /// observers that need all of them.
    pub remembered_urls_max: usize,
    /// Links judged for one event, and about as many again. The rest of a page with more links waits while other events have their turn.
    pub links_at_once: usize,
    /// Follow links although the page says nofollow.
    pub ignore_nofollow: bool,
    /// The content that is kept, in addition to HTML, XML and text; `None` keeps everything.
    pub keep: Option<Keep>,
    /// Which pages are rendered; `None` without a browser.
    pub render: Option<RenderMode>,
    /// A page has changed only if its words have.
    pub changes_in_text: bool,
    /// Fetch the images of pages, from any site.
    pub images: bool,
    /// Fetch what pages need to be shown, from any site.
    pub requisites: bool,
    /// Every exchange is recorded in an archive.
    pub archive: bool,
    /// Keep the values of each answer for the dataset ([`crate::Details`]).
    pub details: bool,
    /// Label each payload ([`model::Visit::digest`]). Without it only payloads that nothing else identifies are labelled: a crawl that keeps only
    /// its state has no other use for labels, and they take a tenth of its processor time.
    pub labels: bool,
    /// Read what pages say for machines ([`structured`]), if `details` are kept.
    pub structured: bool,
    /// Of pages, these values include their main text, kind and metadata ([`maintext`]).
    pub main_text: bool,
    /// What reads the text of documents, if `details` are kept and it is wanted.
    pub documents: Option<documents::Reader>,
    /// What is taken out of pages, if `details` are kept.
    pub rules: Arc<RuleSet>,
}

impl Settings {
    /// The budgets of the whole crawl that are spent, by the names of their settings.
    pub fn budgets_spent(&self, spent: &Spent) -> impl Iterator<Item = &'static str> + use<> {
        let budgets = [
            (self.pages_max.is_some_and(|max| spent.pages >= max), PAGES_LIMIT),
            (self.bytes_max.is_some_and(|max| spent.bytes >= max), BYTES_LIMIT),
            (self.time_max.is_some_and(|max| spent.lasts >= max), TIME_LIMIT),
        ];
        budgets.into_iter().filter(|(is_spent, _)| *is_spent).map(|(_, name)| name)
    }

    /// True if there is a budget of the whole crawl.
    #[must_use]
    pub fn has_budget(&self) -> bool {
        self.pages_max.is_some() || self.bytes_max.is_some() || self.time_max.is_some()
    }

    /// What is looked for in pages.
    #[must_use]
    pub fn sought(&self) -> Sought {
        Sought { images: self.images, requisites: self.requisites, nofollow: self.ignore_nofollow }
    }

    /// The pattern by which a known URL does not belong to the crawl any more, though it did when it was found. Images are not subject to
    /// include patterns, and in the queue they look like pages. `is_seed` says of a key whether it is that of a seed, or of what one redirects to.
    pub fn excluded_since(&self, known: &Candidate, is_seed: impl FnOnce(UrlKey) -> bool) -> Option<Excluded> {
        let needs_no_include = match known.purpose {
            Purpose::Page => self.images || matches!(known.via, Via::Seed | Via::Redirect) && is_seed(known.url.key()),
            Purpose::Requisite => true,
            Purpose::Sitemap | Purpose::Robots => return None,
        };
        self.filter.judge_waiting(&known.url, needs_no_include).err()
    }
}
