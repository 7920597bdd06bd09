//! Where words count (`--changes-in-text`), clocks, counters and tokens are no changes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use testweb::{Reply, Request, Web};

use crate::again::{Says, Site, ask, changes, crawl, kinds, run, visits};
use crate::served::Served;

/// A page that differs in each answer: a clock, a counter, a token in a form, and a date in the title.
fn page(text: &str, hit: u32) -> String {
    format!(
        "<title>Shop {hit}</title><p>It is 12:{hit:02}. You are visitor {hit}.<form><input type=hidden name=csrf value=t{hit}x></form>\
         <p data-hit={hit}>{text}"
    )
}

fn set_all(site: &Site, hit: u32) {
    (0..4).for_each(|n| site.set(&format!("/{n}"), Says::Nothing, &page("Good day.", hit)));
}

fn digests(dir: &Path, path: &str) -> usize {
    let of_page = &visits(dir)[&format!("http://one.test{path}")];
    of_page.iter().filter_map(|visit| visit.digest).collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn clocks_counters_and_tokens_are_changes_only_where_bytes_count() {
    for (flags, is_noise_a_change) in [(&["--changes-in-text"][..], false), (&[][..], true)] {
        let site = Site::new(Says::Nothing, 4);
        let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
        let dir = dirs.path().join("crawl");
        set_all(&site, 1);
        run(&mut crawl(&served, &dir, &[flags, &["http://one.test/"]].concat())).expect_code(0);
        for hit in 2..4 {
            set_all(&site, hit);
            // The setting is that of the crawl.
            run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
            let noise = (0..4).map(|n| (format!("/{n}"), "changed")).collect::<Vec<_>>();
            let expect = noise.iter().filter(|_| is_noise_a_change).map(|(path, change)| (&**path, *change));
            assert_eq!(kinds(&changes(&dir, &[])), expect.collect::<Vec<_>>(), "{flags:?} {hit}");
        }
        // What was received is kept.
        assert_eq!(digests(&dir, "/1"), 3);
        let found = visits(&dir)["http://one.test/1"].last().unwrap().past.changes;
        assert_eq!(found, if is_noise_a_change { 2 } else { 0 }, "the schedule goes by the same rule");

        set_all(&site, 4);
        site.set("/2", Says::Nothing, &page("Good night.", 4));
        run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
        let told: BTreeMap<_, _> = changes(&dir, &[]);
        assert!(told["/2"]["difference"]["text"].to_string().contains("Good night."), "{told:?}");
        assert_eq!(told.len(), if is_noise_a_change { 4 } else { 1 });
        ask("check", &dir, &[]);
    }
}

#[test]
fn the_same_bytes_in_another_charset_are_a_change_where_words_count() {
    let is_wrong = Arc::new(AtomicBool::new(false));
    let of_site = is_wrong.clone();
    let reply = move |_: &Request| {
        let charset = if of_site.load(Ordering::Relaxed) { "windows-1252" } else { "utf-8" };
        let body = "<title>Žabe</title><p>Žabe čakajo v mlaki na muhe.";
        Reply::new(200).header("Content-Type", format!("text/html; charset={charset}")).body(body)
    };
    let served = Served::start(Web::new().site("one.test", testweb::from_fn(reply)));
    for (flags, change) in [(&["--changes-in-text"][..], Some("changed")), (&[][..], None)] {
        is_wrong.store(false, Ordering::Relaxed);
        let dirs = tempfile::tempdir().unwrap();
        let dir = dirs.path().join("crawl");
        run(&mut crawl(&served, &dir, &[flags, &["http://one.test/"]].concat())).expect_code(0);
        run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
        assert_eq!(changes(&dir, &[]), BTreeMap::new(), "{flags:?}");

        is_wrong.store(true, Ordering::Relaxed);
        run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
        let told = changes(&dir, &[]);
        assert_eq!(kinds(&told), change.map(|change| ("/", change)).into_iter().collect::<Vec<_>>(), "{flags:?}");
        let row: serde_json::Value = serde_json::from_str(&ask("export", &dir, &["jsonl"])).unwrap();
        assert_eq!((&row["changed"], &row["title"]), (&change.is_some().into(), &"Å½abe".into()), "{row}");
        if let Some(told) = told.get("/") {
            assert_eq!(told["title_before"], "Žabe");
            assert!(told["difference"]["text"].to_string().contains("Å½abe"), "{told}");
        }
    }
}
