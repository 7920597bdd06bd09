//! The story of a URL or a site, as `argiope explain` tells it, and the links of the page.

use ask::explain::{Crawl, Story};
use ask::links::each_link;
use axum::extract::{RawQuery, State};
use axum::response::Html;
use crawl::standing::Standing;
use dataset::Layout;
use maud::html;
use weburl::{CanonicalUrl, UrlKey};

use crate::base::to;
use crate::failure::Failure;
use crate::links::{self, Links};
use crate::query::Fields;
use crate::{Ui, frame};

/// Answers with the story of `u`.
pub(crate) async fn show(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let asked = fields.get("u").to_owned();
    let form = html! {
        form.filter action=(to("/url")) {
            label { "URL, site or host" input name="u" value=(asked) required; }
            button { "Explain" }
        }
    };
    if asked.is_empty() {
        return Ok(frame::page("Explain", "/url", &form));
    }
    let given = asked.clone();
    let (text, url, ends) = ui.large(&ui.large, move |crawl| tell(crawl, &given)).await?;
    let body = html! {
        (form)
        @if let Some(url) = &url {
            (links::elsewhere(url))
        }
        div.scroll role="region" aria-label="Story" tabindex="0" { pre.story { (links::told(&text)) } }
        @match &ends {
            Some([from, to]) => { (from.list("Links from the page")) (to.list("Links to the page")) }
            None if url.is_some() => { p { "The crawl has no dataset, so its links are not known." } }
            None => {}
        }
    };
    Ok(frame::page("Explain", "/url", &body))
}

/// The story, the URL if it is of one, and the links from and to it if there is a dataset.
fn tell(crawl: &Standing, given: &str) -> anyhow::Result<(String, Option<CanonicalUrl>, Option<[Links; 2]>)> {
    let opened = crawl.with_dataset()?;
    let story = Story::of(&Crawl::new(&opened.dir, opened.view(), opened.live())?.in_short(), given)?;
    let url = match &story {
        Story::Url(story) => story.url.as_deref().and_then(CanonicalUrl::from_canonical),
        Story::Host(_) => None,
    };
    let layout = Layout::at(opened.dir.dataset());
    let ends = match url.as_ref().filter(|_| layout.exists()) {
        Some(url) => {
            let from = links_of(&layout, "source_key", url.key())?;
            Some([from, links_of(&layout, "target_key", url.key())?])
        }
        None => None,
    };
    Ok((story.to_text(crawl.root()), url, ends))
}

/// The links whose one end is a URL.
fn links_of(layout: &Layout, column: &'static str, key: UrlKey) -> anyhow::Result<Links> {
    let mut links = Links::default();
    each_link(layout, column, key, |link| {
        links.add(if column == "source_key" { link.target } else { link.source }, link.text);
        Ok(())
    })?;
    Ok(links)
}
