//! The site that the tests crawl, whose every text attacks the page that shows it.

use std::path::Path;

use testkit::crawled::Crawled;
use testkit::hostile;
use testkit::ui::Ui;
use testweb::{Web, from_fn};

/// A crawl of the site to its end.
pub fn crawled() -> Crawled {
    crawled_with(&[])
}

/// The same with more arguments.
pub fn crawled_with(arguments: &[&str]) -> Crawled {
    let web = Web::new().site("ui.test", from_fn(hostile::site));
    Crawled::of(web, "http://ui.test/", &[&["--no-sitemaps"], arguments].concat())
}

/// A crawl of two such sites that link to each other.
pub fn crawled_two() -> Crawled {
    Crawled::of(hostile::two_sites(), "http://ui.test/", &["http://other.test/", "--no-sitemaps"])
}

/// The interface to a crawl.
pub fn shown(crawl: &Crawled) -> Ui {
    Ui::start(Path::new(crawl.dir()))
}

/// All screens, and those to which forms lead: the effect of a change, what one has come to, and what takes it back.
pub fn screens(ui: &Ui) -> Vec<String> {
    let hostile = "what=exclude&to=*%2F%3Cscript%3Ewindow.owned%3D7%3C%2Fscript%3E*";
    let effect = ui.posted("/steer", hostile);
    let made = ui.posted("/steer", &format!("{hostile}&sure=yes"));
    let journal = ui.page("/steer");
    let at = journal.split_once("name=\"at\" value=\"").expect("an undo").1.split('"').next().expect("a time");
    let undo = format!("/steer/undo?at={at}");
    SCREENS.iter().map(|screen| (*screen).to_owned()).chain([effect, made, undo]).collect()
}

/// The screens that have their addresses from the beginning, with and without something to show. They are of two sites that link to each
/// other.
pub const SCREENS: [&str; 39] = [
    "/",
    "/sites",
    "/sites?sort=state",
    "/sites?sort=pages&name=ui",
    "/urls",
    "/urls?state=http_error",
    "/urls?sort=-size",
    "/urls?key=ba71ee49",
    "/urls?state=html&state=http_error&match=*%2Fgone&match=*%3Cscript%3E*",
    "/urls?site=ui.test&match=*%2Fnone*",
    "/url",
    "/url?u=http%3A%2F%2Fui.test%2F",
    "/url?u=http%3A%2F%2Fui.test%2Fgone",
    "/url?u=http%3A%2F%2Fui.test%2Fb%3Fq%3D%27onmouseover%3D%27window.owned%3D3%26x%3D%3Cb%3E",
    "/url?u=ui.test",
    "/url?u=%3Cscript%3Ewindow.owned%3D7%3C%2Fscript%3E",
    "/url/row?u=http%3A%2F%2Fui.test%2F",
    "/url/record?u=http%3A%2F%2Fui.test%2F",
    "/url/record?u=http%3A%2F%2Fui.test%2Ftyped",
    "/url/record?u=http%3A%2F%2Fui.test%2Fprivate%2Fx",
    "/url/copies?u=http%3A%2F%2Fui.test%2F",
    "/url/row?u=http%3A%2F%2Fui.test%2Fb%3Fq%3D%27onmouseover%3D%27window.owned%3D3%26x%3D%3Cb%3E",
    "/changes",
    "/changes?since=2026-01-01&site=ui.test",
    "/search",
    "/search?q=owned&case=any",
    "/search?q=%5Bsp%5Dider&regex=yes",
    "/graph",
    "/graph?of=domains",
    "/graph?of=pages",
    "/graph?of=popular",
    "/graph/overlap?one=http%3A%2F%2Fui.test%2F&other=http%3A%2F%2Fother.test%2F",
    "/graph/path?from=ui.test%2F&to=http%3A%2F%2Fui.test%2Fgone",
    "/graph/rank",
    "/graph/rank?normalized=yes&limit=2",
    "/graph/rank?by=domains",
    "/graph/rank?u=http%3A%2F%2Fui.test%2F",
    "/report",
    "/steer",
];
