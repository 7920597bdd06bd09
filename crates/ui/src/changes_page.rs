//! What has changed on the web between visits, as `argiope changes` finds it.

use ask::changes::{Changed, Counts, NO_PLACE, Question, Since, changes, last_round, sentence};
use ask::since::time;
use ask::sites;
use axum::extract::{RawQuery, State};
use axum::response::Html;
use crawl::standing::Standing;
use engine::clock::Clock;
use maud::{Markup, html};
use model::{Change, Timestamp};
use printable::Printable;
use settings::site_name::SiteName;
use settings::usage;

use crate::base::to;
use crate::failure::Failure;
use crate::query::Fields;
use crate::{Ui, frame, links};

/// Changes shown, unless more are asked for, and at most; the others are counted.
pub(crate) const CHANGES_SHOWN: usize = 200;
pub(crate) const CHANGES_MAX: usize = 10_000;

/// What was found.
struct Found {
    since: Timestamp,
    counts: Counts,
    shown: Vec<Changed>,
    /// Changes that are not shown.
    left_out: u64,
}

/// Answers with the changes since a time, or in the last round.
pub(crate) async fn show(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let (since, site) = (fields.get("since").to_owned(), fields.get("site").to_owned());
    let (asked, max) = ((since.clone(), site.clone()), fields.limit(CHANGES_SHOWN, CHANGES_MAX));
    let found = ui.large(&ui.large, move |crawl| find(crawl, &asked.0, &asked.1, max)).await?;
    let body = html! {
        form.filter action=(to("/changes")) {
            label { "Since" input type="text" name="since" value=(since) placeholder="7d or 2026-11-21"; }
            label { "Site" input type="text" name="site" value=(site) placeholder="example.org"; }
            button { "Show" }
        }
        @match &found {
            None => { p role="status" { "The crawl has one round so far. Give a time to compare with." } }
            Some(found) => {
                (table(found))
                (links::more("/changes", &fields.of(["since", "site"]), found.shown.len(), found.all(), CHANGES_MAX))
            }
        }
    };
    Ok(frame::page("Changes", "/changes", &body))
}

impl Found {
    fn all(&self) -> u64 {
        self.left_out + self.shown.len() as u64
    }
}

/// The changes, of which so many are shown; `None` without a time in a crawl of one round.
fn find(crawl: &Standing, since: &str, site: &str, max: usize) -> anyhow::Result<Option<Found>> {
    let opened = crawl.now()?;
    let view = opened.view();
    let (since, time) = match since {
        "" => match last_round(view)? {
            Some(round) => (Since::Round(round.number), round.began_at),
            None => return Ok(None),
        },
        since => {
            let now = Clock::start().date();
            let from = time(since, now)?;
            (Since::Time { from, now }, from)
        }
    };
    let sites = match site {
        "" => Vec::new(),
        text => {
            let keys: Vec<_> = text.parse::<SiteName>().map_err(usage)?.keys().collect();
            match sites::unknown(view, text, keys.iter().copied())? {
                None => keys,
                Some(unknown) => return Err(unknown.into()),
            }
        }
    };
    let (mut shown, mut left_out) = (Vec::new(), 0);
    let counts = changes(view, &Question { since, through: None, sites, pages: None }, &mut |changed| {
        if shown.len() < max {
            shown.push(changed);
        } else {
            left_out += 1;
        }
        Ok(())
    })?;
    Ok(Some(Found { since: time, counts, shown, left_out }))
}

fn target_or_title(changed: &Changed) -> &str {
    match (&changed.target, &changed.title) {
        (Some(target), _) => target,
        (None, _) if changed.change == Change::Moved => NO_PLACE,
        (None, title) => title.as_deref().unwrap_or_default(),
    }
}

fn table(Found { since, counts, shown, .. }: &Found) -> Markup {
    html! {
        p role="status" { "Since " (since.to_rfc3339()) ": " (sentence(counts)) "." }
        div.scroll role="region" aria-label="Changes" tabindex="0" {
            table {
                thead { tr { th { "Change" } th { "URL" } th.number { "Status" } th { "Found" } th { "Title or target" } } }
                tbody {
                    @for changed in shown {
                        tr {
                            td { (changed.change.to_string()) }
                            td { (links::story(&changed.url)) }
                            td.number { (changed.status.map(|status| status.to_string()).unwrap_or_default()) }
                            td.date { (changed.at.to_rfc3339()) }
                            td { (Printable(target_or_title(changed))) }
                        }
                    }
                }
            }
        }
    }
}
