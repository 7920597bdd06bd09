//! Changes: forms, what a change would affect before it is made, and the journal.

use std::path::Path;
use std::sync::Arc;

use ask::sites;
use axum::extract::{RawQuery, State};
use axum::response::{Html, IntoResponse, Redirect, Response};
use crawl::made::{Made, foreseen, goes_on, make};
use crawl::standing::Standing;
use crawl::steer::{TakeBack, Undo};
use crawl::{Affected, Change, Changed, CrawlDir, Options};
use maud::{Markup, html};
use printable::{Printable, counted};
use settings::{Usage, usage};

use crate::answers::{self, Words};
use crate::base::to;
use crate::change_forms::{FORMS, changes};
use crate::effects::{Effect, SoFar};
use crate::failure::Failure;
use crate::query::{Fields, with_fields};
use crate::{Ui, frame, links};

/// Changes of the journal shown, the last ones, unless more are asked for, and at most.
const CHANGES_SHOWN: usize = 100;
pub(crate) const CHANGES_MAX: usize = 1_000;

/// Changes of the journal that a request asks for.
pub(crate) fn changes_asked(query: Option<String>) -> usize {
    Fields::parse(&query.unwrap_or_default()).limit(CHANGES_SHOWN, CHANGES_MAX)
}

/// Answers with the forms and the journal.
pub(crate) async fn show(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let max = changes_asked(query);
    let read = |crawl: &Standing| {
        let dir = CrawlDir::existing(crawl.root())?;
        // Where the database does not answer, the change itself says so.
        let refused = dir.refuse_of_workers().err().filter(anyhow::Error::is::<Usage>).map(|error| error.to_string());
        Ok((Changed::all_of(&dir)?, dir.options()?, goes_on(&dir), refused))
    };
    let (changes, options, goes_on, refused) = ui.ask(read).await?;
    let body = match refused {
        Some(why) => html! { p { (Printable(&why)) "." } (journal(&entries(&changes, None, max), max)) },
        None => {
            let at_once = at_once(options.paused == Some(true), goes_on);
            html! { (at_once) (forms(goes_on)) (journal(&entries(&changes, Some(&options), max), max)) }
        }
    };
    Ok(frame::page("Steer", "/steer", &body))
}

/// What needs no confirmation. A crawl that rests can be paused: it is so when it goes on.
pub(crate) fn at_once(is_paused: bool, goes_on: bool) -> Markup {
    let button = |what: &str, name: &str| {
        html! {
            form method="post" action=(to("/steer")) {
                (links::hidden("what", what)) (links::hidden("sure", "yes"))
                button { (name) }
            }
        }
    };
    html! {
        div.buttons {
            @if is_paused { (button("resume", "Resume")) } @else { (button("pause", "Pause")) }
            @if goes_on { form method="post" action=(to("/steer")) { (links::hidden("what", "stop")) button { "Stop …" } } }
        }
        @if is_paused { p { strong { "Paused." } " Nothing new is fetched." } }
        @if !goes_on { p { "No crawl is running. Changes count when it goes on." } }
    }
}

/// Of a crawl that rests, without the changes that only a run takes.
pub(crate) fn forms(goes_on: bool) -> Markup {
    html! {
        div.forms {
            @for (what, title, label, example) in FORMS.iter().filter(|(what, ..)| goes_on || *what != "seeds") {
                form method="post" action=(to("/steer")) {
                    h2 { (title) }
                    (links::hidden("what", what))
                    label { (label) textarea name="to" rows="3" required placeholder=(example) {} }
                    button { "Show the effect …" }
                }
            }
        }
    }
}

/// A line of the journal.
pub(crate) struct Entry {
    pub(crate) at: String,
    pub(crate) change: String,
    pub(crate) back: Back,
}

/// Whether the journal takes a change back.
pub(crate) enum Back {
    /// There is a button of its own for that, or none here.
    Elsewhere,
    /// It does.
    Here,
    /// Nothing does, for this reason.
    Not(String),
}

/// The last changes, the oldest first, each with what takes it back if that can be done here: the options in force say what that is.
fn entries(changes: &[Changed], options: Option<&Options>, max: usize) -> Vec<Entry> {
    let shown = &changes[changes.len().saturating_sub(max)..];
    let entry = |changed: &Changed| {
        let back = match options {
            None => Back::Elsewhere,
            Some(_) if matches!(changed.change, Change::Pause | Change::Resume) => Back::Elsewhere,
            Some(options) => match changed.undo(options) {
                Undo::Not(why) => Back::Not(why.to_owned()),
                Undo::By(_) => Back::Here,
            },
        };
        Entry { at: changed.at.clone(), change: changed.change.to_string(), back }
    };
    shown.iter().map(entry).collect()
}

/// The journal, the last change first. It has so many changes at most.
pub(crate) fn journal(changes: &[Entry], max: usize) -> Markup {
    html! {
        section {
            h2 { "Journal" }
            @if changes.is_empty() { p { "No changes so far." } }
            ol.journal reversed {
                @for (at, entry) in changes.iter().enumerate().rev() {
                    @let behind = changes.iter().skip(at + 1).filter(|later| later.at == entry.at).count();
                    li { time datetime=(entry.at) { (entry.at) } " " (Printable(&entry.change)) (undo_button(entry, behind)) }
                }
            }
            @if changes.len() >= max && max < CHANGES_MAX {
                p { a rel="next" href=(with_fields("/steer", &[("limit", &CHANGES_MAX.to_string())])) { "The last " (CHANGES_MAX) " changes" } }
            }
        }
    }
}

/// The form that leads to what takes a change back, or why there is none. It names the change: what takes it back is found then. So many
/// changes of the same time are behind it.
fn undo_button(Entry { at, change, back }: &Entry, behind: usize) -> Markup {
    match back {
        Back::Elsewhere => html! {},
        Back::Not(why) => html! { " " span.count { "No undo: " (Printable(why)) "." } },
        Back::Here => html! {
            " "
            form.undo action=(to("/steer/undo")) {
                (links::hidden("at", at)) (links::hidden("behind", &behind.to_string()))
                button aria-label=(format!("Undo: {}", Printable(change))) { "Undo …" }
            }
        },
    }
}

/// A change of the journal: when it was made, and how many changes of the same time are behind it. Its words may be too many for an address.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) at: String,
    pub(crate) behind: usize,
}

impl Place {
    /// The one that a form or an address names.
    pub(crate) fn of(fields: &Fields) -> Self {
        Place { at: fields.get("at").to_owned(), behind: fields.get("behind").parse().unwrap_or_default() }
    }

    /// The change at this place; `at` says when one was made. The last change comes last.
    pub(crate) fn find<T>(&self, changes: Vec<T>, at: impl Fn(&T) -> &str) -> Option<T> {
        changes.into_iter().rev().filter(|change| at(change) == self.at).nth(self.behind)
    }

    /// Leads to what takes the change back now. Something else did when somebody confirmed it.
    pub(crate) fn once_more(&self) -> Response {
        let behind = self.behind.to_string();
        Redirect::to(&with_fields("/steer/undo", &[("at", &self.at), ("behind", &behind), ("late", "yes")]))
            .into_response()
    }

    /// Shows what takes the change back, and asks whether to do so; or why nothing does.
    pub(crate) fn shown(&self, change: &str, fields: &Fields, undo: Result<&[String], &str>) -> Html<String> {
        let body = html! {
            p { "To take back: " strong { (Printable(change)) } }
            @if !fields.get("late").is_empty() {
                p.failure role="alert" { "Somebody has changed the crawl since this was shown. Nothing was done yet." }
            }
            @match undo {
                Err(why) => {
                    p role="status" { "No undo: " (Printable(why)) "." }
                    p { a href=(to("/steer")) { "Back" } }
                }
                Ok(undo) => {
                    p role="status" { "This is done: " @for change in undo { strong { (Printable(change)) } ". " } }
                    form method="post" action=(to("/steer/undo")) {
                        (links::hidden("at", &self.at)) (links::hidden("behind", &self.behind.to_string()))
                        (links::hidden("change", change)) (links::hidden("seen", &on_one_line(undo)))
                        button { "Do it" }
                        " " a href=(to("/steer")) { "Cancel" }
                    }
                }
            }
        };
        frame::page("Undo", "/steer", &body)
    }
}

/// What has taken a change back, and from when on that counts.
pub(crate) fn taken_back(undo: &[String], made: &str) -> Words {
    Words::done(
        "Changed",
        &html! {
            @for change in undo {
                p role="status" { strong { (Printable(change)) } ": " (Printable(made)) }
            }
        },
    )
}

/// Changes in words on one line: a form sends the ends of lines as it likes.
pub(crate) fn on_one_line(changes: &[String]) -> String {
    changes.join(" + ")
}

/// The failure of a place at which the journal has no change.
pub(crate) fn no_such_change() -> Failure {
    Failure::NotFound("the journal has no such change".to_owned())
}

/// Shows what takes a change back.
pub(crate) async fn undo(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let place = Place::of(&fields);
    let asked = place.clone();
    let read = move |crawl: &Standing| {
        let dir = CrawlDir::existing(crawl.root())?;
        Ok((asked.find(Changed::all_of(&dir)?, |changed| &changed.at), dir.options()?))
    };
    let (changed, options) = ui.ask(read).await?;
    let changed = changed.ok_or_else(no_such_change)?;
    let words = changed.change.to_string();
    Ok(match changed.undo(&options) {
        Undo::By(by) => place.shown(&words, &fields, Ok(&in_words(&by))),
        Undo::Not(why) => place.shown(&words, &fields, Err(why)),
    })
}

/// Takes a change back, if that is still what the user has seen. Otherwise it leads to what takes it back now.
pub(crate) async fn take_back(State(ui): State<Ui>, form: String) -> Result<Response, Failure> {
    let fields = Fields::parse(&form);
    let [at, change, seen] = ["at", "change", "seen"].map(|name| fields.get(name).to_owned());
    ui.effects.end();
    let (made, under_way) = ui
        .change(move |crawl| {
            let dir = CrawlDir::existing(crawl.root())?;
            let all = Changed::all_of(&dir)?;
            let changed =
                all.into_iter().rev().find(|changed| changed.at == at && changed.change.to_string() == change);
            let Some(changed) = changed else { return Err(usage("the journal has no such change")) };
            let by = match changed.undo(&dir.options()?) {
                Undo::By(by) => by,
                Undo::Not(why) => return Err(usage(format!("{change}: no undo: {why}"))),
            };
            let words = in_words(&by);
            if on_one_line(&words) != seen {
                return Ok(None);
            }
            // Others may change the crawl until it is done.
            let made = crawl::made::take_back(&dir, &TakeBack { changed, by })?;
            Ok(made.map(|made| (words, made, made.in_words(&dir))))
        })
        .await?;
    let Some((undo, made, told)) = made else { return Ok(Place::of(&fields).once_more()) };
    Ok(under_way.until_written(match made {
        Made::InForce => Redirect::to(&to("/steer")).into_response(),
        _ => ui.answers.lead_to(Answer::Words(taken_back(&undo, &told))),
    }))
}

fn in_words(changes: &[Change]) -> Vec<String> {
    changes.iter().map(ToString::to_string).collect()
}

/// Refuses a change that has a file read. Every user of this machine may use the port, and a file may be its owner's alone.
fn refuse_files(root: &Path, change: &Change) -> anyhow::Result<()> {
    let before = CrawlDir::existing(root)?.options()?;
    match change.of(&before)? {
        Some(after) if after.exclude_file != before.exclude_file => {
            Err(usage("exclude-file: files are for `argiope steer`; `exclude` takes patterns"))
        }
        _ => Ok(()),
    }
}

/// The change that a form asks for.
///
/// # Errors
/// It is none.
pub(crate) fn asked(fields: &Fields) -> anyhow::Result<Change> {
    let (what, to) = (fields.get("what"), fields.lines("to"));
    if !changes().any(|change| change == what) {
        return Err(usage("no change is chosen: the page Steer has a form for each"));
    }
    match FORMS.iter().find(|(change, ..)| *change == what) {
        // A retry of all failures names none.
        Some((_, title, label, _)) if to.is_empty() && what != "retry" => {
            Err(usage(format!("{title}: “{label}” is empty")))
        }
        _ => Change::from_words(what, &to),
    }
}

/// Leads to what a change would affect, or makes it if the form says that the user has seen that.
pub(crate) async fn change(State(ui): State<Ui>, form: String) -> Result<Response, Failure> {
    let fields = Fields::parse(&form);
    let change = asked(&fields)?;
    let asked = change.clone();
    if !fields.get("sure").is_empty() {
        ui.effects.end();
        let (made, under_way) = ui
            .change(move |crawl| {
                refuse_files(crawl.root(), &asked)?;
                let dir = CrawlDir::existing(crawl.root())?;
                Ok(make(&dir, &asked)?.in_words(&dir))
            })
            .await?;
        return Ok(under_way.until_written(match made.as_str() {
            "in force" if change != Change::Stop => Redirect::to(&to("/steer")).into_response(),
            _ => ui.answers.lead_to(Answer::Words(changed(&change, &made))),
        }));
    }
    let effects = ui.effects.clone();
    let look = move |crawl: &Standing| {
        refuse_files(crawl.root(), &asked)?;
        let opened = crawl.now()?;
        let mut notes = sites::unknown_of(opened.view(), &asked)?;
        notes.extend(foreseen(&opened, &asked)?);
        effects.of(opened, &asked, notes)
    };
    let effect = ui.ask(look).await?;
    Ok(ui.answers.lead_to(Answer::Effect(effect)))
}

/// What a form came to.
#[derive(Clone)]
pub(crate) enum Answer {
    /// What was done.
    Words(Words),
    /// What a change would affect. The count goes on.
    Effect(Arc<Effect>),
}

/// Answers with what a form came to.
pub(crate) async fn answer(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let number = answers::number(query);
    let answer = ui.answers.get(number)?;
    let date = answer.date();
    match answer.answer {
        Answer::Words(words) => Ok(words.page(&date)),
        Answer::Effect(effect) => {
            let counted = effect.clone();
            let so_far = ui.ask(move |_| Ok(counted.so_far())).await?;
            Ok(shown((number, &date), &effect, &so_far))
        }
    }
}

/// What a change would affect, and the form that makes it.
fn shown((number, date): (u64, &Markup), effect: &Effect, so_far: &SoFar) -> Html<String> {
    let (what, values) = effect.change.words();
    let link = answers::page_of(number);
    let body = html! {
        p { strong { (Printable(&effect.change.to_string())) } }
        // The script reads this part again until nothing more is counted.
        div #effect data-reread=[(!so_far.is_over).then_some(&link)] {
            p role="status" { (said(so_far, effect.known)) }
            @if let Some(failed) = &so_far.failed { p { "It was not counted to the end: " (Printable(failed)) "." } }
            @if !so_far.is_over { p { a href=(link) { "Look again" } } }
            @match so_far.estimated_by_site() {
                estimated if !so_far.is_exact() && !estimated.is_empty() => { (sites(true, estimated)) }
                _ if so_far.by_site.len() > 1 => {
                    (sites(false, so_far.by_site.iter().map(|(site, Affected { queued, fetched, again, .. })| (site.clone(), [*queued, *fetched, *again]))))
                }
                _ => {}
            }
        }
        @for note in &effect.notes { p { (Printable(note)) } }
        (date)
        form method="post" action=(to("/steer")) {
            (links::hidden("what", what)) (links::hidden("to", &values.join("\n"))) (links::hidden("sure", "yes"))
            button { "Do it" }
            " " a href=(to("/steer")) { "Cancel" }
        }
    };
    frame::page("Effect of the change", "/steer", &body)
}

/// The effect in words. What is estimated and what is counted are never in one sentence.
fn said(so_far: &SoFar, known: u64) -> Markup {
    let SoFar { affected, looked_at, estimate, .. } = so_far;
    html! {
        @match estimate {
            _ if so_far.is_exact() => { (affected.to_string()) "." }
            Some(estimate) => {
                strong { "An estimate: " }
                @if estimate.again.about > 0 {
                    "it would visit " (estimate.again.to_string()) " URLs again. "
                } @else {
                    "it would concern " (estimate.queued.to_string()) " URLs in the queue; "
                    (estimate.fetched.to_string()) " that were fetched already would stay. "
                }
                "It has 95 % confidence, from " (counted(estimate.sampled, "URL")) " of "
                @if estimate.of_all_sites { "all sites" } @else { "some sites" } ". "
                "The exact count is at " (looked_at) " of " (known) " URLs."
            }
            None => { (affected.to_string()) ", so far: " (looked_at) " of " (counted(known, "URL")) " looked at." }
        }
    }
}

/// The sites with the most affected URLs: in the queue, fetched already, to be visited again.
pub(crate) fn sites<N: ToString>(is_estimated: bool, by_site: impl IntoIterator<Item = (String, [N; 3])>) -> Markup {
    html! {
        div.rows role="region" aria-label="By site" tabindex="0" {
            table {
                @if is_estimated { caption { "By site, estimated" } }
                thead { tr { th { "Site" } th.number { "In the queue" } th.number { "Fetched already" } th.number { "Again" } } }
                tbody {
                    @for (site, numbers) in by_site {
                        tr { td { (links::story(&site)) } @for number in numbers { td.number { (number.to_string()) } } }
                    }
                }
            }
        }
    }
}

/// What a change has come to.
pub(crate) fn changed(change: &Change, told: &str) -> Words {
    Words::done(
        "Changed",
        &html! { p role="status" { strong { (Printable(&change.to_string())) } ": " (Printable(told)) } },
    )
}
