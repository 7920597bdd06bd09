//! The options of a crawl as given: one struct for the command line and for `crawl.toml`. [`table`] has them as rows.
//!
//! Every flag has a key of the same name. A switch may stand alone or have a value: `--head-first`, `--head-first=false`. Values are layered (what the crawl directory holds, then `--config`, then
//! flags) and only then checked and completed by [`crate::plan`].

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::behaviour::BehaviourOption;
use crate::deny_private::DenyPrivateOption;
use crate::extract::ExtractOption;
use crate::login::LoginOption;
use crate::of_file::{Certificates, OfFile, Patterns};
use crate::secret::{Headers, HeadersFor, ProxyText};
use crate::site_name::{SiteDelay, SiteName};
use crate::store_address::StoreAddress;
use crate::units::{Bytes, Span, whole};

/// What may change while a crawl runs. All else is read once, when a run begins.
pub const CHANGEABLE: [&str; 32] = [
    "include",
    "exclude",
    "exclude-file",
    "max-pages",
    "max-pages-per-site",
    "max-time",
    "max-bytes",
    "ignore-nofollow",
    "delay",
    "delay-for",
    "delay-factor",
    "hold",
    "paused",
    "concurrency",
    "max-fetches-per-domain",
    "max-fetches-per-address",
    "max-crawl-delay",
    "max-retry-after",
    "backoff",
    "max-backoff",
    "max-attempts",
    "max-failures-in-a-row",
    "patience",
    "give-up-after",
    "max-path-depth",
    "max-repeated-segments",
    "max-queries-per-path",
    "max-simple-queries-per-path",
    "max-calendar-pages",
    "max-session-pages",
    "max-low-yield-pages",
    "low-yield-window",
];

/// What decides which URLs belong to a crawl and what they are called. It cannot change within a crawl.
pub const FIXED: [&str; 10] = [
    "depth",
    "scope",
    "sandbox",
    "no-archive",
    "max-url-bytes",
    "sort-query",
    "strip-session-ids",
    "strip-tracking",
    "collapse-slashes",
    "strip-www",
];

/// The options. `None` and an empty list mean: not given.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Options {
    // --- what to crawl ---
    /// The largest number of links from a seed
    #[arg(long, value_name = "N", value_parser = whole::<u32>, help_heading = "What to crawl")]
    pub depth: Option<u32>,
    /// Which URLs belong to the crawl, relative to the seeds: site, host, domain, prefix, any, a host suffix such as .gov.si, or a wildcard pattern
    #[arg(long, value_name = "SCOPE", help_heading = "What to crawl")]
    pub scope: Option<String>,
    /// Follow only URLs that match one of these wildcard patterns (http*://*/docs/*); a second pattern needs a second --include
    #[arg(long, value_name = "PATTERN", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Never follow URLs that match one of these wildcard patterns (http*://*cgi-bin/*); a second pattern needs a second --exclude
    #[arg(long, value_name = "PATTERN", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// A file of exclude patterns, one per line; lines that begin with # are comments
    #[arg(long, value_name = "FILE", help_heading = "What to crawl")]
    pub exclude_file: Option<OfFile<Patterns>>,
    /// The largest number of pages and documents to fetch
    #[arg(long, value_name = "N", value_parser = whole::<u64>, help_heading = "What to crawl")]
    pub max_pages: Option<u64>,
    /// The largest number of pages and documents to fetch from one site
    #[arg(long, value_name = "N", value_parser = whole::<u64>, help_heading = "What to crawl")]
    pub max_pages_per_site: Option<u64>,
    /// The time limit of the crawl (30m, 2h)
    #[arg(long, value_name = "D", help_heading = "What to crawl")]
    pub max_time: Option<Span>,
    /// The approximate limit of fetched bytes (500MB, 2GB)
    #[arg(long, value_name = "B", help_heading = "What to crawl")]
    pub max_bytes: Option<Bytes>,
    /// Read the sitemaps of each site (default: unless --depth is given)
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "What to crawl")]
    pub sitemaps: Option<bool>,
    /// Do not read sitemaps
    #[arg(long, conflicts_with = "sitemaps", help_heading = "What to crawl")]
    #[serde(skip)]
    pub no_sitemaps: bool,
    /// Follow links of pages that say nofollow
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "What to crawl")]
    pub ignore_nofollow: Option<bool>,

    /// Crawl the built-in test web instead of the real one: simple.test, advanced.test, scripted.test, honest.test, hostile.test
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "What to crawl")]
    pub sandbox: Option<bool>,

    // --- politeness ---
    /// Wait at least this long between visits to a site
    #[arg(long, value_name = "D", help_heading = "Politeness")]
    pub delay: Option<Span>,
    /// A delay for one site instead of --delay (example.org=5s, example.org:8443=250ms)
    #[arg(long, value_name = "SITE=D", help_heading = "Politeness")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delay_for: Vec<SiteDelay>,
    /// Send no requests to a site (example.org); its URLs stay in the frontier
    #[arg(long, value_name = "SITE", help_heading = "Politeness")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hold: Vec<SiteName>,
    /// Fetch nothing new until `argiope steer DIR resume`
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_short_help = true, help_heading = "Politeness")]
    pub paused: Option<bool>,
    /// Wait at least this long between visits to an IP address; 0 switches it off
    #[arg(long, value_name = "D", help_heading = "Politeness")]
    pub ip_delay: Option<Span>,
    /// Wait at least this many times the last response time; 0 switches it off
    #[arg(long, value_name = "K", help_heading = "Politeness")]
    pub delay_factor: Option<f64>,
    /// Connections to a site at once; more than 1 needs --ip-delay 0
    #[arg(long, value_name = "N", value_parser = whole::<usize>, help_heading = "Politeness")]
    pub connections_per_site: Option<usize>,
    /// Fetches at once, over all sites
    #[arg(long, value_name = "N", value_parser = whole::<usize>, help_heading = "Politeness")]
    pub concurrency: Option<usize>,
    /// Fetches at once from all sites of a registrable domain [default: half of --concurrency]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, hide_short_help = true, help_heading = "Politeness")]
    pub max_fetches_per_domain: Option<usize>,
    /// Fetches at once from an IP address, if --ip-delay is 0 [default: half of --concurrency]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, hide_short_help = true, help_heading = "Politeness")]
    pub max_fetches_per_address: Option<usize>,
    /// How to read robots.txt: rfc9309, first-match or ignore
    #[arg(long, value_name = "HOW", help_heading = "Politeness")]
    pub robots: Option<String>,
    /// Request robots.txt once per site for the whole crawl. Any answer except a file counts as no file: a redirect, an error, no answer
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_short_help = true, help_heading = "Politeness")]
    pub robots_once: Option<bool>,
    /// The longest Crawl-delay obeyed
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Politeness")]
    pub max_crawl_delay: Option<Span>,
    /// The longest Retry-After obeyed
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Politeness")]
    pub max_retry_after: Option<Span>,
    /// Wait after a first failure; it doubles with every further one in a row
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Politeness")]
    pub backoff: Option<Span>,
    /// The longest wait after failures
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Politeness")]
    pub max_backoff: Option<Span>,
    /// Requests of a URL before a temporary failure counts as final; up to six times as many if its site fails by chance
    #[arg(long, value_name = "N", value_parser = whole::<u8>, hide_short_help = true, help_heading = "Politeness")]
    pub max_attempts: Option<u8>,
    /// Failures in a row, of different URLs, after which a site is put aside for 1, 5, 30 minutes, 2, 6, 24 hours
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Politeness")]
    pub max_failures_in_a_row: Option<u32>,
    /// How long a run goes on while no site answers and all sites left fail, two minutes at least; 0 ends it as soon as all are aside. Their
    /// URLs stay open: the same command continues
    #[arg(long, value_name = "D", help_heading = "Politeness")]
    pub patience: Option<Span>,
    /// How long a site may be in trouble before the crawl gives up its URLs
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Politeness")]
    pub give_up_after: Option<Span>,

    // --- fetching ---
    /// The User-Agent; its product token is the crawler's name in robots.txt
    #[arg(long, value_name = "S", help_heading = "Fetching")]
    pub user_agent: Option<String>,
    /// A page about this crawl, named in the default User-Agent
    #[arg(long, value_name = "URL", help_heading = "Fetching")]
    pub info_url: Option<String>,
    /// `--header`: request fields.
    #[command(flatten)]
    #[serde(skip_serializing_if = "Headers::is_empty")]
    pub header: Headers,
    /// `--header-for`: request fields for some URLs.
    #[command(flatten)]
    #[serde(skip_serializing_if = "HeadersFor::is_empty")]
    pub header_for: HeadersFor,
    /// Send the cookies of this file to their sites: cookies.txt, or JSON of a browser extension or of Playwright. Only its owner may read it
    #[arg(long, value_name = "FILE", help_heading = "Fetching")]
    #[serde(skip_serializing)]
    pub cookies: Vec<PathBuf>,
    /// Keep the cookies that servers set, and send them back; they are stored only in DIR/cookies.jsonl [default: with --cookies, or --login by a form]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Fetching")]
    pub cookie_jar: Option<bool>,
    /// Log in as this file says ([login.NAME]), which only its owner may read; again when a page shows that one is logged out
    #[arg(long, value_name = "FILE", help_heading = "Fetching")]
    pub login: Option<LoginOption>,
    /// Send HEAD first, and GET only for content that the crawl keeps
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Fetching")]
    pub head_first: Option<bool>,
    /// Render pages in headless Chromium before reading their links: `never`, `auto` (pages that show too little without their scripts) or
    /// `always`
    #[arg(long, value_name = "WHEN", help_heading = "Fetching")]
    pub render: Option<String>,
    /// The Chromium to render with; the crawl does not store it [default: the first of chromium, chromium-browser, google-chrome-stable, google-chrome in PATH]
    #[arg(
        long,
        value_name = "PATH",
        env = "ARGIOPE_BROWSER",
        hide_env_values = true,
        hide_short_help = true,
        help_heading = "Fetching"
    )]
    #[serde(skip_serializing)]
    pub browser: Option<PathBuf>,
    /// Pages rendered at a time
    #[arg(long, value_name = "N", value_parser = whole::<usize>, hide_short_help = true, help_heading = "Fetching")]
    pub render_tabs: Option<usize>,
    /// Requests a second from all rendered pages together to one address, after a burst of a hundred; a request that would wait longer than 5 seconds is refused
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Fetching")]
    pub render_rate: Option<u32>,
    /// What to wait for before reading a rendered page: a time on the page's own clock, `idle`, or a CSS selector
    #[arg(long, value_name = "D|idle|SELECTOR", hide_short_help = true, help_heading = "Fetching")]
    pub render_wait: Option<String>,
    /// Scroll rendered pages that watch it to their end, and what scrolls in them, again while they grow
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_short_help = true, help_heading = "Fetching")]
    pub render_scroll: Option<bool>,
    /// Clicks on a rendered page, one element at a time; 0 clicks nothing
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Fetching")]
    pub render_clicks: Option<u32>,
    /// Run this script in rendered pages, after scrolling and clicking: the body of an asynchronous function in JavaScript
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = "Fetching")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub behaviour: Vec<BehaviourOption>,
    /// Pictures of rendered pages to keep in the archive: view (the window), full-page, thumbnail. They show images, which are requested then
    #[arg(long, value_name = "WHAT", value_delimiter = ',', help_heading = "Fetching")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub screenshots: Vec<String>,
    /// Keep each rendered page as PDF in the archive, too
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Fetching")]
    pub pdf: Option<bool>,
    /// The window of rendered pages: desktop, tablet, phone, WIDTHxHEIGHT or WIDTHxHEIGHT@SCALE [default: 1280x800 with pictures or PDF, else the browser's]
    #[arg(long, value_name = "WINDOW", help_heading = "Fetching")]
    pub viewport: Option<String>,
    /// Pixels of a picture of a whole page; it ends where they are used up
    #[arg(long, value_name = "N", value_parser = whole::<u64>, hide_short_help = true, help_heading = "Fetching")]
    pub max_screenshot_pixels: Option<u64>,
    /// Bytes of a picture or PDF; a larger one is not kept
    #[arg(long, value_name = "B", hide_short_help = true, help_heading = "Fetching")]
    pub max_screenshot_bytes: Option<Bytes>,
    /// As --screenshots full-page
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_short_help = true, help_heading = "Fetching")]
    pub render_screenshot: Option<bool>,
    /// After this a page is not rendered
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Fetching")]
    pub render_time: Option<Span>,
    /// An HTTP proxy for all requests; its user name and password are stored only in DIR/secrets.toml
    #[arg(long, value_name = "URL", help_heading = "Fetching")]
    pub proxy: Option<ProxyText>,
    /// Use this address for a host and port, as curl does
    #[arg(long, value_name = "HOST:PORT:ADDR", help_heading = "Fetching")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resolve: Vec<String>,
    /// Connect to the second host and port instead of the first, as curl does
    #[arg(long, value_name = "H1:P1:H2:P2", help_heading = "Fetching")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub connect_to: Vec<String>,
    /// Use these name servers instead of the system's, as curl does
    #[arg(long, value_name = "ADDR[:PORT]", value_delimiter = ',', hide_short_help = true, help_heading = "Fetching")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dns_servers: Vec<String>,
    /// Trust the certificates in this PEM file too
    #[arg(long, value_name = "FILE", help_heading = "Fetching")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ca_cert: Vec<OfFile<Certificates>>,
    /// Refuse addresses that are not public: auto (except sites that a seed names by such an address, and addresses given by hand), always or never
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "always", value_name = "WHEN", help_heading = "Fetching")]
    pub deny_private: Option<DenyPrivateOption>,

    /// In later rounds a page has changed only if its words have; numbers, words with digits and markup do not count
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_short_help = true, help_heading = "Fetching")]
    pub changes_in_text: Option<bool>,

    // --- recording ---
    /// Keep only PDF, Word and PowerPoint among non-text responses, and the types in --content-types [default: keep everything]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Recording")]
    pub documents: Option<bool>,
    /// Keep only these media types among non-text responses (application/epub+zip, audio/*), and those of --documents [default: keep everything]
    #[arg(long, value_name = "TYPE", value_delimiter = ',', help_heading = "Recording")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content_types: Vec<String>,
    /// Fetch the images of pages, from any site, and keep them
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Recording")]
    pub images: Option<bool>,
    /// Fetch what pages need to be shown, from any site: style sheets, scripts, images, fonts, media, frames, icons. They are no pages
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Recording")]
    pub requisites: Option<bool>,
    /// Write no WARC archive, and so no dataset, which is derived from it
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Recording")]
    pub no_archive: Option<bool>,
    /// Write no dataset during the crawl; `argiope derive` can make it later
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Recording")]
    pub no_dataset: Option<bool>,
    /// Leave JSON-LD, microdata, OpenGraph and other structured data out of the dataset
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_short_help = true, help_heading = "Recording")]
    pub no_structured: Option<bool>,
    /// Look for no main text and kind of pages: the dataset and the stream have none
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Recording")]
    pub no_main_text: Option<bool>,
    /// Read the text of PDF, Word (docx), PowerPoint (pptx), OpenDocument and EPUB into the dataset, each document in a process of its own
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Recording")]
    pub documents_text: Option<bool>,
    /// Take items out of pages by the rules in this file ([extract.NAME]), into tables of the dataset
    #[arg(long, value_name = "RULES", help_heading = "Recording")]
    pub extract: Option<ExtractOption>,
    /// The size of a WARC segment
    #[arg(long, value_name = "B", hide_short_help = true, help_heading = "Recording")]
    pub segment_size: Option<Bytes>,
    /// How records are compressed: `fast`, or `small`, which takes the size of gzip -6 and nearly twice the processor time
    #[arg(long, value_name = "HOW", help_heading = "Recording")]
    pub compression: Option<String>,
    /// Keep the state of the crawl in this PostgreSQL database (postgres://user@host/name) instead of the crawl's directory. The password comes from PGPASSWORD or ~/.pgpass; a password in the URL is not stored
    #[arg(long, value_name = "URL", help_heading = "Recording")]
    pub store: Option<StoreAddress>,
    /// The schema of the database; each crawl needs its own [default: argiope]
    #[arg(long, value_name = "NAME", help_heading = "Recording")]
    pub store_schema: Option<String>,

    // --- canonical URLs ---
    /// Sort the parameters of a query
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_short_help = true, help_heading = "Canonical URLs")]
    pub sort_query: Option<bool>,
    /// Remove session ids from URLs
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_short_help = true, help_heading = "Canonical URLs")]
    pub strip_session_ids: Option<bool>,
    /// Remove tracking parameters from URLs (utm_source and the like)
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_short_help = true, help_heading = "Canonical URLs")]
    pub strip_tracking: Option<bool>,
    /// Collapse // in paths to /
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_short_help = true, help_heading = "Canonical URLs")]
    pub collapse_slashes: Option<bool>,
    /// Remove a leading www. from hosts
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_short_help = true, help_heading = "Canonical URLs")]
    pub strip_www: Option<bool>,
    /// Which fragments of URLs are pages of their own, routes of an application (`#/…`, `#!…`): `never`, `auto` (in links of rendered pages whose
    /// scripts have a router) or `always`
    #[arg(long, value_name = "WHEN", hide_short_help = true, help_heading = "Canonical URLs")]
    pub hash_routes: Option<String>,

    // --- limits ---
    /// The longest URL to follow, in bytes
    #[arg(long, value_name = "B", hide_short_help = true, help_heading = "Limits")]
    pub max_url_bytes: Option<Bytes>,
    /// The largest decoded body; the rest is cut off
    #[arg(long, value_name = "B", hide_short_help = true, help_heading = "Limits")]
    pub max_body_bytes: Option<Bytes>,
    /// Decoded bytes per compressed byte
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Limits")]
    pub max_decompression_ratio: Option<u32>,
    /// The largest head of an answer
    #[arg(long, value_name = "B", hide_short_help = true, help_heading = "Limits")]
    pub max_header_bytes: Option<Bytes>,
    /// Redirects in a row
    #[arg(long, value_name = "N", value_parser = whole::<u8>, hide_short_help = true, help_heading = "Limits")]
    pub max_redirects: Option<u8>,
    /// Different link targets to take from a page
    #[arg(long, value_name = "N", value_parser = whole::<usize>, hide_short_help = true, help_heading = "Limits")]
    pub max_links_per_page: Option<usize>,
    /// Requisites to fetch for one page, with those that its style sheets, scripts and frames need
    #[arg(long, value_name = "N", value_parser = whole::<usize>, hide_short_help = true, help_heading = "Limits")]
    pub max_requisites_per_page: Option<usize>,
    /// Bytes of the requisites of one page, after which no further one is requested
    #[arg(long, value_name = "B", hide_short_help = true, help_heading = "Limits")]
    pub max_requisite_bytes_per_page: Option<Bytes>,
    /// Memory for bodies and what is read from them, over all fetches
    #[arg(long, value_name = "B", hide_short_help = true, help_heading = "Limits")]
    pub max_in_flight_bytes: Option<Bytes>,
    /// Memory for the sites in front and those that wait for a place; further sites wait in the state
    #[arg(long, value_name = "B", hide_short_help = true, help_heading = "Limits")]
    pub max_front_bytes: Option<Bytes>,
    /// Sitemaps to read from one site
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Limits")]
    pub max_sitemaps_per_site: Option<u32>,
    /// Entries to take from one sitemap
    #[arg(long, value_name = "N", value_parser = whole::<usize>, hide_short_help = true, help_heading = "Limits")]
    pub max_sitemap_entries: Option<usize>,
    /// Time to look up a name
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Limits")]
    pub dns_timeout: Option<Span>,
    /// Time to set up a connection, TLS included
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Limits")]
    pub connect_timeout: Option<Span>,
    /// Time from the request to the head of the answer
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Limits")]
    pub first_byte_timeout: Option<Span>,
    /// Time from the request to the end of the body
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Limits")]
    pub total_timeout: Option<Span>,
    /// The lowest transfer rate of a body, in bytes a second
    #[arg(long, value_name = "B", hide_short_help = true, help_heading = "Limits")]
    pub min_transfer_rate: Option<Bytes>,

    // --- traps ---
    /// Segments of a path; 0 switches the rule off
    #[arg(long, value_name = "N", value_parser = whole::<usize>, hide_short_help = true, help_heading = "Traps")]
    pub max_path_depth: Option<usize>,
    /// How often segments of a path may repeat in a row; 0 switches the rule off
    #[arg(long, value_name = "N", value_parser = whole::<usize>, hide_short_help = true, help_heading = "Traps")]
    pub max_repeated_segments: Option<usize>,
    /// URLs of a path with three or more parameters that bring nothing new, not even a value; 0 switches the rule off
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Traps")]
    pub max_queries_per_path: Option<u32>,
    /// URLs of a path with one or two parameters that bring nothing new; 0 switches the rule off
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Traps")]
    pub max_simple_queries_per_path: Option<u32>,
    /// URLs that differ only in their dates and bring nothing new; 0 switches the rule off
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Traps")]
    pub max_calendar_pages: Option<u32>,
    /// URLs that differ only in a session id and bring nothing new; 0 switches the rule off
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Traps")]
    pub max_session_pages: Option<u32>,
    /// URLs of a group that brings only more of itself, counted from when the rule notices it; 0 switches the rule off
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Traps")]
    pub max_low_yield_pages: Option<u32>,
    /// Pages of a group in one judgement of that rule
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Traps")]
    pub low_yield_window: Option<u32>,
}

impl Options {
    /// The option that needs a jar of cookies, if there is one.
    #[must_use]
    pub fn needs_jar(&self) -> Option<&'static str> {
        match () {
            () if !self.cookies.is_empty() => Some("cookies"),
            () if self.login.as_ref().is_some_and(LoginOption::needs_jar) => Some("login"),
            () => None,
        }
    }

    /// The options without placeholders for secrets that are stored elsewhere.
    #[must_use]
    pub fn without_secrets(&self) -> Self {
        let mut options = self.clone();
        options.header.0.retain(|text| !text.is_redacted());
        options.header_for.0.retain(|(_, text)| !text.is_redacted());
        options.login.take_if(|login| login.is_redacted());
        if let Some(proxy) = options.proxy.take_if(|proxy| proxy.is_redacted()) {
            options.proxy = Some(proxy.without_user());
        }
        options
    }

    /// The options whose secrets are stored elsewhere, as they are written.
    #[must_use]
    pub fn missing_secrets(&self) -> Vec<String> {
        let header = self.header.0.iter().filter(|text| text.is_redacted()).map(|text| format!("--header '{text}'"));
        let header_for = self.header_for.0.iter().filter(|(_, text)| text.is_redacted());
        let header_for = header_for.map(|(pattern, text)| format!("--header-for '{pattern}' '{text}'"));
        let proxy = self.proxy.iter().filter(|proxy| proxy.is_redacted()).map(|proxy| format!("--proxy {proxy}"));
        let login = self.login.iter().filter(|login| login.is_redacted()).map(|_| "--login FILE".to_owned());
        header.chain(header_for).chain(proxy).chain(login).collect()
    }

    /// These options where they are given, else those of `below`.
    ///
    /// # Errors
    /// Never in practice: options always have a form as a table.
    pub fn over(&self, below: &Options) -> anyhow::Result<Options> {
        let mut table = toml::Table::try_from(below)?;
        table.extend(toml::Table::try_from(self)?);
        if self.no_sitemaps {
            table.insert("sitemaps".to_owned(), toml::Value::Boolean(false));
        }
        let mut options: Options = table.try_into()?;
        // As a table they are without their secrets, and not what the user said; a program and files of cookies are no part of it. A file that
        // the user names would be one that a text names.
        options.exclude_file = self.exclude_file.clone().or_else(|| below.exclude_file.clone());
        options.ca_cert = if self.ca_cert.is_empty() { &below.ca_cert } else { &self.ca_cert }.clone();
        options.store = self.store.clone().or_else(|| below.store.clone());
        options.browser = self.browser.clone().or_else(|| below.browser.clone());
        options.cookies = if self.cookies.is_empty() { &below.cookies } else { &self.cookies }.clone();
        options.proxy = self.proxy.clone().or_else(|| below.proxy.clone());
        options.login = self.login.clone().or_else(|| below.login.clone());
        options.header = if self.header.is_empty() { &below.header } else { &self.header }.clone();
        options.header_for = if self.header_for.is_empty() { &below.header_for } else { &self.header_for }.clone();
        Ok(options)
    }

    /// These options as if these keys had not been given.
    ///
    /// # Errors
    /// Never in practice: options always have a form as a table.
    pub fn without(&self, keys: &[String]) -> anyhow::Result<Options> {
        let mut table = toml::Table::try_from(self)?;
        table.retain(|key, _| keys.iter().all(|left_out| left_out != key));
        let kept: Options = table.try_into()?;
        let is_kept = |key: &str| keys.iter().all(|left_out| left_out != key);
        // As in `over`.
        Ok(Options {
            exclude_file: self.exclude_file.clone().filter(|_| is_kept("exclude-file")),
            ca_cert: if is_kept("ca-cert") { self.ca_cert.clone() } else { Vec::new() },
            store: self.store.clone().filter(|_| is_kept("store")),
            browser: self.browser.clone().filter(|_| is_kept("browser")),
            cookies: if is_kept("cookies") { self.cookies.clone() } else { Vec::new() },
            proxy: self.proxy.clone().filter(|_| is_kept("proxy")),
            login: self.login.clone().filter(|_| is_kept("login")),
            header: if is_kept("header") { self.header.clone() } else { Headers::default() },
            header_for: if is_kept("header-for") { self.header_for.clone() } else { HeadersFor::default() },
            ..kept
        })
    }

    /// The keys whose values differ between these options and others.
    ///
    /// # Errors
    /// Never in practice: options always have a form as a table.
    pub fn differing_keys(&self, other: &Options) -> anyhow::Result<BTreeSet<String>> {
        let (ours, theirs) = (toml::Table::try_from(self)?, toml::Table::try_from(other)?);
        let keys = ours.keys().chain(theirs.keys()).filter(|key| ours.get(*key) != theirs.get(*key));
        Ok(keys.cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_beat_the_file() {
        let file: Options = toml::from_str("depth = 3\nscope = \"any\"\nexclude = [\"*.pdf\"]").expect("toml");
        let flags = Options { depth: Some(5), ..Options::default() };
        let both = flags.over(&file).expect("layered");
        assert_eq!((both.depth, both.scope.as_deref(), both.exclude.len()), (Some(5), Some("any"), 1));
        let none = Options { no_sitemaps: true, ..Options::default() };
        assert_eq!(none.over(&Options { sitemaps: Some(true), ..file }).expect("layered").sitemaps, Some(false));
    }

    #[test]
    fn what_is_written_reads_back() {
        let options = Options {
            delay: Some(Span(std::time::Duration::from_millis(1500))),
            exclude: vec!["*.pdf".to_owned(), "\"quoted\"".to_owned()],
            delay_factor: Some(2.5),
            head_first: Some(true),
            ..Options::default()
        };
        let text = options.to_toml("a crawl\nof mine").expect("written");
        assert_eq!(toml::from_str::<Options>(&text).expect("read"), options);
        assert!(text.starts_with("# a crawl\n# of mine\n"), "{text}");
    }

    #[test]
    fn the_password_of_a_database_is_kept_in_memory_only() {
        let address = |text: &str| Some(text.parse::<StoreAddress>().expect("any text"));
        let given = Options { store: address("postgres://me:s3cret@h/db"), ..Options::default() };
        let layered = given.over(&Options::default()).expect("layered");
        let below = Options::default().over(&layered).expect("layered");
        for options in [&given, &layered, &below] {
            let text = options.to_toml("").expect("written");
            assert!(text.contains("store = \"postgres://me@h/db\"\n"), "{text}");
            assert!(!format!("{text} {options:?}").contains("s3cret"));
            assert_eq!(options.store.as_ref().map(StoreAddress::given), Some("postgres://me:s3cret@h/db"));
        }
        let stored = Options { store: address("postgres://me@h/db"), ..Options::default() };
        assert!(given.differing_keys(&stored).expect("compared").is_empty());
    }
}
