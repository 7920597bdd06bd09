//! Contents that are the same, and contents that only seem so: what is a duplicate, what is lost (nothing), what kind it has.

use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use testdb::Postgres;
use testweb::{Pages, Reply, Web};

use crate::crawled::{Crawled, argiope};

/// The first bytes of the two PDF files of "The first collision for full SHA-1" (Stevens, Bursztein, Karpman, Albertini, Markov, 2017), as far
/// as they differ: they have the same SHA-1, and so have all files that go on alike.
const SHATTERED: [&str; 2] = [
    "7f46dc93a6b67e013b029aaa1db2560b45ca67d688c7f84b8c4c791fe02b3df614f86db1690901c56b45c1530afedfb76038e972722fe7ad\
     728f0e4904e046c230570fe9d41398abe12ef5bc942be33542a4802d98b5d70f2a332ec37fac3514e74ddc0f2cc1a874cd0c78305a215664\
     61309789606bd0bf3f98cda8044629a1",
    "7346dc9166b67e118f029ab621b2560ff9ca67cca8c7f85ba84c79030c2b3de218f86db3a90901d5df45c14f26fedfb3dc38e96ac22fe7bd\
     728f0e45bce046d23c570feb141398bb552ef5a0a82be331fea48037b8b5d71f0e332edf93ac3500eb4ddc0decc1a864790c782c76215660\
     dd309791d06bd0af3f98cda4bc4629b1",
];
const SHATTERED_BOTH: &[u8] =
    b"%PDF-1.3\n%\xe2\xe3\xcf\xd3\n\n\n1 0 obj\n<</Width 2 0 R/Height 3 0 R/Type 4 0 R/Subtype 5 0 R/Filter 6 0 R\
      /ColorSpace 7 0 R/Length 8 0 R/BitsPerComponent 8>>\nstream\n\xff\xd8\xff\xfe\x00$SHA-1 is dead!!!!!\
      \x85/\xec\t#9u\x9c9\xb1\xa1\xc6<L\x97\xe1\xff\xfe\x01";

const SITE: &str = "http://repeated.test";
const DECK: &[u8] = b"%PDF-1.4 of the same meeting";
const PAGE: &str = "<!doctype html><title>Twice</title><p>The same page, sent plain and compressed.";

fn shattered(n: usize) -> Vec<u8> {
    let hex: String = SHATTERED[n].split_whitespace().collect();
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("two digits");
    [SHATTERED_BOTH, &(0..hex.len()).step_by(2).map(byte).collect::<Vec<u8>>(), b"and all that follows"].concat()
}

fn gzipped(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).expect("in memory");
    encoder.finish().expect("in memory")
}

fn web() -> Web {
    let pdf = |body: Vec<u8>| Reply::new(200).header("Content-Type", "application/pdf").body(body);
    let coded = |body: &[u8]| {
        let reply = Reply::new(200).header("Content-Type", "text/html").header("Content-Encoding", "gzip");
        reply.body(gzipped(body))
    };
    let paths =
        ["/plain", "/coded", "/coded-too", "/deck.pdf", "/deck-too.pdf", "/deck-by-mail", "/one.pdf", "/two.pdf"];
    let links: String = paths.iter().map(|path| format!("<a href={path}>{path}</a> ")).collect();
    let pages = Pages::new()
        .html("/", format!("<!doctype html><title>All</title>{links}"))
        .html("/plain", PAGE)
        .reply("/coded", coded(PAGE.as_bytes()))
        .reply("/coded-too", coded(PAGE.as_bytes()))
        .reply("/deck.pdf", pdf(DECK.to_vec()))
        .reply("/deck-too.pdf", pdf(DECK.to_vec()))
        // A media type that the course's column does not take.
        .reply("/deck-by-mail", Reply::new(200).header("Content-Type", "application/x-unheard-of-type").body("bytes"))
        .reply("/one.pdf", pdf(shattered(0)))
        .reply("/two.pdf", pdf(shattered(1)));
    Web::new().site("repeated.test", pages)
}

/// One fetch after the other, so that each content has its original where the page has its first link.
fn crawled(arguments: &[&str]) -> Crawled {
    Crawled::of(web(), &[&["http://repeated.test/", "--concurrency", "1"], arguments].concat())
}

/// Outcome, what it repeats, and label, by path.
fn row(crawled: &Crawled, path: &str) -> (String, Option<String>, String) {
    let rows = crawled.rows();
    let row = &rows[&format!("{SITE}{path}")];
    let text = |column: &str| row[column].as_str().map(str::to_owned);
    let repeats = text("duplicate_of").map(|url| url.replacen(SITE, "", 1));
    (text("outcome").expect("an outcome"), repeats, text("digest").expect("a digest"))
}

/// The bodies as they are replayed: pages as files, documents in `crawldb`.
fn check_bodies(crawled: &Crawled, server: &Postgres) {
    let into = crawled.path("pages");
    crawled.export("pages", &["-o", &into]);
    let mut pages = Vec::new();
    let mut dirs: Vec<PathBuf> = vec![into.into()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { dirs.push(path) } else { pages.push(std::fs::read(&path).expect("a file")) }
        }
    }
    // URL and depth stand before the page.
    assert_eq!(pages.iter().filter(|page| page.ends_with(PAGE.as_bytes())).count(), 3, "plain, and twice compressed");
    crawled.export("crawldb", &["-o", &server.address()]);
    let documents =
        "SELECT data FROM crawldb.page_data JOIN crawldb.page ON page.id = page_id WHERE url LIKE '%.pdf' ORDER BY url";
    let documents = server.client().query(documents, &[]).expect("documents");
    let documents: Vec<&[u8]> = documents.iter().map(|row| row.get(0)).collect();
    assert_eq!(documents, [DECK, DECK, &shattered(0), &shattered(1)]);
}

fn check(crawled: &Crawled, server: &Postgres) {
    let [one, two] = ["/one.pdf", "/two.pdf"].map(|path| row(crawled, path));
    assert_eq!(one.2, two.2, "the label of both is the same SHA-1");
    assert_eq!([(one.0, one.1), (two.0, two.1)], [("binary".to_owned(), None), ("binary".to_owned(), None)]);
    let pages = ["/plain", "/coded", "/coded-too"].map(|path| row(crawled, path));
    let original = pages.iter().position(|page| page.0 == "html").expect("one of the three is the first");
    let paths = ["/plain", "/coded", "/coded-too"];
    for (at, (outcome, repeats, _)) in pages.iter().enumerate().filter(|(at, _)| *at != original) {
        assert_eq!((outcome.as_str(), repeats.as_deref()), ("duplicate", Some(paths[original])), "{}", paths[at]);
    }
    assert_eq!(pages[1].2, pages[2].2);
    assert_ne!(pages[0].2, pages[1].2, "the labels are those of the payloads as they were sent");
    // Where the bytes are the same a record refers to the first; where only the content is, it has its own.
    let dir = crawled.path("crawl");
    argiope(&["check", &dir]);
    check_bodies(crawled, server);
    let report: Value = serde_json::from_slice(&argiope(&["report", &dir, "--json"])).expect("JSON");
    let kinds = report["binary_by_type"]["rows"].as_array().expect("kinds");
    let pdf = kinds.iter().find(|kind| kind["name"] == "pdf").expect("pdf");
    assert_eq!(pdf["all_sites"], 4, "{pdf}: the repeated one too");
}

#[test]
fn contents_are_told_apart_by_more_than_sha_1_and_without_their_coding() {
    check(&crawled(&[]), &Postgres::start());
}

#[test]
fn the_same_with_the_state_in_postgresql() {
    let server = Postgres::start();
    check(&crawled(&["--store", &server.url()]), &server);
}

#[test]
fn a_repeated_document_is_one_in_crawldb_whose_columns_are_the_course_s() {
    let crawled = crawled(&[]);
    let server = Postgres::start();
    let output =
        crate::crawled::command(&["export", &crawled.path("crawl"), "crawldb", "-o", &server.address()]).output();
    let told = String::from_utf8(output.expect("the binary starts").stderr).expect("UTF-8");
    assert!(told.contains("1 documents have the data type OTHER"), "{told}");
    let mut client = server.client();
    let mut texts = |sql: &str| -> Vec<String> {
        client.query(sql, &[]).expect(sql).iter().map(|row| row.get::<_, String>(0)).collect()
    };
    let decks = texts(
        "SELECT page_type_code || ' ' || data_type_code || ' ' || convert_from(data, 'UTF8') FROM crawldb.page_data
         JOIN crawldb.page ON page.id = page_id WHERE url LIKE '%/deck%.pdf' ORDER BY 1",
    );
    let deck = std::str::from_utf8(DECK).expect("UTF-8");
    assert_eq!(decks, [format!("BINARY PDF {deck}"), format!("DUPLICATE PDF {deck}")]);
    let other = "SELECT data_type_code::text FROM crawldb.page_data JOIN crawldb.page ON page.id = page_id WHERE url LIKE '%mail'";
    assert_eq!(texts(other), ["OTHER"]);
    let columns = texts(
        "SELECT table_name || '.' || column_name || ' ' || character_maximum_length FROM information_schema.columns
         WHERE table_schema = 'crawldb' AND character_maximum_length IS NOT NULL ORDER BY 1",
    );
    let expected = [
        "data_type.code 20",
        "image.content_type 50",
        "image.filename 255",
        "page.page_type_code 20",
        "page.url 3000",
        "page_data.data_type_code 20",
        "page_type.code 20",
        "site.domain 500",
    ];
    assert_eq!(columns, expected);
    assert_eq!(texts("SELECT code::text FROM crawldb.page_type WHERE code LIKE '%WEB%'"), ["WEBDRIVER_ERROR"]);
}
