//! The state of a URL and of its site, as `argiope client explain` tells it, and the links of the page.

use api::{ExplainRequest, Link, LinksRequest};
use axum::extract::{RawQuery, State};
use axum::response::Html;
use maud::{Markup, html};
use printable::Printable;
use weburl::CanonicalUrl;

use crate::failure::Failure;
use crate::query::{Fields, with_fields};
use crate::{frame, links};

use super::server::{Server, text};

/// Links shown in each direction; the others are counted.
const LINKS_SHOWN: usize = 200;
/// The state of a URL that the crawl does not know.
const UNKNOWN: &str = "unknown";

/// Answers with the story of `u`.
pub(super) async fn show(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let asked = Fields::parse(&query.unwrap_or_default()).get("u").to_owned();
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
            p.actions {
                a href=(url.as_str()) rel="noreferrer noopener" target="_blank" { "Open in the live web" }
                " · "
                a href=(with_fields("/urls", &[("site", &url.site().to_string())])) { "URLs of its site" }
            }
        }
        div.scroll role="region" aria-label="Story" tabindex="0" { pre.story { (links::told(&text(&explained))) } }
        @match &of_page {
            None => { p { "The crawl does not know the URL, so it knows no links of it." } }
            Some(Err(failure)) => { p { "Its links are not known now: " (Printable(failure.text())) } }
            Some(Ok(ends)) => {
                (list("Links from the page", &ends.from, |link| &link.target))
                (list("Links to the page", &ends.to, |link| &link.source))
            }
        }
    };
    Ok(frame::page("Explain", "/url", &body))
}

fn list(title: &str, all: &[Link], end: fn(&Link) -> &str) -> Markup {
    html! {
        section {
            h2 { (title) " " span.count { (all.len()) } }
            ul.links {
                @for link in all.iter().take(LINKS_SHOWN) {
                    li { (links::story(end(link))) @if !link.text.is_empty() { " “" (Printable(&link.text)) "”" } }
                }
            }
            @if all.len() > LINKS_SHOWN { p { "… " (all.len() - LINKS_SHOWN) " more" } }
        }
    }
}
