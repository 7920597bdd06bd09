//! Options and the values that they stand for. The default of each is where the value has its home, and nowhere else.

use std::time::Duration;

use fetch::DenyPrivate;
use frontier::{Politeness, TrapRules};
use model::Limits;
use render::{Behaviour, Wait};
use store_postgres::Schema;
use warc::Compression;
use weburl::CanonicalRules;

use crate::behaviour::BehaviourOption;
use crate::deny_private::DenyPrivateOption;
use crate::options::Options;
use crate::units::{Bytes, Span};

/// Settles several options, each with a value that is the default before.
macro_rules! settle {
    ($options:ident, $of:ident: $($option:ident = $value:ident),* $(,)?) => {
        $($of.$value = settled(&mut $options.$option, $of.$value);)*
    };
}

/// Default for the fetches at once.
const CONCURRENCY: usize = 128;

/// Options with every default written out, and the values that they stand for. Nothing is checked yet. Options without a default (budgets,
/// the proxy) stay open.
pub(crate) struct Settled {
    pub(crate) options: Options,
    pub(super) politeness: Politeness,
    pub(super) canonical: CanonicalRules,
    pub(super) limits: Limits,
    pub(super) traps: TrapRules,
    pub(super) rendering: render::Settings,
    pub(super) deny_private: DenyPrivate,
    pub(super) concurrency: usize,
    pub(super) patience: Duration,
    pub(super) front_bytes_max: usize,
    pub(super) segment_bytes_max: u64,
    pub(super) sitemaps: bool,
    pub(super) switches: Switches,
}

/// The switches that are off unless they are given.
#[derive(Default)]
pub(super) struct Switches {
    pub(super) sandbox: bool,
    pub(super) paused: bool,
    pub(super) ignore_nofollow: bool,
    pub(super) changes_in_text: bool,
    pub(super) robots_once: bool,
    pub(super) head_first: bool,
    pub(super) cookie_jar: bool,
    pub(super) documents: bool,
    pub(super) images: bool,
    pub(super) requisites: bool,
    pub(super) no_archive: bool,
    pub(super) no_dataset: bool,
    pub(super) no_structured: bool,
    pub(super) no_main_text: bool,
    pub(super) documents_text: bool,
}

impl Settled {
    pub(crate) fn of(given: &Options) -> Self {
        let mut all = given.clone();
        let options = &mut all;
        options.scope.get_or_insert_with(|| "host".to_owned());
        options.robots.get_or_insert_with(|| "rfc9309".to_owned());
        options.render.get_or_insert_with(|| "never".to_owned());
        options.compression.get_or_insert_with(|| Compression::default().to_string());
        options.hash_routes.get_or_insert_with(|| "auto".to_owned());
        options.user_agent.get_or_insert_with(|| default_user_agent(given.info_url.as_deref()));
        if options.store.is_some() {
            options.store_schema.get_or_insert_with(|| Schema::default().to_string());
        }
        if options.needs_jar().is_some() {
            options.cookie_jar.get_or_insert(true);
        }
        let mut switches = Switches::default();
        settle! { options, switches:
            sandbox = sandbox,
            paused = paused,
            ignore_nofollow = ignore_nofollow,
            changes_in_text = changes_in_text,
            robots_once = robots_once,
            head_first = head_first,
            cookie_jar = cookie_jar,
            documents = documents,
            images = images,
            requisites = requisites,
            no_archive = no_archive,
            no_dataset = no_dataset,
            no_structured = no_structured,
            no_main_text = no_main_text,
            documents_text = documents_text,
        }
        Settled {
            politeness: politeness(options),
            canonical: canonical(options),
            limits: limits(options),
            traps: traps(options),
            rendering: rendering(options),
            deny_private: settled(&mut options.deny_private, DenyPrivate::default()),
            concurrency: settled(&mut options.concurrency, CONCURRENCY),
            patience: settled(&mut options.patience, engine::PATIENCE),
            front_bytes_max: settled(&mut options.max_front_bytes, engine::settings::FRONT_BYTES_MAX),
            segment_bytes_max: settled(&mut options.segment_size, warc::SEGMENT_BYTES_MAX),
            sitemaps: settled(&mut options.sitemaps, given.depth.is_none() && !given.no_sitemaps),
            switches,
            options: all,
        }
    }
}

impl Options {
    /// Whether the User-Agent is the default one, for the page about the crawl that is named.
    #[must_use]
    pub fn has_default_user_agent(&self) -> bool {
        let default = default_user_agent(self.info_url.as_deref());
        self.user_agent.as_ref().is_none_or(|user_agent| *user_agent == default)
    }
}

/// `argiope/VERSION`, with the page that tells people about the crawl if one is given.
fn default_user_agent(info_url: Option<&str>) -> String {
    format!("argiope/{} (+{})", env!("CARGO_PKG_VERSION"), info_url.unwrap_or("URL to set"))
}

/// The form in which a value is given.
trait FormOf<T>: Clone {
    /// The value.
    fn value(self) -> T;

    /// How the value is given.
    fn of(value: T) -> Self;
}

macro_rules! forms {
    ($($form:ty, $value:ty: $given:ident => $to:expr, $kept:ident => $from:expr;)*) => {
        $(impl FormOf<$value> for $form {
            fn value(self) -> $value {
                let $given = self;
                $to
            }

            fn of($kept: $value) -> Self {
                $from
            }
        })*
    };
}

forms! {
    bool, bool: given => given, kept => kept;
    u8, u8: given => given, kept => kept;
    u32, u32: given => given, kept => kept;
    u64, u64: given => given, kept => kept;
    usize, usize: given => given, kept => kept;
    f64, f64: given => given, kept => kept;
    Span, Duration: given => given.0, kept => Span(kept);
    Bytes, u64: given => given.0, kept => Bytes(kept);
    Bytes, usize: given => usize::try_from(given.0).unwrap_or(usize::MAX), kept => Bytes(kept as u64);
    DenyPrivateOption, DenyPrivate: given => given.0, kept => DenyPrivateOption(kept);
}

/// The value of an option. If it is not given, it is given from now on, as the default.
fn settled<F: FormOf<T>, T>(option: &mut Option<F>, default: T) -> T {
    option.get_or_insert_with(|| F::of(default)).clone().value()
}

/// The rules of politeness, but for the delays of single sites.
fn politeness(options: &mut Options) -> Politeness {
    let mut politeness = Politeness::default();
    settle! { options, politeness:
        delay = delay,
        ip_delay = ip_delay,
        delay_factor = delay_factor,
        connections_per_site = connections_per_site,
        max_crawl_delay = crawl_delay_max,
        max_retry_after = retry_after_max,
        backoff = backoff,
        max_backoff = backoff_max,
        max_attempts = attempts_max,
        max_failures_in_a_row = failures_in_a_row_max,
        give_up_after = give_up_after,
    }
    politeness
}

/// The rules against traps.
fn traps(options: &mut Options) -> TrapRules {
    let mut traps = TrapRules::default();
    settle! { options, traps:
        max_path_depth = path_depth_max,
        max_repeated_segments = repeated_segments_max,
        max_queries_per_path = queries_per_path_max,
        max_simple_queries_per_path = simple_queries_per_path_max,
        max_calendar_pages = calendar_pages_max,
        max_session_pages = session_pages_max,
        max_low_yield_pages = low_yield_pages_max,
        low_yield_window = low_yield_window,
    }
    traps
}

/// How URLs are written.
fn canonical(options: &mut Options) -> CanonicalRules {
    let mut rules = CanonicalRules::default();
    settle! { options, rules:
        sort_query = sort_query,
        strip_session_ids = strip_session_ids,
        strip_tracking = strip_tracking,
        collapse_slashes = collapse_slashes,
        strip_www = strip_www,
        max_url_bytes = url_bytes_max,
    }
    rules
}

/// The limits of fetches and of what is made of them.
fn limits(options: &mut Options) -> Limits {
    let mut limits = Limits::default();
    settle! { options, limits:
        max_body_bytes = body_bytes_max,
        max_decompression_ratio = decompression_ratio_max,
        max_header_bytes = header_bytes_max,
        max_redirects = redirects_max,
        max_links_per_page = links_per_page_max,
        max_requisites_per_page = requisites_per_page_max,
        max_requisite_bytes_per_page = requisite_bytes_per_page_max,
        dns_timeout = dns_timeout,
        connect_timeout = connect_timeout,
        first_byte_timeout = first_byte_timeout,
        total_timeout = total_timeout,
        min_transfer_rate = transfer_rate_min,
        max_in_flight_bytes = in_flight_bytes_max,
        render_rate = page_requests_per_second,
        max_sitemap_entries = sitemap_entries_max,
        max_sitemaps_per_site = sitemaps_per_site_max,
    }
    limits
}

/// What a page in the browser takes, at most.
fn rendering(options: &mut Options) -> render::Settings {
    let mut rendering = render::Settings::default();
    settle! { options, rendering:
        render_tabs = tabs,
        render_time = page_time_max,
        render_scroll = scroll,
        render_clicks = clicks_max,
        max_screenshot_pixels = picture_pixels_max,
        max_screenshot_bytes = picture_bytes_max,
    }
    options.render_screenshot.get_or_insert(false);
    options.pdf.get_or_insert(false);
    let wait = options.render_wait.get_or_insert_with(|| Span(render::PAGE_CLOCK).to_string());
    rendering.wait = match (wait.as_str(), wait.parse::<Span>()) {
        ("idle", _) => Wait::Idle,
        (_, Ok(span)) => Wait::Clock(span.0),
        (selector, Err(_)) => Wait::Selector(selector.to_owned()),
    };
    let given = options.behaviour.iter().cloned();
    rendering.behaviours = given.map(|BehaviourOption { name, script }| Behaviour { name, script }).collect();
    rendering
}
