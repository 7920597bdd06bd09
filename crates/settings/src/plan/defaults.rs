//! The defaults of all options, written out.

use std::time::Duration;

use fetch::DenyPrivate;
use frontier::{Politeness, TrapRules};
use model::Limits;
use store_postgres::Schema;

use super::CONCURRENCY;
use crate::deny_private::DenyPrivateOption;
use crate::options::Options;
use crate::units::{Bytes, Span};

/// Every option that has a default and is not given takes it. Those without one (budgets, the proxy) stay open.
pub(super) fn complete(given: &Options) -> Options {
    let mut options = given.clone();
    let (politeness, traps, limits) = (Politeness::default(), TrapRules::default(), Limits::default());
    let span = |target: &mut Option<Span>, default: Duration| {
        target.get_or_insert(Span(default));
    };
    let bytes = |target: &mut Option<Bytes>, default: u64| {
        target.get_or_insert(Bytes(default));
    };
    options.scope.get_or_insert_with(|| "host".to_owned());
    options.robots.get_or_insert_with(|| "rfc9309".to_owned());
    options.render.get_or_insert_with(|| "never".to_owned());
    options.deny_private.get_or_insert(DenyPrivateOption(DenyPrivate::default()));
    let default_agent = default_user_agent(options.info_url.as_deref());
    options.user_agent.get_or_insert(default_agent);
    options.sitemaps.get_or_insert(given.depth.is_none() && !given.no_sitemaps);
    for switch in [
        &mut options.sandbox,
        &mut options.paused,
        &mut options.ignore_nofollow,
        &mut options.robots_once,
        &mut options.head_first,
        &mut options.documents,
        &mut options.images,
        &mut options.render_scroll,
        &mut options.render_screenshot,
        &mut options.no_archive,
        &mut options.no_dataset,
        &mut options.sort_query,
        &mut options.strip_session_ids,
        &mut options.strip_tracking,
        &mut options.collapse_slashes,
        &mut options.strip_www,
    ] {
        switch.get_or_insert(false);
    }
    span(&mut options.delay, politeness.delay);
    span(&mut options.ip_delay, politeness.ip_delay);
    options.delay_factor.get_or_insert(politeness.delay_factor);
    options.connections_per_site.get_or_insert(politeness.connections_per_site);
    options.concurrency.get_or_insert(CONCURRENCY);
    span(&mut options.max_crawl_delay, politeness.crawl_delay_max);
    span(&mut options.max_retry_after, politeness.retry_after_max);
    span(&mut options.backoff, politeness.backoff);
    span(&mut options.max_backoff, politeness.backoff_max);
    options.max_attempts.get_or_insert(politeness.attempts_max);
    options.max_failures_in_a_row.get_or_insert(politeness.failures_in_a_row_max);
    span(&mut options.patience, engine::PATIENCE);
    span(&mut options.give_up_after, politeness.give_up_after);
    bytes(&mut options.segment_size, warc::SEGMENT_BYTES_MAX);
    if options.store.is_some() {
        options.store_schema.get_or_insert_with(|| Schema::default().to_string());
    }
    bytes(&mut options.max_url_bytes, weburl::URL_BYTES_MAX as u64);
    bytes(&mut options.max_body_bytes, limits.body_bytes_max);
    options.max_decompression_ratio.get_or_insert(limits.decompression_ratio_max);
    bytes(&mut options.max_header_bytes, limits.header_bytes_max as u64);
    options.max_redirects.get_or_insert(limits.redirects_max);
    options.max_links_per_page.get_or_insert(limits.links_per_page_max);
    bytes(&mut options.max_in_flight_bytes, limits.in_flight_bytes_max);
    bytes(&mut options.max_front_bytes, engine::settings::FRONT_BYTES_MAX as u64);
    options.max_sitemaps_per_site.get_or_insert(limits.sitemaps_per_site_max);
    options.max_sitemap_entries.get_or_insert(limits.sitemap_entries_max);
    span(&mut options.dns_timeout, limits.dns_timeout);
    span(&mut options.connect_timeout, limits.connect_timeout);
    span(&mut options.first_byte_timeout, limits.first_byte_timeout);
    span(&mut options.total_timeout, limits.total_timeout);
    bytes(&mut options.min_transfer_rate, limits.transfer_rate_min);
    let rendering = render::Settings::default();
    options.render_tabs.get_or_insert(rendering.tabs);
    options.render_rate.get_or_insert(limits.page_requests_per_second);
    span(&mut options.render_time, rendering.page_time_max);
    options.render_wait.get_or_insert_with(|| Span(render::PAGE_CLOCK).to_string());
    options.max_path_depth.get_or_insert(traps.path_depth_max);
    options.max_repeated_segments.get_or_insert(traps.repeated_segments_max);
    options.max_queries_per_path.get_or_insert(traps.queries_per_path_max);
    options.max_simple_queries_per_path.get_or_insert(traps.simple_queries_per_path_max);
    options.max_calendar_pages.get_or_insert(traps.calendar_pages_max);
    options.max_session_pages.get_or_insert(traps.session_pages_max);
    options.max_low_yield_pages.get_or_insert(traps.low_yield_pages_max);
    options.low_yield_window.get_or_insert(traps.low_yield_window);
    options
}

/// `argiope/VERSION`, with the page that tells people about the crawl if one is given.
fn default_user_agent(info_url: Option<&str>) -> String {
    match info_url {
        Some(url) => format!("argiope/{} (+{url})", env!("CARGO_PKG_VERSION")),
        None => format!("argiope/{} (+URL to set)", env!("CARGO_PKG_VERSION")),
    }
}
