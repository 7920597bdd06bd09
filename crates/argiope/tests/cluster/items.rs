//! Items that rules take out of the pages of several workers.

use std::process::Command;

use serde_json::Value;
use testdb::until;
use testkit::ran::argiope;
use testweb::{Pages, Web};

use crate::lab::{Lab, Laid};

/// Products, half of them on each of two sites.
const PRODUCTS: usize = 40;

fn shops() -> Web {
    (0..2).fold(Web::new(), |web, shop| {
        let numbers = || (shop..PRODUCTS).step_by(2);
        let root: String = numbers().map(|number| format!("<a href=/p/{number}>{number}</a>")).collect();
        let page = |number| format!("<h1>Lamp {number}</h1><b class=price>EUR {number},50</b>");
        let product = |pages: Pages, number| pages.html(format!("/p/{number}"), page(number));
        web.site(&format!("shop{shop}.test"), numbers().fold(Pages::new().html("/", root), product))
    })
}

#[test]
fn each_worker_writes_the_items_of_its_segments() {
    let files = tempfile::tempdir().expect("a directory");
    let rules = files.path().join("rules.toml");
    let text = "[extract.product]\nurl = '*/p/*'\n[extract.product.fields]\nname = 'h1'\n\
                price = { css = '.price', type = 'number' }\n";
    std::fs::write(&rules, text).expect("a file");
    let lab = Lab::new(Laid::of(shops()), &["--extract", rules.to_str().expect("UTF-8")]);
    let seal_soon = ["--seal-after", "1s"];
    let _workers = [(); 2].map(|()| lab.worker_by(Command::new(env!("CARGO_BIN_EXE_argiope")), &seal_soon));
    lab.served.asked(&["add-seeds", "http://shop0.test/", "http://shop1.test/"]);
    until("all pages to be fetched", || lab.served.asked(&["stats"])["outcomes"]["html"] == PRODUCTS + 2);
    until("all to be sealed", || lab.served.asked(&["stats"])["segments_open"] == 0);

    let ran = argiope(&["export", lab.shared().to_str().expect("UTF-8"), "items"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let rows = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mut found: Vec<(String, f64)> = rows
        .map(|row| (row["name"].as_str().expect("a name").to_owned(), row["price"].as_f64().expect("a price")))
        .collect();
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    let expect: Vec<_> = (0..PRODUCTS).map(|number| (format!("Lamp {number}"), number as f64 + 0.5)).collect();
    assert_eq!(found, expect);
}
