//! The sites of a crawl, in pages: in the order of their keys, or of their states.

use axum::extract::{RawQuery, State};
use axum::response::Html;
use crawl::standing::Standing;
use maud::{Markup, html};
use model::SiteRecord;
use printable::{Printable, counted};
use settings::site_name::SiteName;
use settings::usage;
use weburl::SiteKey;

use crate::base::to;
use crate::failure::Failure;
use crate::query::{Fields, with_fields};
use crate::sites_by_state::{Page, Troubled};
use crate::{Ui, frame, links};

/// The order of sites by their states, as a field of a request has it.
const BY_STATE: &str = "state";
/// Sites on a page.
const SITES_ON_PAGE: usize = 100;

/// Answers with a page of sites.
pub(crate) async fn show(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let after = fields.get("after").parse().ok().map(SiteKey);
    let by_state = is_by_state(&fields)?;
    let kept = ui.troubled.clone();
    let read = move |crawl: &Standing| {
        let opened = crawl.now()?;
        let (view, hold) = (opened.view(), opened.options()?.hold);
        let page = if by_state {
            let troubled = kept.answer(&opened, |opened| Ok(Troubled::of(opened.view())?))?;
            let held = hold.iter().flat_map(SiteName::keys).collect();
            troubled.page(view, &held, after, SITES_ON_PAGE)?
        } else {
            let sites = view.sites(after, SITES_ON_PAGE)?;
            let next = sites.last().filter(|_| sites.len() == SITES_ON_PAGE).map(|last| last.site.key());
            Page { sites, next }
        };
        Ok((page, hold, view.totals()?.sites))
    };
    // The first in the order of states reads the records of all sites.
    let (Page { sites, next }, hold, known) =
        if by_state { ui.large(&ui.large, read).await? } else { ui.ask(read).await? };
    let next = next.map(|next| next.0.to_string());
    let body = html! {
        p { (counted(known, "site")) " known. The table has those that had a turn." }
        form.filter action=(to("/sites")) { (order(by_state, "by key")) button { "Show" } }
        div.scroll role="region" aria-label="Sites" tabindex="0" {
            table {
                thead { tr { th { "Site" } th.number { "Pages" } th { "State" } th { "Address" } th { "URLs" } } }
                tbody {
                    @for site in &sites {
                        @let name = site.site.to_string();
                        tr {
                            td { (links::story(&name)) }
                            td.number { (site.pages_fetched) }
                            td { (state(site, &hold)) }
                            td { (site.address.map(|address| address.to_string()).unwrap_or_default()) }
                            td { a href=(with_fields("/urls", &[("site", &name)])) aria-label=(format!("list of the URLs of {name}")) { "list" } }
                        }
                    }
                }
            }
        }
        @if let Some(next) = next { p { a rel="next" href=(with_fields("/sites", &[("sort", sort(by_state)), ("after", &next)])) { "Next page" } } }
    };
    Ok(frame::page("Sites", "/sites", &body))
}

/// Whether sites are asked for in the order of their states.
///
/// # Errors
/// There is no such order.
pub(crate) fn is_by_state(fields: &Fields) -> Result<bool, Failure> {
    match fields.get("sort") {
        "" => Ok(false),
        BY_STATE => Ok(true),
        other => Err(usage(format!("`{other}`: sites are sorted by state, or not")).into()),
    }
}

/// The field of a link to a page in this order.
pub(crate) fn sort(by_state: bool) -> &'static str {
    if by_state { BY_STATE } else { "" }
}

/// The choice of an order; `usual` is the name of the other one.
pub(crate) fn order(by_state: bool, usual: &str) -> Markup {
    html! {
        label { "Order" select name="sort" {
            option value="" { (usual) }
            option value=(BY_STATE) selected[by_state] { "by state: in trouble first" }
        } }
    }
}

/// How a site stands, in words.
fn state(site: &SiteRecord, hold: &[SiteName]) -> String {
    if hold.iter().any(|name| name.names(&site.site)) {
        return "on hold".to_owned();
    }
    match (&site.given_up, &site.aside) {
        (Some(failure), _) => format!("given up: {}", Printable(&failure.detail)),
        (None, Some(aside)) => {
            format!("in trouble until {}: {}", site.due_at.to_rfc3339(), Printable(&aside.reason.detail))
        }
        (None, None) => "active".to_owned(),
    }
}
