//! Rules give typed rows, during a crawl and from an archive made without them; DuckDB reads them.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use testweb::{Config, Pages, Reply, Server, Web};

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
    let items = without.run("report", &["--json"]).json()["items"].clone();
    let stock = json!({
        "table": "product", "field": "stock", "rows": PRODUCTS, "filled": 0.8, "filled_before": null,
        "pages_lost": 0, "pages_gone": 0,
    });
    assert_eq!((&items["total"], &items["rows"][2]), (&json!(9), &stock));
    // Nothing is derived twice, and another rule replaces the rows.
    let again = without.run("derive", &["--extract", &rules]);
    assert!(again.stdout.contains("nothing is missing"), "{again:?}");
    std::fs::write(&rules, "[extract.product]\nurl = '*/p/1*'\nfields.title = 'title'\n").expect("a file");
    assert_eq!(without.run("derive", &["--extract", &rules]).code, 0);
    assert_eq!(query(without.dir(), "select count(*), max(title) from {}"), json!([[111, "199"]]));
}

/// What Python's own reader makes of a file of CSV.
fn csv_rows(path: &Path) -> Value {
    let code = "import csv, json, sys\n\
        print(json.dumps(list(csv.DictReader(open(sys.argv[1], newline='', encoding='utf-8')))))\n";
    serde_json::from_str(&script(&[], code, &[&path.display().to_string()])).expect("JSON")
}

#[test]
fn items_are_exported_as_json_lines_csv_and_parquet() {
    let files = tempfile::tempdir().expect("a directory");
    let rules = rules_in(files.path());
    let crawled = Crawled::of(shop(product), "http://shop.test/", &["--extract", &rules]);
    let ran = crawled.run("export", &["items"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), PRODUCTS);
    let seventh = lines.iter().find(|line| line["url"] == "http://shop.test/p/7").expect("a row");
    let expect = json!({
        "row": 0, "name": "Lamp 7", "price": 7.5, "stock": 7, "sku": "S7", "image": "http://shop.test/i/7.png",
        "since": "2024-03-05T00:00:00Z", "sale": false, "tags": ["a7", "b"], "offers": [{"seller": "x", "price": 7.0}],
    });
    for (name, value) in expect.as_object().expect("an object") {
        assert_eq!(&seventh[name], value, "{name}");
    }

    // To the millisecond, as the dataset has it: of so many pages hardly one came at a whole second.
    let times = lines.iter().filter_map(|row| row["fetched_at"].as_str());
    assert!(times.filter(|at| at.contains('.')).count() > PRODUCTS / 2, "{lines:?}");

    let target = files.path().join("items.csv");
    let to = target.display().to_string();
    assert_eq!(crawled.run("export", &["items", "--items", "product", "-o", &to]).code, 0);
    let rows = csv_rows(&target);
    let rows = rows.as_array().expect("rows");
    assert_eq!(rows.len(), PRODUCTS);
    let seventh = rows.iter().find(|row| row["url"] == "http://shop.test/p/7").expect("a row");
    let cells =
        ["name", "price", "stock", "sale", "tags", "offers"].map(|name| seventh[name].as_str().expect("a cell"));
    assert_eq!(cells, ["Lamp 7", "7.5", "7", "false", r#"["a7","b"]"#, r#"[{"seller":"x","price":7.0}]"#]);
    let fifth = rows.iter().find(|row| row["url"] == "http://shop.test/p/5").expect("a row");
    assert_eq!(fifth["stock"], "", "it has none");

    // A copy of the dataset has them, those of admitted pages.
    for (option, value, count) in [("--site", "shop.test", PRODUCTS), ("--since", "9999-01-01", 0)] {
        let copy = files.path().join(value);
        assert_eq!(crawled.run("export", &["parquet", option, value, "-o", &copy.display().to_string()]).code, 0);
        let sql = format!("select count(*) from '{}/items/product/*.parquet'", copy.display());
        assert_eq!(query("", &sql), json!([[count]]));
        let lines = crawled.run("export", &["items", option, value]).stdout;
        assert_eq!(lines.lines().count(), count);
    }
    let ran = crawled.run("export", &["items", "--items", "shoes"]);
    assert!(ran.code == 1 && ran.stderr.contains("there are no items shoes, but product"), "{ran:?}");
    let without = Crawled::of(shop(product), "http://shop.test/", &["--max-pages", "3"]);
    let ran = without.run("export", &["items"]);
    assert!(ran.code == 1 && ran.stderr.contains("there are no items: `argiope derive --extract RULES`"), "{ran:?}");
}

/// Writes an archive as warcio does: a page in chunks, compressed or not.
const WARCIO: &str = r#"
import sys
from io import BytesIO
from warcio.warcwriter import WARCWriter
from warcio.statusandheaders import StatusAndHeaders
page = b"<h1>Lamp 900</h1><b class=price>EUR 900,50</b>"
chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(page), page)
for path, gzip in [(sys.argv[1], True), (sys.argv[2], False)]:
    with open(path, "wb") as out:
        writer = WARCWriter(out, gzip=gzip)
        for number in (900, 901):
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/html"), ("Transfer-Encoding", "chunked")], "HTTP/1.1")
            url = "http://shop.test/p/%d" % number
            writer.write_record(writer.create_warc_record(url, "response", payload=BytesIO(chunks), http_headers=head))
"#;

/// A page whose coding was undone, a resource, and what is in no coding that it says.
const ODD_WARCIO: &str = r#"
import sys
from io import BytesIO
from warcio.warcwriter import WARCWriter
from warcio.statusandheaders import StatusAndHeaders
page = b"<h1>Lamp</h1><b class=price>5,00</b>"
def head(coding):
    return StatusAndHeaders("200 OK", [("Content-Type", "text/html"), ("Content-Encoding", coding)], "HTTP/1.1")
with open(sys.argv[1], "wb") as out:
    writer = WARCWriter(out)
    def write(url, kind, payload, **more):
        writer.write_record(writer.create_warc_record(url, kind, payload=BytesIO(payload), **more))
    write("http://shop.test/p/1", "response", page, http_headers=head("gzip"))
    write("http://shop.test/p/2", "resource", page, warc_content_type="text/html")
    write("http://shop.test/p/3", "response", b"\x00\x01\x02", http_headers=head("gzip"))
    write("urn:pageinfo:http://shop.test/p/4", "resource", b"{}", warc_content_type="application/json")
"#;

#[test]
fn items_are_taken_out_of_archives_of_other_tools() {
    let files = tempfile::tempdir().expect("a directory");
    let (path, rules) = (|name: &str| files.path().join(name).display().to_string(), rules_in(files.path()));
    let argiope = testkit::ran::argiope;
    let count = |dir: &str| {
        let sql = format!(
            "select count(*), count(distinct url), sum(price), count(round) from '{dir}/items/product/*.parquet'"
        );
        query("", &sql)
    };
    // A WACZ file of a whole crawl.
    let crawled = Crawled::of(shop(product), "http://shop.test/", &[]);
    assert_eq!(crawled.run("export", &["wacz", "-o", &path("shop.wacz")]).code, 0);
    let ran = argiope(&["derive", "--extract", &rules, "-o", &path("of-wacz"), &path("shop.wacz")]);
    assert!(ran.code == 0 && ran.stdout.contains(": 500 rows from 500 pages of 1 archive"), "{ran:?}");
    assert!(ran.stderr.contains("items/product: 500 rows: name 100 %, price 100 %, stock 80 %"), "{ran:?}");
    assert_eq!(count(&path("of-wacz")), json!([[PRODUCTS, PRODUCTS, 125_000.0, 0]]));
    // A directory of what warcio wrote.
    std::fs::create_dir_all(files.path().join("warcs/inner")).expect("a directory");
    script(&["warcio"], WARCIO, &[&path("warcs/a.warc.gz"), &path("warcs/inner/a.warc")]);
    let ran = argiope(&["derive", "--extract", &rules, "-o", &path("of-warcs"), &path("warcs")]);
    assert!(ran.code == 0 && ran.stdout.contains(": 4 rows from 4 pages of 2 archives"), "{ran:?}");
    assert_eq!(count(&path("of-warcs")), json!([[4, 2, 3_602.0, 0]]));
    // Resources, a field of a coding that was undone, and a body that cannot be decoded.
    script(&["warcio"], ODD_WARCIO, &[&path("odd.warc.gz")]);
    let ran = argiope(&["derive", "--extract", &rules, "-o", &path("of-odd"), &path("odd.warc.gz")]);
    assert!(ran.code == 1 && ran.stdout.contains(": 2 rows from 2 pages of 1 archive"), "{ran:?}");
    assert!(ran.stderr.contains("1 response passed over: the URL or the body cannot be read"), "{ran:?}");
    assert_eq!(count(&path("of-odd")), json!([[2, 2, 10.0, 0]]));
    // Its tables are exported like those of a crawl.
    let ran = argiope(&["export", &path("of-odd"), "items"]);
    assert!(ran.code == 0 && ran.stdout.lines().count() == 2 && ran.stdout.contains(r#""price":5.0"#), "{ran:?}");
    assert_eq!(argiope(&["export", &path("of-odd"), "items", "-o", &path("odd.csv")]).code, 0);
    assert_eq!(csv_rows(&files.path().join("odd.csv"))[1]["name"], "Lamp");
    let ran = argiope(&["export", &path("of-odd"), "items", "--since", "2020-01-01"]);
    assert!(ran.code == 2 && ran.stderr.contains("needs a crawl"), "{ran:?}");
    // One whose end is missing.
    let whole = std::fs::read(path("warcs/inner/a.warc")).expect("an archive");
    std::fs::write(path("cut.warc"), &whole[..whole.len() - 40]).expect("a file");
    let ran = argiope(&["derive", "--extract", &rules, "-o", &path("of-cut"), &path("cut.warc")]);
    assert!(
        ran.code == 1 && ran.stderr.contains("cut.warc: ") && ran.stderr.contains("the other records were read"),
        "{ran:?}"
    );
    assert_eq!(count(&path("of-cut")), json!([[1, 1, 900.5, 0]]));
    // What is no archive, and a damaged record, cost only themselves.
    let warcs = files.path().join("warcs");
    std::fs::write(warcs.join("0.warc"), "").expect("a file");
    std::fs::write(warcs.join("junk.warc.gz"), "no archive").expect("a file");
    let mut damaged = std::fs::read(warcs.join("a.warc.gz")).expect("an archive");
    let second = damaged.windows(3).rposition(|bytes| bytes == [0x1f, 0x8b, 8]).expect("a member");
    damaged.splice(0..0, damaged[second..].to_vec());
    damaged[20] ^= 0xff;
    std::fs::write(warcs.join("b.warc.gz"), damaged).expect("a file");
    let ran = argiope(&["derive", "--extract", &rules, "-o", &path("of-damaged"), &path("warcs")]);
    assert!(ran.code == 1 && ran.stdout.contains(": 6 rows from 6 pages of 3 archives"), "{ran:?}");
    for what in ["0.warc: is no WARC", "junk.warc.gz: is no WARC", "b.warc.gz: is damaged at 1 place, first: "] {
        assert!(ran.stderr.contains(what), "{what}: {ran:?}");
    }

    for (arguments, code, why) in [
        (vec!["-o", "of-cut", "cut.warc"], 2, "is not empty"),
        (vec!["-o", "new", "cut.warc", "rules.toml"], 1, "rules.toml: is no WARC or WACZ file"),
        (vec!["-o", "new", "of-cut"], 1, "there is no WARC or WACZ file in this directory"),
        (vec!["cut.warc", "shop.wacz"], 2, "-o TABLES"),
    ] {
        let is_option = |argument: &&str| argument.starts_with('-');
        let arguments: Vec<String> = arguments
            .iter()
            .map(|argument| if is_option(argument) { (*argument).to_owned() } else { path(argument) })
            .collect();
        let mut all = vec!["derive", "--extract", &rules];
        all.extend(arguments.iter().map(String::as_str));
        let ran = argiope(&all);
        assert!(ran.code == code && ran.stderr.contains(why), "{all:?}: {ran:?}");
    }
}

#[test]
fn rules_are_tried_on_a_page_of_the_web() {
    let files = tempfile::tempdir().expect("a directory");
    let rules = rules_in(files.path());
    std::fs::write(&rules, RULES.replace("http*://shop.test/p/*", "*/p/*")).expect("a file");
    let pages = Pages::new()
        .html("/p/7", product(7))
        .html("/private/p/8", product(8))
        .reply("/moved", Reply::redirect(302, "/p/7"))
        .reply("/gone", Reply::error(404, "/gone"))
        .text("/robots.txt", "User-agent: *\nDisallow: /private");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let server = runtime.block_on(Server::start(Config::new(Web::new().site("127.0.0.1", pages)))).expect("a port");
    let root = format!("http://{}", server.addresses()[0]);
    let inspected = |path: &str, arguments: &[&str]| {
        testkit::ran::argiope(&[&["inspect", "extract", &format!("{root}{path}"), "--json"], arguments].concat())
    };
    for path in ["/p/7", "/moved"] {
        let answer = inspected(path, &["--rules", &rules]).json();
        assert_eq!(answer["url"], format!("{root}/p/7"));
        assert_eq!(answer["items"][0]["rows"][0]["name"], "Lamp 7", "{answer}");
    }
    assert_eq!(inspected("/p/7", &["--find", "EUR 7,50"]).json()["suggestions"][0]["selector"], "b.price");
    for (path, why) in [("/gone", "404"), ("/private/p/8", "/private")] {
        let ran = inspected(path, &["--rules", &rules]);
        assert!(ran.code == 1 && ran.stderr.contains(why), "{ran:?}");
    }
    let with_url = inspected("/p/7", &["--rules", &rules, "--url", "http://shop.test/"]);
    assert!(with_url.code == 2 && with_url.stderr.contains("--url"), "{with_url:?}");
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
