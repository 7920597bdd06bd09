//! Changes of the crawl: forms, what a change would affect before it is made, and the last changes.

use api::{AddSeedsRequest, JournalRequest, Journaled, SteerRequest, SteerResponse, UndoRequest, UndoResponse};
use axum::extract::{RawQuery, State};
use axum::response::{Html, IntoResponse, Redirect, Response};
use crawl::Change;
use maud::html;
use printable::Printable;
use weburl::UserInfo;

use crate::failure::Failure;
use crate::query::Fields;
use crate::steer::{Back, Entry};
use crate::{frame, links, steer};

use super::begun;
use super::server::Server;
use super::told::text;

/// Answers with the forms and the last changes.
pub(super) async fn show(State(server): State<Server>) -> Result<Html<String>, Failure> {
    let stats = server.stats().await?;
    let request = JournalRequest { limit: steer::CHANGES_SHOWN as u32 };
    let journal = server.ask(async |mut client| client.journal(request).await).await?;
    let entries: Vec<Entry> = journal.changes.into_iter().map(entry).collect();
    let body = html! {
        (steer::at_once(stats.paused, true))
        (steer::forms(true, steer::SETTING_OF_WORKERS))
        h2 { "Begin" }
        (begun::forms(server.watch()))
        (steer::journal(&entries))
    };
    Ok(frame::page("Steer", "/steer", &body))
}

fn entry(Journaled { at, change, undo, no_undo }: Journaled) -> Entry {
    let back = match no_undo.as_str() {
        _ if ["pause", "resume"].contains(&change.as_str()) => Back::Elsewhere,
        "" if !undo.is_empty() => Back::Here,
        _ => Back::Not(no_undo),
    };
    Entry { at, change, back }
}

/// Shows what takes a change back, or does so if that is still what the user has seen.
pub(super) async fn take_back(State(server): State<Server>, form: String) -> Result<Response, Failure> {
    let fields = Fields::parse(&form);
    let [at, change, seen] = ["at", "change", "seen"].map(|name| fields.get(name).to_owned());
    let request = |undo| UndoRequest { at: at.clone(), change: change.clone(), undo };
    let look = request(Vec::new());
    let mut answer = server.ask(async |mut client| client.undo(look).await).await?;
    if !seen.is_empty() && steer::on_one_line(&answer.undo) == seen {
        // The server makes it only if that still takes the change back.
        let order = request(answer.undo);
        answer = server.ask(async |mut client| client.undo(order).await).await?;
    }
    let UndoResponse { undo, done, workers, workers_behind } = answer;
    if !done {
        return Ok(steer::undo_shown(&at, &change, &seen, &undo).into_response());
    }
    server.forget().await;
    if workers > 0 && workers_behind == 0 {
        return Ok(Redirect::to("/steer").into_response());
    }
    let made = SteerResponse { at, workers, workers_behind, ..SteerResponse::default() };
    Ok(steer::taken_back(&undo, &text(&made)).into_response())
}

/// Leads to what a change would affect, or makes it if the form says that the user has seen that.
pub(super) async fn change(State(server): State<Server>, form: String) -> Result<Response, Failure> {
    let fields = Fields::parse(&form);
    let change = steer::asked(&fields)?;
    let is_sure = !fields.get("sure").is_empty();
    if !is_sure {
        return effect(&server, &change).await;
    }
    let told = match &change {
        // The server keeps their secrets.
        Change::Seeds(urls) if urls.iter().any(|url| UserInfo::of(url).is_some()) => {
            let request = AddSeedsRequest { urls: urls.clone() };
            text(&server.ask(async |mut client| client.add_seeds(request).await).await?)
        }
        _ => {
            let request = request(&change, false);
            let answer = server.ask(async |mut client| client.steer(request).await).await?;
            server.forget().await;
            if is_in_force(&answer) && !matches!(change, Change::Stop) {
                // A reload of the page that follows makes nothing twice.
                return Ok(Redirect::to("/steer").into_response());
            }
            text(&answer)
        }
    };
    server.forget().await;
    Ok(done(&change.to_string(), &told))
}

fn request(change: &Change, dry_run: bool) -> SteerRequest {
    let (what, to) = change.words();
    SteerRequest { change: what.to_owned(), to, dry_run }
}

/// Every live worker goes by it.
fn is_in_force(answer: &SteerResponse) -> bool {
    answer.workers > 0 && answer.workers_behind == 0
}

async fn effect(server: &Server, change: &Change) -> Result<Response, Failure> {
    let request = request(change, true);
    let mut answer = server.ask_all(async |mut client| client.steer(request).await).await?;
    let notes = std::mem::take(&mut answer.notes);
    let said = match change {
        Change::Stop => "All workers hand over their sites, seal their segments, and end.".to_owned(),
        _ => text(&answer) + ".",
    };
    let (what, values) = change.words();
    let body = html! {
        p { strong { (Printable(&change.to_string())) } }
        p role="status" { (said) }
        @for note in &notes { p { (Printable(note)) } }
        form method="post" action="/steer" {
            (links::hidden("what", what)) (links::hidden("to", &values.join("\n"))) (links::hidden("sure", "yes"))
            button { "Do it" }
            " " a href="/steer" { "Cancel" }
        }
    };
    let number = server.effect().keep(frame::page("Effect of the change", "/steer", &body));
    Ok(Redirect::to(&steer::effect_page(number)).into_response())
}

/// Answers with the effect of the change that was looked at last.
pub(super) async fn shown(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    server.effect().get(steer::number(query)).ok_or_else(steer::other_effect)
}

/// What came of something that was asked for on this screen.
fn done(asked: &str, told: &str) -> Response {
    let body = html! {
        p role="status" { strong { (Printable(asked)) } ": " (told) }
        p { a href="/steer" { "Back" } }
    };
    frame::page("Changed", "/steer", &body).into_response()
}
