//! The crawl of a server in a real browser: every screen as for a directory, with content of the web that attacks it.

use std::collections::BTreeSet;

use testkit::hostile;
use testkit::screens::{
    DESKTOP, PHONE, assert_complete, assert_told, assert_unowned, assert_usable, assert_walkable, by_keyboard,
};
use testkit::ui::{Ui, fields_of};
use ui::commands::{FIELDS_ALONE, OF_SERVER, fields, is_listed};

use crate::lab::{Lab, Laid, Worker};

/// All screens, with and without something to show.
const SCREENS: [&str; 37] = [
    "/",
    "/workers",
    "/sites",
    "/sites?sort=state",
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
    "/url?u=http%3A%2F%2Fui.test%2Fnowhere",
    "/url/row?u=http%3A%2F%2Fui.test%2F",
    "/url/record?u=http%3A%2F%2Fui.test%2F",
    "/url/record?u=http%3A%2F%2Fui.test%2Ftyped",
    "/url/copies?u=http%3A%2F%2Fui.test%2F",
    "/url/row?u=http%3A%2F%2Fui.test%2Fb%3Fq%3D%27onmouseover%3D%27window.owned%3D3%26x%3D%3Cb%3E",
    "/changes",
    "/changes?since=2026-01-01&site=ui.test",
    "/freshness",
    "/search",
    "/search?q=owned&case=any",
    "/graph",
    "/graph?of=domains",
    "/graph?of=pages",
    "/graph/overlap?one=http%3A%2F%2Fui.test%2F&other=http%3A%2F%2Fother.test%2F",
    "/graph?of=popular",
    "/graph/path?from=ui.test%2F&to=http%3A%2F%2Fui.test%2Fa",
    "/graph/rank",
    "/graph/rank?normalized=yes&limit=2",
    "/graph/rank?by=domains",
    "/graph/rank?u=http%3A%2F%2Fui.test%2F",
    "/report",
    "/steer",
];

/// The site crawled to its end, a worker that is still there, and the interface to them.
struct Browsed {
    ui: Ui,
    _worker: Worker,
    lab: Lab,
}

impl Browsed {
    fn start() -> Self {
        let lab = Lab::new(Laid::of(hostile::two_sites()), &[]);
        let worker = lab.worker();
        lab.served.asked(&["crawl", "http://ui.test/"]);
        lab.served.asked(&["crawl", "http://other.test/"]);
        // There is something in the journal.
        lab.served.asked(&["steer", "delay", "30ms", "ui.test"]);
        Browsed { ui: Ui::start_with(&[&lab.served.clients]), _worker: worker, lab }
    }

    /// All screens, those of the worker and those to which forms lead among them.
    fn screens(&self) -> Vec<String> {
        let worker = self.lab.served.asked(&["workers"])["workers"][0]["id"].clone();
        let worker = worker.as_str().expect("an id");
        let of_worker = [format!("/sites?worker={worker}"), format!("/workers/drain?worker={worker}")];
        let journal = self.lab.served.asked(&["journal"])["changes"].clone();
        let undo = format!("/steer/undo?at={}", journal[0]["at"].as_str().expect("a time"));
        let hostile = "what=exclude&to=*%2F%3Cscript%3Ewindow.owned%3D7%3C%2Fscript%3E*";
        let effect = self.ui.posted("/steer", hostile);
        let [round, nothing] = ["", "older=7d"].map(|form| self.ui.posted("/steer/round", form));
        let screens = SCREENS.iter().copied().map(str::to_owned);
        screens.chain(of_worker).chain([undo, effect, round, nothing]).collect()
    }
}

/// Opens every screen in a window of this width.
fn check(width: u32, dark: bool) {
    let browsed = Browsed::start();
    assert_usable(&browsed.ui, &browsed.screens(), width, dark);
}

#[test]
fn every_screen_of_a_server_can_be_used_on_a_desktop() {
    check(DESKTOP, false);
}

#[test]
fn every_screen_of_a_server_can_be_used_in_the_dark() {
    check(DESKTOP, true);
}

#[test]
fn every_screen_of_a_server_can_be_used_on_a_phone() {
    check(PHONE, false);
}

#[test]
fn every_screen_of_a_server_is_among_those_and_can_be_walked_over_by_the_tab_key() {
    let browsed = Browsed::start();
    let screens = browsed.screens();
    assert_complete(include_str!("../../../ui/src/cluster.rs"), &screens);
    let overlap = browsed.ui.page("/graph/overlap?one=http%3A%2F%2Fui.test%2F&other=http%3A%2F%2Fother.test%2F");
    assert!(overlap.contains("Overlap: 2 links."), "{overlap}");
    assert_walkable(&browsed.ui, &screens);
}

#[test]
fn what_a_server_cannot_show_is_a_page_for_everybody() {
    let failures =
        [("/nothing", "there is no such page"), ("/urls?state=fine", "is no state"), ("/sites?worker=x", "`x`")];
    assert_told(&Browsed::start().ui, &failures);
}

#[test]
fn nothing_from_the_web_becomes_markup_script_or_link_of_a_server() {
    let browsed = Browsed::start();
    assert_unowned(&browsed.ui, &browsed.screens());
    let table = browsed.ui.page("/urls");
    assert!(table.contains("b?q=") && table.contains("&lt;img src=x onerror=window.owned=2&gt;"), "{table}");
}

#[test]
fn every_option_of_a_command_is_a_field_of_a_server_and_every_field_is_listed() {
    let browsed = Browsed::start();
    let has: BTreeSet<(String, String)> =
        browsed.screens().iter().flat_map(|screen| fields_of(&browsed.ui.get(screen).body)).collect();
    let listed: BTreeSet<(String, String)> =
        fields(&OF_SERVER).map(|(path, name)| (path.to_owned(), name.to_owned())).collect();
    assert_eq!(listed.difference(&has).collect::<Vec<_>>(), Vec::<&(String, String)>::new(), "options without a field");
    let alone: Vec<_> = has.difference(&listed).filter(|(path, name)| !is_listed(&FIELDS_ALONE, path, name)).collect();
    assert_eq!(alone, Vec::<&(String, String)>::new(), "fields without an option");
}

#[test]
fn a_server_is_asked_and_steered_by_the_keyboard_alone() {
    let browsed = Browsed::start();
    let mut browser = by_keyboard(&browsed.ui);
    browser.assert_quiet();
    assert_eq!(browser.text("h1"), "Steer", "the change is in force");
    let stats = browsed.lab.served.asked(&["stats"]);
    let changes = stats["changes"].as_array().expect("changes");
    assert_eq!(changes.last().expect("the change")["change"], "exclude */gone");
}
