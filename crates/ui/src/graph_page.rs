//! The link graph: sites or pages in a picture, the way from page to page, and the links between two domains.

use std::str::FromStr;
use std::sync::Arc;

use ask::QueriedCrawl;
use ask::overlap::{Overlap, overlap};
use ask::path::{Path, path};
use ask::picture::{Drawn, Picture, VERTICES_MAX};
use ask::rank::{RankOf, Ranked, Ranking, digits};
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use crawl::standing::Standing;
use graph::{Crew, Definition, Grouping};
use maud::{Markup, html};
use printable::{Printable, counted};
use settings::usage;

use crate::assets::GRAPH_SCRIPT;
use crate::awaited::{Turn, made_in_time};
use crate::base::to;
use crate::failure::Failure;
use crate::kept::Kept;
use crate::query::{Fields, with_fields};
use crate::{Ui, blocking, frame, links};

/// Vertices in the list below the picture.
const LISTED: usize = 100;
/// Pages with the highest ranks that are shown, unless more are asked for, and at most.
const RANKED_SHOWN: usize = 100;
const RANKED_MAX: usize = 10_000;

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Sites.
    Sites,
    /// Registrable domains.
    Domains,
    /// Pages.
    Pages,
    /// The hundred most popular pages.
    Popular,
}

impl Shown {
    pub(crate) const ALL: [(Shown, &'static str, &'static str); 4] = [
        (Shown::Sites, "sites", "Sites"),
        (Shown::Domains, "domains", "Domains"),
        (Shown::Pages, "pages", "Pages"),
        (Shown::Popular, "popular", "The 100 most popular pages"),
    ];

    /// What has ranks, pages first: a page alone is asked for by its URL.
    const RANKED: [(Shown, &'static str, &'static str); 3] = [Shown::ALL[2], Shown::ALL[0], Shown::ALL[1]];

    /// What a request asks for.
    pub(crate) fn asked(query: Option<String>) -> anyhow::Result<Self> {
        Fields::parse(&query.unwrap_or_default()).get("of").parse()
    }

    fn word(self) -> &'static str {
        Shown::ALL.iter().find(|(shown, ..)| *shown == self).map_or("", |(_, word, _)| word)
    }

    fn name(self) -> &'static str {
        Shown::ALL.iter().find(|(shown, ..)| *shown == self).map_or("", |(_, _, name)| name)
    }

    fn grouping(self) -> Option<Grouping> {
        match self {
            Shown::Sites => Some(Grouping::Site),
            Shown::Domains => Some(Grouping::Domain),
            Shown::Pages | Shown::Popular => None,
        }
    }

    /// What a server calls its vertices.
    pub(crate) fn vertices(self) -> &'static str {
        match self {
            Shown::Sites | Shown::Domains | Shown::Pages => self.word(),
            Shown::Popular => Shown::Pages.word(),
        }
    }

    pub(crate) fn vertices_max(self) -> usize {
        if self == Shown::Popular { LISTED } else { VERTICES_MAX }
    }
}

impl FromStr for Shown {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let text = if text.is_empty() { "sites" } else { text };
        let found = Shown::ALL.iter().find(|(_, word, _)| *word == text).map(|(shown, ..)| *shown);
        found.ok_or_else(|| usage(format!("`{text}` is no graph; possible are sites, domains, pages, popular")))
    }
}

/// The last picture of each kind.
#[derive(Default)]
pub(crate) struct Pictures([OfKind; Shown::ALL.len()]);

#[derive(Default)]
struct OfKind {
    kept: Kept<Picture>,
    /// Held while it is drawn.
    drawing: Turn,
}

impl Ui {
    /// The picture; `None` while it is being drawn. It is drawn to its end then, for the next request.
    async fn picture(&self, shown: Shown) -> Result<Option<Arc<Picture>>, Failure> {
        let (ui, pictures) = (self.clone(), self.pictures.clone());
        let draw = move |crawl: &Standing| {
            let opened = crawl.now()?;
            pictures.0[shown as usize].kept.answer(crawl, &opened, |opened| {
                Picture::of(&QueriedCrawl::of(opened)?, shown.grouping(), shown.vertices_max())
            })
        };
        made_in_time(&self.pictures.0[shown as usize].drawing, async move { ui.large(&ui.whole, draw).await }).await
    }
}

/// What there is to see while the picture is drawn.
fn being_drawn(shown: Shown) -> Markup {
    let link = with_fields("/graph", &[("of", shown.word())]);
    html! {
        // The script opens this page again until the picture is there.
        div #awaited data-reread=(link) {
            p role="status" { "The picture is being drawn. A large graph takes some seconds." }
            p { a href=(link) { "Look again" } }
        }
        (forms("", "", "", ""))
    }
}

/// Answers with the picture, the vertices of highest rank, and the forms for ways and overlaps.
pub(crate) async fn show(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let shown = Shown::asked(query)?;
    Ok(page(shown, ui.picture(shown).await?.as_deref()))
}

/// The page of a picture, or of one that is being drawn.
pub(crate) fn page(shown: Shown, picture: Option<&Picture>) -> Html<String> {
    let Some(Picture { vertices, links, communities, left_out }) = picture else {
        return frame::page("Graph", "/graph", &being_drawn(shown));
    };
    let [vertices_left, links_left] = left_out;
    let body = html! {
        div.actions role="group" aria-label="What is drawn" {
            @for (other, word, name) in Shown::ALL {
                @if other == shown { strong { (name) } } @else { a href=(with_fields("/graph", &[("of", word)])) { (name) } }
                " "
            }
        }
        p {
            (counted(vertices.len() as u64, "point")) ", " (counted(links.len() as u64, "link")) ", "
            "communities: " (communities) "."
            @if vertices_left + links_left > 0 {
                " Not drawn: " (vertices_left) " points of lower rank and " (links_left) " links."
            }
            " A point is as large as its PageRank is high. Points of one colour link to each other more than chance would make."
        }
        figure.graph {
            canvas #graph width="1200" height="800" tabindex="0" role="img"
                data-story=(to("/url"))
                data-src=(with_fields("/graph.json", &[("of", shown.word())]))
                aria-label="The links as a picture. Arrow keys move it, plus and minus zoom. The list below has the points of highest rank." {}
            figcaption { p #pointed role="status" { "Point at something. Drag to move, turn the wheel to zoom, click to read." } }
        }
        script src=(GRAPH_SCRIPT.link()) defer {}
        (forms("", "", "", ""))
        section {
            h2 { "By PageRank " span.count { (vertices.len().min(LISTED)) } }
            div.rows role="region" aria-label="By PageRank" tabindex="0" {
                table {
                    thead { tr { th.number { "Place" } th { "Name" } th.number { "PageRank" } th.number { "Linked by" } th.number { "Community" } } }
                    tbody { @for (place, drawn) in (1..).zip(vertices.iter().take(LISTED)) { (row(place, drawn)) } }
                }
            }
        }
    };
    frame::page("Graph", "/graph", &body)
}

fn row(place: usize, Drawn { name, rank, linked_by, community, .. }: &Drawn) -> Markup {
    html! {
        tr {
            td.number { (place) }
            td { (links::story(name)) }
            td.number { (format!("{rank:.6}")) }
            td.number { (linked_by) }
            td.number { (community + 1) }
        }
    }
}

/// What the fields of the forms are called.
pub(crate) const FROM: &str = "From page";
pub(crate) const TO: &str = "To page";
pub(crate) const ONE: &str = "A page of one";
pub(crate) const OTHER: &str = "A page of the other";

/// The questions about pages of the graph, as they were asked.
pub(crate) fn forms(start: &str, end: &str, one: &str, other: &str) -> Markup {
    let field = |label: &str, name: &str, value: &str| {
        html! { label { (label) input name=(name) value=(value) required placeholder="https://example.org/"; } }
    };
    html! {
        div.forms {
            form action=(to("/graph/path")) {
                h2 { "The shortest way" }
                (field(FROM, "from", start)) (field(TO, "to", end))
                button { "Find it" }
            }
            form action=(to("/graph/rank")) {
                h2 { "PageRank" }
                label { "Page; without one, those with the highest ranks" input name="u" placeholder="https://example.org/"; }
                label { "Of" select name="by" {
                    @for (_, word, name) in &Shown::RANKED { option value=(word) { (name) } }
                } }
                label.tick { input type="checkbox" name="normalized" value="yes"; "ranks that sum to 1" }
                button { "Show it" }
            }
            form action=(to("/graph/overlap")) {
                h2 { "Links between two domains" }
                (field(ONE, "one", one)) (field(OTHER, "other", other))
                button { "Show them" }
            }
        }
    }
}

/// Answers with the picture for the script: places, sizes and colours of the points, and links.
pub(crate) async fn data(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    let shown = Shown::asked(query)?;
    json(ui.picture(shown).await?).await
}

/// A picture for the script. While it is being drawn the answer is 202 without a body, which a browser does not report as an error.
pub(crate) async fn json(picture: Option<Arc<Picture>>) -> Result<Response, Failure> {
    let Some(picture) = picture else { return Ok(StatusCode::ACCEPTED.into_response()) };
    let json = blocking(move || Ok(serde_json::to_vec(&*picture)?)).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

/// Answers with the shortest way from page to page.
pub(crate) async fn way(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let (from, to) = (fields.needed("from", FROM)?, fields.needed("to", TO)?);
    let ends = [from.clone(), to.clone()];
    let find = move |crawl: &Standing| {
        let crawl = QueriedCrawl::of(crawl.now()?.as_ref())?;
        let graph = crawl.graph()?;
        let [(_, from), (_, to)] = [crawl.vertex(&graph, &ends[0])?, crawl.vertex(&graph, &ends[1])?];
        path(&crawl, &graph, from, to)
    };
    let found = ui.large(&ui.large, find).await?;
    let body = html! {
        (forms(&from, &to, "", ""))
        @match found {
            None => { p role="status" { "No links lead there, as far as the crawl has seen." } }
            Some(Path { links: count, urls, texts }) => {
                p role="status" { (counted(count as u64, "link")) "." }
                ol.links {
                    @for (at, url) in urls.iter().enumerate() {
                        li {
                            (links::story(url))
                            @if let Some(text) = texts.get(at).and_then(Option::as_deref) { " “" (Printable(text)) "”" }
                        }
                    }
                }
            }
        }
    };
    Ok(frame::page("The shortest way", "/graph", &body))
}

/// The ranks that are asked for.
#[derive(Clone)]
pub(crate) struct AskedRanks {
    /// The page; the pages with the highest ranks if there is none.
    pub(crate) url: Option<String>,
    /// So many of those.
    pub(crate) top: usize,
    /// Pages, or sites or domains by the links between them.
    pub(crate) by: Shown,
    pub(crate) is_normalized: bool,
}

impl AskedRanks {
    pub(crate) fn of(query: Option<String>) -> anyhow::Result<Self> {
        let fields = Fields::parse(&query.unwrap_or_default());
        let url = Some(fields.get("u").to_owned()).filter(|url| !url.is_empty());
        let word = Some(fields.get("by")).filter(|word| !word.is_empty()).unwrap_or(Shown::Pages.word());
        let by = Shown::RANKED.iter().find(|(_, other, _)| *other == word).map(|(by, ..)| *by);
        let by = by.ok_or_else(|| usage(format!("`{word}` has no ranks; possible are pages, sites, domains")))?;
        if url.is_some() && by != Shown::Pages {
            return Err(usage("the rank of one URL is that of a page"));
        }
        let (top, is_normalized) = (fields.limit(RANKED_SHOWN, RANKED_MAX), !fields.get("normalized").is_empty());
        Ok(AskedRanks { url, top, by, is_normalized })
    }

    /// One of what has ranks.
    fn noun(&self) -> &'static str {
        match self.by {
            Shown::Sites => "site",
            Shown::Domains => "domain",
            Shown::Pages | Shown::Popular => "URL",
        }
    }

    /// The page with ranks of so many pages and links: place, rank and URL of each row. Without a place it was not visited.
    pub(crate) fn shown(&self, [pages, edges]: [u64; 2], rows: &[(Option<u64>, f64, String)]) -> Html<String> {
        let normalized = if self.is_normalized { "yes" } else { "" };
        let all = if self.url.is_some() { rows.len() as u64 } else { pages };
        let body = html! {
            (forms("", "", "", ""))
            p role="status" {
                "PageRank of " (counted(pages, self.noun())) " by " (counted(edges, "link"))
                @if self.is_normalized { ". The ranks of all sum to 1" }
                "."
            }
            div.rows role="region" aria-label="By PageRank" tabindex="0" {
                table {
                    thead { tr { th.number { "Place" } th { @if self.by == Shown::Pages { "URL" } @else { (self.by.name()) } } th.number { "PageRank" } } }
                    tbody {
                        @for (place, rank, url) in rows {
                            tr {
                                td.number { @if let Some(place) = place { (place) } @else { "not visited" } }
                                td { @if self.by == Shown::Pages { (links::story(url)) } @else { (Printable(url)) } }
                                td.number { (digits(*rank)) }
                            }
                        }
                    }
                }
            }
            (links::more("/graph/rank", &[("by", self.by.word()), ("normalized", normalized)], rows.len(), all, RANKED_MAX))
        };
        frame::page("PageRank", "/graph", &body)
    }
}

/// What was found of ranks.
enum Found {
    Of(RankOf),
    Highest(Ranking),
}

/// Answers with the rank of a page among the visited pages, or with the pages of the highest ranks.
pub(crate) async fn rank(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let asked = AskedRanks::of(query)?;
    let AskedRanks { url, top, by, is_normalized } = asked.clone();
    let definition = if is_normalized { Definition::Normalized } else { Definition::Original };
    let find = move |crawl: &Standing| {
        let crawl = QueriedCrawl::of(crawl.now()?.as_ref())?;
        let ranked = Ranked::of(&crawl, crawl.graph_of_visited()?, by.grouping(), definition, Crew::threads(1))?;
        Ok(match &url {
            Some(url) => Found::Of(ranked.rank_of(url).map_err(|error| usage(format!("{error:#}")))?),
            None => Found::Highest(ranked.top(top)?),
        })
    };
    Ok(match ui.large(&ui.large, find).await? {
        Found::Of(found) => frame::page("PageRank of a page", "/graph", &rank_of(&found)),
        Found::Highest(Ranking { vertices, edges, rows, .. }) => {
            let rows: Vec<_> = rows.into_iter().map(|row| (Some(row.place as u64), row.rank, row.name)).collect();
            asked.shown([vertices as u64, edges as u64], &rows)
        }
    })
}

/// The rank of a page in words.
fn rank_of(RankOf { url, rank, place, of, why_none }: &RankOf) -> Markup {
    html! {
        (forms("", "", "", ""))
        p { (links::story(url.as_str())) }
        p role="status" {
            @if let Some(why) = why_none { (Printable(why)) "." } @else {
                "PageRank " (digits(*rank))
                @if let Some(place) = place { ", place " (place) " of " (of) }
                "."
            }
        }
    }
}

/// The fields of a request for links between two domains, one for each direction, as [`links::Between`] has them.
const WAYS: [&str; 2] = ["forth", "back"];

/// Answers with the links between the domains of two pages.
pub(crate) async fn between(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let (one, other) = (fields.needed("one", ONE)?, fields.needed("other", OTHER)?);
    let ends = [one.clone(), other.clone()];
    let find = move |crawl: &Standing| {
        let crawl = QueriedCrawl::of(crawl.now()?.as_ref())?;
        let graph = crawl.graph()?;
        let [(one, _), (other, _)] = [crawl.vertex(&graph, &ends[0])?, crawl.vertex(&graph, &ends[1])?];
        overlap(&crawl, graph, [&one, &other], true, Crew::threads(1)).map_err(|error| usage(format!("{error:#}")))
    };
    let Overlap { overlap, domains, reachable, edges } = ui.large(&ui.large, find).await?;
    let body = html! {
        (forms("", "", &one, &other))
        p role="status" { "Overlap: " (counted(overlap as u64, "link")) "." }
        @for (from, to) in [(0, 1), (1, 0)] {
            section {
                h2 { (domains[from]) " → " (domains[to]) " " span.count { (edges[from].len()) } }
                p.count { "from " (counted(reachable[from], "page")) " in reach" }
                (links::Between { field: WAYS[from], pages: [&one, &other], behind: fields.behind(WAYS[from]) }
                    .list(&edges[from], |edge| [&edge.source, &edge.target]))
            }
        }
    };
    Ok(frame::page("Links between two domains", "/graph", &body))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use crawl::{CrawlDir, Options};
    use service::changes::Changes;
    use tokio::sync::{Semaphore, oneshot};

    use super::*;
    use crate::{TURNS, report_page};

    #[tokio::test]
    async fn a_report_that_is_being_counted_keeps_no_picture_waiting() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = CrawlDir::at(root.path());
        dir.create().expect("made");
        dir.write_options(&Options::default()).expect("written");
        drop(dir.open_store(&Options::default()).expect("a state"));
        let turns = TURNS.map(|max| Arc::new(Semaphore::new(max)));
        let ui = Ui::new(root.path().to_owned(), &turns, &Changes::default());
        // One is counted until this test has looked; another request for it has its turn and waits.
        let (counts, is_counted) = oneshot::channel();
        let (end, ends) = sync_channel::<()>(1);
        let (statistics, crawl) = (ui.statistics.clone(), ui.crawl.clone());
        let counted = tokio::task::spawn_blocking(move || {
            let count = |_: &_| {
                let _ = (counts.send(()), ends.recv());
                anyhow::bail!("not counted")
            };
            statistics.answer(&crawl, &crawl.now().expect("a crawl"), count).is_err()
        });
        is_counted.await.expect("it is counted");
        let waiting = tokio::spawn(report_page::file(State(ui.clone())));
        while turns.iter().all(|turns| turns.available_permits() > 0) {
            tokio::task::yield_now().await;
        }
        let picture = ui.picture(Shown::Sites).await;
        assert!(!matches!(picture, Ok(None)), "it waits");
        drop(end);
        assert!(counted.await.expect("no panic"));
        waiting.await.expect("no panic").expect("a report");
    }
}
