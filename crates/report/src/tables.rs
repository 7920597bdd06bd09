//! The statistics as tables, which text and page show alike.

use ask::freshness::{Freshness, Rate};
use model::Limit;
use printable::{Printable, counted};
use serde::Serialize;
use serde_json::{Value, json};

use crate::behind::{self, Counted};
use crate::statistics::{Named, Ranked, Statistics};
use crate::{Both, FilledField, RenderedPages};

/// A table.
#[derive(Debug, Serialize)]
pub struct Table {
    /// Its name in the page.
    pub id: &'static str,
    /// What is above it.
    pub title: &'static str,
    /// What its numbers mean, where the title does not say it.
    pub note: &'static str,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Strings, numbers, or null, as the columns say.
    pub rows: Vec<Vec<Value>>,
    /// Rows there are, of which these are the first.
    pub total: u64,
    /// The URLs that the number in a column of a row counts, or why there is no list of them.
    #[serde(skip)]
    pub behind: fn(&[Value], usize) -> Counted,
}

/// A column.
#[derive(Debug, Serialize)]
pub struct Column {
    /// Its name.
    pub label: &'static str,
    /// How its values are shown.
    pub kind: Kind,
}

/// How a value is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// As it is.
    Text,
    /// As the URL that it is.
    Url,
    /// A count, or a mean where it is no whole number.
    Number,
    /// A size.
    Bytes,
    /// A time.
    Milliseconds,
    /// A share of 1.
    Share,
}

use Kind::{Bytes, Milliseconds, Number, Share, Text, Url};

/// All tables that have something to show, in the order of the report.
#[must_use]
pub fn tables(statistics: &Statistics) -> Vec<Table> {
    let Statistics { images, links, .. } = statistics;
    let all = [
        Some(overview(statistics)),
        Some(sites(statistics)),
        Some(Table { behind: behind::state, ..named("types", "Pages by type", "", "type", &statistics.types) }),
        Some(Table {
            behind: behind::state,
            ..named("errors-by-kind", "Errors by kind", "", "kind", &statistics.errors_by_kind)
        }),
        Some(errors_by_site(statistics)),
        Some(sites_in_trouble(statistics)),
        Some(disallowed_by_site(statistics)),
        Some(limits(statistics)),
        Some(Table {
            behind: behind::kinds,
            ..named(
                "binary-by-type",
                "Binary files by type",
                "those that repeat another among them",
                "type",
                &statistics.binary_by_type,
            )
        }),
        images.as_ref().map(images_table),
        links.as_ref().map(links_table),
        links.as_ref().map(most_linked),
        links.as_ref().map(most_linking),
        Some(most_copied(statistics)),
        statistics.duplicates.near.as_ref().map(most_resembled),
        Some(items(statistics)),
        Some(rendering(statistics)),
        Some(Table {
            behind: behind::status,
            ..named("status-codes", "Status codes", "", "status", &statistics.status_codes)
        }),
        Some(Table {
            behind: behind::content_type,
            ..named(
                "content-types",
                "Content types",
                "as declared by the servers",
                "content type",
                &statistics.content_types,
            )
        }),
        Some(depths(statistics)),
        Some(slowest_sites(statistics)),
        statistics.freshness.as_ref().map(freshness),
        Some(largest(statistics)),
    ];
    all.into_iter().flatten().filter(|table| !table.rows.is_empty()).collect()
}

const NAMES: [&str; 2] = ["seed sites", "all sites"];

fn columns<const N: usize>(columns: [(&'static str, Kind); N]) -> Vec<Column> {
    columns.into_iter().map(|(label, kind)| Column { label, kind }).collect()
}

/// A table of things counted for the seed sites and for all sites.
fn measures(id: &'static str, title: &'static str, note: &'static str, rows: Vec<Vec<Value>>) -> Table {
    let columns = columns([("measure", Text), (NAMES[0], Number), (NAMES[1], Number)]);
    Table { id, title, note, columns, total: rows.len() as u64, rows, behind: behind::sum }
}

fn measure(name: &str, value: Both<impl Serialize>) -> Vec<Value> {
    vec![json!(name), json!(value.seed_sites), json!(value.all_sites)]
}

fn named(id: &'static str, title: &'static str, note: &'static str, what: &'static str, list: &Ranked<Named>) -> Table {
    let columns = columns([(what, Text), (NAMES[0], Number), (NAMES[1], Number)]);
    let rows = list.rows.iter().map(|row| measure(&shown(&row.name), row.count)).collect();
    Table { id, title, note, columns, rows, total: list.total, behind: behind::sum }
}

fn items(statistics: &Statistics) -> Table {
    let list = &statistics.items;
    let columns = columns([
        ("table", Text),
        ("field", Text),
        ("rows", Number),
        ("filled", Share),
        ("at the visit before", Share),
        ("pages without rows by now", Number),
        ("pages gone", Number),
    ]);
    let rows = list.rows.iter().map(|row| {
        let FilledField { table, field, rows, filled, filled_before, pages_lost, pages_gone } = row;
        let numbers = [json!(rows), json!(filled), json!(filled_before), json!(pages_lost), json!(pages_gone)];
        [json!(shown(table)), json!(shown(field))].into_iter().chain(numbers).collect()
    });
    let note =
        "rows as of now, and the share of them that has a value; of the pages of the last round what they had before";
    let (title, rows, behind) = ("Items taken out of pages", rows.collect(), behind::items);
    Table { id: "items", title, note, columns, rows, total: list.total, behind }
}

fn limits(statistics: &Statistics) -> Table {
    let list = &statistics.limits;
    let columns = columns([("limit", Text), ("what was left out", Text), (NAMES[0], Number), (NAMES[1], Number)]);
    let meaning = |name: &str| Limit::ALL.iter().find(|limit| limit.as_str() == name).map(|limit| limit.meaning());
    let rows = list.rows.iter().map(|Named { name, count }| {
        vec![json!(name), json!(meaning(name)), json!(count.seed_sites), json!(count.all_sites)]
    });
    let (rows, behind) = (rows.collect(), behind::limit);
    Table { id: "limits", title: "Limits reached", note: "", columns, rows, total: list.total, behind }
}

/// The whole crawl, then its sites, then parts of them.
fn freshness(freshness: &Freshness) -> Table {
    let columns = columns([
        ("pages of", Text),
        ("pages read", Number),
        ("as on the web", Share),
        ("days between changes", Number),
        ("visits again", Number),
        ("with a change", Share),
    ]);
    let share = |changes: u64, visits: u64| (visits > 0).then(|| changes as f64 / visits as f64);
    let rates = freshness.sites.iter().chain(&freshness.paths).map(|rate| {
        let Rate { of, pages, days_between_changes, fresh, visits_again, changes } = rate;
        let of = shown(of);
        let with_change = share(*changes, *visits_again);
        vec![
            json!(of),
            json!(pages),
            json!(fresh),
            json!(days_between_changes),
            json!(visits_again),
            json!(with_change),
        ]
    });
    let Freshness { pages, read, fresh, visits_again, .. } = freshness;
    let with_change = freshness.visit_yield();
    let crawl = if read < pages { format!("the crawl ({})", counted(*pages, "page")) } else { "the crawl".to_owned() };
    let whole = vec![json!(crawl), json!(read), json!(fresh), Value::Null, json!(visits_again), json!(with_change)];
    let rows: Vec<Vec<Value>> = std::iter::once(whole).chain(rates).collect();
    let note = "estimated from the visits so far";
    let (title, total, behind) = ("Freshness and change rates", rows.len() as u64, behind::measured);
    Table { id: "freshness", title, note, columns, rows, total, behind }
}

/// A text from the web without anything that a terminal would obey or that reads backwards.
fn shown(text: &str) -> String {
    Printable(text).to_string()
}

fn ranked<T, const N: usize>(
    (id, title, note): (&'static str, &'static str, &'static str),
    titles: [(&'static str, Kind); N],
    list: &Ranked<T>,
    row: impl Fn(&T) -> [Value; N],
) -> Table {
    let rows = list.rows.iter().map(|item| row(item).to_vec()).collect();
    Table { id, title, note, columns: columns(titles), rows, total: list.total, behind: behind::measured }
}

fn overview(statistics: &Statistics) -> Table {
    let overview = &statistics.overview;
    let mut rows = vec![
        measure("sites", overview.sites),
        measure("web pages (URLs found)", overview.pages),
        measure("fetched", overview.fetched),
        measure("HTML pages", overview.html_pages),
        measure("duplicates", overview.duplicates),
    ];
    if let Some(near) = &statistics.duplicates.near {
        rows.push(measure("near duplicates", near.near));
    }
    rows.push(measure("binary files", overview.binary_files));
    for kind in crate::statistics::DOCUMENT_KINDS {
        let count = statistics.binary_by_type.rows.iter().find(|row| row.name == kind);
        rows.push(measure(&format!("{kind} documents"), count.map(|row| row.count).unwrap_or_default()));
    }
    if let Some(images) = &statistics.images {
        rows.push(measure("images", images.images));
        rows.push(measure("images a page, on average", images.mean_per_page));
    }
    if let Some(links) = &statistics.links {
        rows.push(measure("links", links.links));
        rows.push(measure("links a page, on average", links.mean_per_page));
    }
    rows.extend([
        measure("redirects", overview.redirects),
        measure("errors", overview.errors),
        measure("disallowed by robots.txt", overview.disallowed),
        measure("still in the frontier", overview.frontier),
        measure("payload bytes received", overview.bytes),
    ]);
    if overview.lost.all_sites > 0 {
        rows.push(measure("lost by the archive (argiope check)", overview.lost));
    }
    let note = "seed sites are those that a seed lies on";
    Table { behind: behind::measure, ..measures("overview", "The crawl at a glance", note, rows) }
}

fn sites(statistics: &Statistics) -> Table {
    let titles = [
        ("site", Text),
        ("seed", Text),
        ("pages", Number),
        ("HTML", Number),
        ("binary", Number),
        ("duplicates", Number),
        ("errors", Number),
        ("frontier", Number),
    ];
    let table = ranked(("sites", "Pages by site", ""), titles, &statistics.sites, |row| {
        [
            json!(shown(&row.site)),
            json!(if row.is_seed_site { "yes" } else { "" }),
            json!(row.pages),
            json!(row.html_pages),
            json!(row.binary_files),
            json!(row.duplicates),
            json!(row.errors),
            json!(row.frontier),
        ]
    });
    Table { behind: behind::pages_of_site, ..table }
}

fn errors_by_site(statistics: &Statistics) -> Table {
    let names = ("errors-by-site", "Errors by site", "the share is that of the pages that have ended");
    let titles = [("site", Text), ("errors", Number), ("share", Share)];
    let table = ranked(names, titles, &statistics.errors_by_site, |row| {
        [json!(shown(&row.site)), json!(row.errors), json!(row.share)]
    });
    Table { behind: behind::errors_of_site, ..table }
}

fn disallowed_by_site(statistics: &Statistics) -> Table {
    let titles = [("site", Text), ("pages", Number)];
    let names = ("disallowed-by-site", "Disallowed by site", "what robots.txt forbids");
    let table =
        ranked(names, titles, &statistics.disallowed_by_site, |row| [json!(shown(&row.site)), json!(row.pages)]);
    Table { behind: behind::disallowed_of_site, ..table }
}

fn images_table(images: &crate::Images) -> Table {
    let rows = vec![
        measure("non-error HTML pages", images.html_pages),
        measure("number of images", images.images),
        measure("average images per non-error HTML page", images.mean_per_page),
        measure("most images on one page", images.most_on_a_page),
        measure("more choices in srcset", images.srcset_candidates),
    ];
    measures("images", "Images", "of img elements, with repeats", rows)
}

fn links_table(links: &crate::Links) -> Table {
    let rows = vec![
        measure("non-error HTML pages", links.html_pages),
        measure("number of links", links.links),
        measure("average links per non-error HTML page", links.mean_per_page),
        measure("most links from one page", links.most_from_a_page),
        measure("most links to one page", links.most_to_a_page),
        measure("links with repeats", links.with_repeats),
    ];
    measures("links", "Links", "from a page to another URL, each counted once a page", rows)
}

fn most_linked(links: &crate::Links) -> Table {
    let titles = [("linked by", Number), ("page", Url), ("title", Text), ("type", Text)];
    let table = ranked(("most-linked", "Most linked pages", ""), titles, &links.most_linked, |row| {
        [json!(row.links), json!(row.url), json!(row.title.as_deref().map(shown)), json!(row.outcome)]
    });
    Table { behind: behind::links_to, ..table }
}

fn most_linking(links: &crate::Links) -> Table {
    let titles = [("links", Number), ("page", Url)];
    let table = ranked(("most-linking", "Pages with most links", ""), titles, &links.most_linking, |row| {
        [json!(row.count), json!(row.url)]
    });
    Table { behind: behind::links_from, ..table }
}

fn most_copied(statistics: &Statistics) -> Table {
    let titles = [("duplicates", Number), ("first seen as", Url)];
    let table = ranked(
        ("duplicates", "Duplicates", "the same bytes under other URLs"),
        titles,
        &statistics.duplicates.most_copied,
        |row| [json!(row.copies), json!(row.url)],
    );
    Table { behind: behind::copies, ..table }
}

fn most_resembled(near: &crate::NearDuplicates) -> Table {
    let titles = [("near duplicates", Number), ("page", Url)];
    let about = "almost the same text as another page";
    let table = ranked(("near-duplicates", "Near duplicates", about), titles, &near.most_resembled, |row| {
        [json!(row.count), json!(row.url)]
    });
    Table { behind: behind::near, ..table }
}

fn rendering(statistics: &Statistics) -> Table {
    let columns = columns([
        ("because of", Text),
        ("pages", Number),
        ("failed", Number),
        ("links", Number),
        ("characters", Number),
    ]);
    let row = |pages: &RenderedPages| {
        let RenderedPages { evidence, pages, failed, links, text_chars } = pages;
        vec![json!(shown(evidence)), json!(pages), json!(failed), json!(links), json!(text_chars)]
    };
    let rows: Vec<Vec<Value>> = statistics.rendering.iter().map(row).collect();
    let note = "links and characters are those that only the browser shows";
    let (title, total, behind) = ("Pages shown in a browser", rows.len() as u64, behind::rendered);
    Table { id: "rendering", title, note, columns, rows, total, behind }
}

fn depths(statistics: &Statistics) -> Table {
    let list = Ranked { total: statistics.depths.len() as u64, rows: statistics.depths.clone() };
    Table { behind: behind::depth, ..named("depths", "Pages by depth", "links from the nearest seed", "depth", &list) }
}

fn sites_in_trouble(statistics: &Statistics) -> Table {
    let titles = [("site", Text), ("asked again from", Text), ("fetched", Number), ("what failed last", Text)];
    let note = "their URLs stay open";
    let table = ranked(("in-trouble", "Sites in trouble", note), titles, &statistics.sites_in_trouble, |row| {
        [json!(shown(&row.site)), json!(row.until), json!(row.fetched), json!(shown(&row.reason))]
    });
    Table { behind: behind::visits, ..table }
}

fn slowest_sites(statistics: &Statistics) -> Table {
    let titles = [("site", Text), ("last answer took", Milliseconds), ("fetched", Number), ("given up", Text)];
    let table = ranked(("slowest-sites", "Slowest sites", ""), titles, &statistics.slowest_sites, |row| {
        [json!(shown(&row.site)), json!(row.response_ms), json!(row.fetched), json!(row.given_up.as_deref().map(shown))]
    });
    Table { behind: behind::slowest, ..table }
}

fn largest(statistics: &Statistics) -> Table {
    let titles = [("size", Bytes), ("document", Url), ("content type", Text)];
    ranked(("largest", "Largest documents", ""), titles, &statistics.largest, |row| {
        [json!(row.bytes), json!(row.url), json!(row.content_type.as_deref().map(shown))]
    })
}
