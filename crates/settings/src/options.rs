//! The options of a crawl as given: one struct for the command line and for `crawl.toml`.
//!
//! Every flag has a key of the same name. A switch may stand alone or have a value: `--head-first`, `--head-first=false`. Values are layered (what the crawl directory holds, then `--config`, then
//! flags) and only then checked and completed by [`crate::plan`].

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, CommandFactory};
use serde::{Deserialize, Serialize};

use crate::deny_private::DenyPrivateOption;
use crate::secret::{Headers, HeadersFor, ProxyText};
use crate::secrets_file::{SECRETS, Secrets};
use crate::site_name::{SiteDelay, SiteName};
use crate::store_address::StoreAddress;
use crate::units::{Bytes, Span, whole};
use crate::usage;

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

/// Bytes of a file of settings, patterns or certificates, at most.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The options. `None` and an empty list mean: not given.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Options {
    // --- what to crawl ---
    /// Links from a seed, at most
    #[arg(long, value_name = "N", value_parser = whole::<u32>, help_heading = "What to crawl")]
    pub depth: Option<u32>,
    /// How far to go from the seeds: site, host, domain, prefix, any, a host suffix such as .gov.si, or a wildcard pattern [default: host]
    #[arg(long, value_name = "SCOPE", help_heading = "What to crawl")]
    pub scope: Option<String>,
    /// Follow only URLs that match one of these wildcard patterns (http*://*/docs/*)
    #[arg(long, value_name = "PATTERN", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Never follow URLs that match one of these wildcard patterns (http*://*cgi-bin/*, *.pdf)
    #[arg(long, value_name = "PATTERN", help_heading = "What to crawl")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// A file of exclude patterns, one a line; lines that begin with # are comments
    #[arg(long, value_name = "FILE", help_heading = "What to crawl")]
    pub exclude_file: Option<PathBuf>,
    /// Pages and documents fetched, at most
    #[arg(long, value_name = "N", value_parser = whole::<u64>, help_heading = "What to crawl")]
    pub max_pages: Option<u64>,
    /// Pages and documents fetched of one site, at most
    #[arg(long, value_name = "N", value_parser = whole::<u64>, help_heading = "What to crawl")]
    pub max_pages_per_site: Option<u64>,
    /// How long the crawl may take (30m, 2h)
    #[arg(long, value_name = "D", help_heading = "What to crawl")]
    pub max_time: Option<Span>,
    /// How much to fetch, about (500MB, 2GB)
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
    /// Wait at least this long between visits to a site [default: 1s]
    #[arg(long, value_name = "D", help_heading = "Politeness")]
    pub delay: Option<Span>,
    /// Wait so long between visits to a site instead of --delay (example.org=5s, example.org:8443=250ms)
    #[arg(long, value_name = "SITE=D", help_heading = "Politeness")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delay_for: Vec<SiteDelay>,
    /// Ask nothing of a site (example.org); its URLs stay in the frontier
    #[arg(long, value_name = "SITE", help_heading = "Politeness")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hold: Vec<SiteName>,
    /// Fetch nothing new until `argiope steer DIR resume`
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_short_help = true, help_heading = "Politeness")]
    pub paused: Option<bool>,
    /// Wait at least this long between visits to an IP address; 0 switches it off [default: 250ms]
    #[arg(long, value_name = "D", help_heading = "Politeness")]
    pub ip_delay: Option<Span>,
    /// Wait at least this many times the last response time; 0 switches it off
    #[arg(long, value_name = "K", help_heading = "Politeness")]
    pub delay_factor: Option<f64>,
    /// Connections to a site at once; more than 1 needs --ip-delay 0 [default: 1]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, help_heading = "Politeness")]
    pub connections_per_site: Option<usize>,
    /// Fetches at once, over all sites [default: 128]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, help_heading = "Politeness")]
    pub concurrency: Option<usize>,
    /// Fetches at once from all sites of a registrable domain [default: half of --concurrency]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, hide_short_help = true, help_heading = "Politeness")]
    pub max_fetches_per_domain: Option<usize>,
    /// Fetches at once from an IP address, where --ip-delay is 0 [default: half of --concurrency]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, hide_short_help = true, help_heading = "Politeness")]
    pub max_fetches_per_address: Option<usize>,
    /// How robots.txt is read: rfc9309, first-match or ignore [default: rfc9309]
    #[arg(long, value_name = "HOW", help_heading = "Politeness")]
    pub robots: Option<String>,
    /// Ask for robots.txt once a site: any answer but a file, also a redirect, an error or none, counts as no file, for the whole crawl
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_short_help = true, help_heading = "Politeness")]
    pub robots_once: Option<bool>,
    /// The longest Crawl-delay obeyed [default: 5m]
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Politeness")]
    pub max_crawl_delay: Option<Span>,
    /// The longest Retry-After obeyed [default: 1day]
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Politeness")]
    pub max_retry_after: Option<Span>,
    /// Wait after a first failure; it doubles with every further one in a row [default: 1s]
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Politeness")]
    pub backoff: Option<Span>,
    /// The longest wait after failures [default: 5m]
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Politeness")]
    pub max_backoff: Option<Span>,
    /// How often a URL is asked for before a temporary failure counts as final; up to six times as often where its site fails by chance
    /// [default: 4]
    #[arg(long, value_name = "N", value_parser = whole::<u8>, hide_short_help = true, help_heading = "Politeness")]
    pub max_attempts: Option<u8>,
    /// Failures in a row, of different URLs, after which a site is put aside for 1, 5, 30 minutes, 2, 6, 24 hours [default: 8]
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Politeness")]
    pub max_failures_in_a_row: Option<u32>,
    /// How long a run waits when only sites in trouble are left; 0 ends it as soon as they are known to be, after half a minute of
    /// back-off. Their URLs stay open: the same command goes on [default: 10m]
    #[arg(long, value_name = "D", help_heading = "Politeness")]
    pub patience: Option<Span>,
    /// How long a site may be in trouble before its URLs are given up [default: 7d]
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Politeness")]
    pub give_up_after: Option<Span>,

    // --- fetching ---
    /// The User-Agent sent; its product token is our name in robots.txt
    #[arg(long, value_name = "S", help_heading = "Fetching")]
    pub user_agent: Option<String>,
    /// A page about this crawl, put into the default User-Agent
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
    /// Send HEAD first, and GET only for pages worth having
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Fetching")]
    pub head_first: Option<bool>,
    /// Show pages in headless Chromium before their links are read: `never`, `auto` (those that show too little without their
    /// scripts) or `always` [default: never]
    #[arg(long, value_name = "WHEN", help_heading = "Fetching")]
    pub render: Option<String>,
    /// The Chromium to render with, which is not kept with the crawl [default: the first of chromium, chromium-browser, google-chrome-stable, google-chrome in PATH]
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
    /// Pages rendered at a time [default: 2]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, hide_short_help = true, help_heading = "Fetching")]
    pub render_tabs: Option<usize>,
    /// Requests a second that rendered pages, all together, make to one address, after a burst of a hundred; what would wait longer than 5 seconds is refused [default: 10]
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = "Fetching")]
    pub render_rate: Option<u32>,
    /// What is waited for before a rendered page is looked at: a time on the page's own clock, `idle`, or a CSS selector [default: 5s]
    #[arg(long, value_name = "D|idle|SELECTOR", hide_short_help = true, help_heading = "Fetching")]
    pub render_wait: Option<String>,
    /// Scroll rendered pages to their end, again while they grow
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_short_help = true, help_heading = "Fetching")]
    pub render_scroll: Option<bool>,
    /// Keep a picture of each rendered page in the archive
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_short_help = true, help_heading = "Fetching")]
    pub render_screenshot: Option<bool>,
    /// After this a page is not rendered [default: 30s]
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Fetching")]
    pub render_time: Option<Span>,
    /// An HTTP proxy for all requests; its user name and password are kept in DIR/secrets.toml alone
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
    /// Ask these name servers instead of the system's, as curl does
    #[arg(long, value_name = "ADDR[:PORT]", value_delimiter = ',', hide_short_help = true, help_heading = "Fetching")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dns_servers: Vec<String>,
    /// Trust the certificates in this PEM file too
    #[arg(long, value_name = "FILE", help_heading = "Fetching")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ca_cert: Vec<PathBuf>,
    /// Refuse addresses that are not public: auto (but for sites that a seed names by such an address, and addresses given by hand), always or never [default: auto]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "always", value_name = "WHEN", help_heading = "Fetching")]
    pub deny_private: Option<DenyPrivateOption>,

    // --- recording ---
    /// Of what is not HTML, XML or text keep PDF, Word and PowerPoint only, and what --content-types names; without these two everything is kept
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Recording")]
    pub documents: Option<bool>,
    /// Of what is not HTML, XML or text keep these media types only (application/epub+zip, audio/*), and what --documents names
    #[arg(long, value_name = "TYPE", value_delimiter = ',', help_heading = "Recording")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content_types: Vec<String>,
    /// Fetch the images that pages show, wherever they lie, and keep them
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Recording")]
    pub images: Option<bool>,
    /// Keep no WARC archive, and so no dataset, which is derived from it
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Recording")]
    pub no_archive: Option<bool>,
    /// Write no dataset while crawling; `argiope derive` can make it later
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Recording")]
    pub no_dataset: Option<bool>,
    /// The size of a WARC segment [default: 1GB]
    #[arg(long, value_name = "B", hide_short_help = true, help_heading = "Recording")]
    pub segment_size: Option<Bytes>,
    /// Keep the state of the crawl in this PostgreSQL database (postgres://user@host/name) instead of the crawl's directory; the password comes from PGPASSWORD or ~/.pgpass, or stands in the URL and is not kept
    #[arg(long, value_name = "URL", help_heading = "Recording")]
    pub store: Option<StoreAddress>,
    /// The schema of the database: a crawl has one to itself [default: argiope]
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

    // --- limits ---
    /// The longest URL followed, in bytes [default: 2KiB]
    #[arg(long, value_name = "B", hide_short_help = true, help_heading = "Limits")]
    pub max_url_bytes: Option<Bytes>,
    /// The largest body kept, after decoding [default: 10MB]
    #[arg(long, value_name = "B", hide_short_help = true, help_heading = "Limits")]
    pub max_body_bytes: Option<Bytes>,
    /// How many bytes a compressed byte may become
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Limits")]
    pub max_decompression_ratio: Option<u32>,
    /// The largest head of an answer
    #[arg(long, value_name = "B", hide_short_help = true, help_heading = "Limits")]
    pub max_header_bytes: Option<Bytes>,
    /// Redirects in a row [default: 10]
    #[arg(long, value_name = "N", value_parser = whole::<u8>, hide_short_help = true, help_heading = "Limits")]
    pub max_redirects: Option<u8>,
    /// Different link targets taken from a page [default: 100000]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, hide_short_help = true, help_heading = "Limits")]
    pub max_links_per_page: Option<usize>,
    /// Bodies held in memory at once, over all fetches
    #[arg(long, value_name = "B", hide_short_help = true, help_heading = "Limits")]
    pub max_in_flight_bytes: Option<Bytes>,
    /// Memory for the sites at work and those that wait for a place beside them; sites beyond it wait in the state [default: 320MB]
    #[arg(long, value_name = "B", hide_short_help = true, help_heading = "Limits")]
    pub max_front_bytes: Option<Bytes>,
    /// Sitemaps read of one site
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Limits")]
    pub max_sitemaps_per_site: Option<u32>,
    /// Entries taken from one sitemap
    #[arg(long, value_name = "N", value_parser = whole::<usize>, hide_short_help = true, help_heading = "Limits")]
    pub max_sitemap_entries: Option<usize>,
    /// Time to look up a name [default: 10s]
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Limits")]
    pub dns_timeout: Option<Span>,
    /// Time to set up a connection, TLS included [default: 10s]
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Limits")]
    pub connect_timeout: Option<Span>,
    /// Time from the request to the head of the answer [default: 30s]
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Limits")]
    pub first_byte_timeout: Option<Span>,
    /// Time from the request to the end of the body [default: 2m]
    #[arg(long, value_name = "D", hide_short_help = true, help_heading = "Limits")]
    pub total_timeout: Option<Span>,
    /// Bytes a second that a body must bring
    #[arg(long, value_name = "B", hide_short_help = true, help_heading = "Limits")]
    pub min_transfer_rate: Option<Bytes>,

    // --- traps ---
    /// Segments of a path; 0 switches the rule off
    #[arg(long, value_name = "N", value_parser = whole::<usize>, hide_short_help = true, help_heading = "Traps")]
    pub max_path_depth: Option<usize>,
    /// How often segments of a path may follow on themselves; 0 switches the rule off
    #[arg(long, value_name = "N", value_parser = whole::<usize>, hide_short_help = true, help_heading = "Traps")]
    pub max_repeated_segments: Option<usize>,
    /// URLs fetched of a path with three or more parameters that bring nothing new; 0 switches the rule off
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Traps")]
    pub max_queries_per_path: Option<u32>,
    /// URLs fetched of a path with one or two parameters that bring nothing new; 0 switches the rule off
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Traps")]
    pub max_simple_queries_per_path: Option<u32>,
    /// URLs fetched that differ only in their dates and bring nothing new; 0 switches the rule off
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Traps")]
    pub max_calendar_pages: Option<u32>,
    /// URLs fetched that differ only in a session id and bring nothing new; 0 switches the rule off
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Traps")]
    pub max_session_pages: Option<u32>,
    /// URLs fetched of a group that brings only more of itself, from when on that is noticed; 0 switches the rule off
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Traps")]
    pub max_low_yield_pages: Option<u32>,
    /// Pages of a group that are looked at to notice it
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, help_heading = "Traps")]
    pub low_yield_window: Option<u32>,
}

impl Options {
    /// The options in a text that somebody else may have written: without a browser, which is a program to be run. Says whether one was
    /// named.
    ///
    /// # Errors
    /// It has an unknown key or a value of the wrong kind: the line is named.
    pub fn of_others(text: &str) -> anyhow::Result<(Self, bool)> {
        let mut options: Options = toml::from_str(text).map_err(|error| usage(one_line(&error, text)))?;
        let browser = options.browser.take();
        Ok((options, browser.is_some()))
    }

    /// Reads a configuration file.
    ///
    /// # Errors
    /// The file cannot be read, or has an unknown key or a value of the wrong kind: the line is named.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = read_text(path).with_context(|| path.display().to_string())?;
        toml::from_str(&text).map_err(|error| usage(format!("{}: {}", path.display(), one_line(&error, &text))))
    }

    /// The same, with the secrets that lie in a file beside it.
    ///
    /// # Errors
    /// As [`Options::read`], and [`Secrets::read`] where there are some that are wanted.
    pub fn read_with_secrets(path: &Path) -> anyhow::Result<Self> {
        let options = Options::read(path)?;
        if options.without_secrets() == options {
            return Ok(options);
        }
        Ok(Secrets::read(&path.with_file_name(SECRETS))?.put_into(options))
    }

    /// The options without what stands in place of a secret that is elsewhere.
    #[must_use]
    pub fn without_secrets(&self) -> Self {
        let mut options = self.clone();
        options.header.0.retain(|text| !text.is_redacted());
        options.header_for.0.retain(|(_, text)| !text.is_redacted());
        if let Some(proxy) = options.proxy.take_if(|proxy| proxy.is_redacted()) {
            options.proxy = Some(proxy.without_user());
        }
        options
    }

    /// The options whose secrets are elsewhere, as they are written.
    #[must_use]
    pub fn missing_secrets(&self) -> Vec<String> {
        let header = self.header.0.iter().filter(|text| text.is_redacted()).map(|text| format!("--header '{text}'"));
        let header_for = self.header_for.0.iter().filter(|(_, text)| text.is_redacted());
        let header_for = header_for.map(|(pattern, text)| format!("--header-for '{pattern}' '{text}'"));
        let proxy = self.proxy.iter().filter(|proxy| proxy.is_redacted()).map(|proxy| format!("--proxy {proxy}"));
        header.chain(header_for).chain(proxy).collect()
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
        // As a table they are without their secrets, and not what the user said; a program is no part of it.
        options.store = self.store.clone().or_else(|| below.store.clone());
        options.browser = self.browser.clone().or_else(|| below.browser.clone());
        options.proxy = self.proxy.clone().or_else(|| below.proxy.clone());
        options.header = if self.header.is_empty() { &below.header } else { &self.header }.clone();
        options.header_for = if self.header_for.is_empty() { &below.header_for } else { &self.header_for }.clone();
        Ok(options)
    }

    /// The options as a configuration file: each key in the order of the help, with its help as a comment; keys that are
    /// not given are commented out.
    ///
    /// # Errors
    /// Never in practice: options always have a form as a table.
    pub fn to_toml(&self, header: &str) -> anyhow::Result<String> {
        let given = toml::Table::try_from(self)?;
        let mut out: String = header.lines().map(|line| format!("# {line}\n")).collect();
        let mut heading = String::new();
        for (key, help, group) in keys() {
            if group != heading {
                out.push_str(&format!("\n## {group}\n"));
                heading = group;
            }
            out.push_str(&format!("\n# {help}\n"));
            match given.get(&key) {
                Some(value) => out.push_str(&format!("{key} = {value}\n")),
                None => out.push_str(&format!("# {key} =\n")),
            }
        }
        Ok(out)
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

/// The content of a file that is not endless.
///
/// # Errors
/// It cannot be read, or is longer.
pub fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > FILE_BYTES_MAX {
        true => Err(std::io::Error::other(format!("is longer than {FILE_BYTES_MAX} bytes"))),
        false => Ok(bytes),
    }
}

/// The same of a text.
///
/// # Errors
/// As [`read_bytes`]; or it is no text.
pub fn read_text(path: &Path) -> std::io::Result<String> {
    String::from_utf8(read_bytes(path)?).map_err(std::io::Error::other)
}

/// The keys of a configuration file with their help and heading, in the order of the help.
fn keys() -> Vec<(String, String, String)> {
    #[derive(clap::Parser)]
    struct Only {
        #[command(flatten)]
        _options: Options,
    }
    let command = Only::command();
    let arguments = command.get_arguments().filter(|argument| argument.get_id() != "no_sitemaps");
    arguments
        .map(|argument| {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let heading = argument.get_help_heading().unwrap_or_default().to_owned();
            (argument.get_id().as_str().replace('_', "-"), help, heading)
        })
        .collect()
}

/// A TOML error as one line that names the line of the file.
fn one_line(error: &toml::de::Error, text: &str) -> String {
    let message = error.message().lines().collect::<Vec<_>>().join(" ");
    let message = match message.strip_prefix("unknown field ").and_then(|rest| rest.split_once(',')) {
        Some((key, _)) => format!("unknown key {key}: the keys are the names of the flags of `argiope crawl`"),
        None => message,
    };
    match error.span() {
        Some(span) => {
            let line = text.get(..span.start).unwrap_or_default().matches('\n').count() + 1;
            format!("line {line}: {message}")
        }
        None => message,
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

    #[test]
    fn an_unknown_key_is_refused_with_its_line() {
        let text = "depth = 3\ndepht = 4\n";
        let error = toml::from_str::<Options>(text).expect_err("unknown");
        let line = one_line(&error, text);
        assert!(line.starts_with("line 2: unknown key `depht`: "), "{line}");
        assert!(!line.contains('\n'));
    }
}
