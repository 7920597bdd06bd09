//! `argiope client`: asks a server what its API has, by gRPC.

mod reporting;
mod watching;

use std::io::Write;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;

use anyhow::anyhow;
use api::{
    AddSeedsRequest, AgainRequest, ChangesRequest, CrawlRequest, DomainsRequest, DrainRequest, ExplainHostRequest,
    ExplainRequest, FreshnessRequest, GetWorkersRequest, HistoryRequest, JournalRequest, LinksRequest, OverlapRequest,
    PageRankRequest, PathRequest, PauseRequest, PictureRequest, ResumeRequest, SearchRequest, StatsRequest,
    SteerRequest,
};
use ask::since::time;
use clap::{Args, Subcommand};
use engine::clock::Clock;
use model::Timestamp;
use printable::write_json_line;
use serde::Serialize;
use tonic::{Code, Response, Status};

use super::rank::By;
use super::steer::What;
use service::access::ClientAccess;
use service::client::{Client, Listing, OfPage, Text, connect, undo, why_no_answer};
use settings::units::Span;
use settings::usage;

/// The arguments of `argiope client`.
#[derive(Args, Debug)]
pub struct ClientArgs {
    /// The server's address for clients
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7871", global = true)]
    server: String,
    /// Print the answer as one JSON object
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    access: ClientAccess,
    #[command(subcommand)]
    method: Method,
}

#[derive(Subcommand, Debug)]
enum Method {
    /// List the live workers
    Workers,
    /// Crawl from a URL, and wait until no work is left within its scope and depth
    Crawl {
        /// The URL
        url: String,
        /// The largest number of links from the URL: 0 is the page alone [default: the depth of the crawl]
        #[arg(long, value_name = "N")]
        depth: Option<u32>,
        /// Show progress on standard error; with --json one object per line
        #[arg(long)]
        progress: bool,
    },
    /// Add seeds without waiting
    AddSeeds {
        /// The URLs
        #[arg(required = true, value_name = "URL")]
        urls: Vec<String>,
    },
    /// List the sites that a worker owns
    Domains {
        /// Its id or name, as `workers` tells
        worker: String,
        /// Only sites after this one
        #[arg(long, value_name = "SITE", default_value = "")]
        after: String,
        /// How many to show
        #[arg(long, value_name = "N", default_value_t = 1_000)]
        limit: u32,
        /// Show those on hold, in trouble and given up first
        #[arg(long)]
        by_state: bool,
    },
    /// Count the links between two domains, among the pages reachable from a page of each
    Overlap {
        /// A page of one domain
        url1: String,
        /// A page of another domain
        url2: String,
        /// Show the links
        #[arg(long)]
        list: bool,
    },
    /// Show the PageRank of a page, or the pages with the highest ranks
    Rank {
        /// The URL whose rank is asked for; without it the highest ranks are told
        url: Option<String>,
        /// How many to show
        #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "url")]
        top: u32,
        /// What to rank: pages, or sites or domains by the links between them
        #[arg(long, value_enum, default_value_t = By::Page, conflicts_with = "url")]
        by: By,
        /// Ranks that sum to 1
        #[arg(long)]
        normalized: bool,
    },
    /// Find the pages that contain a text
    Search {
        /// The text
        text: String,
        /// Ignore case
        #[arg(long)]
        ignore_case: bool,
        /// The text is a regular expression
        #[arg(long)]
        regex: bool,
        /// Search the main text: without menus, adverts and notices
        #[arg(long)]
        main_text: bool,
        /// Only pages of this site
        #[arg(long, value_name = "SITE", default_value = "")]
        site: String,
        /// Only pages fetched since this time: a date, a time in UTC, or how long ago (7d)
        #[arg(long, value_name = "TIME", value_parser = since)]
        since: Option<Timestamp>,
        /// How many pages to show
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: u32,
    },
    /// Show the links from and to a page, with their texts
    Links {
        /// The page
        url: String,
    },
    /// Show the shortest way from page to page by links
    Path {
        /// Where the way begins
        url1: String,
        /// Where it ends
        url2: String,
    },
    /// Show the link graph as the interface draws it: points by PageRank, their communities; places and links with --json
    Picture {
        /// What the points are: sites, domains or pages
        #[arg(long, value_name = "WHAT", default_value = "sites")]
        of: String,
        /// How many points, at most
        #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
        max: u32,
    },
    /// Show what the crawl came to, as `argiope report` does, as far as the server knows it
    Report {
        /// Write a self-contained page. Print nothing, unless --json is given
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
    },
    /// Explain the state of a URL, or why a host is slow or stopped
    Explain {
        /// The URL; with --host a host (example.com) or a site (https://example.com:8443)
        #[arg(value_name = "URL|HOST")]
        what: String,
        /// Explain each site of the host
        #[arg(long)]
        host: bool,
    },
    #[command(flatten)]
    OfPage(OfPage),
    /// List the URLs of the crawl
    Urls(Box<Listing>),
    /// List what visits found changed
    Changes {
        /// Since this time: a date, a time in UTC, or how long ago (7d) [default: the begin of the last round]
        #[arg(long, value_name = "TIME", value_parser = since)]
        since: Option<Timestamp>,
        /// Only pages of this site
        #[arg(long, value_name = "SITE", default_value = "")]
        site: String,
        /// How many to show
        #[arg(long, value_name = "N", default_value_t = 1_000)]
        limit: u32,
        /// Print an Atom feed of the newest thousand changes
        #[arg(long, conflicts_with_all = ["html", "json"])]
        feed: bool,
        /// Print a web page of the changes, with nothing outside of it
        #[arg(long, conflicts_with = "json")]
        html: bool,
    },
    /// Begin a round: workers visit known pages again
    Again {
        /// Only URLs whose last visit is at least so long ago
        #[arg(long, value_name = "DURATION")]
        older_than: Option<Span>,
        /// Only URLs that match a pattern; may be repeated
        #[arg(long, value_name = "PATTERN")]
        only: Vec<String>,
        /// Only so many URLs: those whose visits are worth most
        #[arg(long, value_name = "N", conflicts_with = "only", value_parser = clap::value_parser!(u64).range(1..))]
        visits: Option<u64>,
        /// Change nothing; count the URLs that the round would visit
        #[arg(long)]
        dry_run: bool,
    },
    /// Begin round after round, each with the pages that are worth a visit most, until it is stopped
    Watch(watching::Watching),
    /// Show how fresh the pages are, and how fast they change
    Freshness,
    /// Show the progress of the crawl
    Stats,
    /// Show how the crawl went, minute by minute, while a server was there
    History,
    /// Change the crawl: settings, patterns, sites on hold, seeds
    Steer {
        /// Change nothing; count the URLs that the change affects
        #[arg(long, global = true)]
        dry_run: bool,
        /// What to change
        #[command(subcommand)]
        what: What,
    },
    /// List the changes of the crawl, each with what takes it back
    Journal {
        /// How many to show, the last ones
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
    /// Take a change back, as far as it is in force
    Undo {
        /// When it was made, as `journal` tells it
        #[arg(value_name = "TIME")]
        at: String,
        /// The change, where several were made at that time
        change: Option<String>,
        /// Change nothing; show what takes it back
        #[arg(long)]
        dry_run: bool,
    },
    /// Fetch nothing new until `resume`
    Pause,
    /// End a pause
    Resume,
    /// Make a worker hand over its sites and end
    Drain {
        /// Its id or name, as `workers` tells
        worker: String,
    },
}

/// A time as it is given.
fn since(text: &str) -> Result<Timestamp, String> {
    time(text, Clock::start().date()).map_err(|error| error.to_string())
}

/// A time as the API has it.
fn seconds(time: Timestamp) -> f64 {
    time.0 as f64 / 1e6
}

/// Runs the command.
///
/// # Errors
/// The server does not answer, or says no.
pub fn run(args: ClientArgs) -> anyhow::Result<ExitCode> {
    let proof = args.access.proof()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = connect(&args.server, &proof).await?;
        let mut asked = Session { client, json: args.json, out: Box::new(std::io::stdout()) };
        // Boxed, the calls of all methods are compiled once, and not wherever the runtime awaits them.
        let asking: Pin<Box<dyn Future<Output = anyhow::Result<()>> + '_>> = Box::pin(asked.ask(args.method));
        match asking.await {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => Err(match error.downcast::<Status>() {
                Ok(status) if status.code() == Code::InvalidArgument => usage(status.message()),
                Ok(status) => anyhow!("{}", why_no_answer(&args.server, &status)),
                Err(error) => error,
            }),
        }
    })
}

struct Session {
    client: Client,
    json: bool,
    out: Box<dyn Write>,
}

impl Session {
    async fn ask(&mut self, method: Method) -> anyhow::Result<()> {
        let mut client = self.client.clone();
        match method {
            Method::Workers => self.told(client.get_workers(GetWorkersRequest {}).await?),
            Method::Crawl { url, depth, progress: false } => {
                self.told(client.crawl(CrawlRequest { url, depth }).await?)
            }
            Method::Crawl { url, depth, progress: true } => self.crawl(CrawlRequest { url, depth }).await,
            Method::AddSeeds { urls } => self.told(client.add_seeds(AddSeedsRequest { urls }).await?),
            Method::Domains { worker, after, limit, by_state } => {
                self.told(client.domains(DomainsRequest { worker, after, limit, by_state }).await?)
            }
            Method::Overlap { url1, url2, list } => {
                let list = list || self.json;
                self.told(client.overlap(OverlapRequest { url1, url2, list }).await?)
            }
            Method::Rank { url, top, by, normalized } => {
                let by = by.plural().to_owned();
                self.told(client.page_rank(PageRankRequest { url, top, normalized, by }).await?)
            }
            Method::Search { text, ignore_case, regex, main_text, site, since, limit } => {
                let since = since.map_or(0.0, seconds);
                let request = SearchRequest { text, ignore_case, regex, main_text, site, since, limit };
                self.told(client.search(request).await?)
            }
            Method::Links { url } => self.told(client.links(LinksRequest { url }).await?),
            Method::Path { url1, url2 } => self.told(client.path(PathRequest { url1, url2 }).await?),
            Method::Explain { what, host: false } => self.told(client.explain(ExplainRequest { url: what }).await?),
            Method::Explain { what, host: true } => {
                let told = client.explain_host(ExplainHostRequest { host: what }).await?.into_inner();
                if self.json { Ok(writeln!(self.out, "{}", told.story)?) } else { self.tell(&told) }
            }
            Method::OfPage(of_page) => of_page.ask(&mut client, self.json, &mut self.out).await,
            Method::Urls(listing) => listing.list(&mut client, self.json, &mut self.out).await,
            Method::Changes { since, site, limit, feed, html } => {
                let since = since.map_or(0.0, seconds);
                let document = [("feed", feed), ("html", html)].into_iter().find(|(_, wanted)| *wanted);
                let document = document.map_or_else(String::new, |(name, _)| name.to_owned());
                self.told(client.changes(ChangesRequest { since, site, limit, document }).await?)
            }
            Method::Picture { of, max } => self.told(client.picture(PictureRequest { of, max }).await?),
            Method::Report { html } => self.report(html.as_deref()).await,
            Method::Again { older_than, only, visits, dry_run } => {
                let older_than = older_than.map_or(0.0, |span| span.0.as_secs_f64());
                let visits = visits.unwrap_or_default();
                let request = AgainRequest { older_than, only, visits, ..AgainRequest::default() };
                let answer = if dry_run { client.foresee_again(request).await } else { client.again(request).await };
                self.told(answer?)
            }
            Method::Watch(watching) => watching.watch(self).await,
            Method::Freshness => self.told(client.freshness(FreshnessRequest {}).await?),
            Method::History => self.told(client.history(HistoryRequest {}).await?),
            Method::Stats => self.told(client.stats(StatsRequest {}).await?),
            Method::Steer { dry_run, what } => {
                let (change, to) = what.change()?.words();
                let request = SteerRequest { change: change.to_owned(), to, dry_run, at_once: false };
                self.told(client.steer(request).await?)
            }
            Method::Journal { limit } => self.told(client.journal(JournalRequest { limit }).await?),
            Method::Undo { at, change, dry_run } => {
                let answer = undo(&mut client, &at, change.as_deref(), dry_run).await?;
                self.tell(&answer)
            }
            Method::Pause => self.told(client.pause(PauseRequest {}).await?),
            Method::Resume => self.told(client.resume(ResumeRequest {}).await?),
            Method::Drain { worker } => self.told(client.drain(DrainRequest { worker }).await?),
        }
    }

    /// Crawls, and tells how it goes.
    async fn crawl(&mut self, request: CrawlRequest) -> anyhow::Result<()> {
        let mut messages = self.client.crawl_progress(request).await?.into_inner();
        while let Some(message) = messages.message().await? {
            match (&message.response, self.json) {
                (_, true) => write_json_line(&mut self.out, &message)?,
                (Some(response), false) => response.write_text(&mut self.out)?,
                (None, false) => console::say!("{} done, {} waiting", message.done, message.waiting),
            }
        }
        Ok(())
    }

    fn told(&mut self, answer: Response<impl Serialize + Text>) -> anyhow::Result<()> {
        self.tell(&answer.into_inner())
    }

    fn tell(&mut self, answer: &(impl Serialize + Text)) -> anyhow::Result<()> {
        if self.json {
            write_json_line(&mut self.out, answer)?;
        } else {
            answer.write_text(&mut self.out)?;
        }
        Ok(())
    }
}
