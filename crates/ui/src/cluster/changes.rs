//! What has changed on the web between visits, and how fresh the pages are.

use api::{ChangesRequest, ChangesResponse, FreshnessRequest, PageChange};
use ask::changes::NO_PLACE;
use axum::extract::{RawQuery, State};
use axum::response::Html;
use maud::{Markup, html};
use model::Change;
use printable::{Printable, counted};

use crate::changes_page::{CHANGES_MAX, CHANGES_SHOWN};
use crate::failure::Failure;
use crate::query::Fields;
use crate::{frame, links};

use super::server::Server;
use super::times::{date, since};
use super::told::text;

/// Answers with the changes since a time, or in the last round.
pub(super) async fn show(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let request = ChangesRequest {
        since: since(fields.get("since"))?,
        site: fields.get("site").to_owned(),
        limit: fields.limit(CHANGES_SHOWN, CHANGES_MAX) as u32,
        ..ChangesRequest::default()
    };
    let found = match server.ask_all(async |mut client| client.changes(request).await).await {
        // There was one round: the form takes a time.
        Err(Failure::Unready(why)) => Err(why),
        found => Ok(found?),
    };
    let body = html! {
        form.filter action="/changes" {
            label { "Since; without a time, in the last round" input type="text" name="since" value=(fields.get("since")) placeholder="7d or 2026-11-21"; }
            label { "Site" input type="text" name="site" value=(fields.get("site")) placeholder="example.org"; }
            button { "Show" }
        }
        @match &found {
            Ok(found) => {
                (table(found))
                @let all = found.left_out + found.changes.len() as u64;
                (links::more("/changes", &fields.of(["since", "site"]), found.changes.len(), all, CHANGES_MAX))
            }
            Err(why) => { p role="status" { (Printable(why)) "." } }
        }
    };
    Ok(frame::page("Changes", "/changes", &body))
}

/// Where a page has moved to, in words if there is no such place.
fn target(changed: &PageChange) -> &str {
    let has_no_place = changed.change == Change::Moved.as_str() && changed.target.is_empty();
    if has_no_place { NO_PLACE } else { &changed.target }
}

fn table(found: &ChangesResponse) -> Markup {
    let counts: Vec<String> = found.counts.iter().map(|(change, count)| format!("{count} {change}")).collect();
    html! {
        p role="status" { (counted(found.counts.values().sum(), "URL")) " visited: " (counts.join(", ")) "." }
        @if !found.changes.is_empty() {
            div.scroll role="region" aria-label="Changes" tabindex="0" {
                table {
                    thead { tr { th { "Change" } th { "URL" } th.number { "Status" } th { "Found" } th { "Target" } } }
                    tbody {
                        @for changed in &found.changes {
                            tr {
                                td { (changed.change) }
                                td { (links::story(&changed.url)) }
                                td.number { @if changed.status > 0 { (changed.status) } }
                                td.date { (date(changed.at)) }
                                td { (Printable(target(changed))) @if changed.probable { " (the same content, no redirect)" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Answers with how fresh the pages are, as `argiope client freshness` says it.
pub(super) async fn freshness(State(server): State<Server>) -> Result<Html<String>, Failure> {
    let answer = server.ask_all(async |mut client| client.freshness(FreshnessRequest {}).await).await?;
    let body = html! {
        div.scroll role="region" aria-label="Freshness" tabindex="0" { pre.story { (text(&answer)) } }
    };
    Ok(frame::page("Freshness", "/freshness", &body))
}
