//! Where a crawl stands, as `argiope status` says it; its numbers go on while it runs.

use std::sync::Arc;
use std::time::Duration;

use ask::latest;
use ask::status::Status;
use ask::urls::Listed;
use axum::extract::State;
use axum::response::Html;
use crawl::Changed;
use crawl::opened::{Opened, has_ended};
use crawl::outlook::{Disk, Outlook, waits_in_words};
use crawl::standing::Standing;
use crawl::trouble::InTrouble;
use engine::clock::Clock;
use maud::{Markup, html};
use printable::{Printable, counted};
use settings::units::human_bytes;

use crate::base::to;
use crate::board::{Number, OF_CRAWL, board, chart};
use crate::failure::Failure;
use crate::query::with_fields;
use crate::rows::second;
use crate::standing_status::Stand;
use crate::{Ui, frame, links};

/// The pages visited last, or why they cannot be read.
pub(crate) type Latest = Result<Vec<Listed>, String>;

/// Seeds shown.
const SEEDS_SHOWN: usize = 20;

/// Answers with the overview.
pub(crate) async fn show(State(ui): State<Ui>) -> Result<Html<String>, Failure> {
    let (status, disk, latest) = (ui.status.clone(), ui.disk.clone(), ui.latest.clone());
    let read = move |crawl: &Standing| {
        let stand = status.of(crawl)?;
        let latest = match &stand.latest {
            Some(pages) => Arc::new(Ok(pages.clone())),
            // Of a crawl that runs there is one view a second, which has told them if it can.
            None if is_running(&stand.status) => Arc::new(Ok(Vec::new())),
            None => latest.answer(crawl, &crawl.now()?, at_rest)?,
        };
        Ok((stand, latest, disk.of(crawl.root())))
    };
    let (stand, latest, disk) = ui.ask(read).await?;
    let status = &stand.status;
    let body = html! {
        (numbers(status))
        // The script reads this part again now and then.
        div #rest {
            (state(status)) (outcomes(status)) (trouble(status)) (visited_last(&latest)) (needs(&stand, disk)) (details(status))
        }
    };
    Ok(frame::page(&status.summary.directory, "/", &body))
}

fn is_running(status: &Status) -> bool {
    status.summary.end == "running"
}

/// The pages that a crawl at rest visited last. A dataset that cannot be read is no reason to show no overview.
fn at_rest(opened: &Opened) -> anyhow::Result<Latest> {
    match latest::pages(opened, None) {
        Err(error) if has_ended(&error) => Err(error),
        pages => Ok(pages.map(Option::unwrap_or_default).map_err(|error| format!("{error:#}"))),
    }
}

/// The pages visited last.
fn visited_last(latest: &Latest) -> Markup {
    let pages = match latest {
        Ok(pages) => pages,
        Err(why) => return html! { section { h2 { "Latest pages" } p.failure { (Printable(why)) } } },
    };
    html! {
        @if !pages.is_empty() {
            section {
                h2 { "Latest pages" }
                div.rows role="region" aria-label="Latest pages" tabindex="0" {
                    table {
                        thead { tr { th { "Visited" } th { "State" } th { "URL" } th { "Title or reason" } } }
                        tbody {
                            @for page in pages {
                                tr {
                                    td.date { (page.visited().map(second).unwrap_or_default()) }
                                    td { (page.state.as_str()) }
                                    td { (links::story(page.url.as_str())) }
                                    td { (Printable(page.said().unwrap_or_default())) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What the crawl needs of its machine.
fn needs(stand: &Stand, disk: Disk) -> Markup {
    // Rates of the run are not asked for.
    let outlook = Outlook::of(&stand.totals, 0, Duration::ZERO, disk);
    let expected = outlook.disk_bytes_expected.filter(|_| stand.has_own_state && outlook.waiting > 0);
    html! {
        section {
            h2 { "Disk and memory" }
            p {
                "The directory has " (human_bytes(disk.used)) ", its archive " (human_bytes(stand.status.archive_bytes)) ". "
                "Its disk has " (human_bytes(disk.left)) " left."
                @if let Some(expected) = expected {
                    " The " (counted(outlook.waiting, "URL")) " in the queue will add about " (human_bytes(expected))
                    ", if they are like those before."
                    @if outlook.is_disk_short() { " " strong { "That is more than the disk has left." } }
                }
            }
            @if let Some(bytes) = stand.memory_bytes { p { "The process that crawls has " (human_bytes(bytes)) " of memory." } }
        }
    }
}

fn state(status: &Status) -> Markup {
    let is_running = is_running(status);
    let words = match status.summary.end.as_str() {
        "running" => "A crawl is running.",
        "finished" => "Finished: every URL found has its outcome.",
        _ => "Not running, and work is left.",
    };
    let waits =
        status.waits.as_ref().and_then(|waits| waits_in_words(waits, Clock::start().date())).unwrap_or_default();
    html! {
        p.state { (words)
            @if status.paused { " " strong { "Paused." } }
            @if is_running { " " a href=(to("/steer")) { "Steer it" } "." }
        }
        @if !waits.is_empty() { p { "It waits for: " (waits) "." } }
        @if let Some(at) = &status.counted_at { p { "Seeds, sites in trouble and freshness: as of " (at) "." } }
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
        (board(is_running(status), &numbers))
        @if let Some(round) = &summary.round {
            p { "Round " (round.number) " began " (round.began_at) "." }
        }
        (chart("Since the crawl began. Drag to see a moment", &OF_CRAWL))
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
    let held: Vec<_> =
        status.hold.iter().map(String::as_str).zip(status.held_since.iter().map(Option::as_deref)).collect();
    let summary = &status.summary;
    let others = [
        ("on hold", held.len() as u64),
        ("in trouble", summary.in_trouble.as_ref().map_or(0, |trouble| trouble.sites)),
        ("given up", summary.given_up.as_ref().map_or(0, |given_up| given_up.sites)),
        ("budget spent", status.sites_spent),
    ];
    html! {
        (links::sites_by_state(summary.sites, &others))
        @if let Some(InTrouble { sites, named, .. }) = &status.summary.in_trouble {
            (links::in_trouble(*sites, named.iter().map(|site| (&site.site[..], site.due.clone(), &site.reason[..]))))
        }
        (links::on_hold(&held))
    }
}

fn details(status: &Status) -> Markup {
    html! {
        section {
            h2 { "Seeds" }
            ul.links { @for seed in status.seeds.iter().take(SEEDS_SHOWN) { li { (links::story(seed)) } } }
            @if status.seeds_count > SEEDS_SHOWN as u64 { p { "… " (status.seeds_count - SEEDS_SHOWN as u64) " more" } }
        }
        @if let Some(freshness) = &status.freshness {
            section {
                h2 { "Freshness" }
                p {
                    "An estimated " (format!("{:.1} %", freshness.fresh * 100.0)) " of " (counted(freshness.pages, "page"))
                    " are as on the web"
                    @if freshness.read < freshness.pages { " (" (freshness.read) " of them read)" }
                    "."
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
