//! `argiope client urls`: the URLs of the crawl, as many answers of the server as it takes.

use anyhow::bail;
use api::{UrlsRequest, UrlsResponse};
use clap::Args;
use printable::{counted, write_json_line};
use service::client::Text;

use super::Session;

/// URLs that the server is asked for at a time.
const URLS_AT_ONCE: u64 = 10_000;

/// Which URLs are shown.
#[derive(Args, Debug)]
pub(super) struct Listing {
    /// Only URLs of this site: example.org, or https://example.org:8443
    #[arg(long, value_name = "SITE", default_value = "")]
    site: String,
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
    /// Only URLs after this one, as an earlier answer says
    #[arg(long, value_name = "URL", default_value = "")]
    after: String,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// Show all; with --json one URL a line
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

impl Listing {
    /// Shows them. An answer of the server may have few, or none, where the state is rare.
    ///
    /// # Errors
    /// The server does not answer, or says no.
    pub(super) async fn list(self, asked: &mut Session) -> anyhow::Result<()> {
        let Listing { site, state: states, only: patterns, status, depth, mut after, limit, all } = self;
        let status = status.map(u32::from);
        let (mut left, mut shown) = (if all { u64::MAX } else { limit }, 0);
        let mut listed = UrlsResponse::default();
        loop {
            let limit = u32::try_from(left.min(URLS_AT_ONCE))?;
            let (site, states, patterns) = (site.clone(), states.clone(), patterns.clone());
            let after_now = after.clone();
            let request = UrlsRequest {
                site,
                states,
                patterns,
                after: after_now,
                limit,
                status,
                depth,
                ..UrlsRequest::default()
            };
            let UrlsResponse { urls, next } = asked.client.urls(request).await?.into_inner();
            if next == after && !next.is_empty() {
                bail!("the server lists no URL after {next}, and says that there may be more");
            }
            (left, shown) = (left.saturating_sub(urls.len() as u64), shown + urls.len() as u64);
            match (all, asked.json) {
                (true, true) => urls.iter().try_for_each(|url| write_json_line(&mut asked.out, url))?,
                (true, false) => urls.iter().try_for_each(|url| url.write_text(&mut asked.out))?,
                (false, _) => listed.urls.extend(urls),
            }
            after = next;
            if after.is_empty() || left == 0 {
                break;
            }
        }
        match (all, asked.json) {
            (true, true) => Ok(()),
            (true, false) => Ok(writeln!(asked.out, "{}", counted(shown, "URL"))?),
            (false, _) => asked.tell(&UrlsResponse { next: after, ..listed }),
        }
    }
}
