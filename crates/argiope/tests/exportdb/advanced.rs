//! `argiope export DIR crawldb` of the advanced sandbox, against its definition.

use std::collections::{BTreeMap, BTreeSet};

use postgres::Client;

use crate::crawled::{ADVANCED, Crawled, expected, is_in_trap};
use testdb::Postgres;

const ROBOTS: &str = "\
# The advanced sandbox
User-agent: some-other-bot
Disallow: /

User-agent: *
Disallow: /private/
Allow: /private/open/
Allow: /docs/
Disallow: /docs/drafts/
Disallow: /cgi-bin/*
Disallow: /*.bak$
Crawl-delay: 0.1

Sitemap: http://advanced.test/sitemap-index.xml
Sitemap: http://advanced.test/sitemap-list.txt
";
/// What `/` links to, by its definition.
const SECTIONS: [&str; 8] = ["documents", "duplicates", "encodings", "errors", "links", "redirects", "robots", "traps"];
/// The documents, by their definition: the name, the code of the type, the first bytes.
const DOCUMENTS: [(&str, &str, &[u8]); 7] = [
    ("data.json", "application/json", b"{\"legs\""),
    ("dot.png", "image/png", b"\x89PNG\r\n"),
    ("letter.docx", "DOCX", b"PK\x03\x04"),
    ("notes.txt", "text/plain", b"Spiders"),
    ("nothing.zip", "application/zip", b"PK\x05\x06"),
    ("paper.pdf", "PDF", b"%PDF-1.4"),
    ("unknown", "OTHER", b"\x00\x01\x02\x03\xfe\xff"),
];

/// Everything in the schema but times, as text.
fn dump(client: &mut Client) -> Vec<String> {
    let tables = ["page_type", "data_type", "site", "page", "page_data", "image", "link"];
    let mut all = Vec::new();
    for table in tables {
        let sql = format!("SELECT t::text FROM crawldb.{table} t ORDER BY t::text");
        all.extend(
            client.query(&sql, &[]).expect(table).iter().map(|row| format!("{table} {}", row.get::<_, &str>(0))),
        );
    }
    all
}

fn texts(client: &mut Client, sql: &str) -> Vec<String> {
    client.query(sql, &[]).expect(sql).iter().map(|row| row.get::<_, Option<String>>(0).unwrap_or_default()).collect()
}

#[test]
fn the_advanced_sandbox_is_the_database_of_its_definition() {
    let crawled = Crawled::advanced();
    let server = Postgres::start();
    crawled.export("crawldb", &["-o", &server.address()]);
    let client = &mut server.client();
    check_pages(client, &crawled);
    check_contents(client);
    check_links(client);

    let once = dump(client);
    assert!(once.len() > 300, "{}", once.len());
    crawled.export("crawldb", &["-o", &server.address()]);
    assert!(dump(client) == once, "exporting again changes nothing");
    let next: i32 = client
        .query_one("INSERT INTO crawldb.page (url) VALUES ('http://own.test/') RETURNING id", &[])
        .expect("a row of one's own")
        .get(0);
    assert_eq!(texts(client, "SELECT max(id)::text FROM crawldb.page"), [next.to_string()]);

    client.batch_execute("COMMENT ON SCHEMA crawldb IS 'mine'").expect("a comment");
    let refused = crate::crawled::command(&["export", &crawled.path("crawl"), "crawldb", "-o", &server.address()])
        .output()
        .expect("the binary starts");
    let told = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1));
    assert!(told.contains("there is a schema crawldb that argiope did not write"), "{told}");
}

fn check_pages(client: &mut Client, crawled: &Crawled) {
    let rows =
        client.query("SELECT url, page_type_code, http_status_code, accessed_time IS NULL FROM crawldb.page", &[]);
    let mut pages: BTreeMap<String, (String, Option<i32>, bool)> = BTreeMap::new();
    for row in rows.expect("pages") {
        pages.insert(row.get(0), (row.get(1), row.get(2), row.get(3)));
    }
    for (url, outcome) in expected() {
        let code = pages.get(&url).map(|page| page.0.as_str());
        assert_eq!(code, Some(outcome.to_ascii_uppercase().as_str()), "{url}");
    }
    let known = expected();
    let extra: Vec<&String> = pages.keys().filter(|url| !known.contains_key(*url) && !is_in_trap(url)).collect();
    assert!(extra.is_empty(), "{extra:?}");
    let by_rows: BTreeMap<String, (String, Option<i32>, bool)> = crawled
        .rows()
        .into_iter()
        .map(|(url, row)| {
            let status = row["status"].as_i64().map(|status| i32::try_from(status).expect("a status"));
            (url, (row["outcome"].as_str().expect("a word").to_ascii_uppercase(), status, row["fetched_at"].is_null()))
        })
        .collect();
    assert_eq!(pages, by_rows, "the same as the rows of the crawl");
}

fn check_contents(client: &mut Client) {
    let domains = texts(client, "SELECT domain FROM crawldb.site ORDER BY id");
    assert_eq!(domains, ["advanced.test", "advanced.test.evil.test", "other.test", "sub.advanced.test"]);
    let robots = texts(client, "SELECT robots_content FROM crawldb.site ORDER BY id");
    assert_eq!(robots, [ROBOTS, "", "", ""]);
    let sitemaps = texts(client, "SELECT sitemap_content FROM crawldb.site WHERE domain = 'advanced.test'").remove(0);
    for listed in ["<sitemapindex", "/from-sitemap/xml.html<", "/from-sitemap/gz.html<", "/from-sitemap/txt.html\r\n"] {
        assert!(sitemaps.contains(listed), "{listed}");
    }
    for (path, title) in testweb::advanced::TITLES {
        let html = texts(client, &format!("SELECT html_content FROM crawldb.page WHERE url = '{ADVANCED}{path}'"));
        assert!(html[0].contains(title), "{path}: as UTF-8");
    }
    let without = "SELECT url FROM crawldb.page WHERE (html_content IS NULL) = (page_type_code = 'HTML')";
    assert_eq!(texts(client, without), Vec::<String>::new(), "HTML pages have content, no others have");
    let hashes = texts(client, "SELECT DISTINCT html_content_hash FROM crawldb.page WHERE url LIKE '%/copy-_.html'");
    assert_eq!(hashes.len(), 1, "duplicates share their hash: {hashes:?}");

    let documents = client
        .query(
            "SELECT url, data_type_code, data FROM crawldb.page_data JOIN crawldb.page ON page.id = page_id ORDER BY url",
            &[],
        )
        .expect("documents");
    assert_eq!(documents.len(), DOCUMENTS.len());
    for (row, (name, code, bytes)) in documents.iter().zip(DOCUMENTS) {
        assert_eq!(row.get::<_, &str>(0), format!("{ADVANCED}/documents/{name}"));
        assert_eq!(row.get::<_, &str>(1), code, "{name}");
        assert!(row.get::<_, &[u8]>(2).starts_with(bytes), "{name}");
    }
    let images = client
        .query(
            "SELECT filename, image.content_type, data FROM crawldb.image JOIN crawldb.page ON page.id = page_id
             WHERE url LIKE '%/links/images.html' ORDER BY image.id",
            &[],
        )
        .expect("images");
    let images: BTreeSet<(Option<&str>, Option<&str>, bool)> =
        images.iter().map(|row| (row.get(0), row.get(1), row.get::<_, Option<&[u8]>>(2).is_some())).collect();
    let noted = |name| (Some(name), None, false);
    let in_page = (None, Some("image/gif"), true);
    assert_eq!(images, BTreeSet::from([noted("small.png"), noted("large.png"), noted("huge.png"), in_page]));
}

fn check_links(client: &mut Client) {
    let links = |client: &mut Client, from: &str| -> Vec<String> {
        let sql = "SELECT target.url FROM crawldb.link JOIN crawldb.page source ON source.id = from_page
                   JOIN crawldb.page target ON target.id = to_page WHERE source.url = $1 ORDER BY 1";
        let found = client.query(sql, &[&format!("{ADVANCED}{from}")]).expect("links");
        found.iter().map(|row| row.get::<_, String>(0).replacen(ADVANCED, "", 1)).collect()
    };
    assert_eq!(links(client, "/"), SECTIONS.map(|section| format!("/{section}/")));
    assert_eq!(
        links(client, "/links/spelling.html"),
        ["/links/caf%C3%A9.html", "/links/same.html", "/links/~tilde.html"],
        "each pair once"
    );
    assert_eq!(links(client, "/redirects/301"), ["/redirects/target-301.html"]);
    let copies = [1, 2, 3].map(|n| format!("/duplicates/copy-{n}.html"));
    assert_eq!(links(client, "/duplicates/copy-1.html"), copies);
    assert_eq!(links(client, "/duplicates/copy-2.html"), copies, "to its original, as its links do");
    assert_eq!(links(client, "/private/secret.html"), Vec::<String>::new());
}
