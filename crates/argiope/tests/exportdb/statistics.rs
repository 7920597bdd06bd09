//! The queries of `docs/crawldb.sql`, over a small web whose numbers were counted by hand.

use postgres::types::Type;
use postgres::{Client, Row};
use testweb::{Pages, Reply, Web};

use crate::crawled::Crawled;
use testdb::Postgres;

const QUERIES: &str = include_str!("../../../../docs/crawldb.sql");

/// one.test: 4 HTML pages (`/`, `/a`, `/b`, `/from-sitemap`), a duplicate (`/copy`), 5 documents, a dead link, a forbidden page,
/// a redirect. Images: 3 on `/`, 1 each on `/a` and `/copy`.
fn one() -> Pages {
    let typed = |content_type: &'static str| Reply::new(200).header("Content-Type", content_type);
    let sitemap = "<urlset><url><loc>http://one.test/from-sitemap</loc></url></urlset>";
    Pages::new()
        .text("/robots.txt", "User-agent: *\nDisallow: /private/\nSitemap: http://one.test/sitemap.xml\n")
        .reply("/sitemap.xml", typed("text/xml").body(sitemap))
        .html(
            "/",
            "<title>One</title><a href=/a>first</a> <a href=/a>again</a> <a href=/b>b</a> <a href=/p.pdf>p</a>
             <a href=/q.pdf>q</a> <a href=/d.doc>d</a> <a href=/d.docx>d</a> <a href=/z.zip>z</a> <a href=/gone>gone</a>
             <a href=/private/x>x</a> <a href=/old>old</a> <a href=http://two.test/>two</a>
             <a href=http://other.test/>other</a>
             <img src=/i.png><img src=/i.png>
             <img src=data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==>",
        )
        .html("/a", TWICE)
        .html("/copy", TWICE)
        .html("/b", "<title>B\0</title>no link")
        .html("/from-sitemap", "<title>From the sitemap</title>")
        .reply("/old", Reply::redirect(301, "/a"))
        .reply("/p.pdf", typed("application/pdf").body("%PDF-1.4 p"))
        .reply("/q.pdf", typed("application/pdf").body("%PDF-1.4 q"))
        .reply("/d.doc", typed("application/msword").body("d"))
        .reply("/d.docx", typed("application/octet-stream").body("dx"))
        .reply("/z.zip", typed("application/zip").body("z"))
}

const TWICE: &str = "<title>Twice</title><a href=/copy>copy</a><img src=/i.png>";

/// two.test: an HTML page and a document.
fn two() -> Pages {
    let pdf = Reply::new(200).header("Content-Type", "application/pdf").body("%PDF-1.4 two");
    Pages::new()
        .html("/", "<title>Two</title><a href=http://one.test/>one</a> <a href=/r.pdf>r</a>")
        .reply("/r.pdf", pdf)
}

/// What each query must answer, counted by hand from the pages above.
const ANSWERS: [(&str, &[&str]); 9] = [
    ("pages_per_site", &["one.test|13", "two.test|2", "other.test|1"]),
    (
        "pages_per_type",
        &["BINARY|6", "HTML|5", "DISALLOWED|1", "DUPLICATE|1", "EXCLUDED|1", "HTTP_ERROR|1", "REDIRECT|1"],
    ),
    ("error_pages", &["not allowed|1", "other|14", "retrieval error|1"]),
    ("retrieval_errors_per_site", &["one.test|1"]),
    ("disallowed_per_site", &["one.test|1"]),
    ("documents_per_type", &["PDF|3", "DOC|1", "DOCX|1", "application/zip|1", "PPT|0", "PPTX|0"]),
    ("images", &["5|1|3"]),
    // From /: 12 pages; /a to /copy; /copy to itself and to /a, its original; /old to /a; two.test's page to 2.
    // Most to one: /a, from /, /old and /copy.
    ("links", &["18|3.6|12|3"]),
    (
        "overview",
        &[
            "sites|1|3",
            "web pages|13|16",
            "HTML pages|4|5",
            "duplicates|1|1",
            "binary files|5|6",
            "DOC documents|1|1",
            "DOCX documents|1|1",
            "PDF documents|2|3",
            "PPT documents|0|0",
            "PPTX documents|0|0",
            "images|5|5",
            "images per HTML page|1.25|1",
        ],
    ),
];

fn answer(client: &mut Client, sql: &str) -> Vec<String> {
    client.query(sql, &[]).expect(sql).iter().map(line).collect()
}

fn line(row: &Row) -> String {
    let cells = row.columns().iter().enumerate().map(|(at, column)| match *column.type_() {
        Type::INT8 => row.get::<_, i64>(at).to_string(),
        Type::FLOAT8 => row.get::<_, f64>(at).to_string(),
        _ => row.get(at),
    });
    cells.collect::<Vec<String>>().join("|")
}

#[test]
fn the_documented_queries_give_what_was_counted_by_hand() {
    let web = Web::new().site("one.test", one()).site("two.test", two());
    let crawled = Crawled::of(web, &["http://one.test/", "http://two.test/"]);
    let server = Postgres::start();
    crawled.export("crawldb", &["-o", &server.address()]);
    let client = &mut server.client();
    let mut asked = Vec::new();
    for query in QUERIES.split("-- name: ").skip(1) {
        let (name, sql) = query.split_once('\n').expect("a name in a line");
        let sql = sql.replace("'first-seed.example', 'second-seed.example'", "'one.test'");
        let (_, expect) = ANSWERS.iter().find(|(of, _)| *of == name).expect(name);
        assert_eq!(answer(client, &sql), *expect, "{name}");
        asked.push(name);
    }
    assert_eq!(asked, ANSWERS.map(|(name, _)| name));
    let html: String = client
        .query_one("SELECT html_content FROM crawldb.page WHERE url = 'http://one.test/b'", &[])
        .expect("a page")
        .get(0);
    assert_eq!(html, "<title>B\u{fffd}</title>no link", "PostgreSQL's text has no U+0000");
}
