//! Rules give typed rows, during a crawl and from an archive made without them; DuckDB reads them.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use testweb::{Pages, Web};

use testkit::crawled::Crawled;
use testkit::python::script;

/// Products of the shop.
const PRODUCTS: usize = 500;
/// Products on a page of the list.
const ON_A_PAGE: usize = 50;

/// Twelve lines.
const RULES: &str = r#"[extract.product]
url = "http*://shop.test/p/*"
[extract.product.fields]
name = { css = "h1", required = true }
price = { css = ".price", type = "number" }
stock = { xpath = "//p[starts-with(., 'In stock')]", regex = "(\\d+)", type = "integer" }
sku = { json = "$.sku" }
image = { css = "img", attr = "src", type = "url" }
since = { css = "time", type = "date" }
sale = { css = "[data-sale]", attr = "data-sale", type = "bool" }
tags = { css = ".tag", list = true }
offers = { css = "li", list = true, fields = { seller = "b", price = { css = "i", type = "number" } } }
"#;

fn product(number: usize) -> String {
    // Every fifth has no stock.
    let stock = if number.is_multiple_of(5) { String::new() } else { format!("<p>In stock: {number}</p>") };
    format!(
        "<title>{number}</title><h1>Lamp {number}</h1><b class=price>EUR {number},50</b>{stock}<img src=/i/{number}.png>\
         <time datetime=2024-03-05>5 March</time><i data-sale={}></i><u class=tag>a{number}</u><u class=tag>b</u>\
         <ul><li><b>x</b><i>{number}</i></ul>\
         <script type='application/ld+json'>{{\"@type\": \"Product\", \"sku\": \"S{number}\",}}</script>",
        number.is_multiple_of(2)
    )
}

fn shop(product: fn(usize) -> String) -> Web {
    let mut pages = Pages::new();
    let mut root = String::new();
    for first in (0..PRODUCTS).step_by(ON_A_PAGE) {
        let mut list = String::new();
        for number in first..first + ON_A_PAGE {
            let _ = write!(list, "<a href=/p/{number}>{number}</a>");
            pages = pages.html(format!("/p/{number}"), product(number));
        }
        let _ = write!(root, "<a href=/list/{first}>{first}</a>");
        pages = pages.html(format!("/list/{first}"), list);
    }
    Web::new().site("shop.test", pages.html("/", root))
}

fn rules_in(dir: &Path) -> String {
    let path = dir.join("rules.toml");
    std::fs::write(&path, RULES).expect("a file");
    path.display().to_string()
}

/// What DuckDB says of the products, `{}` being their files.
fn query(dir: &str, sql: &str) -> Value {
    let code = "import sys, json, duckdb\n\
        print(json.dumps(duckdb.sql(sys.argv[1]).fetchall(), default=str))\n";
    let files = format!("'{dir}/dataset/items/product/*.parquet'");
    serde_json::from_str(&script(&["duckdb"], code, &[&sql.replace("{}", &files)])).expect("JSON")
}

fn check_products(dir: &str) {
    let counts = "select count(*), count(distinct url), count(stock), sum(price), min(row), max(round) from {}";
    assert_eq!(query(dir, counts), json!([[PRODUCTS, PRODUCTS, 400, 125_000.0, 0, 1]]));
    let one = "select name, price, stock, sku, image, since, sale, tags, offers from {} where url like '%/p/7'";
    let expect = json!([[
        "Lamp 7", 7.5, 7, "S7", "http://shop.test/i/7.png", "2024-03-05 00:00:00+00:00", false, ["a7", "b"],
        [{"seller": "x", "price": 7.0}],
    ]]);
    assert_eq!(query(dir, &format!("set timezone = 'UTC'; {one}")), expect);
    let types = "select column_type from (describe select name, price, stock, since, sale, tags, offers from {})";
    let expect = [
        "VARCHAR",
        "DOUBLE",
        "BIGINT",
        "TIMESTAMP WITH TIME ZONE",
        "BOOLEAN",
        "VARCHAR[]",
        "STRUCT(seller VARCHAR, price DOUBLE)[]",
    ];
    assert_eq!(query(dir, types), json!(expect.map(|name| [name])));
}

#[test]
fn twelve_lines_give_typed_rows_of_a_shop_during_a_crawl_and_afterwards() {
    let files = tempfile::tempdir().expect("a directory");
    let rules = rules_in(files.path());
    let during = Crawled::of(shop(product), "http://shop.test/", &["--extract", &rules]);
    check_products(during.dir());
    let settings = std::fs::read_to_string(Path::new(during.dir()).join("crawl.toml")).expect("settings");
    assert!(settings.contains("\nextract = {"), "{settings}");

    let without = Crawled::of(shop(product), "http://shop.test/", &[]);
    assert!(!Path::new(without.dir()).join("dataset/items").exists());
    let ran = without.run("derive", &["--extract", &rules]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let fill = "items/product, round 1: 500 rows: name 100 %, price 100 %, stock 80 %, sku 100 %";
    assert!(ran.stderr.contains(fill), "{ran:?}");
    check_products(without.dir());
    // Nothing is derived twice, and another rule replaces the rows.
    let again = without.run("derive", &["--extract", &rules]);
    assert!(again.stdout.contains("nothing is missing"), "{again:?}");
    std::fs::write(&rules, "[extract.product]\nurl = '*/p/1*'\nfields.title = 'title'\n").expect("a file");
    assert_eq!(without.run("derive", &["--extract", &rules]).code, 0);
    assert_eq!(query(without.dir(), "select count(*), max(title) from {}"), json!([[111, "199"]]));
}

#[test]
fn wrong_rules_are_refused_before_anything_is_done() {
    let files = tempfile::tempdir().expect("a directory");
    let rules = rules_in(files.path());
    std::fs::write(&rules, "[extract.a]\n[extract.a.fields]\nb = 'p:hover'\n").expect("a file");
    let target = files.path().join("crawl").display().to_string();
    let ran = testkit::ran::argiope(&["crawl", "-o", &target, "--extract", &rules, "http://shop.test/"]);
    let expect = "rules.toml, line 3: extract.a.fields.b: `p:hover` is no CSS selector: a recorded page has no :hover";
    assert!(ran.code == 2 && ran.stderr.contains(expect), "{ran:?}");
    assert!(!Path::new(&target).exists());
}
