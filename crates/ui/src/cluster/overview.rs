//! Where the crawl stands, as `argiope client stats` says it; its numbers go on while workers crawl.

use api::{
    Changed, GetWorkersRequest, HistoryRequest, HistoryResponse, JournalRequest, JournalResponse, Journaled,
    StatsResponse,
};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use crawl::history::Moment;
use crawl::outlook::{waits_in_words, waits_of_sites};
use engine::clock::Clock;
use engine::{SiteWaits, Wait};
use maud::{Markup, html};
use model::Timestamp;
use printable::{Printable, counted};
use settings::units::human_bytes;

use crate::board::{Number, OF_WORKERS, board, chart};
use crate::failure::Failure;
use crate::history::{Asked, Columns};
use crate::query::with_fields;
use crate::steer::CHANGES_MAX;
use crate::{frame, links, live};

use super::server::{Server, fetched};
use super::times::date;
use super::workers;

/// What the chart has.
const CHART: &str = "Since the server records it. Drag to see a moment";

/// Answers with the overview. While the server gives no answer, the page says so, and the script waits for the server.
pub(super) async fn show(State(server): State<Server>) -> Response {
    let title = format!("Crawl of the server {}", server.name());
    match body(&server).await {
        Ok(body) => frame::page(&title, "/", &body).into_response(),
        Err(failure) => {
            let body = html! {
                p.failure role="alert" { (Printable(failure.text())) }
                div hidden { (board(false, &[])) (chart(CHART, &OF_WORKERS)) }
            };
            (StatusCode::BAD_GATEWAY, frame::page(&title, "/", &body)).into_response()
        }
    }
}

async fn body(server: &Server) -> Result<Markup, Failure> {
    let stats = server.stats().await?;
    let answer = server.ask(async |mut client| client.get_workers(GetWorkersRequest {}).await).await?;
    let journal = match stats.hold.is_empty() {
        true => JournalResponse::default(),
        false => {
            let request = JournalRequest { limit: CHANGES_MAX as u32 };
            server.ask(async |mut client| client.journal(request).await).await?
        }
    };
    Ok(html! {
        (numbers(&stats))
        // The script reads this part again now and then.
        div #rest {
            (state(&stats))
            section { h2 { "Workers " span.count { (answer.workers.len()) } } (workers::table(&answer)) (workers::unowned(&stats)) }
            (outcomes(&stats)) (trouble(&stats, &journal.changes)) (details(&stats))
        }
    })
}

fn numbers(stats: &StatsResponse) -> Markup {
    let mut numbers: Vec<Number> = vec![
        ("pages and documents".to_owned(), "fetched", fetched(stats).to_string()),
        ("URLs waiting".to_owned(), "waiting", stats.waiting.saturating_sub(stats.left_of_round).to_string()),
    ];
    if stats.round > 1 {
        numbers.push((format!("left of round {}", stats.round), "again", stats.left_of_round.to_string()));
    }
    numbers.extend([
        ("URLs known".to_owned(), "urls", stats.urls.to_string()),
        ("sites".to_owned(), "sites", stats.sites.to_string()),
        ("payload".to_owned(), "size", human_bytes(stats.bytes)),
    ]);
    html! { (board(true, &numbers)) (chart(CHART, &OF_WORKERS)) }
}

fn state(stats: &StatsResponse) -> Markup {
    let words = match (stats.workers, stats.waiting) {
        (0, 0) => "No worker is there, and no URL waits.",
        (0, _) => "No worker is there: URLs wait until one joins.",
        (_, 0) => "No URL waits: every URL found has its outcome.",
        _ => "Workers crawl.",
    };
    html! {
        @let waits = waits_in_words(&waits(stats), Clock::start().date()).filter(|_| stats.waiting > 0);
        p.state { (words) @if stats.paused { " " strong { "Paused." } }
            @if !stats.budgets_spent.is_empty() { " " strong { "The budget is spent: " (stats.budgets_spent.join(", ")) "." } }
            " " a href="/steer" { "Steer it" } "." }
        @if let Some(waits) = waits { p { "It waits for: " (waits) "." } }
    }
}

fn outcomes(stats: &StatsResponse) -> Markup {
    html! {
        section {
            h2 { "Outcomes" }
            table {
                thead { tr { th { "Outcome" } th.number { "URLs" } } }
                tbody {
                    @for (outcome, count) in &stats.outcomes {
                        tr {
                            td { a href=(with_fields("/urls", &[("state", outcome)])) { (outcome) } }
                            td.number { (count) }
                        }
                    }
                    tr { td { a href="/urls?state=waiting" { "waiting" } } td.number { (stats.waiting) } }
                }
            }
            p { a href=(with_fields("/urls", &[("sort", "-visited")])) { "The latest pages" } "." }
        }
    }
}

fn trouble(stats: &StatsResponse, journal: &[Journaled]) -> Markup {
    let held: Vec<_> = stats.hold.iter().map(|site| (site.as_str(), held_since(site, journal))).collect();
    let others =
        [("on hold", held.len() as u64), ("in trouble", stats.sites_aside), ("budget spent", stats.sites_spent)];
    html! {
        (links::sites_by_state(stats.sites, &others))
        (links::in_trouble(stats.sites_aside, stats.in_trouble.iter().map(|site| (&site.site[..], date(site.due), &site.reason[..]))))
        @if stats.sites_spent > 0 {
            section {
                h2 { "Sites whose budget is spent " span.count { (stats.sites_spent) } }
                p { "Their URLs wait for a larger max-pages-per-site." }
            }
        }
        (links::on_hold(&held))
    }
}

/// When the last change was made that put this site on hold. The last change comes last.
fn held_since<'a>(site: &str, journal: &'a [Journaled]) -> Option<&'a str> {
    let holds = |changed: &&Journaled| {
        let mut words = changed.change.split(' ');
        words.next() == Some("hold") && words.any(|word| word == site)
    };
    journal.iter().rev().find(holds).map(|changed| changed.at.as_str())
}

fn details(stats: &StatsResponse) -> Markup {
    html! {
        section {
            h2 { "Archive" }
            p {
                (counted(stats.segments_sealed, "segment")) " sealed, " (stats.segments_open) " being written with "
                (human_bytes(stats.unsealed_bytes)) "."
            }
        }
        @if !stats.changes.is_empty() { section { h2 { "Last changes" } (journal(&stats.changes)) } }
    }
}

/// Changes, the last one first.
fn journal(changes: &[Changed]) -> Markup {
    html! {
        ol.journal reversed {
            @for Changed { at, change } in changes.iter().rev() {
                li { time datetime=(at) { (at) } " " (Printable(change)) }
            }
        }
    }
}

/// Answers with events.
pub(super) async fn events(State(server): State<Server>, head: HeaderMap) -> Response {
    live::answer(server.live(), &head)
}

/// Answers with how the crawl went, as the server has recorded it. A server of an earlier version records nothing: then it is a moment a minute of
/// the time in which somebody watched.
pub(super) async fn history(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    let asked = Asked::of(query)?;
    let answer = server.ask(async |mut client| client.history(HistoryRequest {}).await).await;
    let columns = match answer {
        Ok(HistoryResponse { moments }) => {
            let moments: Vec<Moment> = moments.into_iter().map(moment).collect();
            Columns::of(&moments, &asked)
        }
        Err(_) => Columns::of_pages(&server.live().minutes(), &asked),
    };
    Ok(columns.answer()?)
}

fn moment(api::Moment { at, pages, bytes, sites_aside, workers, paused }: api::Moment) -> Moment {
    let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let (sites_aside, workers) = (count(sites_aside), Some(count(workers)));
    Moment { at, pages, bytes, in_flight: None, sites_waiting: None, sites_aside, workers, paused }
}

/// What holds the crawl up, as far as the server knows it without asking each worker.
fn waits(stats: &StatsResponse) -> SiteWaits {
    let first = stats.in_trouble.iter().map(|site| site.due).reduce(f64::min);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
    let until = first.map(|due| Timestamp((due * 1e6) as u64));
    let in_trouble = Wait { sites: stats.sites_aside, until };
    waits_of_sites(stats.paused, stats.hold.len() as u64, in_trouble, stats.sites_spent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_has_the_date_of_the_last_change_that_made_it() {
        let journal =
            [("1", "hold a.test b.test"), ("2", "release a.test"), ("3", "hold a.test"), ("4", "exclude b.test")];
        let entry = |(at, change): (&str, &str)| Journaled {
            at: at.to_owned(),
            change: change.to_owned(),
            ..Journaled::default()
        };
        let journal = journal.map(entry);
        for (site, since) in [("a.test", Some("3")), ("b.test", Some("1")), ("test", None)] {
            assert_eq!(held_since(site, &journal), since, "{site}");
        }
    }
}
