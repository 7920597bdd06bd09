//! `argiope client urls`: the URLs of the crawl, as many answers of the server as it takes.

use std::io::Write;
use std::time::Duration;

use anyhow::bail;
use api::{InOrder, UrlsRequest, UrlsResponse};
use clap::Args;
use printable::{counted, write_json_line};
use tonic::Response;

use super::of_page::tell;
use super::{Client, Text, UNSORTED};

/// URLs that the server is asked for at a time.
const URLS_AT_ONCE: u64 = 10_000;
/// The pause before a server is asked again that looks for the first URLs of an order.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(300);

/// Which URLs are shown.
#[derive(Args, Debug)]
pub struct Listing {
    /// Only URLs of this site: example.org, or https://example.org:8443
    #[arg(long, value_name = "SITE", default_value = "")]
    site: String,
    /// Only URLs of sites that a seed lies on
    #[arg(long)]
    seed_sites: bool,
    /// Only URLs in this state: waiting, or an outcome such as http_error; may be repeated
    #[arg(long, value_name = "STATE")]
    state: Vec<String>,
    /// Only URLs that match a pattern; may be repeated
    #[arg(long, value_name = "PATTERN")]
    only: Vec<String>,
    /// Only URLs whose last answer had this status
    #[arg(long, value_name = "N")]
    status: Option<u16>,
    /// Only URLs so many links from a seed
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// Only URLs with this key, or this beginning of one: the url_key of the dataset, or the SHA-1 in a key-value store
    #[arg(long, value_name = "HEX", default_value = "")]
    key: String,
    /// Only URLs whose answer declared a media type that begins so: text/html, image/; `text/html;` is the whole type, (none) is no type
    #[arg(long = "type", value_name = "TYPE", default_value = "")]
    content_type: String,
    /// Only URLs whose title has this text, or the reason where there is no title
    #[arg(long, value_name = "TEXT", default_value = "")]
    title: String,
    /// Only URLs whose last answer had at least so many bytes
    #[arg(long, value_name = "BYTES")]
    size_min: Option<u64>,
    /// Only URLs whose last answer had at most so many bytes
    #[arg(long, value_name = "BYTES")]
    size_max: Option<u64>,
    /// Only URLs visited last at this time or later: a date, a time in UTC, or how long ago, such as 7d
    #[arg(long, value_name = "TIME", default_value = "")]
    since: String,
    /// Only URLs visited last at this time or before
    #[arg(long, value_name = "TIME", default_value = "")]
    until: String,
    /// Only URLs whose last visit reached this limit, as the report names it
    #[arg(long, value_name = "LIMIT", default_value = "")]
    reached: String,
    /// Only pages, as `report` counts them: by the visit that describes them now, without excluded ones
    #[arg(long)]
    as_reported: bool,
    /// Sort by a column, behind a minus the greatest first: url, state, status, type, size, depth, visited, title. The first 10000 can be shown
    #[arg(long, value_name = "COLUMN", default_value = "", allow_hyphen_values = true)]
    order: String,
    /// Only URLs after this one, as an earlier answer says
    #[arg(long, value_name = "URL", default_value = "", conflicts_with = "order")]
    after: String,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// Show all; with --json one URL a line
    #[arg(long, conflicts_with_all = ["limit", "order"])]
    all: bool,
}

impl Listing {
    /// Shows them. An answer of the server may have few, or none, where the state is rare.
    ///
    /// # Errors
    /// The server does not answer, or says no.
    pub async fn list(self, client: &mut Client, json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
        let Listing { order, limit, all, .. } = self;
        let mut request = UrlsRequest {
            site: self.site,
            states: self.state,
            patterns: self.only,
            after: self.after,
            status: self.status.map(u32::from),
            depth: self.depth,
            key: self.key,
            content_type: self.content_type,
            title: self.title,
            size_min: self.size_min,
            size_max: self.size_max,
            since: self.since,
            until: self.until,
            as_reported: self.as_reported,
            reached: self.reached,
            of_seed_sites: self.seed_sites,
            ..UrlsRequest::default()
        };
        if !order.is_empty() {
            return tell(Response::new(sorted(client, UrlsRequest { order, ..request }, limit).await?), json, out);
        }
        let (mut left, mut shown) = (if all { u64::MAX } else { limit }, 0);
        let mut listed = UrlsResponse::default();
        loop {
            request.limit = u32::try_from(left.min(URLS_AT_ONCE))?;
            let UrlsResponse { urls, next, .. } = client.urls(request.clone()).await?.into_inner();
            if next == request.after && !next.is_empty() {
                bail!("the server lists no URL after {next}, and says that there may be more");
            }
            (left, shown) = (left.saturating_sub(urls.len() as u64), shown + urls.len() as u64);
            match (all, json) {
                (true, true) => urls.iter().try_for_each(|url| write_json_line(out, url))?,
                (true, false) => urls.iter().try_for_each(|url| url.write_text(out))?,
                (false, _) => listed.urls.extend(urls),
            }
            request.after = next;
            if request.after.is_empty() || left == 0 {
                break;
            }
        }
        match (all, json) {
            (true, true) => Ok(()),
            (true, false) => Ok(writeln!(out, "{}", counted(shown, "URL"))?),
            (false, _) => tell(Response::new(UrlsResponse { next: request.after, ..listed }), json, out),
        }
    }
}

/// The first URLs in an order, when the server has found them. It keeps no more than it sends in one answer.
async fn sorted(client: &mut Client, mut request: UrlsRequest, limit: u64) -> anyhow::Result<UrlsResponse> {
    request.limit = u32::try_from(limit.min(URLS_AT_ONCE))?;
    loop {
        let answer = client.urls(request.clone()).await?.into_inner();
        match answer.in_order {
            None => bail!(UNSORTED),
            Some(InOrder { complete: true, .. }) => return Ok(answer),
            Some(_) => tokio::time::sleep(ASK_AGAIN_AFTER).await,
        }
    }
}
