//! A worker is lost with the originals of what another has recorded: those visits are taken back, and so are their rows.

use std::collections::BTreeMap;
use std::process::Command;

use dataset::schema::Table;
use serde_json::Value;
use testdb::until;
use testweb::{Pages, Web};

use crate::lab::{Lab, Laid, SHORT_LEASE};
use testkit::ran::{Ran, argiope};
use testkit::tables::{pages, rows, rows_of_all_visits};

const HOSTS: [&str; 2] = ["a.test", "b.test"];
/// Pages of each site, beside the first.
const PAGES: usize = 6;

/// A site whose pages are those of every other.
fn site() -> Pages {
    let links: String = (0..PAGES).map(|n| format!("<a href=/{n}>{n}</a>")).collect();
    let page = |n| format!("<title>page {n}</title>text of number {n} <img src=/{n}.png> <a href=/>up</a>");
    let first = Pages::new().html("/", format!("<title>first</title>{links}"));
    (0..PAGES).fold(first, |site, n| site.html(format!("/{n}"), page(n)))
}

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

#[test]
fn no_row_is_left_of_visits_that_are_taken_back_while_their_segment_is_open() {
    check(&["--seal-after", "1h"], false);
}

#[test]
fn no_row_is_left_of_visits_that_are_taken_back_out_of_a_sealed_segment() {
    check(&["--seal-after", "1s"], true);
}

/// A worker with these arguments copies what another has recorded and loses. Its copies are in a sealed segment by then, or not.
fn check(arguments: &[&str], are_sealed: bool) {
    let web = HOSTS.iter().fold(Web::new(), |web, host| web.site(host, site()));
    // Rows of an open segment are soon on disk: others must have noticed the loss before.
    let lease = if are_sealed { &[][..] } else { &SHORT_LEASE };
    let mut lab = Lab::new(Laid::apart(web, &HOSTS), lease);
    let all = i64::try_from(HOSTS.len() * (PAGES + 1)).expect("small");
    let visited = || lab.number("SELECT count(*) FROM argiope.visit WHERE segment IS NOT NULL");

    // The first worker has all originals in its open segment. Of the other's pages only the originals are missing then.
    let first = lab.worker();
    lab.served.add(HOSTS[0]);
    until("the originals are visited", || visited() == all / 2);
    let second = lab.worker_by(Command::new(env!("CARGO_BIN_EXE_argiope")), arguments);
    // The address of the other site is the other's from the beginning.
    lab.give(&second, "127.0.0.3");
    lab.served.add(HOSTS[1]);
    let in_segment = if are_sealed { "g.is_sealed" } else { "NOT g.is_sealed" };
    let copies = format!(
        "SELECT count(*) FROM argiope.visit v JOIN argiope.segment g ON g.serial = v.segment
            WHERE v.outcome = 'duplicate' AND {in_segment}"
    );
    until("the copies are visited", || lab.number(&copies) == all / 2);
    lab.lose(first);
    let taken_back = "SELECT count(*) FROM argiope.taken_back";
    until("the copies are taken back", || lab.number(taken_back) == all / 2);
    until("all are visited again", || visited() == all && lab.number("SELECT count(*) FROM argiope.queue") == 0);
    let asked = lab.served.asked(&["search", "number"]);
    assert_eq!(asked["pages"], HOSTS.len() * PAGES, "the running workers find each once: {asked}");
    assert_eq!(second.leave().0, Some(0));
    lab.served.kill();

    let shared = lab.shared();
    let dir = shared.to_str().expect("UTF-8");
    let search = || -> Vec<String> {
        let found = ok(argiope(&["search", dir, "number", "--json", "--limit", "100"])).stdout;
        let mut lines: Vec<String> = found.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let one_of_each = |rows: &[BTreeMap<String, String>]| {
        let mut urls: Vec<&str> = rows.iter().map(|row| row["url"].as_str()).collect();
        urls.sort_unstable();
        let with_repeats = urls.len();
        urls.dedup();
        assert_eq!(with_repeats, urls.len(), "a row for each visit: {rows:?}");
        urls.len()
    };
    if are_sealed {
        // Before anything is derived: the uploaded rows of the copies are there still.
        let exported = tempfile::tempdir().expect("a directory");
        let target = exported.path().join("dataset");
        ok(argiope(&["export", dir, "parquet", "-o", target.to_str().expect("UTF-8")]));
        let exported = exported.path().to_str().expect("UTF-8");
        let count = |table| rows_of_all_visits(exported, table).len();
        assert_eq!(one_of_each(&rows_of_all_visits(exported, Table::Pages)), usize::try_from(all).expect("small"));
        assert_eq!(count(Table::Images), HOSTS.len() * PAGES);
        let report = ok(argiope(&["report", dir, "--json"])).json();
        assert_eq!(report["images"]["images"]["all_sites"], HOSTS.len() * PAGES, "{report}");
        assert!(rows_of_all_visits(dir, Table::Images).len() > HOSTS.len() * PAGES, "nothing was derived");
    }
    let found = if are_sealed { search() } else { Vec::new() };
    assert_eq!(one_of_each(&rows(dir, Table::Pages)), usize::try_from(all).expect("small"), "as uploaded, or derived");
    assert_eq!(rows(dir, Table::Images).len(), HOSTS.len() * PAGES);
    let written = pages(dir);
    let links = rows(dir, Table::Links);
    let found = if are_sealed { found } else { search() };
    let derived = ok(argiope(&["derive", dir]));
    assert!(derived.stdout.contains("nothing is missing"), "{derived:?}");
    ok(argiope(&["derive", "--all", dir]));
    assert_eq!((pages(dir), rows(dir, Table::Links)), (written, links), "as all rows derived from the archive");
    assert_eq!(search(), found);

    let checked = ok(argiope(&["check", dir, "--json"])).json();
    let is_about = |finding: &&Value| finding["problem"].as_str().is_some_and(|text| text.contains("taken back"));
    let findings = checked["findings"].as_array().expect("findings");
    let named: Vec<&Value> = findings.iter().filter(is_about).collect();
    assert_eq!(named.len(), usize::try_from(all / 2).expect("small"), "{findings:?}");
    for finding in named {
        assert_eq!(finding["severity"], "note");
        let url = finding["url"].as_str().expect("a URL");
        let original = url.replace("b.test", "a.test");
        assert!(url.contains("b.test") && finding["problem"].as_str().expect("text").contains(&original), "{finding}");
    }
}
