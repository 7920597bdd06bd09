//! The numbers, counted by hand.

use model::Outcome;
use report::{Both, Named, ROWS_MAX, Statistics};

use crate::crawl::{Crawl, Page};

fn both(seed_sites: u64, all_sites: u64) -> Both<u64> {
    Both { seed_sites, all_sites }
}

fn named(rows: &[Named], name: &str) -> Option<Both<u64>> {
    rows.iter().find(|row| row.name == name).map(|row| row.count)
}

/// Two sites, a seed on the first, something of everything.
fn crawl() -> Crawl {
    let [a, b] = ["http://a.test", "http://b.test"];
    let at = |site: &str, path: &str| format!("{site}{path}");
    let root = Page::html(
        "http://a.test/",
        &[
            "http://a.test/",
            "http://a.test/1",
            "http://a.test/1",
            "http://b.test/",
            "http://a.test/report.pdf",
            "http://c.test/",
        ],
    );
    let pages = [
        Page { images: (3, 2), depth: 0, ..root.titled("Root") },
        Page { images: (1, 0), after_seconds: 30, ..Page::html(&at(a, "/1"), &["http://a.test/", "http://b.test/"]) },
        Page { after_seconds: 60, depth: 2, ..Page::html(&at(b, "/"), &["http://a.test/"]) }.titled("B"),
        Page {
            duplicate_of: Some("http://b.test/".to_owned()),
            links: vec!["http://a.test/".to_owned()],
            images: (2, 0),
            ..Page::new(&at(b, "/copy"), Outcome::Duplicate, 200, Some("text/html"))
        },
        Page {
            kind: "pdf",
            length: 5_000,
            ..Page::new(&at(a, "/report.pdf"), Outcome::Binary, 200, Some("application/pdf; x=y"))
        },
        Page { kind: "docx", ..Page::new(&at(b, "/x.docx"), Outcome::Binary, 200, Some("application/octet-stream")) },
        Page { links: vec![at(a, "/1")], ..Page::new(&at(a, "/old"), Outcome::Redirect, 301, None) },
        Page::new(&at(a, "/gone"), Outcome::HttpError, 404, Some("text/html")),
        Page::new(&at(b, "/slow"), Outcome::Timeout, 0, None),
        Page::new(&at(b, "/broken"), Outcome::HttpError, 500, Some("text/html")),
        Page::new(&at(b, "/private"), Outcome::Disallowed, 0, None),
        Page::new("http://c.test/", Outcome::Excluded, 0, None),
        Page { outcome: None, ..Page::new(&at(a, "/later"), Outcome::Html, 0, None) },
    ];
    Crawl::of(&["http://a.test/"], &pages)
}

#[test]
fn the_crawl_at_a_glance() {
    let statistics = crawl().statistics();
    let overview = statistics.overview;
    assert_eq!(overview.sites, both(1, 2), "a site that is only linked to is none of the crawl's");
    assert_eq!(overview.pages, both(6, 12));
    assert_eq!(overview.fetched, both(5, 9));
    assert_eq!(overview.html_pages, both(2, 3));
    assert_eq!(overview.duplicates, both(0, 1));
    assert_eq!(overview.binary_files, both(1, 2));
    assert_eq!(overview.redirects, both(1, 1));
    assert_eq!(overview.errors, both(1, 3));
    assert_eq!(overview.disallowed, both(0, 1));
    assert_eq!(overview.frontier, both(1, 1));
    assert_eq!((statistics.missing, statistics.seeds), (None, vec!["http://a.test/".to_owned()]));
}

#[test]
fn pages_errors_and_disallowed_by_site_and_type() {
    let statistics = crawl().statistics();
    let sites: Vec<_> = statistics.sites.rows.iter().map(|row| (&*row.site, row.is_seed_site, row.pages)).collect();
    assert_eq!(sites.len(), 2);
    assert!(sites.contains(&("http://a.test", true, 6)) && sites.contains(&("http://b.test", false, 6)), "{sites:?}");
    assert_eq!(named(&statistics.types.rows, "html"), Some(both(2, 3)));
    assert_eq!(named(&statistics.types.rows, "frontier"), Some(both(1, 1)));
    assert_eq!(named(&statistics.types.rows, "excluded"), Some(both(0, 1)));
    assert_eq!(named(&statistics.errors_by_kind.rows, "http_error"), Some(both(1, 2)));
    assert_eq!(named(&statistics.errors_by_kind.rows, "timeout"), Some(both(0, 1)));
    let errors: Vec<_> = statistics.errors_by_site.rows.iter().map(|row| (&*row.site, row.errors)).collect();
    assert_eq!(errors, [("http://b.test", 2), ("http://a.test", 1)]);
    assert!((statistics.errors_by_site.rows[1].share - 0.2).abs() < 1e-9, "one of the five that have ended");
    let disallowed: Vec<_> = statistics.disallowed_by_site.rows.iter().map(|row| (&*row.site, row.pages)).collect();
    assert_eq!(disallowed, [("http://b.test", 1)]);
    assert_eq!(named(&statistics.status_codes.rows, "404"), Some(both(1, 1)));
    assert_eq!(named(&statistics.content_types.rows, "application/pdf"), Some(both(1, 1)));
    assert_eq!(named(&statistics.depths, "0"), Some(both(1, 1)));
    assert_eq!(statistics.largest.rows[0].url, "http://a.test/report.pdf");
}

#[test]
fn binary_files_are_told_by_what_they_are_or_by_what_they_are_called() {
    let crawl = crawl();
    let kinds = [crawl.statistics().binary_by_type, crawl.without_dataset().binary_by_type];
    for kinds in kinds {
        assert_eq!(named(&kinds.rows, "pdf"), Some(both(1, 1)));
        assert_eq!(named(&kinds.rows, "docx"), Some(both(0, 1)));
        assert_eq!(named(&kinds.rows, "ppt"), Some(both(0, 0)), "people look for it");
    }
}

#[test]
fn images_a_page() {
    let images = crawl().statistics().images.expect("a dataset");
    assert_eq!((images.html_pages, images.images), (both(2, 4), both(4, 6)));
    assert_eq!(images.srcset_candidates, both(2, 2), "choices for an image are no images");
    assert_eq!(images.mean_per_page, Both { seed_sites: Some(2.0), all_sites: Some(1.5) });
    assert_eq!(images.most_on_a_page, Both { seed_sites: Some(3), all_sites: Some(3) });
    assert_eq!(images.most.and_then(|most| most.url).as_deref(), Some("http://a.test/"));
}

#[test]
fn links_are_pairs_of_pages() {
    let links = crawl().statistics().links.expect("a dataset");
    assert_eq!(links.links, both(6, 8), "no repeats, none to itself, no redirects");
    assert_eq!(links.with_repeats, both(8, 10));
    assert_eq!(links.mean_per_page, Both { seed_sites: Some(3.0), all_sites: Some(2.0) });
    assert_eq!(links.most_from_a_page, Both { seed_sites: Some(4), all_sites: Some(4) });
    assert_eq!(links.most_to_a_page, Both { seed_sites: Some(3), all_sites: Some(3) });
    let first = &links.most_linked.rows[0];
    assert_eq!(
        (&*first.url, first.title.as_deref(), first.outcome.as_str(), first.links),
        ("http://a.test/", Some("Root"), "html", 3)
    );
    assert_eq!(links.most_linking.rows[0].count, 4);
    assert!(links.most_linked.rows.iter().any(|row| row.outcome == "excluded"), "also what lies outside the scope");
}

#[test]
fn duplicates() {
    let duplicates = crawl().statistics().duplicates;
    assert_eq!(duplicates.exact, both(0, 1));
    let rows: Vec<_> = duplicates.most_copied.rows.iter().map(|row| (&*row.url, row.copies)).collect();
    assert_eq!(rows, [("http://b.test/", 1)]);
}

#[test]
fn the_picture_has_the_pages_and_the_links_between_them() {
    let picture = crawl().statistics().picture.expect("a dataset");
    let urls: Vec<&str> = picture.pages.iter().map(|page| &*page.url).collect();
    assert_eq!(urls[0], "http://a.test/", "most linked first");
    assert_eq!(urls.len(), 3, "HTML pages only: {urls:?}");
    let has = |from: &str, to: &str, both_ways| {
        picture.lines.iter().any(|line| {
            let ends = (urls[line.from], urls[line.to]);
            line.both_ways == both_ways && (ends == (from, to) || both_ways && ends == (to, from))
        })
    };
    assert!(has("http://a.test/", "http://a.test/1", true));
    assert!(has("http://a.test/1", "http://b.test/", false));
    assert_eq!(picture.lines.len(), 3);
}

#[test]
fn speed_over_time() {
    let speed = crawl().statistics().speed;
    assert!((speed.seconds - 60.0).abs() < 1e-9);
    assert!((speed.pages_per_second.expect("a rate") - 9.0 / 60.0).abs() < 1e-9);
    assert!((speed.bucket_seconds - 1.0).abs() < 1e-9);
    let pages: Vec<u64> = speed.buckets.iter().map(|bucket| bucket.pages).collect();
    assert_eq!((pages.len(), pages[0], pages[30], pages[60]), (61, 7, 1, 1));
}

#[test]
fn without_a_dataset_the_rest_is_told() {
    let crawl = crawl();
    let (with, without) = (crawl.statistics(), crawl.without_dataset());
    assert_eq!((&without.images, &without.links, &without.picture), (&None, &None, &None));
    assert!(without.missing.as_deref().expect("a note").contains("`argiope derive DIR`"));
    assert_eq!((without.overview, without.sites, without.speed), (with.overview, with.sites, with.speed));
}

#[test]
fn nothing_crawled_is_nothing_counted() {
    let statistics = Crawl::of(&[], &[]).without_dataset();
    assert_eq!(statistics.overview, report::Overview::default());
    assert_eq!((statistics.missing, statistics.speed.buckets.len()), (None, 0));
}

#[test]
fn lists_are_cut_and_say_so() {
    let pages: Vec<Page> = (0..ROWS_MAX + 7).map(|at| Page::html(&format!("http://s{at}.test/"), &[])).collect();
    let statistics = Crawl::of(&[], &pages).statistics();
    assert_eq!((statistics.sites.total, statistics.sites.rows.len()), (ROWS_MAX as u64 + 7, ROWS_MAX));
}

#[test]
fn what_is_told_as_json_is_the_same_report() {
    let statistics = crawl().statistics();
    let json = serde_json::to_string(&statistics).expect("JSON");
    let read: Statistics = serde_json::from_str(&json).expect("statistics");
    assert!(read.links.is_some() && read.duplicates.near.is_some() && read.picture.is_some());
    assert_eq!(read, statistics);
}
