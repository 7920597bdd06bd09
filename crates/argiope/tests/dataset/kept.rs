//! Documents and images: which are kept, and that their bytes are those of the server.

use std::collections::BTreeMap;

use model::Purpose;
use replay::Replay;
use testweb::{Pages, Reply, Web};

use testkit::crawled::Crawled;
use testkit::tables::pages;

/// The documents: ending, right media type, content that begins as such a document does.
fn documents() -> [(&'static str, &'static str, Vec<u8>); 5] {
    let compound = |name: &str| {
        let mut bytes = vec![0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
        bytes.resize(512, 0);
        bytes.extend(name.encode_utf16().flat_map(u16::to_le_bytes));
        bytes.resize(4096, 7);
        bytes
    };
    let zip = |name: &str| [b"PK\x03\x04\x14\0\0\0\0\0", name.as_bytes(), &[9; 3000]].concat();
    [
        ("pdf", "application/pdf", [b"%PDF-1.7\n".as_slice(), &[1, 0, 255, 13, 10], &[b'x'; 5000]].concat()),
        ("doc", "application/msword", compound("WordDocument")),
        ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", zip("word/document.xml")),
        ("ppt", "application/vnd.ms-powerpoint", compound("PowerPoint Document")),
        (
            "pptx",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            zip("ppt/presentation.xml"),
        ),
    ]
}

/// A page that shows ten images, some in the page itself, and links to every document under a right type, under wrong
/// ones, and with a wrong ending. Gives the bytes of each URL.
fn library() -> (Web, BTreeMap<String, Vec<u8>>) {
    let mut html = String::from("<title>Library</title>");
    let mut bytes: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let (mut site, mut cdn) = (Pages::new(), Pages::new());
    let served = |content_type: &str, body: &[u8]| {
        Reply::new(200).header("Content-Type", content_type.to_owned()).body(body.to_vec())
    };
    for (ending, right, body) in documents() {
        for (place, (name, content_type)) in [
            (format!("right.{ending}"), right),
            (format!("octets.{ending}"), "application/octet-stream"),
            (format!("html.{ending}"), "text/html"),
            (format!("text.{ending}"), "text/plain"),
            (format!("image.{ending}"), "image/png"),
            (format!("download-{ending}"), "application/x-download"),
        ]
        .into_iter()
        .enumerate()
        {
            // No two are alike, or they were duplicates.
            let body = [&body[..], ending.as_bytes(), &[b'0' + u8::try_from(place).expect("small")]].concat();
            html.push_str(&format!("<a href=/{name}>{name}</a> "));
            site = site.reply(format!("/{name}"), served(content_type, &body));
            bytes.insert(format!("http://library.test/{name}"), body);
        }
    }
    for image in 0..7u8 {
        let body = [b"\x89PNG\r\n\x1a\n".as_slice(), &[image; 100]].concat();
        let (host, path) =
            if image < 5 { ("library.test", format!("/{image}.png")) } else { ("cdn.test", format!("/{image}")) };
        html.push_str(&format!("<img src=http://{host}{path} alt={image}>"));
        let reply = served("image/png", &body);
        (site, cdn) =
            if image < 5 { (site.reply(path.clone(), reply), cdn) } else { (site, cdn.reply(path.clone(), reply)) };
        bytes.insert(format!("http://{host}{path}"), body);
    }
    for image in 0..3u8 {
        let body = [b"GIF89a".as_slice(), &[image; 50]].concat();
        html.push_str(&format!("<img src=\"data:image/gif;base64,{}\">", data_encoding::BASE64.encode(&body)));
    }
    html.push_str("<a href=/movie>movie</a> <a href=/book.epub>book</a>");
    site = site
        .reply("/movie", served("video/mp4", &[1; 9_000]))
        .reply("/book.epub", served("application/epub+zip", b"PK epub"));
    bytes.insert("http://library.test/movie".to_owned(), vec![1; 9_000]);
    bytes.insert("http://library.test/book.epub".to_owned(), b"PK epub".to_vec());
    let web = Web::new().site("library.test", site.html("/", html)).site("cdn.test", cdn);
    (web, bytes)
}

/// What the archive holds of each document and image.
fn archived(crawled: &Crawled) -> BTreeMap<String, Vec<u8>> {
    let dir = crawl::CrawlDir::at(crawled.dir());
    let store = dir.open_store(&dir.options().expect("settings")).expect("a store");
    let mut replay = Replay::new(store.as_ref(), &dir.archive(), 10_000_000);
    let mut found = BTreeMap::new();
    for entry in store.scan(None, 1_000).expect("a store") {
        let (url, visit) = (entry.candidate.url.to_string(), entry.visit.expect("a finished crawl"));
        if entry.candidate.purpose == Purpose::Page && url != "http://library.test/" {
            let answer = replay.answer(&visit).expect("a sound archive");
            found.extend(answer.map(|answer| (url, answer.payload().to_vec())));
        }
    }
    found
}

#[test]
fn documents_and_images_are_kept_byte_for_byte_under_any_type() {
    let (web, bytes) = library();
    let crawled = Crawled::of(web, "http://library.test/", &["--documents", "--images"]);
    let archived = archived(&crawled);
    let pages = pages(crawled.dir());
    for (url, expect) in &bytes {
        let is_kept = !url.ends_with("/movie") && !url.ends_with("/book.epub");
        let expect = if is_kept { &expect[..] } else { &[] };
        assert!(archived[url] == expect, "{url}: {} bytes instead of {}", archived[url].len(), expect.len());
        let row = &pages[url];
        assert_eq!(row["outcome"], "binary", "{url}");
        assert_eq!(row["length"].parse::<usize>().expect("a number"), expect.len(), "{url}");
        assert_eq!(row.get("truncated").map(String::as_str), (!is_kept).then_some("unwanted"), "{url}");
        let reason = row.get("reason").map_or("", String::as_str);
        assert_eq!(reason.starts_with("not kept: "), !is_kept, "{url}: {reason}");
    }
    for (ending, ..) in documents() {
        let row = &pages[&format!("http://library.test/html.{ending}")];
        assert_eq!(
            (
                row["kind"].as_str(),
                row["declared_kind"].as_str(),
                row["sniffed_kind"].as_str(),
                row["extension_kind"].as_str()
            ),
            (ending, "html", ending, ending)
        );
    }
    assert_eq!(pages["http://library.test/"]["images"], "10");
    assert_eq!(pages["http://cdn.test/5"]["depth"], "0", "an image belongs to its page");
}

#[test]
fn a_link_to_an_image_that_was_shown_elsewhere_does_not_lead_into_the_crawl() {
    let png = || Reply::new(200).header("Content-Type", "image/png").body(b"\x89PNG\r\n\x1a\n1".to_vec());
    let links = "<a href=http://cdn.test/outside>it</a> <a href=/inside.png>this</a>";
    let site = Pages::new()
        .html("/", "<img src=http://cdn.test/outside><img src=/inside.png><a href=/links>links</a>")
        .html("/links", links)
        .reply("/inside.png", png());
    let web = Web::new().site("album.test", site).site("cdn.test", Pages::new().reply("/outside", png()));
    let crawled = Crawled::of(web, "http://album.test/", &["--images"]);
    let pages = pages(crawled.dir());
    assert_eq!(pages["http://cdn.test/outside"]["kind"], "png", "it is fetched since a page shows it");
    assert_eq!(pages["http://album.test/links"]["out_degree"], "1", "the image of this site alone");
}

#[test]
fn without_a_choice_everything_linked_is_kept_and_images_are_not_asked_for() {
    let (web, bytes) = library();
    let crawled = Crawled::of(web, "http://library.test/", &[]);
    let expect: BTreeMap<String, Vec<u8>> =
        bytes.into_iter().filter(|(url, _)| !url.ends_with(".png") && !url.contains("cdn")).collect();
    assert!(archived(&crawled) == expect);
}

#[test]
fn media_types_can_be_named_and_images_excluded() {
    let (web, bytes) = library();
    let arguments = ["--content-types", "application/epub+zip,video/*", "--images", "--exclude", "*cdn.test*"];
    let crawled = Crawled::of(web, "http://library.test/", &arguments);
    let archived = archived(&crawled);
    for (url, expect) in &bytes {
        let is_kept = [".epub", "/movie", ".png"].iter().any(|ending| url.ends_with(ending));
        match archived.get(url) {
            None => assert!(url.contains("cdn.test"), "{url}"),
            Some(found) if is_kept => assert!(found == expect, "{url}"),
            // Under a type that is kept, or as text, it is what it says it is.
            Some(found) => assert!(found.is_empty() || found == expect, "{url}"),
        }
    }
    assert!(archived["http://library.test/right.pdf"].is_empty());
}

#[test]
fn with_head_first_documents_are_kept_too() {
    let (web, bytes) = library();
    let crawled = Crawled::of(web, "http://library.test/", &["--documents", "--head-first"]);
    let archived = archived(&crawled);
    for (ending, ..) in documents() {
        for name in [format!("right.{ending}"), format!("octets.{ending}"), format!("html.{ending}")] {
            let url = format!("http://library.test/{name}");
            assert!(archived[&url] == bytes[&url], "{url}");
        }
    }
}

#[test]
fn what_is_no_media_type_is_refused() {
    let (web, _) = library();
    let crawled = Crawled::of(web, "http://library.test/", &[]);
    let ran = crawled.crawl(&["--content-types", "pdf"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("--content-types pdf: is not a media type"), "{ran:?}");
}
