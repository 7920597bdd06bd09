//! Rounds by a clock, which the interface begins as long as it runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crawl::Importance;
use crawl::watch::Budget;
use engine::clock::Clock;
use maud::{Markup, html};
use printable::{Printable, counted};
use service::client::{Client, Watching, said};
use settings::units::Span;
use settings::usage;
use tokio::task::AbortHandle;
use tonic::Status;

use crate::links::hidden;
use crate::query::{Fields, number};

use super::told::text;

/// The watch of a crawl, if there is one. It ends with the interface.
#[derive(Default)]
pub(super) struct Watch(Mutex<Option<Running>>);

struct Running {
    /// What was asked for.
    asked: String,
    began: String,
    /// What came of the last round.
    last: Arc<Mutex<String>>,
    task: AbortHandle,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Watch {
    fn lock(&self) -> MutexGuard<'_, Option<Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a watch in place of the one before, as the fields of the form say, or ends it.
    ///
    /// # Errors
    /// A field cannot be used.
    pub(super) fn change(&self, client: Client, fields: &Fields) -> anyhow::Result<()> {
        if !fields.get("end").is_empty() {
            self.lock().take();
            return Ok(());
        }
        let or = |name, default: &'static str| match fields.get(name) {
            "" => default,
            given => given,
        };
        let every = or("every", "10m");
        let parse = |given: &str| given.parse::<Budget>().map_err(usage);
        let (visits, budget) = match (fields.get("budget"), fields.get("rate")) {
            (budget, "") => (budget.to_owned(), parse(budget)?),
            ("", rate) => (format!("at most {rate}"), parse(rate)?.as_rate()),
            _ => return Err(usage("a watch has a budget or a rate, not both")),
        };
        let importance = or("importance", Importance::default().as_str());
        let watching = Watching::new(
            budget,
            every.parse::<Span>().map_err(usage)?,
            Importance::among(&Importance::OF_STATE, importance).map_err(usage)?,
        )?;
        let rounds = number("number of rounds", fields.get("rounds"))?;
        let end = rounds.map(|rounds: u64| format!(", {}", counted(rounds, "round"))).unwrap_or_default();
        let asked = format!("{visits} visits, chosen every {every}, importance {importance}{end}");
        self.begin(client, watching, asked, rounds);
        Ok(())
    }

    fn begin(&self, client: Client, watching: Watching, asked: String, rounds: Option<u64>) {
        let last = Arc::new(Mutex::new("No round yet".to_owned()));
        let told = last.clone();
        let tell = move |said: String| *told.lock().unwrap_or_else(PoisonError::into_inner) = said;
        let task = tokio::spawn(async move {
            let (mut client, mut begun) = (client, 0);
            let mut goes_on = |answer: Option<api::AgainResponse>| {
                answer.iter().for_each(|answer| tell(text(answer)));
                begun += u64::from(answer.is_some_and(|answer| answer.begun));
                Ok(rounds.is_none_or(|max| begun < max))
            };
            let why = match watching.watch(&mut client, &mut goes_on).await {
                Ok(()) => format!("{} begun", counted(begun, "round")),
                Err(error) => error.downcast_ref::<Status>().map_or_else(|| format!("{error:#}"), said),
            };
            tell(format!("It has ended: {why}"));
        });
        let began = Clock::start().date().to_rfc3339();
        *self.lock() = Some(Running { asked, began, last, task: task.abort_handle() });
    }

    /// What is watched, or the form that begins a watch.
    pub(super) fn form(&self) -> Markup {
        let running = self.lock();
        let Some(Running { asked, began, last, .. }) = &*running else { return empty_form() };
        let last = last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        html! {
            form method="post" action="/steer/watch" {
                h2 { "Rounds by a clock" }
                p { "Since " time datetime=(began) { (began) } ": " (Printable(asked)) ". " (Printable(&last)) "." }
                (hidden("end", "yes"))
                button { "End the watch" }
            }
        }
    }
}

fn empty_form() -> Markup {
    html! {
        form method="post" action="/steer/watch" {
            h2 { "Rounds by a clock" }
            label { "Visits of known pages" input name="budget" placeholder="5000/day"; }
            label { "Or at a steady rate, of which nothing is saved up" input name="rate" placeholder="30/min"; }
            label { "Pages are chosen every" input name="every" placeholder="10m"; }
            label { "Important are" select name="importance" {
                @for importance in Importance::OF_STATE { option value=(importance.as_str()) { (importance.as_str()) } }
            } }
            label { "Rounds, at most" input type="text" inputmode="numeric" name="rounds" placeholder="no end"; }
            p.count { "This interface begins the rounds, as long as it runs." }
            button { "Watch" }
        }
    }
}
