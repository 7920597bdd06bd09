//! Changes: forms, what a change would affect before it is made, and the journal.

use axum::extract::State;
use axum::response::{Html, IntoResponse, Redirect, Response};
use crawl::made::{affected, make};
use crawl::{Change, Changed, CrawlDir};
use maud::{Markup, html};
use printable::Printable;

use crate::failure::Failure;
use crate::query::Fields;
use crate::{Ui, frame, links};

/// Changes of the journal shown, the last ones.
const CHANGES_SHOWN: usize = 100;

/// A form: the change, its title, what to give, an example.
const FORMS: [(&str, &str, &str, &str); 7] = [
    ("exclude", "Exclude URLs", "Patterns, one a line", "*/calendar/*"),
    ("include", "Include URLs", "Patterns, one a line", "*/docs/*"),
    ("hold", "Put sites on hold", "Sites, one a line", "example.org"),
    ("release", "Release sites", "Sites, one a line", "example.org"),
    ("delay", "Delay of sites", "SITE=DELAY, one a line", "example.org=5s"),
    ("seeds", "Add seeds", "URLs, one a line", "https://example.org/"),
    ("set", "Change settings", "Lines of crawl.toml", "max-pages = 10000"),
];

/// Answers with the forms and the journal.
pub(crate) async fn show(State(ui): State<Ui>) -> Result<Html<String>, Failure> {
    let read = |root: &std::path::PathBuf| {
        let dir = CrawlDir::existing(root)?;
        Ok((Changed::all_of(&dir)?, dir.options()?.paused == Some(true)))
    };
    let (changes, is_paused) = ui.ask(read).await?;
    Ok(frame::page("Steer", "/steer", &html! { (at_once(is_paused)) (forms()) (journal(&changes)) }))
}

fn at_once(is_paused: bool) -> Markup {
    let button = |what: &str, name: &str| {
        html! {
            form method="post" action="/steer" {
                (links::hidden("what", what)) (links::hidden("sure", "yes"))
                button { (name) }
            }
        }
    };
    html! {
        div.buttons {
            @if is_paused { (button("resume", "Resume")) } @else { (button("pause", "Pause")) }
            form method="post" action="/steer" { (links::hidden("what", "stop")) button { "Stop …" } }
        }
        @if is_paused { p { strong { "Paused." } " Nothing new is fetched." } }
    }
}

fn forms() -> Markup {
    html! {
        div.forms {
            @for (what, title, label, example) in FORMS {
                form method="post" action="/steer" {
                    h2 { (title) }
                    (links::hidden("what", what))
                    label { (label) textarea name="to" rows="3" required placeholder=(example) {} }
                    button { "Show the effect …" }
                }
            }
        }
    }
}

fn journal(changes: &[Changed]) -> Markup {
    html! {
        section {
            h2 { "Journal" }
            @if changes.is_empty() { p { "No changes so far." } }
            ol.journal reversed {
                @for Changed { at, change } in changes.iter().rev().take(CHANGES_SHOWN) {
                    li { time datetime=(at) { (at) } " " (Printable(&change.to_string())) (undo(change)) }
                }
            }
        }
    }
}

/// The form of the change that takes a change back, where there is one.
fn undo(change: &Change) -> Markup {
    let (what, to) = match change {
        Change::Hold(_) => ("release", change.words().1),
        Change::Release(_) => ("hold", change.words().1),
        _ => return html! {},
    };
    html! {
        " "
        form.undo method="post" action="/steer" {
            (links::hidden("what", what)) (links::hidden("to", &to.join("\n")))
            button aria-label=(format!("Undo: {change}")) { "Undo …" }
        }
    }
}

/// Shows what a change would affect, or makes it if the form says that the user has seen that.
pub(crate) async fn change(State(ui): State<Ui>, form: String) -> Result<Response, Failure> {
    let fields = Fields::parse(&form);
    let change = Change::from_words(fields.get("what"), &fields.lines("to"))?;
    if !fields.get("sure").is_empty() {
        let made = ui
            .ask(move |root| {
                let dir = CrawlDir::existing(root)?;
                Ok((make(&dir, &change)?.in_words(&dir), change))
            })
            .await?;
        return Ok(done(&made.1, &made.0));
    }
    let asked = change.clone();
    let effect = ui.large(move |root| affected(root, &asked)).await?;
    let (what, to) = change.words();
    let body = html! {
        p { strong { (Printable(&change.to_string())) } }
        p role="status" { "This would concern " (effect.queued) " URLs in the queue. Fetched URLs that match and stay: " (effect.fetched) "." }
        form method="post" action="/steer" {
            (links::hidden("what", what)) (links::hidden("to", &to.join("\n"))) (links::hidden("sure", "yes"))
            button autofocus { "Do it" }
            " " a href="/steer" { "Cancel" }
        }
    };
    Ok(frame::page("Effect of the change", "/steer", &body).into_response())
}

fn done(change: &Change, told: &str) -> Response {
    if told == "in force" && !matches!(change, Change::Stop) {
        // A reload of the page that follows makes nothing twice.
        return Redirect::to("/steer").into_response();
    }
    let body = html! {
        p role="status" { strong { (Printable(&change.to_string())) } ": " (Printable(told)) }
        p { a href="/steer" { "Back" } }
    };
    frame::page("Changed", "/steer", &body).into_response()
}
