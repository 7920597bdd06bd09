//! The state of a URL and of its site, as `argiope client explain` tells it, its visits and changes on a timeline, and the links of the page.

use api::{Changed, ExplainRequest, ExplainResponse, Link, LinksRequest, PastVisit};
use axum::extract::{RawQuery, State};
use axum::response::Html;
use maud::{Markup, html};
use printable::Printable;
use weburl::CanonicalUrl;

use crate::failure::Failure;
use crate::frame;
use crate::links::{self, Links, Way};
use crate::query::Fields;
use crate::timeline::{Event, Found, Timeline};

use super::page;
use super::server::Server;
use super::told::text;

/// The state of a URL that the crawl does not know.
const UNKNOWN: &str = "unknown";

/// Answers with the story of `u`.
pub(super) async fn show(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let asked = fields.get("u").to_owned();
    let form = html! {
        form.filter action="/url" {
            label { "URL or host" input name="u" value=(asked) required; }
            button { "Explain" }
        }
    };
    if asked.is_empty() {
        return Ok(frame::page("Explain", "/url", &form));
    }
    let request = ExplainRequest { url: asked };
    let explained = server.ask(async |mut client| client.explain(request).await).await?;
    let is_known = explained.state != UNKNOWN;
    let (of_page, pictured) = match is_known {
        false => (None, None),
        true => {
            let request = LinksRequest { url: explained.url.clone() };
            let links = server.ask_all(async |mut client| client.links(request).await);
            let (links, pictured) = tokio::join!(links, page::pictures(&server, &explained.url));
            (Some(links), pictured)
        }
    };
    let url = CanonicalUrl::from_canonical(&explained.url);
    let body = html! {
        (form)
        @if let Some(url) = &url {
            (links::elsewhere(url))
            @if is_known {
                (crate::page::elsewhere(url))
                @if let Some((at, pictures)) = &pictured { (crate::page::shown(url, at, pictures)) }
                (timeline(&explained).of(url))
            }
        }
        div.scroll role="region" aria-label="Story" tabindex="0" { pre.story { (links::told(&text(&explained))) } }
        @match &of_page {
            None => { p { "The crawl does not know the URL, so it knows no links of it." } }
            Some(Err(failure)) => { p { "Its links are not known now: " (Printable(failure.text())) } }
            Some(Ok(ends)) => {
                (listed(Links::of(Way::From, &fields), &explained.url, &ends.from, |link| &link.target))
                (listed(Links::of(Way::To, &fields), &explained.url, &ends.to, |link| &link.source))
            }
        }
    };
    Ok(frame::page(&explained.url, "/url", &body))
}

fn timeline(explained: &ExplainResponse) -> Timeline {
    let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let event = |past: &PastVisit| Event {
        at: past.at.clone(),
        round: past.round,
        outcome: past.outcome.clone(),
        status: u16::try_from(past.status).ok().filter(|status| *status > 0),
        change: given(&past.change),
    };
    // A server of an earlier version tells neither.
    let found =
        given(&explained.via).map(|via| Found { depth: Some(explained.depth), via, on: given(&explained.found_on) });
    Timeline {
        found,
        left_out: explained.visits_before,
        visits: explained.visits.iter().map(event).collect(),
        changes: explained.changes.iter().map(|Changed { at, change }| format!("{change}, {at}")).collect(),
    }
}

fn listed(mut links: Links, url: &str, all: &[Link], end: fn(&Link) -> &str) -> Markup {
    for link in all {
        links.add(end(link), Some(&link.text[..]).filter(|text| !text.is_empty()), &link.kind);
    }
    links.list(url)
}
