//! The sites of a crawl, in pages.

use axum::extract::{RawQuery, State};
use axum::response::Html;
use crawl::standing::Standing;
use maud::html;
use model::SiteRecord;
use printable::{Printable, counted};
use settings::site_name::SiteName;
use weburl::SiteKey;

use crate::failure::Failure;
use crate::query::{Fields, with_fields};
use crate::{Ui, frame, links};

/// Sites on a page.
const SITES_ON_PAGE: usize = 100;

/// Answers with a page of sites.
pub(crate) async fn show(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let after = fields.get("after").parse().ok().map(SiteKey);
    let read = move |crawl: &Standing| {
        let opened = crawl.now()?;
        Ok((opened.view().sites(after, SITES_ON_PAGE)?, opened.options()?.hold, opened.view().totals()?.sites))
    };
    let (sites, hold, known) = ui.ask(read).await?;
    let next = sites.last().filter(|_| sites.len() == SITES_ON_PAGE).map(|last| last.site.key().0.to_string());
    let body = html! {
        p { (counted(known, "site")) " known. The table has those that had a turn." }
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
        @if let Some(next) = next { p { a rel="next" href=(with_fields("/sites", &[("after", &next)])) { "Next page" } } }
    };
    Ok(frame::page("Sites", "/sites", &body))
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
