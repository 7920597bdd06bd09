//! The state of a URL and of its site, as `argiope client explain` tells it, and the links of the page.

use api::{ExplainRequest, Link, LinksRequest};
use axum::extract::{RawQuery, State};
use axum::response::Html;
use maud::{Markup, html};
use printable::Printable;
use weburl::CanonicalUrl;

use crate::failure::Failure;
use crate::frame;
use crate::links::{self, Links, Way};
use crate::query::Fields;

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
    let of_page = match explained.state.as_str() {
        UNKNOWN => None,
        _ => {
            let request = LinksRequest { url: explained.url.clone() };
            Some(server.ask_all(async |mut client| client.links(request).await).await)
        }
    };
    let url = CanonicalUrl::from_canonical(&explained.url);
    let body = html! {
        (form)
        @if let Some(url) = &url {
            (links::elsewhere(url))
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

fn listed(mut links: Links, url: &str, all: &[Link], end: fn(&Link) -> &str) -> Markup {
    for link in all {
        links.add(end(link), Some(&link.text[..]).filter(|text| !text.is_empty()));
    }
    links.list(url)
}
