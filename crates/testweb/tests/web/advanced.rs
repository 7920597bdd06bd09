//! The advanced sandbox serves what its table says.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;

use testweb::advanced::{self, AUXILIARY, EXPECTED, HOST, NEVER_REQUESTED, OTHER_HOST, TITLES, TRAPS};
use testweb::{Server, Web};

use crate::client::{Client, Response, get, get_raw, start};

async fn server() -> Server {
    start(Web::new().site(HOST, advanced::site(0.0)).site(OTHER_HOST, advanced::other_site())).await
}

/// The reply of the URL's last attempt: errors that pass are over.
async fn fetch(client: &mut Client<tokio::net::TcpStream>, url: &str) -> Response {
    let asked_again = match url {
        "/errors/429-once.html" => 1,
        "/errors/503-twice.html" => 2,
        _ => 0,
    };
    for _ in 0..asked_again {
        assert!(matches!(client.get(HOST, url).await.status, 429 | 503), "{url}");
    }
    client.get(HOST, url).await
}

#[tokio::test]
async fn replies_fit_the_outcomes() {
    let server = server().await;
    let mut client = Client::connect(server.address()).await;
    let mut bodies = HashMap::new();
    for &(url, outcome, _) in
        EXPECTED.iter().filter(|(url, outcome, _)| url.starts_with('/') && *outcome != "connection_error")
    {
        let reply = fetch(&mut client, url).await;
        let html = reply.header("content-type").is_none_or(|value| value.starts_with("text/html"));
        let fits = match outcome {
            "html" => reply.status == 200 && html && bodies.insert(reply.body.clone(), url).is_none(),
            "binary" => reply.status == 200 && !html,
            "duplicate" => reply.status == 200 && bodies.contains_key(&reply.body),
            "redirect" => (301..=308).contains(&reply.status),
            "http_error" => reply.status >= 400,
            // It would be there, if asked for.
            "disallowed" => reply.status == 200,
            other => panic!("{url}: no such outcome: {other}"),
        };
        assert!(fits, "{url} is not {outcome}: {}", reply.head);
    }
    let (nothing, error) = get_raw(&server, HOST, "/errors/no-answer.html").await;
    assert_eq!((nothing, error), (Vec::new(), None::<ErrorKind>));
}

/// Each URL stands, in one form or another, in some reply: found by its last segment, in the decoded text.
#[tokio::test]
async fn every_url_of_the_tables_stands_somewhere() {
    let server = server().await;
    let mut client = Client::connect(server.address()).await;
    let mut text = String::new();
    let pages = EXPECTED.iter().filter(|(_, outcome, _)| matches!(*outcome, "html" | "redirect" | "binary"));
    for url in pages.map(|(url, ..)| *url).chain(AUXILIARY.iter().copied()).filter(|url| *url != "/documents/huge.html")
    {
        let reply = fetch(&mut client, url).await;
        text += &reply.head;
        text += &decoded(url, &reply);
    }
    for url in EXPECTED.iter().map(|(url, ..)| *url).filter(|url| *url != "/documents/from-huge.html") {
        let last = url.trim_end_matches('/').rsplit('/').next().unwrap();
        let escaped = last.replace('&', "&amp;");
        let letters = [
            ("%C4%8D-1250.html", "č-1250.html"),
            ("%C5%A1-8859.html", "š-8859.html"),
            ("%C5%BE-%E8%9B%9B.html", "ž-蛛.html"),
        ];
        let plain = letters.iter().find(|(from, _)| *from == last).map(|(_, plain)| *plain);
        assert!(text.contains(plain.unwrap_or(&escaped)), "{url} stands nowhere");
    }
}

fn decoded(url: &str, reply: &Response) -> String {
    use std::io::Read;
    let body = &*reply.body;
    let mut text = String::new();
    if url.ends_with(".gz") || reply.header("content-encoding") == Some("gzip") {
        flate2::read::GzDecoder::new(body).read_to_string(&mut text).unwrap();
        return text;
    }
    match reply.header("content-encoding") {
        Some("deflate") => _ = flate2::read::ZlibDecoder::new(body).read_to_string(&mut text).unwrap(),
        Some("zstd") => text = String::from_utf8(zstd::decode_all(body).unwrap()).unwrap(),
        Some("br") => _ = brotli_decompressor::Decompressor::new(body, 4096).read_to_string(&mut text).unwrap(),
        _ => {
            let encoding = match url {
                "/encodings/windows-1250.html" => encoding_rs::WINDOWS_1250,
                "/encodings/iso-8859-2.html" => encoding_rs::ISO_8859_2,
                _ => encoding_rs::UTF_8,
            };
            text = encoding.decode(body).0.into_owned();
        }
    }
    text
}

#[tokio::test]
async fn titles_decode() {
    let server = server().await;
    for (url, title) in TITLES {
        let text = decoded(url, &get(&server, HOST, url).await);
        assert!(text.contains(&format!("<title>{title}</title>")), "{url}: {text}");
    }
}

#[tokio::test]
async fn what_must_not_be_asked_for_is_missing_or_linked_in_no_way() {
    let server = server().await;
    let mut client = Client::connect(server.address()).await;
    for url in NEVER_REQUESTED {
        assert_eq!(client.get(HOST, url).await.status, 404, "{url}");
    }
}

#[tokio::test]
async fn traps_have_no_end_that_a_crawler_would_see() {
    let server = server().await;
    let mut client = Client::connect(server.address()).await;
    for trap in TRAPS.iter().filter(|trap| trap.prefix != "/redirects/long/") {
        let index = client.get(HOST, "/traps/").await;
        let entry = hrefs(index.text()).find(|href| href.starts_with(trap.prefix)).unwrap();
        let (mut at, mut seen) = (entry, HashSet::new());
        for _ in 0..60 {
            assert!(seen.insert(at.clone()), "{at} came again");
            let page = client.get(HOST, &at).await;
            assert_eq!(page.status, 200, "{at}");
            let next = hrefs(page.text()).last().unwrap();
            let directory = &at[..=at.split('?').next().unwrap().rfind('/').unwrap()];
            at = format!("{directory}{next}");
        }
    }
}

fn hrefs(html: &str) -> impl Iterator<Item = String> {
    html.split("href=\"").skip(1).filter_map(|rest| rest.split_once('"')).map(|(href, _)| href.replace("&amp;", "&"))
}

#[tokio::test]
async fn crawl_delay_can_be_chosen() {
    for (delay, expect) in [(0.0, None), (0.1, Some("Crawl-delay: 0.1")), (2.0, Some("Crawl-delay: 2"))] {
        let server = start(Web::new().site(HOST, advanced::site(delay))).await;
        let robots = get(&server, HOST, "/robots.txt").await;
        assert_eq!(robots.text().lines().find(|line| line.starts_with("Crawl-delay")), expect);
    }
}
