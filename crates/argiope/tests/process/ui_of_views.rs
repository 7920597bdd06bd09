//! Saved views of the table of URLs, asked over HTTP.

use std::path::Path;

use testkit::endless::Endless;
use testkit::ui::{Answer, Ui};
use url::form_urlencoded::byte_serialize;

use crate::binary;
use crate::served::Served;
use crate::ui::{crawled, web};

/// Saves a view of the crawl below a path.
fn save(ui: &Ui, base: &str, name: &str, query: &str) -> Answer {
    let name: String = byte_serialize(name.as_bytes()).collect();
    ui.post_to(&format!("{base}/urls/views"), &ui.own(), &format!("name={name}&{query}"))
}

fn views(dir: &Path) -> String {
    std::fs::read_to_string(dir.join("views.json")).unwrap_or_default()
}

#[test]
fn a_view_is_saved_shown_and_deleted_and_stays_with_the_crawl() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let ui = Ui::start(&dir);
    let shown = ui.page("/urls?state=http_error&sort=-size");
    assert!(shown.contains("action=\"/urls/views\"") && shown.contains("name=\"sort\" value=\"-size\""), "{shown}");
    assert!(!shown.contains("Saved views"), "{shown}");
    let saved = save(&ui, "", "Errors <b>\"", "state=http_error&sort=-size&match=&more=1");
    assert_eq!(saved.status, 303, "{}", saved.body);
    assert!(saved.head.contains("/urls?state=http_error&sort=-size\r"), "{}", saved.head);
    let link = "<a href=\"/urls?state=http_error&amp;sort=-size\"";
    let listed = format!("{link}>Errors &lt;b&gt;&quot;</a>");
    assert!(ui.page("/urls").contains(&listed), "{}", ui.page("/urls"));
    let current = ui.page("/urls?sort=-size&state=http_error");
    assert!(current.contains(&format!("{link} aria-current=\"true\">")), "{current}");

    // Another process has it, a run of the crawl keeps it, and other commands read the directory as before.
    drop(ui);
    let root = dir.to_str().unwrap();
    let flags = served.flags();
    let mut again = vec!["crawl", "--again", "-o", root];
    again.extend(flags.iter().map(String::as_str));
    binary::run(&again).expect_code(0);
    let packed = dirs.path().join("packed.wacz");
    for command in [
        vec!["check", root],
        vec!["status", root],
        vec!["export", root, "wacz", "-o", packed.to_str().unwrap()],
        vec!["derive", root],
    ] {
        binary::run(&command).expect_code(0);
    }
    std::fs::remove_dir_all(dir.join("state")).unwrap();
    binary::run(&["adopt", root]).expect_code(0);
    let ui = Ui::start(&dir);
    assert!(ui.page("/urls").contains(&listed));

    let form = |name: &str| format!("name={}&state=html", byte_serialize(name.as_bytes()).collect::<String>());
    let gone = ui.post_to("/urls/views/delete", &ui.own(), &form("Errors"));
    assert!(gone.status == 404 && gone.body.contains("there is no view `Errors`"), "{}", gone.body);
    let deleted = ui.post_to("/urls/views/delete", &ui.own(), &form("Errors <b>\""));
    assert!(deleted.status == 303 && deleted.head.contains("/urls?state=html\r"), "{}", deleted.head);
    assert!(!ui.page("/urls").contains("Saved views"));
}

#[test]
fn what_cannot_be_saved_is_refused_and_nothing_is_lost() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let ui = Ui::start(&dir);
    assert_eq!(save(&ui, "", "kept", "state=html").status, 303);
    let before = views(&dir);
    for (name, query, why) in [
        ("", "state=html", "“Name of the view” is empty"),
        ("kept", "state=failed", "there is a view `kept` already"),
        (&"x".repeat(101), "", "has 101 characters: it may have 100"),
        ("new", "state=fine", "`fine` is no state of a URL"),
        ("new", "sort=weight", "is no order of URLs"),
    ] {
        let refused = save(&ui, "", name, query);
        assert!(refused.status == 400 && refused.body.contains(why), "{why}: {} {}", refused.status, refused.body);
    }
    // A site that the crawl does not know: its table could not be shown.
    let unknown = save(&ui, "", "new", "match=*a*&site=nosuch.test");
    assert!(
        unknown.status == 404 && unknown.body.contains("no such site in the crawl: nosuch.test"),
        "{}",
        unknown.body
    );
    for foreign in ["\r\nOrigin: http://evil.test", "\r\nSec-Fetch-Site: cross-site", "\r\nOrigin: null"] {
        for path in ["/urls/views", "/urls/views/delete"] {
            assert_eq!(ui.post_to(path, foreign, "name=kept").status, 403, "{path} {foreign}");
        }
    }
    assert_eq!(views(&dir), before);

    // No file can be written.
    let blocked = dir.join("views.json.tmp/below");
    std::fs::create_dir_all(&blocked).unwrap();
    let unwritten = save(&ui, "", "new", "");
    assert!(unwritten.status == 500 && unwritten.body.contains("cannot write "), "{}", unwritten.body);
    std::fs::remove_dir_all(dir.join("views.json.tmp")).unwrap();
    assert_eq!(views(&dir), before);

    // A damaged file is named, and nobody writes over it. The table is there.
    let damaged = &before[..before.len() / 2];
    std::fs::write(dir.join("views.json"), damaged).unwrap();
    let shown = ui.page("/urls");
    assert!(shown.contains("the file stays as it is: ") && !shown.contains("Save this view"), "{shown}");
    assert_eq!(shown.matches("class=\"url\"").count(), 4, "{shown}");
    let refused = save(&ui, "", "new", "");
    assert!(refused.status == 500 && refused.body.contains("the file stays as it is: "), "{}", refused.body);
    assert_eq!(ui.post_to("/urls/views/delete", &ui.own(), "name=kept").status, 500);
    assert_eq!(views(&dir), damaged);
}

#[test]
fn each_of_several_crawls_has_views_of_its_own_also_while_it_runs() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let mut runs = Endless::start();
    let ui = Ui::start_all(&[&dir, runs.dir()]);
    let saved = save(&ui, "/2", "of the run", "state=waiting");
    assert!(saved.status == 303 && saved.head.contains("/2/urls?state=waiting\r"), "{}", saved.head);
    assert!(ui.page("/2/urls").contains("<a href=\"/2/urls?state=waiting\">of the run</a>"));
    assert!(!ui.page("/1/urls").contains("Saved views") && views(&dir).is_empty());
    runs.end();
    assert!(ui.page("/2/urls").contains(">of the run</a>") && views(runs.dir()).contains("of the run"));
    let deleted = ui.post_to("/2/urls/views/delete", &ui.own(), "name=of+the+run");
    assert!(deleted.status == 303 && !ui.page("/2/urls").contains("Saved views"), "{}", deleted.body);
}
