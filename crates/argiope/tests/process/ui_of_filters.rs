//! The table of URLs by what their last visits brought, and the states of sites on the overview.

use crate::binary;
use crate::served::Served;
use crate::ui::{crawled, web};
use testkit::ui::Ui;

#[test]
fn the_table_is_filtered_by_type_title_size_and_date() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let ui = Ui::start(&dir);
    let rows = |query: &str| ui.page(&format!("/urls.jsonl?{query}")).lines().count();
    for (query, expect) in [
        ("type=text%2F", 3),
        ("type=TEXT%2Fhtml", 3),
        ("type=image%2F", 0),
        ("title=%2Fa%2F1", 1),
        ("size_min=1", 3),
        ("size_max=1", 1),
        ("since=1h", 4),
        ("until=1h", 0),
        ("since=1h&type=text%2Fhtml&state=html&size_min=1", 3),
    ] {
        assert_eq!(rows(query), expect, "{query}");
        assert_eq!(ui.page(&format!("/urls?{query}")).matches("class=\"url\"").count(), expect, "{query}");
    }
    // An order and a view of it have the same URLs.
    assert_eq!(ui.page("/urls?size_min=1&sort=-size").matches("class=\"url\"").count(), 3);
    for (query, why) in [("size_min=big", "the least size: `big`"), ("until=soon", "`soon`: no date")] {
        let refused = ui.get(&format!("/urls?{query}"));
        assert!(refused.status == 400 && refused.body.contains(why), "{}", refused.body);
    }
}

#[test]
fn the_overview_counts_sites_by_state_and_dates_a_hold() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let ui = Ui::start(&dir);
    let section = |title: &str| {
        let page = ui.page("/");
        let after = page.split_once(&format!("<h2>{title}</h2>")).map(|(_, after)| after.to_owned());
        after.and_then(|after| Some(after.split_once("</section>")?.0.to_owned()))
    };
    let count = |state: &str, sites: u64| format!("<td>{state}</td><td class=\"number\">{sites}</td>");
    let states = section("Sites by state").expect("states");
    assert!(states.contains(&count("active", 1)) && states.contains(&count("on hold", 0)), "{states}");
    assert_eq!(section("On hold"), None);
    let dir = dir.to_str().unwrap();
    binary::run(&["steer", dir, "hold", "ui.test"]).expect_code(0);
    let held = section("On hold").expect("a site");
    assert!(held.contains(">ui.test</a>, held by a change at <time datetime=\"20"), "{held}");
    let states = section("Sites by state").expect("states");
    assert!(states.contains(&count("active", 0)) && states.contains(&count("on hold", 1)), "{states}");
    binary::run(&["steer", dir, "release", "ui.test"]).expect_code(0);
    // It has fetched as many pages as it may have now.
    binary::run(&["steer", dir, "set", "--max-pages-per-site", "3"]).expect_code(0);
    let states = section("Sites by state").expect("states");
    assert!(states.contains(&count("active", 0)) && states.contains(&count("budget spent", 1)), "{states}");
    assert!(ui.page("/sites").contains("<td>budget spent: 3 pages</td>"), "{}", ui.page("/sites"));
}
