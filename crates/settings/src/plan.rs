//! The checked and completed options of a crawl. No later code asks whether a value was given.

mod defaults;
mod fetching;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use engine::{Keep, RenderMode, Settings};
use fetch::{FetchConfig, Keyring};
use frontier::{Filter, Politeness, SiteRules, TrapRules};
use model::{Limits, MediaRange};
use robots::Matching;
use store_postgres::Schema;
use weburl::{CanonicalRules, CanonicalUrl, Pattern, Scope, ScopeKind, Site, UserInfo, without_user_info};

use self::defaults::complete;
use self::fetching::fetch_config;
use crate::options::{Options, read_text};
use crate::units::{Bytes, Span};
use crate::usage;

/// Default for the fetches at once.
const CONCURRENCY: usize = 128;

/// Everything needed to run a crawl.
pub struct Plan {
    /// The options, with every default written out.
    pub options: Options,
    /// The settings of the engine.
    pub settings: Settings,
    /// The settings of the fetcher.
    pub fetch: FetchConfig,
    /// Crawl the built-in test web.
    pub sandbox: bool,
    /// User names and passwords of the seeds that were read ([`Plan::take_seeds`]).
    pub credentials: BTreeMap<Site, UserInfo>,
    /// Keep a WARC archive.
    pub archive: bool,
    /// Write the dataset.
    pub dataset: bool,
    /// The size of a WARC segment, in bytes.
    pub segment_bytes_max: u64,
}

impl Plan {
    /// Checks the options and completes them.
    ///
    /// # Errors
    /// A value that cannot be used; the message names the flag.
    pub fn new(given: &Options) -> anyhow::Result<Self> {
        let options = complete(given);
        check_counts(&options)?;
        check_store(&options)?;
        let scope = scope(options.scope.as_deref().unwrap_or_default())?;
        let archive = options.no_archive != Some(true);
        let dataset = archive && options.no_dataset != Some(true);
        let settings = Settings {
            filter: Filter {
                scope: Scope::new(scope),
                include: patterns("include", &options.include)?,
                exclude: excludes(&options)?,
            },
            site_rules: SiteRules {
                politeness: politeness(&options)?,
                traps: traps(&options),
                matching: matching(&options)?,
                pages_per_site_max: options.max_pages_per_site,
                sitemaps_per_site_max: options.max_sitemaps_per_site.unwrap_or_default(),
            },
            canonical: canonical(&options),
            limits: limits(&options),
            robots_once: options.robots_once == Some(true),
            product_token: product_token(options.user_agent.as_deref().unwrap_or_default())?,
            depth_max: options.depth,
            concurrency: options.concurrency.unwrap_or(CONCURRENCY),
            fetches_per_domain_max: options.max_fetches_per_domain.unwrap_or_else(|| share(&options)),
            fetches_per_address_max: options.max_fetches_per_address.unwrap_or_else(|| share(&options)),
            paused: options.paused == Some(true),
            held_sites: options.hold.iter().flat_map(|name| name.keys().collect::<Vec<_>>()).collect(),
            pages_max: options.max_pages,
            patience: options.patience.map_or(engine::PATIENCE, |span| span.0),
            time_max: options.max_time.map(|span| span.0),
            bytes_max: options.max_bytes.map(|bytes| bytes.0),
            sitemaps: options.sitemaps == Some(true),
            head_first: options.head_first == Some(true),
            sites_in_front_max: engine::settings::SITES_IN_FRONT_MAX,
            front_bytes_max: options.max_front_bytes.map_or(engine::settings::FRONT_BYTES_MAX, as_usize),
            places_part: engine::settings::PLACES_PART,
            turns_in_front_max: engine::settings::TURNS_IN_FRONT_MAX,
            windows_urls_max: engine::settings::WINDOWS_URLS_MAX,
            large_robots_bytes: engine::settings::LARGE_ROBOTS_BYTES,
            rules_bytes_max: engine::settings::RULES_BYTES_MAX,
            rules_read_at_once_max: engine::settings::RULES_READ_AT_ONCE_MAX,
            remembered_urls_max: engine::settings::REMEMBERED_URLS_MAX,
            links_at_once: engine::settings::LINKS_AT_ONCE,
            ignore_nofollow: options.ignore_nofollow == Some(true),
            keep: keep(&options)?,
            render: render(options.render.as_deref().unwrap_or_default())?,
            images: options.images == Some(true),
            archive,
            details: dataset,
        };
        let mut fetch = fetch_config(&options, settings.limits.clone())?;
        fetch.head_accepts = head_accepts(&settings);
        fetch.media_wanted = settings.keep.as_ref().map(Keep::declared_as);
        let segment_bytes_max = options.segment_size.map_or(warc::SEGMENT_BYTES_MAX, |bytes| bytes.0);
        let sandbox = options.sandbox == Some(true);
        let credentials = BTreeMap::new();
        Ok(Plan { sandbox, archive, dataset, segment_bytes_max, settings, fetch, options, credentials })
    }

    /// Parses seeds. A seed without a scheme gets http, as in a browser. User names and passwords in them are ignored.
    ///
    /// # Errors
    /// A text that is no URL; it is named.
    pub fn seeds(&self, texts: &[String]) -> anyhow::Result<Vec<CanonicalUrl>> {
        texts.iter().map(|text| Ok(self.seed(text)?.0)).collect()
    }

    /// Parses seeds, and keeps the user names and passwords in them.
    ///
    /// # Errors
    /// A text that is no URL, or two seeds of one site with different passwords.
    pub fn take_seeds(&mut self, texts: &[String]) -> anyhow::Result<Vec<CanonicalUrl>> {
        let seeds = texts.iter().map(|text| {
            let (url, user) = self.seed(text)?;
            self.keep_credentials(&url, user)?;
            Ok(url)
        });
        seeds.collect()
    }

    /// Keeps the user name and password of a seed.
    ///
    /// # Errors
    /// Another seed of the site has others.
    pub fn keep_credentials(&mut self, seed: &CanonicalUrl, user: Option<UserInfo>) -> anyhow::Result<()> {
        let Some(user) = user else { return Ok(()) };
        let kept = self.credentials.entry(seed.site()).or_insert_with(|| user.clone());
        if *kept == user {
            return Ok(());
        }
        Err(usage(format!("two seeds have different user names or passwords for {}: give one", seed.site())))
    }

    /// Reads a seed, and the user name and password in it.
    ///
    /// # Errors
    /// The text is no URL; it is named, without the password.
    pub fn seed(&self, text: &str) -> anyhow::Result<(CanonicalUrl, Option<UserInfo>)> {
        seed(text, &self.settings.canonical)
    }
}

/// The content that is kept, in addition to HTML, XML and text; `None` is everything.
fn keep(options: &Options) -> anyhow::Result<Option<Keep>> {
    let range = |text: &String| {
        let unusable =
            || usage(format!("--content-types {text}: is not a media type such as application/pdf or audio/*"));
        MediaRange::parse(text).ok_or_else(unusable)
    };
    let ranges = options.content_types.iter().map(range).collect::<anyhow::Result<_>>()?;
    let documents = options.documents == Some(true);
    let keep = Keep { documents, images: options.images == Some(true), ranges };
    Ok((documents || !options.content_types.is_empty()).then_some(keep))
}

/// Which pages are rendered.
fn render(when: &str) -> anyhow::Result<Option<RenderMode>> {
    match when {
        "never" => Ok(None),
        "auto" => Ok(Some(RenderMode::Auto)),
        "always" => Ok(Some(RenderMode::Always)),
        other => Err(usage(format!("--render {other}: is none of never, auto, always"))),
    }
}

/// The media types for which a HEAD is followed by GET.
fn head_accepts(settings: &Settings) -> Vec<MediaRange> {
    let images = Keep { images: settings.images, ..Keep::default() };
    settings.keep.as_ref().unwrap_or(&images).declared_as()
}

fn scope(text: &str) -> anyhow::Result<ScopeKind> {
    match parsed("scope", text, ScopeKind::parse)? {
        // It would match one URL at most: a word mistyped.
        ScopeKind::Matching(pattern) if !pattern.as_str().contains('*') => Err(usage(format!(
            "--scope `{text}` is not site, host, domain, prefix, any, a host suffix such as .gov.si, or a pattern with *"
        ))),
        kind => Ok(kind),
    }
}

/// The options that must not be zero.
fn check_counts(options: &Options) -> anyhow::Result<()> {
    let is_zero = |bytes: Option<Bytes>| bytes == Some(Bytes(0));
    let is_no_time = |time: Option<Span>| time == Some(Span(Duration::ZERO));
    let zero = [
        ("max-pages", options.max_pages == Some(0)),
        ("max-pages-per-site", options.max_pages_per_site == Some(0)),
        ("max-bytes", is_zero(options.max_bytes)),
        ("max-time", is_no_time(options.max_time)),
        ("dns-timeout", is_no_time(options.dns_timeout)),
        ("connect-timeout", is_no_time(options.connect_timeout)),
        ("first-byte-timeout", is_no_time(options.first_byte_timeout)),
        ("total-timeout", is_no_time(options.total_timeout)),
        ("render-time", is_no_time(options.render_time)),
        ("max-links-per-page", options.max_links_per_page == Some(0)),
        ("concurrency", options.concurrency == Some(0)),
        ("max-fetches-per-domain", options.max_fetches_per_domain == Some(0)),
        ("max-fetches-per-address", options.max_fetches_per_address == Some(0)),
        ("connections-per-site", options.connections_per_site == Some(0)),
        ("max-attempts", options.max_attempts == Some(0)),
        ("max-failures-in-a-row", options.max_failures_in_a_row == Some(0)),
        ("max-decompression-ratio", options.max_decompression_ratio == Some(0)),
        ("max-in-flight-bytes", is_zero(options.max_in_flight_bytes)),
        ("max-front-bytes", is_zero(options.max_front_bytes)),
        ("max-body-bytes", is_zero(options.max_body_bytes)),
        ("max-header-bytes", is_zero(options.max_header_bytes)),
        ("max-url-bytes", is_zero(options.max_url_bytes)),
        ("segment-size", is_zero(options.segment_size)),
        ("render-tabs", options.render_tabs == Some(0)),
        ("render-rate", options.render_rate == Some(0)),
    ];
    match zero.into_iter().find(|(_, is_zero)| *is_zero) {
        Some((flag, _)) if flag.starts_with("max-") => {
            Err(usage(format!("--{flag} must be more than 0; without it there is no such limit, or the default")))
        }
        Some((flag, _)) if flag.ends_with("time") || flag.ends_with("timeout") => {
            Err(usage(format!("--{flag} must be more than 0")))
        }
        Some((flag, _)) => Err(usage(format!("--{flag} must be at least 1"))),
        None => Ok(()),
    }
}

/// The state's database and schema. The argument is not shown: it may contain a password.
fn check_store(options: &Options) -> anyhow::Result<()> {
    if let Some(store) = &options.store {
        store.address().map_err(|error| usage(format!("--store {error}")))?;
    } else if options.store_schema.is_some() {
        return Err(usage("--store-schema needs a database: name it with --store"));
    }
    if let Some(name) = &options.store_schema {
        parsed("store-schema", name, str::parse::<Schema>)?;
    }
    Ok(())
}

fn seed(text: &str, rules: &CanonicalRules) -> anyhow::Result<(CanonicalUrl, Option<UserInfo>)> {
    let text = text.trim();
    let authority = text.split(['/', '?', '#']).next().unwrap_or_default();
    // Neither `https:` nor `mailto:someone@example.com` is a host.
    let has_scheme =
        text.strip_prefix(authority).is_some_and(|rest| authority.ends_with(':') && rest.starts_with("//"))
            || authority.contains('@');
    let with_scheme = if has_scheme { text.to_owned() } else { format!("http://{text}") };
    let named = |error: &dyn std::fmt::Display| usage(format!("seed `{}`: {error}", without_user_info(text)));
    let url = CanonicalUrl::parse(&with_scheme, rules).map_err(|error| named(&error))?;
    let user = UserInfo::of(&with_scheme);
    if let Some(user) = &user {
        Keyring::default().add_credentials(&url.site(), user).map_err(|error| named(&error))?;
    }
    Ok((url, user))
}

/// The crawler's name in robots.txt: the User-Agent up to its version.
fn product_token(user_agent: &str) -> anyhow::Result<String> {
    let token = user_agent.split(['/', ' ', '\t']).next().unwrap_or_default();
    let is_token =
        !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    if is_token {
        Ok(token.to_owned())
    } else {
        Err(usage(format!("--user-agent `{user_agent}` does not begin with a name such as `argiope/1.0`")))
    }
}

/// Fetches at once for one domain or address: half of all, and at least as many as a site may have.
fn share(options: &Options) -> usize {
    let half = options.concurrency.unwrap_or(CONCURRENCY).div_ceil(2);
    half.max(options.connections_per_site.unwrap_or_default())
}

fn politeness(options: &Options) -> anyhow::Result<Politeness> {
    let default = Politeness::default();
    let span = |given: Option<Span>, default: Duration| given.map_or(default, |span| span.0);
    let politeness = Politeness {
        delay: span(options.delay, default.delay),
        delay_for: options
            .delay_for
            .iter()
            .flat_map(|given| given.site.keys().map(|key| (key, given.delay.0)).collect::<Vec<_>>())
            .collect(),
        ip_delay: span(options.ip_delay, default.ip_delay),
        delay_factor: options.delay_factor.unwrap_or(default.delay_factor),
        connections_per_site: options.connections_per_site.unwrap_or(default.connections_per_site),
        crawl_delay_max: span(options.max_crawl_delay, default.crawl_delay_max),
        retry_after_max: span(options.max_retry_after, default.retry_after_max),
        backoff: span(options.backoff, default.backoff),
        backoff_max: span(options.max_backoff, default.backoff_max),
        attempts_max: options.max_attempts.unwrap_or(default.attempts_max),
        failures_in_a_row_max: options.max_failures_in_a_row.unwrap_or(default.failures_in_a_row_max),
        give_up_after: span(options.give_up_after, default.give_up_after),
    };
    if !(0.0..=1_000_000.0).contains(&politeness.delay_factor) {
        return Err(usage(format!("--delay-factor {} is not between 0 and 1000000", politeness.delay_factor)));
    }
    if politeness.connections_per_site > 1 && !politeness.ip_delay.is_zero() {
        return Err(usage(
            "--connections-per-site above 1 needs --ip-delay 0: the delay per address is between connections",
        ));
    }
    Ok(politeness)
}

fn traps(options: &Options) -> TrapRules {
    let default = TrapRules::default();
    TrapRules {
        path_depth_max: options.max_path_depth.unwrap_or(default.path_depth_max),
        repeated_segments_max: options.max_repeated_segments.unwrap_or(default.repeated_segments_max),
        queries_per_path_max: options.max_queries_per_path.unwrap_or(default.queries_per_path_max),
        simple_queries_per_path_max: options.max_simple_queries_per_path.unwrap_or(default.simple_queries_per_path_max),
        calendar_pages_max: options.max_calendar_pages.unwrap_or(default.calendar_pages_max),
        session_pages_max: options.max_session_pages.unwrap_or(default.session_pages_max),
        low_yield_pages_max: options.max_low_yield_pages.unwrap_or(default.low_yield_pages_max),
        low_yield_window: options.low_yield_window.unwrap_or(default.low_yield_window),
    }
}

fn matching(options: &Options) -> anyhow::Result<Option<Matching>> {
    match options.robots.as_deref() {
        None | Some("rfc9309") => Ok(Some(Matching::LongestMatch)),
        Some("first-match") => Ok(Some(Matching::FirstMatch)),
        Some("ignore") => Ok(None),
        Some(other) => Err(usage(format!("--robots `{other}` is not rfc9309, first-match or ignore"))),
    }
}

fn canonical(options: &Options) -> CanonicalRules {
    let on = |switch: Option<bool>| switch == Some(true);
    CanonicalRules {
        sort_query: on(options.sort_query),
        strip_session_ids: on(options.strip_session_ids),
        strip_tracking: on(options.strip_tracking),
        collapse_slashes: on(options.collapse_slashes),
        strip_www: on(options.strip_www),
        url_bytes_max: options.max_url_bytes.map_or(weburl::URL_BYTES_MAX, as_usize),
    }
}

fn limits(options: &Options) -> Limits {
    let default = Limits::default();
    let span = |given: Option<Span>, default: Duration| given.map_or(default, |span| span.0);
    Limits {
        body_bytes_max: options.max_body_bytes.map_or(default.body_bytes_max, |bytes| bytes.0),
        decompression_ratio_max: options.max_decompression_ratio.unwrap_or(default.decompression_ratio_max),
        header_bytes_max: options.max_header_bytes.map_or(default.header_bytes_max, as_usize),
        redirects_max: options.max_redirects.unwrap_or(default.redirects_max),
        links_per_page_max: options.max_links_per_page.unwrap_or(default.links_per_page_max),
        dns_timeout: span(options.dns_timeout, default.dns_timeout),
        connect_timeout: span(options.connect_timeout, default.connect_timeout),
        first_byte_timeout: span(options.first_byte_timeout, default.first_byte_timeout),
        total_timeout: span(options.total_timeout, default.total_timeout),
        transfer_rate_min: options.min_transfer_rate.map_or(default.transfer_rate_min, |bytes| bytes.0),
        in_flight_bytes_max: options.max_in_flight_bytes.map_or(default.in_flight_bytes_max, |bytes| bytes.0),
        page_requests_per_second: options.render_rate.unwrap_or(default.page_requests_per_second),
        sitemap_entries_max: options.max_sitemap_entries.unwrap_or(default.sitemap_entries_max),
        sitemaps_per_site_max: options.max_sitemaps_per_site.unwrap_or(default.sitemaps_per_site_max),
        ..default
    }
}

fn as_usize(bytes: Bytes) -> usize {
    usize::try_from(bytes.0).unwrap_or(usize::MAX)
}

fn excludes(options: &Options) -> anyhow::Result<Vec<Pattern>> {
    let mut all = patterns("exclude", &options.exclude)?;
    if let Some(path) = &options.exclude_file {
        all.extend(patterns("exclude-file", &excluded_in(path)?)?);
    }
    Ok(all)
}

/// The patterns of a file, one per line.
pub fn excluded_in(path: &Path) -> anyhow::Result<Vec<String>> {
    let text = read_text(path).map_err(|error| usage(format!("--exclude-file {}: {error}", path.display())))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.map(str::to_owned).collect())
}

fn patterns(flag: &str, texts: &[String]) -> anyhow::Result<Vec<Pattern>> {
    texts.iter().map(|text| pattern(flag, text)).collect()
}

/// A pattern is compared with whole URLs: one without `*` that is no URL matches nothing.
///
/// # Errors
/// It is no pattern, or can match no URL; the error names the flag.
pub fn pattern(flag: &str, text: &str) -> anyhow::Result<Pattern> {
    let pattern = parsed(flag, text, Pattern::new)?;
    let is_url = || CanonicalUrl::from_canonical(pattern.as_str()).is_some();
    if pattern.as_str().contains('*') || is_url() {
        return Ok(pattern);
    }
    Err(usage(format!(
        "--{flag} `{text}` matches no URL: a pattern is compared with the whole URL, `*` stands for any characters (*{text}*)"
    )))
}

/// Reads a value, with the flag in the error.
fn parsed<'t, T, E: std::fmt::Display>(
    flag: &str,
    text: &'t str,
    parse: impl Fn(&'t str) -> Result<T, E>,
) -> anyhow::Result<T> {
    parse(text).map_err(|error| usage(format!("--{flag} `{text}`: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::{Headers, HeadersFor};

    #[test]
    fn the_plan_writes_out_every_default_and_reads_the_same_again() {
        let plan = Plan::new(&Options::default()).expect("a plan");
        let text = plan.options.to_toml("").expect("written");
        let again = Plan::new(&toml::from_str(&text).expect("read")).expect("a plan");
        assert_eq!(again.options, plan.options);
        let open: Vec<&str> = text.lines().filter(|line| line.starts_with("# ") && line.ends_with(" =")).collect();
        let without_default = [
            "# depth =",
            "# include =",
            "# exclude =",
            "# exclude-file =",
            "# max-pages =",
            "# max-pages-per-site =",
            "# max-time =",
            "# max-bytes =",
            "# delay-for =",
            "# hold =",
            "# max-fetches-per-domain =",
            "# max-fetches-per-address =",
            "# info-url =",
            "# header =",
            "# header-for =",
            "# browser =",
            "# proxy =",
            "# resolve =",
            "# connect-to =",
            "# dns-servers =",
            "# ca-cert =",
            "# content-types =",
            "# store =",
            "# store-schema =",
        ];
        assert_eq!(open, without_default);
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let check = |options: Options, expect: &str| {
            let error = Plan::new(&options).err().map(|error| error.to_string()).unwrap_or_default();
            assert_eq!(error, expect);
        };
        let text = |text: &str| Some(text.to_owned());
        check(
            Options { robots: text("no"), ..Options::default() },
            "--robots `no` is not rfc9309, first-match or ignore",
        );
        check(Options { exclude: vec![String::new()], ..Options::default() }, "--exclude ``: the pattern is empty");
        let header = |text: &str| Headers(vec![text.to_owned().into()]);
        check(
            Options { header: header("s3cret"), ..Options::default() },
            "--header: one is not `Name: value` (it is not shown, since it may be secret)",
        );
        check(
            Options { header: header("Host: x"), ..Options::default() },
            "--header `Host` is set by the crawler itself",
        );
        let for_any = HeadersFor(vec![("a.test".to_owned(), "X: s3cret".to_owned().into())]);
        check(
            Options { header_for: for_any, ..Options::default() },
            "--header-for `a.test`: the pattern does not begin with http://, https:// or http*://",
        );
        check(
            Options { proxy: Some("https://ana:s3cret@proxy".to_owned().into()), ..Options::default() },
            "--proxy `https://***@proxy`: the proxy's scheme is https, only http is supported",
        );
        check(
            Options { user_agent: text("(me)"), ..Options::default() },
            "--user-agent `(me)` does not begin with a name such as `argiope/1.0`",
        );
        check(
            Options { connections_per_site: Some(2), ..Options::default() },
            "--connections-per-site above 1 needs --ip-delay 0: the delay per address is between connections",
        );
        let store = |text: &str| text.parse().ok();
        check(
            Options { store: store("host=h password=s3cret"), ..Options::default() },
            "--store is no PostgreSQL database such as postgres://user@host/name or \"host=/run/postgresql dbname=name\": it is no URL",
        );
        check(
            Options { store_schema: text("x"), ..Options::default() },
            "--store-schema needs a database: name it with --store",
        );
        check(
            Options { store: store("postgres://h"), store_schema: text("A"), ..Options::default() },
            "--store-schema `A`: is no schema's name of lower case letters, digits and _, at most 63, not beginning with a digit or pg_",
        );
    }

    #[test]
    fn seeds_may_lack_a_scheme() {
        let plan = Plan::new(&Options::default()).expect("a plan");
        let texts = ["example.com/a", "HTTPS://b.test", "b.test:81?u=ftp://c/"].map(str::to_owned);
        let seeds = plan.seeds(&texts).expect("seeds");
        assert_eq!(
            seeds.iter().map(CanonicalUrl::as_str).collect::<Vec<_>>(),
            ["http://example.com/a", "https://b.test/", "http://b.test:81/?u=ftp://c/"]
        );
        assert_eq!(
            plan.seeds(&["ftp://x/".to_owned()]).expect_err("no").to_string(),
            "seed `ftp://x/`: the scheme is ftp, not http or https"
        );
    }
}
