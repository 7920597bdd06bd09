//! What a server tells: by gRPC and as JSON the same, to anybody who asks for the contract, and clearly where it cannot.

use api::crawler_client::CrawlerClient;
use api::{StatsRequest, StatsResponse};
use serde_json::{Value, json};
use testdb::{Postgres, until};
use testkit::ran::argiope;
use tokio_stream::StreamExt;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use crate::pretended::{Page, Pretended};
use crate::served::{Served, one_line, post};

fn web(url: &str) -> Page {
    Page::Links(vec![format!("{}/more", url.trim_end_matches('/')), "http://other.test/".to_owned()])
}

/// An answer with the number of leases instead of their rests, which go on between two questions.
fn without_leases(mut told: Value) -> Value {
    if let Some(leases) = told.get_mut("leases_left") {
        *leases = json!(leases.as_array().map(Vec::len));
    }
    told
}

#[test]
fn grpc_and_json_give_the_same_answer() {
    let database = Postgres::start();
    let server = Served::first(&database, &["--depth", "9"]);
    let _worker = Pretended::join(&server.workers, "w:1", web);
    let crawled = server.crawl("a.test", 2);
    assert_eq!(server.post("Crawl", &json!({"url": "a.test", "depth": 2})), (200, crawled.clone()));
    for (arguments, method, request) in [
        (&["workers"][..], "GetWorkers", json!({})),
        (&["stats"], "Stats", json!({})),
        (&["domains", "w:1"], "Domains", json!({"worker": "w:1"})),
        (&["explain", "a.test/more"], "Explain", json!({"url": "http://a.test/more"})),
        (&["explain", "nobody.test"], "Explain", json!({"url": "nobody.test"})),
    ] {
        let (status, told) = server.post(method, &request);
        assert_eq!((status, without_leases(told)), (200, without_leases(server.asked(arguments))), "{method}");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let stats: StatsResponse = runtime.block_on(async {
        let channel = tonic::transport::Endpoint::from_shared(format!("http://{}", server.clients)).expect("a URL");
        let mut client = CrawlerClient::new(channel.connect().await.expect("connected"));
        client.stats(StatsRequest {}).await.expect("answered").into_inner()
    });
    assert_eq!((stats.urls, stats.outcomes["html"], stats.outcomes["excluded"], stats.workers), (4, 3, 1, 1));

    // A stream is a line for each message; the last has the answer.
    let request = json!({"url": "b.test", "depth": 3}).to_string();
    let (status, lines) = post(&server.clients, "/v1/CrawlProgress", "", &request);
    let last: serde_json::Value = serde_json::from_str(lines.lines().last().expect("a line")).expect("JSON");
    assert_eq!((status, &last["response"]["fetched"], &last["waiting"]), (200, &json!(4), &json!(0)));
    let ran = server.client(&["crawl", "b.test", "--depth", "3", "--progress"]);
    assert!(ran.stdout.starts_with("html\nin its scope so far: 4 fetched, 0 failed\nowned by worker "), "{ran:?}");
}

#[test]
fn what_a_url_and_a_site_are_is_told() {
    let database = Postgres::start();
    let server = Served::first(&database, &[]);
    assert_eq!(server.post("AddSeeds", &json!({"urls": ["a.test", "a.test/x", "b.test"]})).1, json!({"added": 3}));
    assert_eq!(server.post("AddSeeds", &json!({"urls": ["a.test", "c.test"]})).1, json!({"added": 1}));
    let explained = server.asked(&["explain", "a.test"]);
    assert_eq!((&explained["state"], &explained["waiting_on_site"]), (&json!("waiting"), &json!(2)));
    let stats = server.asked(&["stats"]);
    assert_eq!((&stats["sites_without_group"], &stats["waiting"]), (&json!(3), &json!(4)));
    let worker = Pretended::join(&server.workers, "w:1", |_| Page::Links(Vec::new()));
    until("all are fetched", || worker.asked_once() == 4 && server.asked(&["stats"])["waiting"] == 0);
    let explained = server.asked(&["explain", "a.test/x"]);
    assert_eq!(
        (&explained["state"], &explained["status"], &explained["fetched_at"]),
        (&json!("html"), &json!(200), &json!(1.0))
    );
    assert_eq!((&explained["group"], &explained["owner"]["name"]), (&json!("http://a.test"), &json!("w:1")));
    let text = server.client(&["explain", "a.test/x"]).stdout;
    assert!(text.starts_with("http://a.test/x\nhtml 200\ndepth 0\nits site is in the group http://a.test\n"), "{text}");
    let page = |after: &str| server.asked(&["domains", "w:1", "--limit", "2", "--after", after])["domains"].clone();
    let of = |site: &str| json!({"site": site, "waiting": 0, "fetched": 1, "state": "active", "aside_until": 0.0, "trouble": ""});
    assert_eq!(page("")[1], of("http://b.test"));
    assert_eq!(page("http://b.test"), json!([of("http://c.test")]));
}

#[test]
fn what_cannot_be_answered_is_refused_clearly() {
    let database = Postgres::start();
    let server = Served::first(&database, &[]);
    for arguments in [&["client", "--server", &server.workers, "stats"][..], &["ui", &server.workers]] {
        let refused = one_line(&argiope(arguments));
        assert!(refused.contains(&server.workers) && refused.contains("argiope server --clients"), "{refused}");
    }
    for (method, request, status, code, expect) in [
        (
            "Domains",
            json!({"worker": "w:9"}),
            404,
            "NOT_FOUND",
            "there is no worker `w:9` alive: GetWorkers names those there are",
        ),
        ("Urls", json!({"site": "a.test"}), 404, "NOT_FOUND", "no such site in the crawl: a.test"),
        ("Changes", json!({"site": "https://a.test"}), 404, "NOT_FOUND", "no such site in the crawl: https://a.test"),
        ("Search", json!({"text": "x", "site": "a.test"}), 404, "NOT_FOUND", "no such site in the crawl: a.test"),
        (
            "Crawl",
            json!({"url": "ftp://a.test"}),
            400,
            "INVALID_ARGUMENT",
            "seed `ftp://a.test`: the scheme is ftp, not http or https",
        ),
        (
            "Crawl",
            json!({"url": "a.test", "depth": 101}),
            400,
            "INVALID_ARGUMENT",
            "depth 101: this crawl goes no deeper than 100 links (--depth of the server)",
        ),
        (
            "Crawl",
            json!({"url": "a.test", "depht": 1}),
            400,
            "INVALID_ARGUMENT",
            "the request: unknown field `depht`, expected `url` or `depth` at line 1 column 23",
        ),
        ("Search", json!({"text": ""}), 400, "INVALID_ARGUMENT", "there is nothing to search for"),
        ("PageRank", json!({}), 503, "UNAVAILABLE", "no workers are alive: start some with `argiope worker`"),
        ("Steal", json!({}), 501, "UNIMPLEMENTED", "/v1/Steal is not a method: argiope.proto lists them"),
    ] {
        assert_eq!(server.post(method, &request), (status, json!({"code": code, "error": expect})));
    }
    // A form of a page on the web, sent by a browser that does not ask before.
    let (status, body) = post(&server.clients, "/v1/Pause", "Content-Type: text/plain\r\n", "{}");
    assert_eq!((status, body.contains("must have Content-Type: application/json")), (400, true));
    assert_eq!(server.asked(&["stats"])["paused"], json!(false));
}

#[test]
fn reflection_tells_the_contract() {
    let database = Postgres::start();
    let server = Served::first(&database, &[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let services: Vec<String> = runtime.block_on(async {
        let channel = tonic::transport::Endpoint::from_shared(format!("http://{}", server.clients)).expect("a URL");
        let mut client = ServerReflectionClient::new(channel.connect().await.expect("connected"));
        let request = ServerReflectionRequest {
            host: String::new(),
            message_request: Some(MessageRequest::ListServices(String::new())),
        };
        let answers = client.server_reflection_info(tokio_stream::iter([request])).await.expect("answered");
        let answer = answers.into_inner().next().await.expect("an answer").expect("no error").message_response;
        let Some(MessageResponse::ListServicesResponse(list)) = answer else { panic!("{answer:?}") };
        list.service.into_iter().map(|service| service.name).collect()
    });
    assert!(services.iter().any(|service| service == "argiope.v1.Crawler"), "{services:?}");
}

#[test]
fn a_database_that_is_away_for_a_while_is_waited_for() {
    let mut database = Postgres::start();
    let server = Served::first(&database, &[]);
    database.kill();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| server.asked(&["stats"]));
        database.restart();
        database.wait();
        assert_eq!(call.join().expect("answered")["urls"], json!(0));
    });
    assert_eq!(server.post("AddSeeds", &json!({"urls": ["a.test"]})).1, json!({"added": 1}));
}
