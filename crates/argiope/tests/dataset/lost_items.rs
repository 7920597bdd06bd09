//! Rules that find less than before: a warning says so, and every reader has the same rows.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use testkit::crawled::Crawled;
use testweb::{Reply, Web, from_fn};

/// Products of the shop.
const PRODUCTS: usize = 30;

/// One row a page.
const PAGES: &str = "[extract.product.fields]\nname = 'h1'\nprice = { css = '.price', type = 'number' }\n";
/// The same, and none without a name.
const REQUIRED: &str = "[extract.product.fields]\nname = { css = 'h1', required = true }\nprice = '.price'\n";
/// A row for each offer.
const ROWS: &str = "[extract.product]\nrows = '.offer'\nfields.name = 'b'\nfields.price = 'i'\n";

/// What the shop has become when it is visited again.
type Change = fn(usize) -> Option<String>;

fn whole(number: usize, more: &str) -> String {
    let offers: String = (0..3).map(|at| format!("<p class=offer><b>b{at}</b><i>{at}</i></p>")).collect();
    format!("<title>{number}</title><h1>Lamp {number}</h1><p class=price>{number}.50</p>{offers}{more}")
}

fn broken(number: usize) -> String {
    format!("<title>{number}</title><h2>Lamp {number}</h2><p class=cost>{number}.50</p>")
}

/// A shop, crawled once with rules; from then on its products are what `change` says.
fn crawled(rules: Option<&str>, change: Change) -> Shop {
    let changed = Arc::new(Mutex::new(false));
    let is_changed = changed.clone();
    let site = from_fn(move |request| {
        let path = request.path();
        if path == "/" {
            let links = (0..PRODUCTS).map(|number| format!("<a href=/p/{number}>{number}</a>"));
            return Reply::html(links.collect::<String>());
        }
        let Some(number) = path.strip_prefix("/p/").and_then(|number| number.parse().ok()) else {
            return Reply::error(404, path);
        };
        let page = if *is_changed.lock().expect("a lock") { change(number) } else { Some(whole(number, "")) };
        page.map_or_else(|| Reply::error(404, path), Reply::html)
    });
    let files = tempfile::tempdir().expect("a directory");
    let path = files.path().join("rules.toml").display().to_string();
    let mut arguments = vec!["--no-sitemaps"];
    if let Some(rules) = rules {
        std::fs::write(&path, rules).expect("a file");
        arguments.extend(["--extract", &path]);
    }
    let crawled = Crawled::of(Web::new().site("shop.test", site), "http://shop.test/", &arguments);
    *changed.lock().expect("a lock") = true;
    Shop { crawled, files }
}

struct Shop {
    crawled: Crawled,
    files: tempfile::TempDir,
}

impl Shop {
    fn again(&self, arguments: &[&str]) -> String {
        let ran = self.crawled.crawl(&[&["--again", "--no-sitemaps"], arguments].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stderr
    }

    fn rules(&self, rules: &str) -> String {
        let path = self.files.path().join("others.toml");
        std::fs::write(&path, rules).expect("a file");
        path.display().to_string()
    }

    /// The rows that a report and an export have, which are the same.
    fn rows(&self) -> (usize, Value) {
        let report = self.crawled.run("report", &["--json"]).json();
        let field = report["items"]["rows"][0].clone();
        let exported = self.crawled.run("export", &["items"]).stdout.lines().count();
        assert_eq!(field["rows"], exported, "{field}");
        (exported, field)
    }
}

/// The lines about items, without the name of the program.
fn lines(stderr: &str) -> Vec<String> {
    let lines = stderr.lines().filter_map(|line| line.strip_prefix("argiope: items/product"));
    lines.map(ToOwned::to_owned).collect()
}

#[test]
fn a_rule_that_finds_less_than_before_is_warned_of() {
    let changed = "the pages may have changed";
    let cases: [(&str, &str, Change, usize, &[&str]); 8] = [
        (
            "all lost",
            PAGES,
            |number| Some(broken(number)),
            0,
            &[
                ", round 2: 0 rows; 30 pages with rows before without any now",
                ": 0 rows on pages that had 30 at the visit before, and none on 30 of the 30 pages: ",
            ],
        ),
        (
            "two thirds lost",
            PAGES,
            |number| Some(if number < 20 { broken(number) } else { whole(number, "!") }),
            10,
            &[
                ", round 2: 10 rows: name 100 %, price 100 %; 20 pages with rows before without any now",
                ": 10 rows on pages that had 30 at the visit before, and none on 20 of the 30 pages: ",
            ],
        ),
        (
            "a field lost",
            PAGES,
            |number| Some(whole(number, "").replace("price", "cost")),
            30,
            &[", round 2: 30 rows: name 100 %, price 0 %", ": price has a value in 0 % of the rows, 100 % before: "],
        ),
        (
            "nothing lost",
            PAGES,
            |number| Some(whole(number, "!")),
            30,
            &[", round 2: 30 rows: name 100 %, price 100 %"],
        ),
        (
            "pages gone",
            PAGES,
            |number| (number >= 20).then(|| whole(number, "!")),
            10,
            &[", round 2: 10 rows: name 100 %, price 100 %; 20 pages with rows before gone or moved"],
        ),
        (
            "a required field lost",
            REQUIRED,
            |number| Some(whole(number, "").replace("h1", "h2")),
            0,
            &[
                ", round 2: 0 rows; 30 pages with rows before without any now",
                ": 0 rows on pages that had 30 at the visit before, and none on 30 of the 30 pages: ",
            ],
        ),
        (
            "fewer rows a page",
            ROWS,
            |number| Some(whole(number, "").replacen("class=offer", "", 2)),
            30,
            &[", round 2: 30 rows: name 100 %, price 100 %", ": 30 rows on pages that had 90 at the visit before: "],
        ),
        (
            "rows lost on some pages",
            ROWS,
            |number| Some(if number < 10 { broken(number) } else { whole(number, "!") }),
            60,
            &[
                ", round 2: 60 rows: name 100 %, price 100 %; 10 pages with rows before without any now",
                ": 60 rows on pages that had 90 at the visit before, and none on 10 of the 30 pages: ",
            ],
        ),
    ];
    for (name, rules, change, rows, expect) in cases {
        let shop = crawled(Some(rules), change);
        let line = |line: &&str| if line.ends_with(": ") { format!("{line}{changed}") } else { (*line).to_owned() };
        assert_eq!(lines(&shop.again(&[])), expect.iter().map(line).collect::<Vec<_>>(), "{name}");
        let (current, field) = shop.rows();
        assert_eq!(current, rows, "{name}");
        let number = |key: &str| field[key].as_u64().expect("a number");
        let said = |what: &str| expect[0].contains(what);
        assert_eq!(number("pages_lost") > 0, said("without any now"), "{name}: {field}");
        assert_eq!(number("pages_gone") > 0, said("gone or moved"), "{name}: {field}");
        assert_eq!(field["filled_before"].is_number(), number("pages_gone") < 30, "{name}: {field}");
    }
}

#[test]
fn a_rule_that_is_added_or_removed_is_no_change_of_the_pages() {
    // Added after the first round: its rows are derived from the archive, so what the pages lose is seen.
    let shop = crawled(None, |number| Some(broken(number)));
    let rules = shop.rules(PAGES);
    let said = lines(&shop.again(&["--extract", &rules]));
    assert!(said.len() == 2 && said[1].contains("none on 30 of the 30 pages"), "{said:?}");
    assert_eq!(shop.rows().0, 0);
    // Added after the change: nothing is known of before.
    let shop = crawled(None, |number| Some(whole(number, "!")));
    assert_eq!(lines(&shop.again(&[])), Vec::<String>::new());
    let ran = shop.crawled.run("derive", &["--extract", &shop.rules(PAGES)]);
    assert_eq!(lines(&ran.stderr), [", round 2: 30 rows: name 100 %, price 100 %"], "{ran:?}");
    assert_eq!(shop.rows().0, 30);
    // Taken out of the settings before the second round: no line, and its table has no current row of pages that were visited without it.
    let shop = crawled(Some(PAGES), |number| Some(broken(number)));
    let others = shop.rules("[extract.other.fields]\ntitle = 'title'\n");
    assert_eq!(lines(&shop.again(&["--extract", &others])), Vec::<String>::new());
    let report = shop.crawled.run("report", &["--json"]).json();
    let rows = report["items"]["rows"].as_array().expect("rows").clone();
    let product = rows.iter().find(|row| row["table"] == "product").expect("its table");
    assert_eq!((&product["rows"], &product["pages_lost"]), (&0.into(), &0.into()), "{product}");
    assert_eq!(shop.crawled.run("export", &["items", "--items", "product"]).stdout, "");
}

#[test]
fn later_rounds_of_other_pages_do_not_hide_what_a_rule_has_found() {
    let shop = crawled(Some(PAGES), |number| Some(broken(number)));
    assert_eq!(lines(&shop.again(&["--only", "http://shop.test/"])), [", round 1: 30 rows: name 100 %, price 100 %"]);
    assert_eq!(shop.rows().0, PRODUCTS);
    // Nine pages are too few for a warning, and are counted.
    let only: Vec<String> = (1..10).map(|number| format!("http://shop.test/p/{number}")).collect();
    let only: Vec<&str> = only.iter().flat_map(|url| ["--only", url]).collect();
    assert_eq!(lines(&shop.again(&only)), [", round 3: 0 rows; 9 pages with rows before without any now"]);
    assert_eq!(shop.rows().0, PRODUCTS - 9);
}
