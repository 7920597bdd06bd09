//! What is answered, of a web whose links are known.

use serde_json::{Value, json};
use testweb::{Pages, Reply, Web};

use testkit::crawled::Crawled;
use testkit::ran::{Ran, argiope};

const TWICE: &str = "<title>A orb</title>orb orb <a href=/copy>to the copy</a><script>orb</script>";

/// Two sites with links to each other.
pub fn web() -> Web {
    let root = "<title>One</title><p title=orb>The orb weaver weaves. Orb.</p><a href=/a>to a</a><a href=/./b/../a>again</a>\
                <a href=/>self</a><a href=/moved>moved</a><a href=/gone>gone</a><a href=http://two.test/>over</a>\
                <a rel=nofollow href=http://nobody.invalid/>nobody</a>";
    let one = Pages::new()
        .html("/", root)
        .html("/a", TWICE)
        .html("/copy", TWICE)
        .reply("/moved", Reply::redirect(302, "/a"))
        .reply("/gone", Reply::error(404, "/gone"));
    let deep = "<a href=http://one.test/a>\u{1b}[31mback</a> orb";
    Web::new()
        .site("one.test", one)
        .site("two.test", Pages::new().html("/", "<a href=/deep>deep</a>Silk").html("/deep", deep))
}

/// A crawl of both sites.
pub fn both() -> Crawled {
    Crawled::of(web(), "http://one.test/", &["http://two.test/", "--no-sitemaps"])
}

#[track_caller]
fn says(ran: &Ran, code: i32, stdout: &str, stderr: &str) {
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (code, stdout, stderr));
}

#[test]
fn ranks() {
    let crawled = both();
    let all = crawled.run("rank", &["--json"]).json();
    assert_eq!((&all["vertices"], &all["edges"], &all["settled"]), (&json!(8), &json!(11), &json!(true)));
    let rows = all["rows"].as_array().expect("rows");
    let rank = |url: &str| rows.iter().find(|row| row["name"] == url).expect(url)["rank"].as_f64().expect("a number");
    assert_eq!(rows[0]["name"], "http://one.test/copy", "the end of all ways, which links to itself");
    assert_eq!((rank("http://one.test/gone"), rank("http://nobody.invalid/")), (0.0, 0.0), "not crawled");
    // Of itself a sixth: r = 0.15 + 0.85 r / 6. The error allowed is that of the definition's precision.
    assert!((rank("http://one.test/") - 0.15 / (1.0 - 0.85 / 6.0)).abs() < 0.01);
    let normalized = crawled.run("rank", &["--json", "--normalized"]).json();
    let sum: f64 =
        normalized["rows"].as_array().expect("rows").iter().map(|row| row["rank"].as_f64().expect("a number")).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");

    let text = crawled.run("rank", &["--top", "1"]);
    let lines: Vec<&str> = text.stdout.lines().collect();
    assert!(lines[0].starts_with("PageRank of 8 URLs by 11 links, ") && lines[1].ends_with("  http://one.test/copy"));
    assert_eq!(lines.len(), 2);
    let one = crawled.run("rank", &["http://one.test/copy"]);
    assert!(one.stdout.ends_with(" http://one.test/copy  (place 1 of 8 URLs)\n"), "{one:?}");
}

#[test]
fn ranks_of_sites_and_of_domains() {
    let crawled = both();
    for (by, names) in [("site", ["http://one.test", "http://two.test"]), ("domain", ["one.test", "two.test"])] {
        let answer = crawled.run("rank", &["--by", by, "--json"]).json();
        // One to two and to nobody, two to one; nobody was not crawled.
        assert_eq!((&answer["vertices"], &answer["edges"]), (&json!(3), &json!(3)), "{by}");
        let found: Vec<&Value> = answer["rows"].as_array().expect("rows").iter().map(|row| &row["name"]).collect();
        assert_eq!(found[..2], names);
        assert_eq!(answer["rows"][2]["rank"], 0.0);
    }
}

#[test]
fn ranks_in_a_file() {
    let crawled = both();
    let (csv, parquet) = (format!("{}.csv", crawled.dir()), format!("{}.parquet", crawled.dir()));
    for out in [&csv, &parquet] {
        assert_eq!(crawled.run("rank", &["--out", out]).code, 0);
    }
    let rows = std::fs::read_to_string(&csv).expect("a file");
    let lines: Vec<&str> = rows.lines().collect();
    assert_eq!((lines.len(), lines[0]), (9, "url,rank"));
    assert!(lines[1].starts_with("http://one.test/copy,"));
    let script = "import sys, duckdb\nfor row in duckdb.sql(f\"select url, rank from '{sys.argv[1]}'\").fetchall(): print(*row, sep=',')";
    let read = testkit::python::script(&["duckdb"], script, &[&parquet]);
    let numbers = |rows: &str| -> Vec<(String, f64)> {
        let row = |row: &str| row.rsplit_once(',').map(|(url, rank)| (url.to_owned(), rank.parse().expect("a number")));
        rows.lines().filter(|line| *line != "url,rank").map(|line| row(line).expect("two fields")).collect()
    };
    assert_eq!(numbers(&read), numbers(&rows));
    for file in [csv, parquet] {
        std::fs::remove_file(file).expect("a file");
    }
    let wrong = crawled.run("rank", &["--out", "ranks.txt"]);
    says(&wrong, 2, "", "argiope: --out ranks.txt: must end in .csv or .parquet\n");
}

#[test]
fn overlaps() {
    let crawled = both();
    let list = "2\n  1 link to two.test from 5 pages of one.test in reach of http://one.test/\n    \
                http://one.test/ -> http://two.test/\n  \
                1 link to one.test from 2 pages of two.test in reach of http://two.test/\n    \
                http://two.test/deep -> http://one.test/a\n";
    says(&crawled.run("overlap", &["http://one.test/", "http://two.test/", "--list"]), 0, list, "");
    let json = crawled.run("overlap", &["http://one.test/copy", "http://two.test/deep", "--json"]).json();
    let none: [Vec<Value>; 2] = Default::default();
    assert_eq!(json, json!({"overlap": 0, "domains": ["one.test", "two.test"], "reachable": [1, 1], "edges": none}));
    let same = "argiope: both URLs are in one.test: an overlap needs two domains (host and port)\n";
    says(&crawled.run("overlap", &["http://one.test/", "http://one.test/a"]), 1, "", same);
}

#[test]
fn searches_in_the_main_text() {
    let sentence = "The garden spider sits head down in the middle of its orb, and waits there for whatever flies in. ";
    let page = format!(
        "<title>Spiders</title><nav><ul><li><a href=/>Start</a><li><a href=/shop>Silk shop</a></ul></nav>\
         <main><article><h1>Waiting</h1>{}<p>One sits\n on its silk.</p></article></main>\
         <footer><a href=/shop>Silk shop</a></footer>",
        format!("<p>{sentence}{sentence}</p>").repeat(4)
    );
    let shop = "<title>Silk</title><p>Nothing here";
    let pages = Pages::new().html("/", page).html("/shop", shop);
    let crawled = Crawled::of(Web::new().site("one.test", pages), "http://one.test/", &["--no-sitemaps"]);
    let whole = "      2  http://one.test/\n";
    says(&crawled.run("search", &["Silk shop"]), 0, whole, "argiope: 1 page, 2 occurrences\n");
    says(&crawled.run("search", &["Silk shop", "--main-text"]), 0, "", "argiope: 0 pages, 0 occurrences\n");
    let line = "      1  http://one.test/\n         …. One sits on its silk.\n";
    let found = crawled.run("search", &["sits on its", "--main-text", "--context", "6"]);
    says(&found, 0, line, "argiope: 1 page, 1 occurrence\n");
    let title = crawled.run("search", &["Silk", "--main-text"]);
    assert_eq!(title.stdout, "      1  http://one.test/shop\n", "titles count too");
}

#[test]
fn searches() {
    let crawled = both();
    let orb = "      3  http://one.test/a\n      3  http://one.test/copy\n      1  http://one.test/\n      1  http://two.test/deep\n";
    says(&crawled.run("search", &["orb"]), 0, orb, "argiope: 4 pages, 8 occurrences\n");
    let first = "      3  http://one.test/a\n";
    says(
        &crawled.run("search", &["orb", "--limit", "1"]),
        0,
        first,
        "argiope: 4 pages, 8 occurrences, 1 of them shown\n",
    );
    says(&crawled.run("search", &["ORB"]), 0, "", "argiope: 0 pages, 0 occurrences\n");
    let any = crawled.run("search", &["ORB", "--ignore-case"]);
    assert_eq!(any.stderr, "argiope: 4 pages, 9 occurrences\n");
    let context = "      1  http://one.test/\n         The orb weaver weav…\n";
    says(&crawled.run("search", &["orb\n weaver", "--context", "5"]), 0, context, "argiope: 1 page, 1 occurrence\n");
    let regex = "      1  http://two.test/\n";
    says(&crawled.run("search", &["--regex", "S.lk$"]), 0, regex, "argiope: 1 page, 1 occurrence\n");
    let of_two = "      1  http://two.test/deep\n";
    says(&crawled.run("search", &["orb", "--site", "two.test"]), 0, of_two, "argiope: 1 page, 1 occurrence\n");
    let late = crawled.run("search", &["orb", "--since", "2d", "--site", "one.test"]);
    assert_eq!(late.stderr, "argiope: 3 pages, 7 occurrences\n", "a copy is found with its page");
    assert_eq!(crawled.run("search", &["orb", "--since", "2999-01-01"]).stderr, "argiope: 0 pages, 0 occurrences\n");
    assert!(crawled.run("search", &["orb", "--site", "twoo.test"]).stderr.contains("nearest: two.test"));
    assert_eq!(crawled.run("search", &["orb", "--since", "soon"]).code, 2);
    assert_eq!(crawled.run("search", &[" "]).code, 2);
    assert_eq!(crawled.run("search", &["--regex", "("]).code, 2);
}

#[test]
fn links_and_paths() {
    let crawled = both();
    let to_a = "<- http://one.test/  \"to a\"\n<- http://one.test/  \"again\"\n<- http://one.test/moved  (redirect)\n\
                <- http://two.test/deep  \"\\u{1b}[31mback\"\n";
    let ran = crawled.run("links", &["http://one.test/a", "--in"]);
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(sorted(&ran.stdout), sorted(&format!("{to_a}4 links to the page\n")));
    let from_a = "-> http://one.test/copy  \"to the copy\"\n1 link from the page\n";
    says(&crawled.run("links", &["http://one.test/a", "--out"]), 0, from_a, "");
    let root = crawled.run("links", &["http://one.test/", "--out", "--json"]);
    let last: Value = serde_json::from_str(root.stdout.lines().last().expect("a line")).expect("JSON");
    let nobody = json!({"source": "http://one.test/", "target": "http://nobody.invalid/", "text": "nobody", "kind": "anchor", "rel": "nofollow"});
    assert_eq!((root.stdout.lines().count(), last), (7, nobody));

    let path = "http://two.test/\n  \"deep\"\nhttp://two.test/deep\n  \"\\u{1b}[31mback\"\nhttp://one.test/a\n  \"to the copy\"\nhttp://one.test/copy\n";
    says(&crawled.run("path", &["http://two.test/", "http://one.test/copy"]), 0, path, "argiope: 3 links\n");
    let none = "argiope: no links lead from http://one.test/a to http://two.test/, as far as the crawl has seen\n";
    says(&crawled.run("path", &["http://one.test/a", "http://two.test/"]), 1, "", none);
    let json = crawled.run("path", &["http://one.test/", "http://one.test/", "--json"]).json();
    assert_eq!(json, json!({"links": 0, "urls": ["http://one.test/"], "texts": []}));
}

#[test]
fn urls_in_other_forms_are_understood_and_unknown_ones_named() {
    let crawled = both();
    let ran = crawled.run("links", &["HTTP://One.Test:80/x/../a#top", "--out"]);
    assert_eq!(ran.stderr, "argiope: HTTP://One.Test:80/x/../a#top is http://one.test/a in canonical form\n");
    assert!(ran.stdout.starts_with("-> http://one.test/copy"));
    let unknown = "argiope: http://three.test/: the crawl knows no such URL, and no page links to it\n";
    says(&crawled.run("rank", &["http://three.test/"]), 0, "0 http://three.test/  (not crawled)\n", unknown);
    for arguments in [&["links"][..], &["path", "http://one.test/"], &["overlap", "http://one.test/"]] {
        says(&crawled.run(arguments[0], &[&arguments[1..], &["http://three.test/"]].concat()), 1, "", unknown);
    }
    let wrong = crawled.run("links", &["mailto:someone@one.test"]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (2, ""));
}

#[test]
fn answers_do_not_depend_on_the_number_of_workers() {
    let crawled = both();
    let questions: [&[&str]; 5] = [
        &["rank", "--json"],
        &["rank", "--json", "--normalized"],
        &["rank", "--json", "--by", "site"],
        &["overlap", "http://one.test/", "http://two.test/", "--json"],
        &["search", "orb", "--json"],
    ];
    for question in questions {
        let with = |threads: &str| crawled.run(question[0], &[&question[1..], &["--threads", threads]].concat());
        let one = with("1");
        assert_eq!(one.code, 0, "{one:?}");
        assert_eq!((with("2"), with("4")), (Ran { ..with("1") }, one), "{question:?}");
    }
}

#[test]
fn a_crawl_that_got_nothing_says_so() {
    let crawled = Crawled::of_hosts(Web::new(), "http://nobody.invalid/", &[], &[]);
    let rank = "PageRank of 1 URL by 0 links, 2 rounds\n    1        0.000000  http://nobody.invalid/\n";
    says(&crawled.run("rank", &[]), 0, rank, "");
    says(&crawled.run("search", &["orb"]), 0, "", "argiope: 0 pages, 0 occurrences\n");
    says(&crawled.run("links", &["http://nobody.invalid/"]), 0, "0 links from the page\n0 links to the page\n", "");
}

#[test]
fn crawls_without_a_dataset_say_what_to_do() {
    let bare = Crawled::of(web(), "http://one.test/", &["--no-dataset"]);
    let dir = bare.dir();
    let advice =
        format!("argiope: {dir}: the crawl writes no dataset (--no-dataset): `argiope derive {dir}` makes it\n");
    says(&bare.run("rank", &[]), 1, "", &advice);
    assert_eq!(bare.run("derive", &[]).code, 0);
    assert_eq!(bare.run("rank", &["--json"]).json()["vertices"], 7);
    let none = Crawled::of(web(), "http://one.test/", &["--no-archive"]);
    let ran = none.run("search", &["orb"]);
    assert!(ran.code == 1 && ran.stderr.contains("keeps no archive (--no-archive)"), "{ran:?}");
    let missing = argiope(&["rank", "/nowhere"]);
    says(&missing, 1, "", "argiope: /nowhere: no such directory\n");
}
