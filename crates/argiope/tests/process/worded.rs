//! Where words count (`--changes-in-text`), clocks, counters and tokens are no changes.

use std::collections::BTreeMap;
use std::path::Path;

use crate::again::{Says, Site, ask, changes, crawl, kinds, run, visits};

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
