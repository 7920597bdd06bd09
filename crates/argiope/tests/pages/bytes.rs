//! The HTML in a page file: the bytes that the server meant, whatever they are.

use std::io::Write;

use testweb::{Pages, Reply, Web};

use crate::run::Course;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn html(content_type: &'static str, body: impl Into<Vec<u8>>) -> Reply {
    Reply::new(200).header("Content-Type", content_type).body(body.into())
}

/// Each with the bytes that its file must have from the third line on.
fn documents() -> Vec<(&'static str, Reply, &'static [u8])> {
    let latin: &[u8] = b"<title>caf\xe9</title>\r\n\r\n<p>\x00\xff no line end";
    let coded: &[u8] = b"<p>compressed\n";
    vec![
        ("/latin", html("text/html; charset=iso-8859-1", latin), latin),
        ("/gzip", html("text/html", gzip(coded)).header("Content-Encoding", "gzip"), coded),
        ("/twin", html("text/html", gzip(coded)).header("Content-Encoding", "gzip"), coded),
        ("/empty", html("text/html", ""), b""),
        ("/lines", html("text/html", "\n\n<p>lines\n"), b"\n\n<p>lines\n"),
        ("/xhtml", html("application/xhtml+xml", "<html/>"), b"<html/>"),
        ("/untold", Reply::new(200).body("<!doctype html><p>untold"), b"<!doctype html><p>untold"),
        ("/chunked", html("text/html", "").stream(|| ["<p>one ", "two"].into_iter().map(Into::into)), b"<p>one two"),
    ]
}

#[test]
fn the_bytes_are_kept_without_their_content_coding() {
    let links: String = documents().iter().map(|(path, ..)| format!("<a href={path}>{path}</a>")).collect();
    let others = "<a href=/text>t</a><a href=/data>d</a><a href=/text2>t</a><a href=/error>e</a>";
    let mut site = Pages::new()
        .html("/", links + others)
        .text("/text", "the same text, twice")
        .text("/text2", "the same text, twice")
        .reply("/data", html("application/octet-stream", &b"\x00\x01\x02"[..]));
    for (path, reply, _) in documents() {
        site = site.reply(path, reply);
    }
    let course = Course::on(Web::new().site("seed.test", site));
    course.run_well(&["http://seed.test/", "data", "1"]);
    let mut pages = course.pages("data");
    pages.remove(0);
    pages.sort();
    let mut expect: Vec<_> = documents().into_iter().map(|(path, _, bytes)| (path, bytes.to_vec())).collect();
    expect.sort();
    let found: Vec<_> = pages.iter().map(|page| (&page.url["http://seed.test".len()..], page.html.clone())).collect();
    assert_eq!(found, expect);
}
