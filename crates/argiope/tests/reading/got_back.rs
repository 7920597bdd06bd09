//! What a repair found lost is got back by a round.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use testkit::crawled::{Crawled, flip};
use testweb::{Reply, Web, from_fn};
use warc::RecordType;

use crate::check::checked;
use crate::repair::{found, readable, records};

/// Requests of a site: path, and whether they had a validator.
type Asked = Arc<Mutex<Vec<(String, bool)>>>;

/// Pages that never change, a document, and a page that is another page's duplicate. With tags, or without.
fn constant_site(asked: Asked, has_tags: bool) -> impl testweb::Site {
    from_fn(move |request| {
        let path = request.path();
        let is_conditional = request.header("if-none-match").is_some();
        asked.lock().expect("nobody panicked").push((path.to_owned(), is_conditional));
        let reply = match path {
            "/" => {
                Reply::html((1..=10).map(|n| format!("<a href=/{n}>{n}</a>")).collect::<String>() + "<a href=/file>")
            }
            "/file" => Reply::new(200).header("Content-Type", "application/pdf").body("%PDF-1.4 a file of few words"),
            "/10" => Reply::html("<title>5</title><p>A page of few words, 5."),
            _ if path[1..].parse::<u32>().is_ok() => {
                Reply::html(format!("<title>{0}</title><p>A page of few words, {0}.", &path[1..]))
            }
            _ => return Reply::error(404, path),
        };
        match has_tags {
            true if is_conditional => Reply::new(304).header("ETag", "\"same\""),
            true => reply.header("ETag", "\"same\""),
            false => reply,
        }
    })
}

/// The outcome of each page in the crawl.
fn outcome(crawled: &Crawled, path: &str) -> Value {
    crawled.explain(path)["row"]["outcome"].clone()
}

/// How many URLs have lost their response, as both commands say.
fn lost_in_all(crawled: &Crawled) -> u64 {
    let status = crawled.run("status", &["--json"]).json()["lost"].as_u64().unwrap_or_default();
    let report = crawled.run("report", &["--json"]).json()["overview"]["lost"]["all_sites"].clone();
    assert_eq!(report, json!(status));
    status
}

/// Loses the only responses of a page with a duplicate and of a document, and gets them back by a round.
fn is_got_back(has_tags: bool, rounds: usize, store: &[&str]) {
    let asked = Asked::default();
    let web = Web::new().site("small.test", constant_site(asked.clone(), has_tags));
    let crawled = Crawled::of(web, "http://small.test/", &[&["--concurrency", "1"], store].concat());
    let round = || {
        asked.lock().expect("nobody panicked").clear();
        let ran = crawled.crawl(&["--again"]);
        assert_eq!(ran.code, 0, "{ran:?}");
    };
    (0..rounds).for_each(|_| round());
    let before = readable(&crawled);
    let segment = crawled.segments().remove(0);
    // One behind the other, as the repair takes out what is damaged.
    for path in ["/5", "/file"] {
        let responses = records(&segment, RecordType::Response);
        let (_, offset, length) =
            responses.iter().find(|(url, ..)| url == &format!("http://small.test{path}")).expect("a response");
        flip(&segment, offset + length / 2);
        let ran = crawled.run("check", &["--repair"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        let lost = format!("\nlost: the response of http://small.test{path}, visited 20");
        assert!(ran.stdout.contains(&lost) && ran.stdout.contains("Z (round 1)\n"), "{}", ran.stdout);
        let next = format!("\nnext: `argiope crawl -o {} --again`", crawled.dir());
        assert!(ran.stdout.contains(&next), "{}", ran.stdout);
        assert_eq!(ran.stdout.contains("`argiope client again`"), !store.is_empty(), "{}", ran.stdout);
    }
    assert_eq!(lost_in_all(&crawled), 2, "with tags {has_tags} after {rounds} rounds");
    let told = crawled.run("status", &[]).stdout;
    let words = format!("the archive has lost the responses of 2 URLs: `argiope check {}` names them", crawled.dir());
    assert!(told.contains(&words), "{told}");
    assert!(crawled.run("report", &[]).stdout.contains("lost by the archive (argiope check)"));
    round();
    assert_eq!(lost_in_all(&crawled), 0);
    let of = |path: &str| {
        let asked = asked.lock().expect("nobody panicked");
        asked.iter().filter(|(asked, _)| asked == path).map(|(_, has)| *has).collect::<Vec<_>>()
    };
    for path in ["/5", "/10", "/file"] {
        assert_eq!(of(path), [false], "{path} with tags {has_tags} after {rounds} rounds");
    }
    let (code, findings) = checked(&crawled);
    // The requests of lost responses are there, with a warning.
    let of_pages = |finding: &&String| finding.contains("http://small.test/");
    let are_notes = findings.iter().filter(of_pages).all(|finding| finding.starts_with("note: "));
    assert!(code == 0 && are_notes, "{findings:#?}");
    assert!(findings.iter().any(|finding| finding.contains("it was recorded again since")), "{findings:#?}");
    assert_eq!(found(&crawled), before.0, "as the crawl has left its dataset");
    assert_eq!(readable(&crawled), before, "with tags {has_tags} after {rounds} rounds");
    // One of the two is the first, the other its duplicate.
    let mut outcomes = [outcome(&crawled, "/5"), outcome(&crawled, "/10")].map(|it| it.as_str().map(str::to_owned));
    outcomes.sort();
    assert_eq!(outcomes, ["duplicate", "html"].map(|it| Some(it.to_owned())));
    // From then on all is as usual: what is known is confirmed.
    round();
    assert_eq!(of("/file"), [has_tags]);
    assert_eq!(checked(&crawled).0, 0);
    assert_eq!(readable(&crawled), before);
}

#[test]
fn a_round_brings_back_what_a_repair_has_lost() {
    for has_tags in [false, true] {
        for rounds in [0, 2] {
            is_got_back(has_tags, rounds, &[]);
        }
    }
}

#[test]
fn a_round_brings_back_what_a_repair_has_lost_where_the_state_is_in_postgresql() {
    let server = testdb::Postgres::start();
    is_got_back(true, 2, &["--store", &server.url()]);
}
