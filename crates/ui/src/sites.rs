//! The sites of a crawl, in pages: in the order of their keys, states, names or pages, and by a part of their names.

use std::collections::BTreeSet;

use axum::extract::{RawQuery, State};
use axum::response::Html;
use crawl::opened::Opened;
use crawl::standing::Standing;
use crawl::trouble::is_spent;
use maud::{Markup, html};
use model::SiteRecord;
use printable::{Printable, counted};
use service::sortings::{Sortings, Stage};
use settings::site_name::SiteName;
use settings::usage;
use weburl::SiteKey;

use crate::base::to;
use crate::failure::Failure;
use crate::in_order::{busy, looking};
use crate::kept::Kept;
use crate::query::{Fields, with_fields};
use crate::sites_by_state::{Page, Troubled};
use crate::sites_sorted::{Asked, By, Sites};
use crate::{Ui, frame, links};

/// Sites on a page.
const SITES_ON_PAGE: usize = 100;

/// What is asked for.
#[derive(Clone)]
struct Query {
    by: By,
    /// A part of the names.
    name: String,
    after: Option<SiteKey>,
    /// So many sites of those that are sorted are before the page.
    behind: usize,
}

impl Query {
    /// # Errors
    /// There is no such order.
    fn of(fields: &Fields) -> anyhow::Result<Self> {
        let sort = fields.get("sort");
        let by = By::ALL.iter().find(|(_, word, _)| *word == sort).map(|(by, ..)| *by);
        let by = by.ok_or_else(|| usage(format!("`{sort}`: sites are sorted by state, name or pages, or not")))?;
        Ok(Query {
            by,
            name: fields.get("name").to_owned(),
            after: fields.get("after").parse().ok().map(SiteKey),
            behind: fields.get("behind").parse().unwrap_or_default(),
        })
    }

    fn link(&self, next: (&str, &str)) -> String {
        with_fields("/sites", &[("name", &self.name), ("sort", self.by.word()), next])
    }

    /// # Errors
    /// The crawl cannot be read.
    fn read(&self, crawl: &Standing, troubled: &Kept<Troubled>, sorted: &Sorted) -> anyhow::Result<Read> {
        let opened = crawl.now()?;
        let (view, options) = (opened.view(), opened.options()?);
        let hold = options.hold;
        let known = view.totals()?.sites;
        let held = hold.iter().flat_map(SiteName::keys).collect();
        let rows = match (self.by, self.name.is_empty()) {
            (By::Key, true) => {
                let sites = view.sites(self.after, SITES_ON_PAGE)?;
                let next = sites.last().filter(|_| sites.len() == SITES_ON_PAGE).map(|last| last.site.key());
                Rows::InOrder(Page { sites, next })
            }
            (By::State, true) => {
                let troubled = troubled.answer(crawl, &opened, |opened| Ok(Troubled::of(opened.view())?))?;
                Rows::InOrder(troubled.page(view, &held, self.after, SITES_ON_PAGE)?)
            }
            (by, _) => {
                // In the order of states alone, the question has the sites on hold.
                let held = if by == By::State { held } else { BTreeSet::new() };
                let asked = Asked { by, name: self.name.to_lowercase(), held };
                Rows::Sorted(sorted.of(&opened, &asked, self.behind > 0, || Sites::new(asked.clone()))?)
            }
        };
        Ok(Read { rows, rules: Rules { hold, pages_per_site_max: options.max_pages_per_site }, known })
    }
}

/// The tables in an order.
type Sorted = Sortings<Asked, SiteRecord, Opened>;

/// What was read.
struct Read {
    rows: Rows,
    rules: Rules,
    /// Sites that the crawl knows.
    known: u64,
}

/// What keeps sites from being asked, whatever they answer.
struct Rules {
    hold: Vec<SiteName>,
    pages_per_site_max: Option<u64>,
}

enum Rows {
    /// As the state has them, or those in trouble first.
    InOrder(Page),
    Sorted(Stage<SiteRecord>),
}

/// Answers with a page of sites.
pub(crate) async fn show(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let query = Query::of(&Fields::parse(&query.unwrap_or_default()))?;
    let (asked, troubled, sorted) = (query.clone(), ui.troubled.clone(), ui.sorted_sites.clone());
    let read = move |crawl: &Standing| asked.read(crawl, &troubled, &sorted);
    // The first in the order of states reads the records of all sites.
    let is_large = query.by == By::State && query.name.is_empty();
    let Read { rows, rules, known } = if is_large { ui.large(&ui.large, read).await? } else { ui.ask(read).await? };
    let body = html! {
        p { (counted(known, "site")) " known. The table has those that had a turn." }
        form.filter action=(to("/sites")) {
            label { "Name has" input type="text" name="name" value=(query.name) placeholder="example.org"; }
            label { "Order" select name="sort" {
                @for (by, word, label) in By::ALL { option value=(word) selected[by == query.by] { (label) } }
            } }
            button { "Show" }
        }
        @match rows {
            Rows::InOrder(Page { sites, next }) => {
                (table(&sites, &rules))
                @if let Some(next) = next { p { a rel="next" href=(query.link(("after", &next.0.to_string()))) { "Next page" } } }
            }
            Rows::Sorted(stage) => (sorted_rows(&query, &stage, &rules)),
        }
    };
    Ok(frame::page("Sites", "/sites", &body))
}

/// The sites of a page, as far as they are sorted.
fn sorted_rows(query: &Query, stage: &Stage<SiteRecord>, rules: &Rules) -> Markup {
    let first = match stage {
        Stage::Sorted(first) => first,
        Stage::Looking(so_far) => return looking(*so_far, "site", &query.link(("behind", &query.behind.to_string()))),
        Stage::Busy => return busy(),
    };
    let rest = first.rows.get(query.behind..).unwrap_or_default();
    let sites = &rest[..rest.len().min(SITES_ON_PAGE)];
    let end = query.behind + sites.len();
    html! {
        p.count role="status" {
            (counted(first.of, "site"))
            @if !sites.is_empty() && (sites.len() as u64) < first.of { ", " (query.behind + 1) " to " (end) }
        }
        (table(sites, rules))
        @if end < first.rows.len() {
            p { a rel="next" href=(query.link(("behind", &end.to_string()))) { "Next page" } }
        } @else if (first.rows.len() as u64) < first.of {
            p.note { "The first " (first.rows.len()) " can be seen. A part of the name finds others." }
        }
    }
}

fn table(sites: &[SiteRecord], rules: &Rules) -> Markup {
    html! {
        div.scroll role="region" aria-label="Sites" tabindex="0" {
            table {
                thead { tr { th { "Site" } th.number { "Pages" } th { "State" } th { "Address" } th { "URLs" } } }
                tbody {
                    @for site in sites {
                        @let name = site.site.to_string();
                        tr {
                            td { (links::story(&name)) }
                            td.number { (site.pages_fetched) }
                            td { (state(site, rules)) }
                            td { (site.address.map(|address| address.to_string()).unwrap_or_default()) }
                            td { a href=(with_fields("/urls", &[("site", &name)])) aria-label=(format!("list of the URLs of {name}")) { "list" } }
                        }
                    }
                }
            }
        }
    }
}

/// Whether the sites of a server are asked for in the order of their states.
///
/// # Errors
/// There is no such order.
pub(crate) fn is_by_state(fields: &Fields) -> Result<bool, Failure> {
    match fields.get("sort") {
        "" => Ok(false),
        state if state == By::State.word() => Ok(true),
        other => Err(usage(format!("`{other}`: sites are sorted by state, or not")).into()),
    }
}

/// The field of a link to a page in this order.
pub(crate) fn sort(by_state: bool) -> &'static str {
    if by_state { By::State.word() } else { "" }
}

/// The choice of an order; `usual` is the name of the other one.
pub(crate) fn order(by_state: bool, usual: &str) -> Markup {
    html! {
        label { "Order" select name="sort" {
            option value="" { (usual) }
            option value=(By::State.word()) selected[by_state] { "by state: in trouble first" }
        } }
    }
}

/// How a site stands, in words.
fn state(site: &SiteRecord, Rules { hold, pages_per_site_max }: &Rules) -> String {
    if hold.iter().any(|name| name.names(&site.site)) {
        return "on hold".to_owned();
    }
    match (&site.given_up, &site.aside) {
        (Some(failure), _) => format!("given up: {}", Printable(&failure.detail)),
        (None, Some(aside)) => {
            format!("in trouble until {}: {}", site.due_at.to_rfc3339(), Printable(&aside.reason.detail))
        }
        (None, None) if is_spent(site, *pages_per_site_max) => {
            format!("budget spent: {}", counted(site.pages_fetched, "page"))
        }
        (None, None) => "active".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use weburl::CanonicalUrl;

    use super::*;

    #[test]
    fn a_site_that_has_its_pages_says_so_unless_it_is_on_hold() {
        let site = CanonicalUrl::from_canonical("http://a.test/").expect("a URL").site();
        let record = SiteRecord { pages_fetched: 5, ..SiteRecord::new(site) };
        let check = |hold: &[&str], pages_per_site_max, expect| {
            let hold = hold.iter().map(|name| name.parse().expect("a site")).collect();
            assert_eq!(state(&record, &Rules { hold, pages_per_site_max }), expect);
        };
        check(&[], None, "active");
        check(&[], Some(6), "active");
        check(&[], Some(5), "budget spent: 5 pages");
        check(&["a.test"], Some(5), "on hold");
    }
}
