//! What begins: a crawl from a URL to a depth, and a round of visits to known pages.

use api::{AgainRequest, AgainResponse, CrawlProgressResponse, CrawlRequest, SiteUrls, StatsResponse};
use axum::extract::State;
use axum::response::{Redirect, Response};
use maud::{Markup, html};
use printable::counted;
use service::client::Client;
use settings::site_name::SiteName;
use settings::units::Span;
use settings::usage;
use weburl::{CanonicalRules, CanonicalUrl};

use crate::answers::Words;
use crate::failure::Failure;
use crate::links;
use crate::query::{Fields, number};

use super::server::Server;
use super::told::text;
use super::watching::Watch;

/// How a round is called.
const ROUND: &str = "Visit known pages again";

/// The forms, and that for rounds by a clock.
pub(super) fn forms(watch: &Watch) -> Markup {
    html! {
        div.forms {
            form method="post" action="/steer/crawl" {
                h2 { "Crawl from a URL" }
                label { "URL" input name="u" required placeholder="https://example.org/"; }
                label { "Links from there, at most" input type="text" inputmode="numeric" name="depth" placeholder="as the crawl"; }
                button { "Begin" }
            }
            form method="post" action="/steer/round" {
                h2 { (ROUND) }
                label { "Last visit at least so long ago" input name="older" placeholder="7d"; }
                label { "Only patterns, one a line" textarea name="only" rows="2" placeholder="*/news/*" {} }
                label { "Visits, at most; without patterns" input type="text" inputmode="numeric" name="visits" placeholder="all"; }
                button { "Show the effect …" }
            }
            (watch.form())
        }
    }
}

/// Begins a crawl from a URL, and answers when its first numbers are known. The crawl goes on.
pub(super) async fn crawl(State(server): State<Server>, form: String) -> Result<Response, Failure> {
    let fields = Fields::parse(&form);
    let depth = number("depth", fields.get("depth"))?;
    let request = CrawlRequest { url: fields.needed("u", "URL")?, depth };
    let mut messages = server.order(async |mut client| client.crawl_progress(request).await).await?;
    // The seed is committed before the first message. The crawl goes on when nobody reads the other messages.
    let first = messages.message().await.map_err(|status| server.failure(&status))?;
    server.forget().await;
    let told = match first {
        Some(CrawlProgressResponse { response: Some(response), .. }) => text(&response),
        Some(CrawlProgressResponse { waiting, done, .. }) => {
            let numbers = format!("{} of its sites waiting, {done} done", counted(waiting, "URL"));
            match waits_for(&*server.stats().await?, fields.get("u")) {
                why if why.is_empty() => format!("It has begun: {numbers}."),
                why => format!("It is noted: {numbers}. It waits: {}.", why.join("; ")),
            }
        }
        None => "The server has ended the answer.".to_owned(),
    };
    Ok(server.lead_to(done("Crawl from a URL", &told)))
}

/// What keeps workers from fetching a URL now.
fn waits_for(stats: &StatsResponse, given: &str) -> Vec<String> {
    // As the server reads it: without a scheme it is http.
    let with_scheme = if given.contains("://") { given.to_owned() } else { format!("http://{given}") };
    let site = CanonicalUrl::parse(&with_scheme, &CanonicalRules::default()).ok().map(|url| url.key().site);
    let is_its = |held: &&String| {
        let keys = held.parse::<SiteName>().ok().map(|name| name.keys().collect::<Vec<_>>());
        keys.unwrap_or_default().into_iter().any(|key| Some(key) == site)
    };
    let paused = stats.paused.then(|| "the crawl is paused until somebody resumes it".to_owned());
    let spent =
        stats.budgets_spent.first().map(|budget| format!("{budget} is spent, until somebody sets a larger one"));
    let alone = (stats.workers == 0).then(|| "no worker is there, until one joins".to_owned());
    let held = stats.hold.iter().find(is_its).map(|held| format!("{held} is on hold until somebody releases it"));
    [paused, spent, alone, held].into_iter().flatten().collect()
}

/// Leads to what a round would visit, or begins it if the form says that the user has seen that.
pub(super) async fn round(State(server): State<Server>, form: String) -> Result<Response, Failure> {
    let fields = Fields::parse(&form);
    let older_than = match fields.get("older") {
        "" => 0.0,
        given => given.parse::<Span>().map_err(usage)?.0.as_secs_f64(),
    };
    let visits = number("number of visits", fields.get("visits"))?.unwrap_or_default();
    let request = AgainRequest { older_than, only: fields.lines("only"), visits, ..AgainRequest::default() };
    let is_sure = !fields.get("sure").is_empty();
    let ask = async |mut client: Client| match is_sure {
        true => client.again(request).await,
        false => client.foresee_again(request).await,
    };
    let answer = server.ask_all(ask).await?;
    server.forget().await;
    let words = match answer.would_begin {
        true => Words { title: ROUND, body: foreseen(&fields, answer) },
        // It has begun, the last one goes on, or there is nothing to visit.
        false => done(ROUND, &text(&answer)),
    };
    Ok(server.lead_to(words))
}

/// What a round would visit, and the form that begins it.
fn foreseen(fields: &Fields, mut answer: AgainResponse) -> Markup {
    let by_site = std::mem::take(&mut answer.by_site);
    let others = by_site.iter().fold(answer.urls, |others, site| others.saturating_sub(site.urls));
    html! {
        p role="status" { (text(&answer)) "." }
        div.rows role="region" aria-label="By site" tabindex="0" {
            table {
                thead { tr { th { "Site" } th.number { "URLs" } } }
                tbody {
                    @for SiteUrls { site, urls } in &by_site { tr { td { (links::story(site)) } td.number { (urls) } } }
                }
            }
        }
        @if others > 0 { p { "Of other sites: " (counted(others, "URL")) "." } }
        form method="post" action="/steer/round" {
            @for name in ["older", "only", "visits"] { (links::hidden(name, fields.get(name))) }
            (links::hidden("sure", "yes"))
            button { "Begin the round" }
            " " a href="/steer" { "Cancel" }
        }
    }
}

/// Begins rounds by a clock, or ends them.
pub(super) async fn watch(State(server): State<Server>, form: String) -> Result<Redirect, Failure> {
    server.watch().change(server.client(), &Fields::parse(&form))?;
    Ok(Redirect::to("/steer"))
}

fn done(title: &'static str, told: &str) -> Words {
    Words::done(title, &html! { pre.story role="status" { (told) } })
}
