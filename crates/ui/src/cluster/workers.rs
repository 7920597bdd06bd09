//! The workers, what each owns, and their sites; a worker is sent away.

use api::{Domain, DomainsRequest, DrainRequest, GetWorkersRequest, GetWorkersResponse, StatsResponse, Unowned};
use axum::extract::{RawQuery, State};
use axum::response::{Html, Redirect};
use maud::{Markup, html};
use printable::{Printable, counted};

use crate::failure::Failure;
use crate::query::{Fields, with_fields};
use crate::sites::{is_by_state, order, sort};
use crate::{frame, links};

use super::server::Server;
use super::times::date;

/// Sites on a page.
const SITES_ON_PAGE: u32 = 100;

/// Answers with the workers, and with what is on the move between them.
pub(super) async fn show(State(server): State<Server>) -> Result<Html<String>, Failure> {
    let stats = server.stats().await?;
    let answer = server.ask(async |mut client| client.get_workers(GetWorkersRequest {}).await).await?;
    let body = html! {
        (table(&answer))
        @if !answer.workers.is_empty() {
            form.filter action="/workers/drain" {
                label { "Send a worker away" select name="worker" required {
                    @for worker in &answer.workers {
                        option value=(worker.id) { (Printable(&worker.name)) " (" (Printable(&worker.id)) ")" }
                    }
                } }
                button { "Drain …" }
            }
        }
        section {
            h2 { "Moves" }
            (unowned(&stats))
            (moves(&answer.unowned))
            p.count {
                "A politeness group moves when its owner leaves or loses its lease: it has no owner until another worker takes it. "
                "The server does not tell who that will be. Explain names the owner of a site."
            }
        }
    };
    Ok(frame::page("Workers", "/workers", &body))
}

/// The workers as a table.
pub(super) fn table(GetWorkersResponse { workers, leases_left, .. }: &GetWorkersResponse) -> Markup {
    html! {
        @if workers.is_empty() { p { "No worker has joined, or the lease of each is over." } } @else {
            div.rows role="region" aria-label="Workers" tabindex="0" {
                table {
                    thead { tr {
                        th { "Worker" } th { "Id" } th { "State" } th.number { "Lease left" } th.number { "Groups" } th.number { "Sites" }
                    } }
                    tbody {
                        @for (at, worker) in workers.iter().enumerate() {
                            tr {
                                td { (Printable(&worker.name)) }
                                td { (Printable(&worker.id)) }
                                td { @if worker.leaving { "leaving: it hands over its sites" } @else { "alive" } }
                                td.number { (lease(leases_left.get(at).copied())) }
                                td.number { (worker.groups) }
                                td.number {
                                    a href=(with_fields("/sites", &[("worker", &worker.id)])) aria-label=(format!("{} sites of {}", worker.sites, Printable(&worker.name))) {
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

/// How long a lease has left. An earlier server does not tell it.
fn lease(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "not told".to_owned(), |seconds| format!("{seconds:.0} s"))
}

/// The groups on the move that the server names.
fn moves(unowned: &[Unowned]) -> Markup {
    html! {
        @if !unowned.is_empty() {
            div.rows role="region" aria-label="Moves" tabindex="0" {
                table {
                    thead { tr { th { "Politeness group" } th.number { "Without an owner for" } } }
                    tbody {
                        @for Unowned { group, seconds } in unowned {
                            tr { td { (Printable(group)) } td.number { (format!("{seconds:.0} s")) } }
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
    let by_state = is_by_state(&fields)?;
    let answer = server.ask(async |mut client| client.get_workers(GetWorkersRequest {}).await).await?;
    let listed = match worker.as_str() {
        "" => None,
        _ => {
            let after = fields.get("after").to_owned();
            let request = DomainsRequest { worker: worker.clone(), after, limit: SITES_ON_PAGE, by_state };
            Some(server.ask(async |mut client| client.domains(request).await).await?.domains)
        }
    };
    let body = html! {
        p { "The server lists sites by the worker that owns them." }
        @if answer.workers.is_empty() { (table(&answer)) } @else {
            form.filter action="/sites" {
                label { "Sites of" select name="worker" {
                    @for one in &answer.workers { option value=(one.id) selected[one.id == worker] { (Printable(&one.name)) } }
                } }
                (order(by_state, "by name"))
                button { "Show" }
            }
        }
        @if let Some(domains) = &listed {
            @if domains.is_empty() { p role="status" { "The worker owns no further site." } } @else {
                div.scroll role="region" aria-label="Sites" tabindex="0" {
                    table {
                        thead { tr { th { "Site" } th.number { "Pages" } th.number { "Waiting" } th { "State" } th { "URLs" } } }
                        tbody {
                            @for domain in domains {
                                tr {
                                    td { (links::story(&domain.site)) }
                                    td.number { (domain.fetched) }
                                    td.number { (domain.waiting) }
                                    td { (state(domain)) }
                                    td { a href=(with_fields("/urls", &[("site", &domain.site)])) aria-label=(format!("list of the URLs of {}", Printable(&domain.site))) { "list" } }
                                }
                            }
                        }
                    }
                }
            }
            @if let Some(last) = domains.last().filter(|_| domains.len() >= SITES_ON_PAGE as usize) {
                p { a rel="next" href=(with_fields("/sites", &[("worker", &worker), ("sort", sort(by_state)), ("after", &last.site)])) { "Next page" } }
            }
        }
    };
    Ok(frame::page("Sites", "/sites", &body))
}

/// How a site stands, in words.
fn state(Domain { state, aside_until, trouble, .. }: &Domain) -> String {
    match state.as_str() {
        "hold" => "on hold".to_owned(),
        "aside" => format!("in trouble until {}: {}", date(*aside_until), Printable(trouble)),
        "given_up" => format!("given up: {}", Printable(trouble)),
        "active" => "active".to_owned(),
        // A server of an earlier version tells none.
        _ => String::new(),
    }
}

/// Asks whether a worker is to go.
pub(super) async fn before_drain(
    State(server): State<Server>,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, Failure> {
    let worker = Fields::parse(&query.unwrap_or_default()).get("worker").to_owned();
    let answer = server.ask(async |mut client| client.get_workers(GetWorkersRequest {}).await).await?;
    if !answer.workers.iter().any(|one| one.id == worker || one.name == worker) {
        return Err(Failure::NotFound(format!(
            "there is no worker `{worker}` alive: the page Workers names those there are"
        )));
    }
    let body = html! {
        p { "The worker " strong { (Printable(&worker)) } " hands over its sites, seals its segments, and ends. It does not join again by itself." }
        form method="post" action="/workers/drain" {
            (links::hidden("worker", &worker)) (links::hidden("sure", "yes"))
            button { "Do it" }
            " " a href="/workers" { "Cancel" }
        }
    };
    Ok(frame::page("Drain a worker", "/workers", &body))
}

/// Sends a worker away if the form says that the user was asked, or leads to the question.
pub(super) async fn drain(State(server): State<Server>, form: String) -> Result<Redirect, Failure> {
    let fields = Fields::parse(&form);
    let worker = fields.get("worker").to_owned();
    if fields.get("sure").is_empty() {
        return Ok(Redirect::to(&with_fields("/workers/drain", &[("worker", &worker)])));
    }
    server.order(async |mut client| client.drain(DrainRequest { worker }).await).await?;
    server.forget().await;
    Ok(Redirect::to("/workers"))
}

#[cfg(test)]
mod tests {
    use api::Worker;

    use super::*;

    // WCAG 2.5.3: what is seen can be spoken to the browser.
    #[test]
    fn the_name_of_a_link_begins_with_what_it_shows() {
        let worker = Worker { name: "a:1".to_owned(), sites: 27, ..Worker::default() };
        let shown = table(&GetWorkersResponse { workers: vec![worker], ..GetWorkersResponse::default() }).into_string();
        let (_, link) = shown.split_once("<a ").and_then(|(_, link)| link.split_once("aria-label=\"")).expect("a name");
        let (name, rest) = link.split_once("\">").expect("its text");
        assert_eq!((name, rest.split('<').next()), ("27 sites of a:1", Some("27")));
    }
}
