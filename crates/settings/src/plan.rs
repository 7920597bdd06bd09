//! The checked and completed options of a crawl. No later code asks whether a value was given.

mod contradictions;
mod fetching;
mod pictures;
mod settled;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cookies::Profile;
use engine::{Keep, RenderMode, Settings};
use fetch::{FetchConfig, Keyring};
use frontier::{Filter, Politeness, SiteRules};
use login::{Login, LoginSet};
use model::MediaRange;
use robots::Matching;
use rules::RuleSet;
use store_postgres::Schema;
use warc::Compression;
use weburl::{CanonicalRules, CanonicalUrl, HashRoutes, Pattern, Scope, ScopeKind, Site, UserInfo, without_user_info};

use self::fetching::fetch_config;
use self::pictures::with_pictures;
pub(crate) use self::settled::Settled;
use crate::of_file::OfFile;
use crate::options::Options;
use crate::patterns::{MATCHES_NOTHING, NoPattern, kept_pattern, pattern_of};
use crate::site_name::SiteDelay;
use crate::text_file::read_secret;
use crate::units::{Bytes, Span};
use crate::usage;

/// Everything needed to run a crawl.
pub struct Plan {
    /// The options, with every default written out.
    pub options: Options,
    /// The settings of the engine.
    pub settings: Settings,
    /// The settings of the fetcher.
    pub fetch: FetchConfig,
    /// The settings of the browser, but for which program it is.
    pub rendering: render::Settings,
    /// Crawl the built-in test web.
    pub sandbox: bool,
    /// User names and passwords of the seeds that were read ([`Plan::take_seeds`]).
    pub credentials: BTreeMap<Site, UserInfo>,
    /// The logins by forms.
    pub logins: Vec<Login>,
    /// Cookies and entries of storage to begin with, if the crawl has a jar.
    pub cookies: Option<Profile>,
    /// Keep a WARC archive.
    pub archive: bool,
    /// Write the dataset.
    pub dataset: bool,
    /// The size of a WARC segment, in bytes.
    pub segment_bytes_max: u64,
    /// How the records of the archive are compressed.
    pub compression: Compression,
}

/// The rules by which items are taken out of pages.
fn rules_of(options: &Options, writes_dataset: bool) -> anyhow::Result<Arc<RuleSet>> {
    let Some(given) = &options.extract else { return Ok(Arc::default()) };
    if !writes_dataset {
        return Err(usage(
            "--extract writes tables of the dataset: it needs one, so neither --no-archive nor --no-dataset",
        ));
    }
    let rules = RuleSet::of(&given.0).map_err(|error| usage(error.to_string()))?;
    Ok(Arc::new(rules))
}

/// The logins that are given with their secrets.
fn logins_of(options: &Options) -> anyhow::Result<LoginSet> {
    let given = options.login.as_ref().filter(|login| !login.is_redacted());
    given.map_or_else(
        || Ok(LoginSet::default()),
        |login| LoginSet::of(login.given()).map_err(|error| usage(error.to_string())),
    )
}

/// The cookies of the files that are given.
fn given_cookies(options: &Options) -> anyhow::Result<Profile> {
    let mut all = Profile::default();
    for path in &options.cookies {
        let unusable = |error: &dyn std::fmt::Display| usage(format!("--cookies {}: {error}", path.display()));
        let text = read_secret(path).map_err(|error| unusable(&error))?;
        let Profile { cookies, stored } = cookies::from_text(&text).map_err(|error| unusable(&error))?;
        all.cookies.extend(cookies);
        all.stored.extend(stored);
    }
    Ok(all)
}

impl Plan {
    /// The plan of options that a user gives.
    ///
    /// # Errors
    /// As [`Plan::new`]; or a pattern can match no URL.
    pub fn of_given(given: &Options) -> anyhow::Result<Self> {
        check_patterns(given)?;
        Plan::new(given)
    }

    /// Checks the options and completes them. Files that the user names are read. Those that a `crawl.toml` names are not
    /// ([`Options::unread_files`]): the plan is then for reading what the crawl recorded.
    ///
    /// # Errors
    /// A value that cannot be used; the message names the flag.
    pub fn new(given: &Options) -> anyhow::Result<Self> {
        let given = &given.clone().with_files()?;
        let Settled {
            options,
            politeness,
            canonical,
            limits,
            traps,
            rendering,
            deny_private,
            concurrency,
            patience,
            front_bytes_max,
            segment_bytes_max,
            sitemaps,
            switches,
        } = Settled::of(given);
        let user_agent = options.user_agent.clone().unwrap_or_default();
        let hash_routes = hash_routes(options.hash_routes.as_deref().unwrap_or_default())?;
        let canonical = CanonicalRules { hash_routes, ..canonical };
        check_counts(&options)?;
        check_render_wait(&options)?;
        check_store(&options)?;
        contradictions::refuse(&options, &politeness)?;
        // Half of all fetches, and at least as many as a site may have.
        let share = concurrency.div_ceil(2).max(politeness.connections_per_site);
        let archive = !switches.no_archive;
        let dataset = archive && !switches.no_dataset;
        let settings = Settings {
            filter: Filter {
                scope: Scope::new(scope(options.scope.as_deref().unwrap_or_default())?),
                include: patterns("include", &options.include)?,
                exclude: excludes(&options)?,
            },
            site_rules: SiteRules {
                politeness: with_delays(politeness, &options)?,
                traps,
                matching: matching(options.robots.as_deref().unwrap_or_default())?,
                pages_per_site_max: options.max_pages_per_site,
                sitemaps_per_site_max: limits.sitemaps_per_site_max,
            },
            canonical,
            limits,
            robots_once: switches.robots_once,
            product_token: product_token(&user_agent)?,
            depth_max: options.depth,
            concurrency,
            fetches_per_domain_max: options.max_fetches_per_domain.unwrap_or(share),
            fetches_per_address_max: options.max_fetches_per_address.unwrap_or(share),
            paused: switches.paused,
            held_sites: options.hold.iter().flat_map(|name| name.keys().collect::<Vec<_>>()).collect(),
            pages_max: options.max_pages,
            patience,
            time_max: options.max_time.map(|span| span.0),
            bytes_max: options.max_bytes.map(|bytes| bytes.0),
            sitemaps,
            head_first: switches.head_first,
            sites_in_front_max: engine::settings::SITES_IN_FRONT_MAX,
            front_bytes_max,
            places_part: engine::settings::PLACES_PART,
            pace: Duration::ZERO,
            turns_in_front_max: engine::settings::TURNS_IN_FRONT_MAX,
            windows_urls_max: engine::settings::WINDOWS_URLS_MAX,
            large_robots_bytes: engine::settings::LARGE_ROBOTS_BYTES,
            rules_bytes_max: engine::settings::RULES_BYTES_MAX,
            rules_read_at_once_max: engine::settings::RULES_READ_AT_ONCE_MAX,
            remembered_urls_max: engine::settings::REMEMBERED_URLS_MAX,
            links_at_once: engine::settings::LINKS_AT_ONCE,
            ignore_nofollow: switches.ignore_nofollow,
            changes_in_text: switches.changes_in_text,
            keep: keep(&options, switches.documents, switches.images)?,
            render: render_mode(options.render.as_deref().unwrap_or_default())?,
            images: switches.images,
            requisites: switches.requisites,
            archive,
            details: dataset,
            labels: true,
            structured: !switches.no_structured,
            main_text: !switches.no_main_text,
            documents: (switches.documents_text && dataset).then(documents::Reader::of_this_program),
            rules: rules_of(&options, dataset)?,
        };
        let rendering = render::Settings { user_agent: user_agent.clone(), media: settings.images, ..rendering };
        let rendering = with_pictures(rendering, &options)?;
        let config = FetchConfig { user_agent, deny_private, ..FetchConfig::default() };
        let LoginSet { forms: logins, fields } = logins_of(&options)?;
        let mut fetch = fetch_config(&options, &settings, config, fields)?;
        logins.iter().flat_map(Login::values).for_each(|value| fetch.keyring.add_unsent(value.to_owned()));
        fetch.head_accepts = head_accepts(&settings);
        fetch.media_wanted = settings.keep.as_ref().map(Keep::declared_as);
        let credentials = BTreeMap::new();
        let sandbox = switches.sandbox;
        let cookies = switches.cookie_jar.then(|| given_cookies(&options)).transpose()?;
        Ok(Plan {
            sandbox,
            archive,
            dataset,
            segment_bytes_max,
            compression: parsed("compression", options.compression.as_deref().unwrap_or_default(), str::parse)?,
            settings,
            fetch,
            rendering,
            options,
            credentials,
            logins,
            cookies,
        })
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
fn keep(options: &Options, documents: bool, images: bool) -> anyhow::Result<Option<Keep>> {
    let range = |text: &String| {
        let unusable =
            || usage(format!("--content-types {text}: is not a media type such as application/pdf or audio/*"));
        MediaRange::parse(text).ok_or_else(unusable)
    };
    let ranges = options.content_types.iter().map(range).collect::<anyhow::Result<_>>()?;
    let keep = Keep { documents, images, ranges };
    Ok((documents || !options.content_types.is_empty()).then_some(keep))
}

/// Which fragments are pages.
fn hash_routes(when: &str) -> anyhow::Result<HashRoutes> {
    match when {
        "never" => Ok(HashRoutes::Never),
        "auto" => Ok(HashRoutes::Auto),
        "always" => Ok(HashRoutes::Always),
        other => Err(usage(format!("--hash-routes {other}: is none of never, auto, always"))),
    }
}

/// Which pages are rendered.
fn render_mode(when: &str) -> anyhow::Result<Option<RenderMode>> {
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

/// What begins with a digit is a duration, and no selector (Selectors Level 4 §3.1).
fn check_render_wait(options: &Options) -> anyhow::Result<()> {
    let given =
        options.render_wait.as_deref().map(str::trim).filter(|text| text.starts_with(|c: char| c.is_ascii_digit()));
    given.map_or(Ok(()), |text| text.parse::<Span>().map(drop).map_err(|error| usage(format!("--render-wait {error}"))))
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
        ("max-requisites-per-page", options.max_requisites_per_page == Some(0)),
        ("max-requisite-bytes-per-page", is_zero(options.max_requisite_bytes_per_page)),
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
        ("max-screenshot-pixels", options.max_screenshot_pixels == Some(0)),
        ("max-screenshot-bytes", is_zero(options.max_screenshot_bytes)),
    ];
    match zero.into_iter().find(|(_, is_zero)| *is_zero) {
        Some((flag, _)) if flag.starts_with("max-") => Err(usage(format!(
            "--{flag} must be more than 0; without it there is no such limit, or the default; --unset {flag} takes an earlier one back"
        ))),
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
    let of_switch = match text {
        "true" | "false" => Some("documents"),
        "auto" | "always" | "never" => Some("deny-private"),
        _ => None,
    };
    if let Some(switch) = of_switch {
        return Err(usage(format!(
            "seed `{text}`: a switch takes its value after an equals sign, as in --{switch}={text}; a host of that name is http://{text}/"
        )));
    }
    let authority = text.split(['/', '?', '#']).next().unwrap_or_default();
    if text.is_empty() {
        return Err(usage("the URL is empty"));
    }
    // The URL parser would take the first part of such a path for a host.
    if authority.trim_matches('.').is_empty() && !text.starts_with("//") {
        let path = text.trim_start_matches(['.', '/']);
        return Err(usage(format!("seed `{text}`: a URL needs a host, as in https://example.org/{path}")));
    }
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

/// The rules of politeness with the delays of single sites.
fn with_delays(politeness: Politeness, options: &Options) -> anyhow::Result<Politeness> {
    if !(0.0..=1_000_000.0).contains(&politeness.delay_factor) {
        return Err(usage(format!("--delay-factor {} is not between 0 and 1000000", politeness.delay_factor)));
    }
    if politeness.connections_per_site > 1 && !politeness.ip_delay.is_zero() {
        return Err(usage(
            "--connections-per-site above 1 needs --ip-delay 0: the delay per address is between connections",
        ));
    }
    let of_site = |given: &SiteDelay| given.site.keys().map(|key| (key, given.delay.0)).collect::<Vec<_>>();
    Ok(Politeness { delay_for: options.delay_for.iter().flat_map(of_site).collect(), ..politeness })
}

fn matching(robots: &str) -> anyhow::Result<Option<Matching>> {
    match robots {
        "rfc9309" => Ok(Some(Matching::LongestMatch)),
        "first-match" => Ok(Some(Matching::FirstMatch)),
        "ignore" => Ok(None),
        other => Err(usage(format!("--robots `{other}` is not rfc9309, first-match or ignore"))),
    }
}

fn excludes(options: &Options) -> anyhow::Result<Vec<Pattern>> {
    let mut all = patterns("exclude", &options.exclude)?;
    if let Some(OfFile::Kept(of_file)) = &options.exclude_file {
        all.extend(of_file.patterns()?);
    }
    Ok(all)
}

fn patterns(flag: &str, texts: &[String]) -> anyhow::Result<Vec<Pattern>> {
    texts.iter().map(|text| kept_pattern(text).map_err(|error| unusable_pattern(flag, text, &error))).collect()
}

/// Refuses patterns that can match no URL. Those of a crawl that has them stay.
///
/// # Errors
/// There is one among these options; the error names the flag.
pub fn check_patterns(given: &Options) -> anyhow::Result<()> {
    let all = [("include", &given.include), ("exclude", &given.exclude)];
    all.into_iter().flat_map(|(flag, texts)| texts.iter().map(move |text| (flag, text))).try_for_each(|(flag, text)| {
        pattern(flag, text)?;
        Ok(())
    })
}

/// A pattern, in the spelling of the URLs with which it is compared.
///
/// # Errors
/// It is no pattern, or can match no URL; the error names the flag.
pub fn pattern(flag: &str, text: &str) -> anyhow::Result<Pattern> {
    pattern_of(text).map_err(|error| unusable_pattern(flag, text, &error))
}

fn unusable_pattern(flag: &str, text: &str, error: &NoPattern) -> anyhow::Error {
    match error {
        NoPattern::Form(error) => usage(format!("--{flag} `{}`: {error}", without_user_info(text))),
        NoPattern::MatchesNothing => {
            usage(format!("--{flag} `{text}` {MATCHES_NOTHING} (*{}*)", text.trim().trim_matches('*')))
        }
        NoPattern::Never(_) => usage(format!("--{flag} `{text}` {}", error.without_text())),
    }
}

/// Reads a value, with the flag in the error. No message shows a password.
fn parsed<'t, T, E: std::fmt::Display>(
    flag: &str,
    text: &'t str,
    parse: impl Fn(&'t str) -> Result<T, E>,
) -> anyhow::Result<T> {
    parse(text).map_err(|error| usage(format!("--{flag} `{}`: {error}", without_user_info(text))))
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
            "# cookies =",
            "# login =",
            "# browser =",
            "# behaviour =",
            "# screenshots =",
            "# viewport =",
            "# proxy =",
            "# resolve =",
            "# connect-to =",
            "# dns-servers =",
            "# ca-cert =",
            "# content-types =",
            "# extract =",
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
        for (text, expect) in [
            ("", "the URL is empty"),
            ("/relative", "seed `/relative`: a URL needs a host, as in https://example.org/relative"),
            ("./page.html", "seed `./page.html`: a URL needs a host, as in https://example.org/page.html"),
            ("../a", "seed `../a`: a URL needs a host, as in https://example.org/a"),
            ("?a=1", "seed `?a=1`: a URL needs a host, as in https://example.org/?a=1"),
            ("ftp://x/", "seed `ftp://x/`: the scheme is ftp, not http or https"),
            (
                "false",
                "seed `false`: a switch takes its value after an equals sign, as in --documents=false; a host of that name is http://false/",
            ),
            (
                "never",
                "seed `never`: a switch takes its value after an equals sign, as in --deny-private=never; a host of that name is http://never/",
            ),
        ] {
            assert_eq!(plan.seeds(&[text.to_owned()]).expect_err("no").to_string(), expect);
        }
        plan.seeds(&["http://false/".to_owned()]).expect("a host");
    }
}
