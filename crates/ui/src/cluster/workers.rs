//! The workers, what each owns, and their sites; a worker is sent away.

use api::{DomainsRequest, DrainRequest, GetWorkersRequest, StatsResponse, Worker};
use axum::extract::{RawQuery, State};
use axum::response::{Html, IntoResponse, Redirect, Response};
use maud::{Markup, html};
use printable::{Printable, counted};

use crate::failure::Failure;
use crate::query::{Fields, with_fields};
use crate::{frame, links};

use super::server::Server;

/// Sites on a page.
const SITES_ON_PAGE: u32 = 100;

/// Answers with the workers.
pub(super) async fn show(State(server): State<Server>) -> Result<Html<String>, Failure> {
    let stats = server.stats().await?;
    let workers = server.ask(async |mut client| client.get_workers(GetWorkersRequest {}).await).await?.workers;
    let body = html! {
        (table(&workers))
        (unowned(&stats))
        p.count {
            "A worker is listed while its lease holds. The server does not tell how long a lease has left, nor which site moves to which worker: "
            "Explain names the owner of a site."
        }
        @if !workers.is_empty() {
            form.filter method="post" action="/workers/drain" {
                label { "Send a worker away" select name="worker" required {
                    @for worker in &workers { option value=(worker.id) { (Printable(&worker.name)) " (" (Printable(&worker.id)) ")" } }
                } }
                button { "Drain …" }
            }
        }
    };
    Ok(frame::page("Workers", "/workers", &body))
}

/// The workers as a table.
pub(super) fn table(workers: &[Worker]) -> Markup {
    html! {
        @if workers.is_empty() { p { "No worker has joined, or the lease of each is over." } } @else {
            div.rows role="region" aria-label="Workers" tabindex="0" {
                table {
                    thead { tr { th { "Worker" } th { "Id" } th { "State" } th.number { "Groups" } th.number { "Sites" } } }
                    tbody {
                        @for worker in workers {
                            tr {
                                td { (Printable(&worker.name)) }
                                td { (Printable(&worker.id)) }
                                td { @if worker.leaving { "leaving: it hands over its sites" } @else { "alive" } }
                                td.number { (worker.groups) }
                                td.number {
                                    a href=(with_fields("/sites", &[("worker", &worker.id)])) aria-label=(format!("Sites of {}", Printable(&worker.name))) {
                                        (worker.sites)
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What moves at this moment: it has no owner.
pub(super) fn unowned(stats: &StatsResponse) -> Markup {
    let (groups, sites) = (stats.groups_without_owner, stats.sites_without_group);
    html! {
        p {
            @if groups == 0 && sites == 0 {
                "Every site has an owner: nothing moves."
            } @else {
                "On the move, or waiting for a worker: " (counted(groups, "politeness group")) " without an owner, "
                (counted(sites, "site")) " without a group."
            }
        }
    }
}

/// Answers with the sites that a worker owns.
pub(super) async fn sites(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let worker = fields.get("worker").to_owned();
    let workers = server.ask(async |mut client| client.get_workers(GetWorkersRequest {}).await).await?.workers;
    let listed = match worker.as_str() {
        "" => None,
        _ => {
            let request =
                DomainsRequest { worker: worker.clone(), after: fields.get("after").to_owned(), limit: SITES_ON_PAGE };
            Some(server.ask(async |mut client| client.domains(request).await).await?.domains)
        }
    };
    let body = html! {
        p { "The server lists sites by the worker that owns them. It tells the state of a site in Explain alone." }
        @if workers.is_empty() { (table(&workers)) } @else {
            form.filter action="/sites" {
                label { "Sites of" select name="worker" {
                    @for one in &workers { option value=(one.id) selected[one.id == worker] { (Printable(&one.name)) } }
                } }
                button { "Show" }
            }
        }
        @if let Some(domains) = &listed {
            @if domains.is_empty() { p role="status" { "The worker owns no further site." } } @else {
                div.scroll role="region" aria-label="Sites" tabindex="0" {
                    table {
                        thead { tr { th { "Site" } th.number { "Pages" } th.number { "Waiting" } th { "URLs" } } }
                        tbody {
                            @for domain in domains {
                                tr {
                                    td { (links::story(&domain.site)) }
                                    td.number { (domain.fetched) }
                                    td.number { (domain.waiting) }
                                    td { a href=(with_fields("/urls", &[("site", &domain.site)])) aria-label=(format!("list of the URLs of {}", Printable(&domain.site))) { "list" } }
                                }
                            }
                        }
                    }
                }
            }
            @if let Some(last) = domains.last().filter(|_| domains.len() >= SITES_ON_PAGE as usize) {
                p { a rel="next" href=(with_fields("/sites", &[("worker", &worker), ("after", &last.site)])) { "Next page" } }
            }
        }
    };
    Ok(frame::page("Sites", "/sites", &body))
}

/// Asks whether a worker is to go, or sends it away if the form says that the user has seen that.
pub(super) async fn drain(State(server): State<Server>, form: String) -> Result<Response, Failure> {
    let fields = Fields::parse(&form);
    let worker = fields.get("worker").to_owned();
    if !fields.get("sure").is_empty() {
        server.ask(async |mut client| client.drain(DrainRequest { worker }).await).await?;
        server.forget().await;
        return Ok(Redirect::to("/workers").into_response());
    }
    let body = html! {
        p { "The worker " strong { (Printable(&worker)) } " hands over its sites, seals its segments, and ends. It does not join again by itself." }
        form method="post" action="/workers/drain" {
            (links::hidden("worker", &worker)) (links::hidden("sure", "yes"))
            button { "Do it" }
            " " a href="/workers" { "Cancel" }
        }
    };
    Ok(frame::page("Drain a worker", "/workers", &body).into_response())
}
