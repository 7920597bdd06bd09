//! The server, its UI and the archive of a cluster say what holds a URL up, and name commands that work there.

use serde_json::{Value, json};
use testdb::until;
use testkit::ran::argiope;
use testkit::ui::Ui;
use testweb::{Pages, Web};

use crate::lab::{Lab, Laid};

/// Sites, each on an address of its own.
const HOSTS: [&str; 2] = ["a.test", "b.test"];
/// Pages that a root links to.
const PAGES: u64 = 8;

fn web() -> Web {
    let links: String = (0..PAGES).map(|n| format!("<a href=/{n}>page {n}</a> ")).collect();
    HOSTS.iter().fold(Web::new(), |web, host| web.site(host, Pages::new().html("/", links.clone())))
}

/// The first thing that holds a URL up.
fn reason(story: &Value) -> &Value {
    let held = story["waits"].as_array().expect("a list").iter().find(|wait| wait["reason"] != "");
    held.map_or(&Value::Null, |wait| &wait["reason"])
}

#[test]
fn what_holds_a_url_up_is_told_with_its_place_and_the_changes() {
    let lab = Lab::new(Laid::apart(web(), &HOSTS), &[]);
    let steer = |change: &[&str]| lab.served.asked(&[&["steer"], change].concat());
    let story = |url: &str| lab.served.asked(&["explain", url]);
    let text = |url: &str| lab.served.client(&["explain", url]).stdout;

    // Nobody is there to visit it.
    steer(&["hold", "b.test"]);
    steer(&["delay", "1h", "a.test"]);
    steer(&["seeds", "http://a.test/", "http://b.test/"]);
    let told = text("http://a.test/");
    assert!(told.contains("waits: it is the next of its site"), "{told}");
    assert!(told.contains("waits: no worker is there: `argiope worker` goes on"), "{told}");
    assert!(told.contains(" delay a.test=1h\n") && !told.contains("hold b.test"), "{told}");

    let worker = lab.worker();
    until("the links", || lab.served.asked(&["stats"])["waiting"] == json!(PAGES + 1));
    let told = story("http://b.test/");
    assert_eq!((reason(&told), &told["before"]), (&json!("hold"), &json!(0)), "{told}");
    let release = "the site is on hold: `argiope client steer release SITE` lets it go on";
    let told = text("http://b.test/");
    assert!(told.contains(release) && told.contains("steered: 2") && told.contains("Z hold b.test\n"), "{told}");
    assert!(!told.contains("no visit of its site before"), "it had none yet: {told}");

    // All but the first wait for the delay, one after the other.
    let told: Vec<Value> = (0..PAGES).map(|n| story(&format!("http://a.test/{n}"))).collect();
    for told in &told {
        let wait = told["waits"].as_array().expect("a list").iter().find(|wait| wait["reason"] == "delay");
        let until = wait.and_then(|wait| wait["until"].as_str()).unwrap_or_default();
        assert!(until.ends_with('Z'), "{told}");
    }
    let mut places: Vec<u64> = told.iter().filter_map(|told| told["before"].as_u64()).collect();
    places.sort_unstable();
    assert_eq!(places, (0..PAGES).collect::<Vec<_>>());
    let told = text("http://a.test/1");
    assert!(
        told.contains("waits: the site waits for its delay: not before ") && told.contains("no visit of"),
        "{told}"
    );

    steer(&["pause"]);
    let told = story("http://a.test/1");
    assert_eq!(reason(&told), "paused", "{told}");
    let resume = "the crawl is paused: `argiope client steer resume` lets it go on";
    assert!(text("http://a.test/1").contains(resume));
    let page = Ui::start_with(&[&lab.served.clients]).page("/url?u=http://b.test/");
    assert!(page.contains("the site is on hold: `argiope client steer release SITE`"), "{page}");

    // Of its archive.
    worker.leave();
    let dir = lab.shared();
    let root = dir.to_str().expect("UTF-8");
    for (command, expect) in [
        (&["explain", root, "http://b.test/"][..], release),
        (&["explain", root, "http://a.test/1"], resume),
        (&["explain", root, "a.test"], resume),
        (&["status", root], "paused: `argiope client resume` lets it go on"),
    ] {
        let told = argiope(command);
        assert!(told.code == 0 && told.stdout.contains(expect), "{told:?}");
        assert!(!told.stdout.contains("`argiope steer") && !told.stdout.contains("`argiope crawl"), "{told:?}");
    }
    steer(&["resume"]);
    let told = argiope(&["explain", root, "http://a.test/1"]).stdout;
    assert!(told.contains("several workers crawl: `argiope client workers` names those that are there"), "{told}");
}
