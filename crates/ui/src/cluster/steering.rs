//! Changes of the crawl: forms, what a change would affect before it is made, and the last changes.

use std::sync::Arc;

use api::{AddSeedsRequest, JournalRequest, Journaled, SteerRequest, SteerResponse, UndoRequest, UndoResponse};
use axum::extract::{RawQuery, State};
use axum::response::{Html, IntoResponse, Redirect, Response};
use crawl::Change;
use maud::html;
use tokio::sync::watch;
use weburl::UserInfo;

use crate::answers::{self, Words};
use crate::failure::Failure;
use crate::query::Fields;
use crate::steer::{Back, Entry, Place};
use crate::{frame, steer};

use super::begun;
use super::effect::{Answer, Effect};
use super::server::Server;
use super::told::text;

/// Answers with the forms and the last changes.
pub(super) async fn show(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let max = steer::changes_asked(query);
    let stats = server.stats().await?;
    let request = JournalRequest { limit: max as u32 };
    let journal = server.ask(async |mut client| client.journal(request).await).await?;
    let entries: Vec<Entry> = journal.changes.into_iter().map(entry).collect();
    let body = html! {
        (steer::at_once(stats.paused, true))
        (steer::forms(true))
        h2 { "Begin" }
        (begun::forms(server.watch()))
        (steer::journal(&entries, max))
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

/// Shows what takes a change back.
pub(super) async fn undo(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let place = Place::of(&fields);
    let request = JournalRequest { limit: steer::CHANGES_MAX as u32 };
    let journal = server.ask(async |mut client| client.journal(request).await).await?;
    let found = place.find(journal.changes, |changed| &changed.at);
    let Journaled { change, undo, no_undo, .. } = found.ok_or_else(steer::no_such_change)?;
    Ok(place.shown(&change, &fields, if no_undo.is_empty() { Ok(&undo) } else { Err(&no_undo) }))
}

/// Takes a change back, if that is still what the user has seen. Otherwise it leads to what takes it back now.
pub(super) async fn take_back(State(server): State<Server>, form: String) -> Result<Response, Failure> {
    let fields = Fields::parse(&form);
    let [at, change, seen] = ["at", "change", "seen"].map(|name| fields.get(name).to_owned());
    let request = |undo| UndoRequest { at: at.clone(), change: change.clone(), undo };
    let look = request(Vec::new());
    let mut answer = server.ask(async |mut client| client.undo(look).await).await?;
    if steer::on_one_line(&answer.undo) == seen {
        // The server makes it only if that still takes the change back.
        let order = request(answer.undo);
        answer = server.order(async |mut client| client.undo(order).await).await?;
    }
    let UndoResponse { undo, done, workers, workers_behind } = answer;
    if !done {
        return Ok(Place::of(&fields).once_more());
    }
    server.forget().await;
    let made = SteerResponse { at, workers, workers_behind, ..SteerResponse::default() };
    Ok(told(&server, &made, || steer::taken_back(&undo, &text(&made))))
}

/// Leads to what a change would affect, or makes it if the form says that the user has seen that.
pub(super) async fn change(State(server): State<Server>, form: String) -> Result<Response, Failure> {
    let fields = Fields::parse(&form);
    let change = steer::asked(&fields)?;
    let is_sure = !fields.get("sure").is_empty();
    if !is_sure {
        return Ok(server.answers().lead_to(Answer::Effect(Arc::new(effect(&server, &change).await?))));
    }
    if let Change::Seeds(urls) = &change
        && urls.iter().any(|url| UserInfo::of(url).is_some())
    {
        // The server keeps their secrets.
        let request = AddSeedsRequest { urls: urls.clone() };
        let added = text(&server.order(async |mut client| client.add_seeds(request).await).await?);
        server.forget().await;
        return Ok(server.lead_to(steer::changed(&change, &added)));
    }
    let (what, to) = change.words();
    let request = SteerRequest { change: what.to_owned(), to, ..SteerRequest::default() };
    let made = server.order(async |mut client| client.steer(request).await).await?;
    server.forget().await;
    let words = || steer::changed(&change, &text(&made));
    Ok(if change == Change::Stop { server.lead_to(words()) } else { told(&server, &made, words) })
}

/// Leads to the forms if every live worker goes by a change and no more is to be told, or else to the words for it.
fn told(server: &Server, made: &SteerResponse, words: impl FnOnce() -> Words) -> Response {
    match made {
        SteerResponse { workers: 1.., workers_behind: 0, notes, .. } if notes.is_empty() => {
            Redirect::to("/steer").into_response()
        }
        _ => server.lead_to(words()),
    }
}

/// Has the server count what a change would affect. Where a moment is not enough, it counts once more to the end, in place of the last
/// count.
async fn effect(server: &Server, change: &Change) -> Result<Effect, Failure> {
    let (what, to) = change.words();
    let request = SteerRequest { change: what.to_owned(), to, dry_run: true, at_once: true };
    let at_once = request.clone();
    let first = Arc::new(server.ask_all(async |mut client| client.steer(at_once).await).await?);
    let (told, whole) = watch::channel(None);
    if first.so_far.is_none() {
        told.send_replace(Some(Ok(first.clone())));
    } else {
        let (asking, request) = (server.clone(), SteerRequest { at_once: false, ..request });
        let count = tokio::spawn(async move {
            let answer = asking.ask_all(async |mut client| client.steer(request).await).await;
            told.send_replace(Some(answer.map(Arc::new).map_err(|failure| failure.text().to_owned())));
        });
        server.counts(count.abort_handle());
    }
    Ok(Effect::new(change.clone(), first, whole))
}

/// Answers with what a form came to.
pub(super) async fn answer(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let number = answers::number(query);
    let dated = server.answers().get(number)?;
    Ok(match &dated.answer {
        Answer::Words(words) => words.page(&dated.date()),
        Answer::Effect(effect) => effect.page(number, &dated.date()).await,
    })
}
