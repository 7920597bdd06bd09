//! Where a crawl stands, as `argiope status` says it; its numbers go on while it runs.

use ask::status::Status;
use axum::extract::State;
use axum::response::Html;
use crawl::Changed;
use crawl::outlook::waits_in_words;
use crawl::standing::Standing;
use crawl::trouble::InTrouble;
use maud::{Markup, html};
use printable::{Printable, counted};
use settings::units::human_bytes;

use crate::base::to;
use crate::board::{Number, board, chart};
use crate::failure::Failure;
use crate::query::with_fields;
use crate::{Ui, frame, links};

/// Seeds shown.
const SEEDS_SHOWN: usize = 20;

/// Answers with the overview.
pub(crate) async fn show(State(ui): State<Ui>) -> Result<Html<String>, Failure> {
    let (status, survey) = (ui.status.clone(), ui.survey.clone());
    let status = ui.ask(move |crawl: &Standing| status.of(crawl, &survey)).await?;
    let body = html! {
        (numbers(&status))
        // The script reads this part again now and then.
        div #rest { (state(&status)) (outcomes(&status)) (trouble(&status)) (details(&status)) }
    };
    Ok(frame::page(&status.summary.directory, "/", &body))
}

fn state(status: &Status) -> Markup {
    let is_running = status.summary.end == "running";
    let words = match status.summary.end.as_str() {
        "running" => "A crawl is running.",
        "finished" => "Finished: every URL found has its outcome.",
        _ => "Not running, and work is left.",
    };
    let waits = status.waits.as_ref().and_then(waits_in_words).unwrap_or_default();
    html! {
        p.state { (words)
            @if status.paused { " " strong { "Paused." } }
            @if is_running { " " a href=(to("/steer")) { "Steer it" } "." }
        }
        @if !waits.is_empty() { p { "It waits for: " (waits) "." } }
    }
}

fn numbers(status: &Status) -> Markup {
    let summary = &status.summary;
    let numbers: Vec<Number> = [
        Some(("pages and documents".to_owned(), "fetched", summary.fetched.to_string())),
        Some(("URLs waiting".to_owned(), "waiting", summary.frontier.to_string())),
        summary.round.as_ref().map(|of| (format!("left of round {}", of.number), "again", of.left.to_string())),
        Some(("URLs known".to_owned(), "urls", summary.urls.to_string())),
        Some(("sites".to_owned(), "sites", summary.sites.to_string())),
        Some(("payload".to_owned(), "size", human_bytes(summary.bytes))),
    ]
    .into_iter()
    .flatten()
    .collect();
    html! {
        (board(summary.end == "running", &numbers))
        @if let Some(round) = &summary.round {
            p { "Round " (round.number) " began " (round.began_at) "." }
        }
        (chart("Pages a second, since the crawl began. Drag to see a moment"))
    }
}

fn outcomes(status: &Status) -> Markup {
    html! {
        section {
            h2 { "Outcomes" }
            table {
                thead { tr { th { "Outcome" } th.number { "URLs" } } }
                tbody {
                    @for (outcome, count) in &status.summary.outcomes {
                        tr {
                            td { a href=(with_fields("/urls", &[("state", outcome)])) { (outcome) } }
                            td.number { (count.to_string()) }
                        }
                    }
                    tr {
                        td { a href=(to("/urls?state=waiting")) { "waiting" } }
                        td.number { (status.summary.frontier) }
                    }
                }
            }
            @if status.summary.sitemaps > 0 {
                p { (counted(status.summary.sitemaps, "sitemap")) " read, which the table does not count." }
            }
            @if !status.summary.requisites.is_empty() {
                p {
                    "What pages need to be shown, which the table does not count:"
                    @for (outcome, count) in &status.summary.requisites { " " (count.to_string()) " " (outcome) }
                }
            }
            @if !status.summary.limits.is_empty() {
                h2 { "Left out by limits" }
                table {
                    thead { tr { th { "Limit or trap rule" } th.number { "Visits" } } }
                    tbody {
                        @for (limit, count) in &status.summary.limits {
                            tr { td { (limit) } td.number { (count.to_string()) } }
                        }
                    }
                }
            }
        }
    }
}

fn trouble(status: &Status) -> Markup {
    html! {
        @if let Some(InTrouble { sites, named, .. }) = &status.summary.in_trouble {
            (links::in_trouble(*sites, named.iter().map(|site| (&site.site[..], site.due.clone(), &site.reason[..]))))
        }
        (links::on_hold(&status.hold))
    }
}

fn details(status: &Status) -> Markup {
    html! {
        section {
            h2 { "Seeds" }
            ul.links { @for seed in status.seeds.iter().take(SEEDS_SHOWN) { li { (links::story(seed)) } } }
            @if status.seeds.len() > SEEDS_SHOWN { p { "… " (status.seeds.len() - SEEDS_SHOWN) " more" } }
        }
        @if let Some(freshness) = &status.freshness {
            section {
                h2 { "Freshness" }
                p {
                    "An estimated " (format!("{:.1} %", freshness.fresh * 100.0)) " of " (counted(freshness.pages, "page"))
                    " are as on the web."
                }
            }
        }
        section {
            h2 { "Archive" }
            p { (counted(status.segments.len() as u64, "segment")) ", " (human_bytes(status.archive_bytes)) "." }
            @if let Some(lost) = status.summary.lost {
                p {
                    "It has lost the responses of " (counted(lost, "URL")) ": `argiope check` names them, and the next round asks for them again."
                }
            }
        }
        @if !status.changes.is_empty() {
            section {
                h2 { "Last changes" }
                ul { @for Changed { at, change, .. } in &status.changes { li { (at) " " (Printable(&change.to_string())) } } }
            }
        }
    }
}
