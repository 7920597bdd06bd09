//! The story of a URL or a site: its visits and changes on a timeline, what `argiope explain` tells, and the links of the page.

use ask::explain::{Crawl, Past, Story, UrlStory};
use ask::links::each_link;
use ask::page::{pictures, replay_of, visited};
use axum::extract::{RawQuery, State};
use axum::response::Html;
use crawl::standing::Standing;
use dataset::Layout;
use maud::html;
use model::{PictureKind, Visit};
use weburl::{CanonicalRules, CanonicalUrl, UrlKey};

use crate::base::to;
use crate::failure::Failure;
use crate::links::{self, Links, Way};
use crate::page;
use crate::query::Fields;
use crate::timeline::{Event, Found, Timeline, VISITS_SHOWN};
use crate::{Ui, frame};

/// The answer to a question about a URL, site or host.
struct Told {
    story: Story,
    /// The story in words.
    text: String,
    /// The URL, if it is of one.
    url: Option<CanonicalUrl>,
    /// The links from and to it, if there is a dataset.
    ends: Option<[Links; 2]>,
    /// Its last visit, with the pictures that it took.
    pictured: Option<(Visit, Vec<PictureKind>)>,
}

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
    let told = ui.large(&ui.large, move |crawl| tell(crawl, &fields)).await?;
    let body = html! {
        (form)
        @if let Some(url) = &told.url {
            (links::elsewhere(url))
            @if let Story::Url(story) = &told.story {
                @if story.known {
                    (page::elsewhere(url))
                    @if let Some((visit, pictures)) = &told.pictured { (page::shown(url, &visit.at.to_rfc3339(), pictures)) }
                    (timeline(story).of(url))
                }
            }
        }
        div.scroll role="region" aria-label="Story" tabindex="0" { pre.story { (links::told(&told.text)) } }
        @match &told.ends {
            Some([from, to]) => { @for links in [from, to] { @if let Some(url) = &told.url { (links.list(url.as_str())) } } }
            None if told.url.is_some() => { p { "The crawl has no dataset, so its links are not known." } }
            None => {}
        }
    };
    let title = told.url.as_ref().map_or(&asked[..], CanonicalUrl::as_str);
    Ok(frame::page(title, "/url", &body))
}

fn timeline(story: &UrlStory) -> Timeline {
    let left_out = story.visits.len().saturating_sub(VISITS_SHOWN);
    let event = |past: &Past| Event {
        at: past.at.clone(),
        round: past.round,
        outcome: past.outcome.to_owned(),
        status: past.status,
        change: past.change.map(str::to_owned),
    };
    let mut visits: Vec<Event> = story.visits.iter().skip(left_out).map(event).collect();
    // Of a single visit there is no list.
    if let (true, Some(at), Some(row)) = (story.visits.is_empty(), &story.at, &story.row) {
        let (at, round, outcome) = (at.clone(), row.round.unwrap_or(1), row.outcome.to_owned());
        visits.push(Event { at, round, outcome, status: row.status, change: None });
    }
    let found = story.found.last().map(|found| Found {
        depth: found.depth,
        via: found.via.to_owned(),
        on: story.found.iter().rev().nth(1).map(|from| from.url.clone()),
    });
    Timeline { found, left_out: left_out as u64, visits, changes: story.changes.clone() }
}

/// What there is to tell of `u`.
fn tell(crawl: &Standing, fields: &Fields) -> anyhow::Result<Told> {
    let opened = crawl.with_dataset()?;
    let asked = Crawl::of(&opened)?.in_short();
    let story = Story::of(&asked, fields.get("u"))?;
    let url = match &story {
        Story::Url(story) => story.url.as_deref().and_then(CanonicalUrl::from_canonical),
        Story::Host(_) => None,
    };
    let layout = Layout::at(opened.dir.dataset());
    let ends = match url.as_ref().filter(|_| layout.exists()) {
        Some(url) => {
            Some([links_of(&layout, url.key(), Way::From, fields)?, links_of(&layout, url.key(), Way::To, fields)?])
        }
        None => None,
    };
    let pictured = match (&story, &url) {
        (Story::Url(story), Some(url)) if story.known => {
            let entry = visited(opened.view(), || Ok(CanonicalRules::default()), url.as_str(), "")?;
            let pictures = pictures(&mut replay_of(&opened)?, &entry);
            entry.visit.map(|visit| (visit, pictures))
        }
        _ => None,
    };
    let text = story.to_text(asked.at());
    Ok(Told { story, text, url, ends, pictured })
}

/// The links of a page in one direction.
fn links_of(layout: &Layout, key: UrlKey, way: Way, fields: &Fields) -> anyhow::Result<Links> {
    let column = match way {
        Way::From => "source_key",
        Way::To => "target_key",
    };
    let mut links = Links::of(way, fields);
    each_link(layout, column, key, |link| {
        links.add(if way == Way::From { link.target } else { link.source }, link.text, link.kind);
        Ok(())
    })?;
    Ok(links)
}
