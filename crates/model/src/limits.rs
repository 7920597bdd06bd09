//! Every limit on what the web may cause, with its unit. Reaching one is an outcome, never a crash or a stall.

use std::time::Duration;

/// The limits of one crawl. Each has a key of the same name in `crawl.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body after decoding; the rest is not read and the record is marked truncated.
    pub body_bytes_max: u64,
    /// Decoded bytes per compressed byte; beyond it the body counts as a decompression bomb.
    pub decompression_ratio_max: u32,
    /// Bytes of a message head.
    pub header_bytes_max: usize,
    /// Redirects in a row.
    pub redirects_max: u8,
    /// Different link targets taken from a page. Beyond as many links, repeats of a target are left out too.
    pub links_per_page_max: usize,
    /// Bytes of visible text kept of a page.
    pub text_bytes_max: usize,
    /// Time to look up a name.
    pub dns_timeout: Duration,
    /// Time to set up a connection, TLS included.
    pub connect_timeout: Duration,
    /// Time from the request to the whole head of the answer.
    pub first_byte_timeout: Duration,
    /// Time from the request to the end of the body.
    pub total_timeout: Duration,
    /// The lowest transfer rate of a body in bytes a second, measured over [`Limits::RATE_WINDOW`].
    pub transfer_rate_min: u64,
    /// Bytes of bodies held in memory at once, over all fetches.
    pub in_flight_bytes_max: u64,
    /// Bytes of robots.txt that are read (RFC 9309 §2.5 asks for at least 500 KiB).
    pub robots_bytes_max: u64,
    /// Requests a second that rendered pages, all together, make to one address (of IPv6 to one /64; behind a proxy to one
    /// registrable domain), after a first burst of a hundred.
    pub page_requests_per_second: u32,
    /// Requisites of a page, with those that its style sheets, scripts and frames name.
    pub requisites_per_page_max: usize,
    /// Bytes of the requisites of a page: once they are reached, no further one is requested.
    pub requisite_bytes_per_page_max: u64,
    /// Entries taken from one sitemap.
    pub sitemap_entries_max: usize,
    /// Sitemap indexes above a sitemap.
    pub sitemap_nesting_max: u32,
    /// Sitemaps read of one site.
    pub sitemaps_per_site_max: u32,
    /// Bytes of a sitemap after decompression.
    pub sitemap_bytes_max: u64,
}

impl Limits {
    /// The stretch of time over which a transfer rate is measured.
    pub const RATE_WINDOW: Duration = Duration::from_secs(10);
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body_bytes_max: 10_000_000,
            decompression_ratio_max: 1_000,
            header_bytes_max: 64 * 1024,
            redirects_max: 10,
            links_per_page_max: 100_000,
            text_bytes_max: 1 << 20,
            dns_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_secs(120),
            transfer_rate_min: 100,
            in_flight_bytes_max: 256_000_000,
            robots_bytes_max: 500 * 1024,
            page_requests_per_second: 10,
            requisites_per_page_max: 1_000,
            requisite_bytes_per_page_max: 256_000_000,
            sitemap_entries_max: 50_000,
            sitemap_nesting_max: 3,
            sitemaps_per_site_max: 1_000,
            sitemap_bytes_max: 50 * 1024 * 1024,
        }
    }
}
