//! `argiope export DIR jsonl` of the advanced sandbox, against its definition.

use serde_json::json;

use crate::crawled::{ADVANCED, Crawled, expected, is_in_trap, status_of};

#[test]
fn the_advanced_sandbox_is_the_rows_of_its_definition() {
    let rows = Crawled::advanced().rows();
    let expected = expected();
    for (url, outcome) in &expected {
        let row = rows.get(url).unwrap_or_else(|| panic!("{url} is missing"));
        let status = row["status"].as_u64().map(|status| status.to_string()).unwrap_or_default();
        assert_eq!((row["outcome"].as_str(), status), (Some(*outcome), status_of(url, outcome)), "{row}");
        assert_eq!(row["duplicate_of"].is_string(), *outcome == "duplicate", "{row}");
        assert!(row["redirect_to"].is_null() || *outcome == "redirect", "{row}");
    }
    let extra: Vec<&String> = rows.keys().filter(|url| !expected.contains_key(*url) && !is_in_trap(url)).collect();
    assert!(extra.is_empty(), "{extra:?}");

    let says = |path: &str, columns: serde_json::Value| {
        let row = &rows[&format!("{ADVANCED}{path}")];
        for (column, value) in columns.as_object().expect("an object") {
            assert_eq!(row[column], *value, "{column} of {path}");
        }
    };
    let site = ADVANCED;
    says(
        "/",
        json!({"site": site, "depth": 0, "via": "seed", "found_on": null, "content_type": "text/html; charset=utf-8"}),
    );
    says(
        "/links/same.html",
        json!({"site": site, "depth": 3, "via": "link", "found_on": format!("{ADVANCED}/links/spelling.html"),
               "title": "/links/same.html", "length": 125, "duplicate_of": null, "reason": null, "attempts": 1}),
    );
    says("/duplicates/copy-2.html", json!({"duplicate_of": format!("{ADVANCED}/duplicates/copy-1.html")}));
    says("/redirects/chain-1", json!({"redirect_to": format!("{ADVANCED}/redirects/chain-2")}));
    says("/redirects/no-location", json!({"redirect_to": null}));
    says("/documents/paper.pdf", json!({"outcome": "binary", "content_type": "application/pdf", "title": null}));
}
