//! The screens that the bench asks for, and what has to be there before.

use std::path::Path;

use anyhow::Context;

use crate::interface::Interface;

use super::super::synthetic::{SEED, host};
use super::asking::Request;

/// The name of the preview of a change.
pub(super) const PREVIEW: &str = "effect of an exclude pattern";
/// A URL of the filled state that waits, as the example `fill` makes them.
const FILLED: &str = "http%3A%2F%2Fsite-48.fill.test%2Fsection-1%2Fpage-98.html";
/// A pattern of the bench that no URL matches: to exclude it changes nothing.
const EXCLUDED: &str = "what=exclude&to=*%2Fnone-of-the-bench%2F*&sure=yes";

/// A view of the table that the bench saves: its name is a link above the table from then on.
const VIEW: &str = "state=failed&status=404&name=Not+found";

/// What a crawl has that some screens are asked for, each as a query writes it.
pub(super) struct Prepared {
    /// A page to which links lead from the seed.
    linked: String,
    /// A page of another domain.
    elsewhere: String,
    /// When a change of the journal was made.
    changed_at: String,
}

impl Prepared {
    /// Makes a change of the crawl that rests, saves a view, and finds pages of it. By an interface of its own, so that the one that is measured has
    /// read nothing before.
    ///
    /// # Errors
    /// The crawl has no such page, or a screen is not there.
    pub(super) fn of(binary: &Path, crawl: &Path) -> anyhow::Result<Self> {
        let interface = Interface::start(binary, crawl)?;
        Request::Post("/steer".to_owned(), EXCLUDED.to_owned()).answer(&interface)?;
        Request::Post("/urls/views".to_owned(), VIEW.to_owned()).answer(&interface)?;
        let journal = Request::get("/steer").answer(&interface)?;
        let changed_at = journal.split("name=\"at\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
        let ranked = Request::get("/graph/rank?limit=1000").answer(&interface)?;
        let pages: Vec<&str> = stories(&ranked).collect();
        let elsewhere = pages.iter().find(|page| !page.contains(host())).context("all pages are of one domain")?;
        Ok(Prepared {
            linked: pages.last().context("no page is ranked")?.to_string(),
            elsewhere: (*elsewhere).to_owned(),
            changed_at: changed_at.context("the journal has no change to undo")?.to_owned(),
        })
    }
}

/// The URLs of a page that lead to their stories, as a query writes them.
fn stories(page: &str) -> impl Iterator<Item = &str> {
    page.split("href=\"/url?u=").skip(1).filter_map(|rest| rest.split(['"', '&']).next())
}

/// The preview of a change.
pub(super) fn preview() -> Request {
    Request::Post("/steer".to_owned(), "what=exclude&to=*%2Fsection-1*7.html".to_owned())
}

/// The screens by name, and the preview of a change.
pub(super) fn screens(prepared: &Prepared) -> Vec<(&'static str, Request)> {
    let Prepared { linked, elsewhere, changed_at } = prepared;
    let seed: String = SEED.replace(':', "%3A").replace('/', "%2F");
    let screens = [
        ("overview", "/".to_owned()),
        ("its chart", "/history.json".to_owned()),
        ("sites", "/sites".to_owned()),
        ("sites by state", "/sites?sort=state".to_owned()),
        ("sites by name", "/sites?sort=name".to_owned()),
        ("sites by pages", "/sites?sort=pages".to_owned()),
        ("sites whose name has a text", "/sites?name=site-7".to_owned()),
        ("URLs", "/urls".to_owned()),
        ("URLs, deep in the table", format!("/urls?after={FILLED}")),
        ("URLs of a site", "/urls?site=site-7.fill.test".to_owned()),
        ("URLs that wait", "/urls?state=waiting".to_owned()),
        ("URLs that wait, by pattern", "/urls?state=waiting&match=*7.html".to_owned()),
        ("URLs in a rare state", "/urls?state=render_error".to_owned()),
        ("URLs that failed", "/urls?state=failed".to_owned()),
        ("URLs that failed, with links", "/urls?state=failed&linked=yes".to_owned()),
        ("URLs by status", "/urls?status=404".to_owned()),
        ("URLs of a saved view", "/urls?state=failed&status=404".to_owned()),
        ("URLs by size, too many to sort", "/urls?sort=-size".to_owned()),
        ("URLs that failed, by size", "/urls?state=failed&sort=-size".to_owned()),
        ("URLs by key", "/urls?key=0123456789".to_owned()),
        ("URLs by depth", "/urls?depth=3".to_owned()),
        ("URLs by a pattern that none matches", "/urls?match=*%2Fnone".to_owned()),
        ("search, empty", "/search".to_owned()),
        ("search", "/search?q=page".to_owned()),
        ("changes", "/changes".to_owned()),
        ("changes since a date", "/changes?since=2026-01-01".to_owned()),
        ("graph of sites", "/graph".to_owned()),
        ("graph of domains", "/graph?of=domains".to_owned()),
        ("graph of pages", "/graph?of=pages".to_owned()),
        ("graph of the most popular pages", "/graph?of=popular".to_owned()),
        ("the shortest way", format!("/graph/path?from={seed}&to={linked}")),
        ("links between two domains", format!("/graph/overlap?one={seed}&other={elsewhere}")),
        ("the highest ranks", "/graph/rank".to_owned()),
        ("rank of a page", format!("/graph/rank?u={seed}")),
        ("story of a URL", format!("/url?u={seed}")),
        ("story of a filled URL", format!("/url?u={FILLED}")),
        ("row of a URL", format!("/url/row?u={seed}")),
        ("record of a visit", format!("/url/record?u={seed}")),
        ("URLs with the same content", format!("/url/copies?u={seed}")),
        ("story of a site", "/url?u=site-7.fill.test".to_owned()),
        ("steer, with the journal", "/steer".to_owned()),
        ("what takes a change back", format!("/steer/undo?at={changed_at}")),
        ("report", "/report".to_owned()),
    ];
    let screens = screens.into_iter().map(|(name, path)| (name, Request::Get(path)));
    screens.chain([(PREVIEW, preview())]).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The paths of the interface that are no screens of a crawl that rests, and why.
    const NOT_MEASURED: [(&str, &str); 5] = [
        ("/events", "of a crawl that runs"),
        ("/url/picture", "no page of the computed web has a picture"),
        ("/steer/answer", "forms lead there"),
        ("/urls/views", "a view is saved once: its table is measured"),
        ("/urls/views/delete", "there is one view to delete"),
    ];

    #[test]
    fn every_screen_of_a_directory_is_measured() {
        let routes = include_str!("../../../../ui/src/lib.rs").lines();
        let paths = routes.filter_map(|line| line.trim().strip_prefix(".route(\"")?.split('"').next());
        let chart = |path: &&str| !path.contains('.') || *path == "/history.json";
        let screens: BTreeSet<&str> = paths.filter(chart).collect();
        assert!(screens.len() > 20, "{screens:?}");
        let prepared = Prepared { linked: String::new(), elsewhere: String::new(), changed_at: String::new() };
        let measured = super::screens(&prepared);
        let measured = measured.iter().map(|(_, request)| request.path());
        assert_eq!(screens, measured.chain(NOT_MEASURED.map(|(path, _)| path)).collect());
    }

    #[test]
    fn stories_are_the_links_of_a_page_to_urls() {
        let page =
            "<a class=\"url\" href=\"/url?u=http%3A%2F%2Fa.test%2F\">a</a> <a href=\"/url?u=b&amp;from=200\">b</a>";
        assert_eq!(stories(page).collect::<Vec<_>>(), ["http%3A%2F%2Fa.test%2F", "b"]);
    }
}
