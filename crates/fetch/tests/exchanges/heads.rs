//! Heads byte for byte, as they go into the archive.

use std::sync::Arc;

use fetch::{FetchConfig, Fetcher, Field, Keyring};
use model::{FetchTask, ForPage, Method, Timestamp, Truncation};
use weburl::UrlPattern;

use crate::client::{fetcher, page, plain, response, text, url};
use crate::server::answers;

#[tokio::test]
async fn heads_are_recorded_as_they_went_over_the_wire() {
    let head = "HTTP/1.1 200 Fine\r\nX-MiXed-CaSe: 1\r\nset-cookie: a=1\r\nTRANSFER-ENCODING: chunked\r\nSet-Cookie:b=2\r\n\r\n";
    let server = answers(format!("{head}5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: t\r\n\r\n")).await;
    let config = FetchConfig { user_agent: "tester/1.0 (+http://t.test/)".to_owned(), ..FetchConfig::default() };
    let outcome = fetcher(config).fetch(page(&server.url("/a%20b/c?d=%7C|e"))).await;

    let expect = format!(
        "GET /a%20b/c?d=%7C|e HTTP/1.1\r\nHost: {}\r\nUser-Agent: tester/1.0 (+http://t.test/)\r\nAccept: {}\r\n\
         Accept-Encoding: gzip, br, zstd, deflate\r\n\r\n",
        server.address,
        FetchConfig::default().accept,
    );
    assert_eq!(server.requests(), [expect.as_str()]);
    let [exchange] = outcome.exchanges.as_slice() else { panic!("one exchange: {outcome:?}") };
    assert_eq!(text(&exchange.request_head), expect);
    assert_eq!(text(&exchange.response_head), head);
    assert_eq!(text(&exchange.payload), "hello world");
    assert_eq!((exchange.method, exchange.address, exchange.truncated), (Method::Get, Some(server.address), None));
    assert_eq!(exchange.url, outcome.url);
    assert_eq!(
        (outcome.started_at, exchange.started_at, outcome.finished_at),
        (Timestamp(0), Timestamp(1), Timestamp(2))
    );

    let response = response(&outcome);
    assert_eq!((response.status, text(&response.body), &response.note), (200, "hello world", &None));
    assert_eq!(response.headers.0[0], ("X-MiXed-CaSe".to_owned(), "1".to_owned()));
    assert_eq!(response.headers.all("set-cookie").collect::<Vec<_>>(), ["a=1", "b=2"]);
}

#[tokio::test]
async fn cookies_of_either_kind_are_recorded_without_their_values_where_there_is_a_jar() {
    for name in ["Set-Cookie", "Set-Cookie2"] {
        let head = |value: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n{name}: id={value}\r\n\r\n");
        let server = answers(format!("{}ok", head("S3CRET"))).await;
        let config = FetchConfig { cookies: Some(cookies::Cookies::default()), ..FetchConfig::default() };
        let outcome = fetcher(config).fetch(page(&server.url("/"))).await;
        assert_eq!(text(&outcome.exchanges[0].response_head), head("***"));
    }
}

#[tokio::test]
async fn a_secret_that_a_server_repeats_is_in_no_recorded_field() {
    let field = |text: &str| (UrlPattern::new("*").expect("a pattern"), text.parse::<Field>().expect(text));
    let basic = "Basic YW5hOkJhc2ljUHctNTVhYTY2YmI=";
    let keyring =
        Keyring::new(Vec::new(), vec![field(&format!("Authorization: {basic}")), field("Cookie: s=SESSION-998877")]);
    keyring.add_unsent("FormPw-123456".to_owned());
    let head = |basic: &str, password: &str, session: &str, form: &str, new: &str| {
        format!(
            "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nX-Echo: {basic}\r\nAuthentication-Info: x=\"{password}\"\r\n\
             Location: /t;jsessionid={session}?a=1\r\nX-Form: {form}\r\nSet-Cookie: sid={new}; HttpOnly\r\n\r\n"
        )
    };
    let came = head(basic, "BasicPw-55aa66bb", "SESSION-998877", "FormPw-123456", "new");
    for (keyring, expect) in
        [(keyring, head("***", "***", "***", "***", "***").as_str()), (Keyring::default(), came.as_str())]
    {
        let server = answers(came.clone()).await;
        let outcome = fetcher(FetchConfig { keyring, ..FetchConfig::default() }).fetch(page(&server.url("/"))).await;
        assert_eq!(text(&outcome.exchanges[0].response_head), expect);
        let location = response(&outcome).headers.get("location");
        assert_eq!(location, Some("/t;jsessionid=SESSION-998877?a=1"), "the crawl goes on by what came");
    }
}

#[tokio::test]
async fn interim_answers_are_not_part_of_the_head() {
    let last = "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n";
    let server =
        answers(format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n{last}no"))
            .await;
    let outcome = plain().fetch(page(&server.url("/"))).await;
    assert_eq!(text(&outcome.exchanges[0].response_head), last);
    assert_eq!((response(&outcome).status, text(&response(&outcome).body)), (404, "no"));
}

#[tokio::test]
async fn sloppy_heads_are_read_and_recorded_unchanged() {
    for (head, field, value) in [
        ("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n", "content-length", Some("2")),
        ("HTTP/1.0 200 OK\nContent-Length: 2\nA: b\n\n", "a", Some("b")),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nBad Name: x\r\nA: b\r\n\r\n", "a", Some("b")),
        ("HTTP/1.1 200 OK\r\nContent-Length : 2\r\nA : b\r\n\r\n", "a", Some("b")),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: b\r\n  c\r\n\r\n", "a", Some("b c")),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: \u{e9}\r\n\r\n", "a", Some("\u{e9}")),
    ] {
        let server = answers(format!("{head}ok")).await;
        let outcome = plain().fetch(page(&server.url("/"))).await;
        assert_eq!(text(&response(&outcome).body), "ok", "{head:?}");
        assert_eq!(text(&outcome.exchanges[0].response_head), head);
        assert_eq!(response(&outcome).headers.get(field), value, "{head:?}");
    }
}

#[tokio::test]
async fn answers_without_a_body_have_an_empty_one() {
    for head in ["HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"] {
        let server = answers(head).await;
        let outcome = plain().fetch(page(&server.url("/"))).await;
        assert!(response(&outcome).body.is_empty());
        assert_eq!(outcome.exchanges[0].truncated, None::<Truncation>);
    }
}

#[tokio::test]
async fn what_a_page_needs_is_requested_as_such_unless_the_user_says_otherwise() {
    let site = || Some(url("https://a.test:8443/x").site());
    let (given, none) = ([("accept", "image/png"), ("Referer", "x")], []);
    for (headers, accept, referer, expect) in [
        (&none[..], Some("*/*"), site(), ("*/*", Some("https://a.test:8443/"))),
        (&none, Some("*/*"), None, ("*/*", None)),
        (&none, None, site(), (FetchConfig::default().accept.as_str(), Some("https://a.test:8443/"))),
        (&given, Some("*/*"), site(), ("image/png", Some("x"))),
    ] {
        let server = answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
        let headers = headers.iter().map(|(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned()));
        let config = FetchConfig { headers: headers.collect(), ..FetchConfig::default() };
        let for_page = Some(Box::new(ForPage { accept, referer }));
        fetcher(config).fetch(FetchTask { for_page, ..page(&server.url("/")) }).await;
        let requests = server.requests();
        let field = |name: &str| requests[0].lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        assert_eq!((field("Accept").expect("one"), field("Referer")), expect, "{requests:?}");
    }
}

#[tokio::test]
async fn fields_of_the_user_are_sent_and_replace_ours() {
    let server = answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let headers = [("X-Test", "1"), ("accept", "text/html"), ("From", "me@t.test")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    fetcher(FetchConfig { headers, ..FetchConfig::default() }).fetch(page(&server.url("/"))).await;
    let head = &server.requests()[0];
    assert!(head.contains("\r\nAccept: text/html\r\n"), "{head}");
    assert!(head.contains("\r\nX-Test: 1\r\nFrom: me@t.test\r\n"), "{head}");
}

#[test]
fn settings_that_cannot_be_used_are_refused() {
    let check = |config: FetchConfig, expect: &str| {
        let error = Fetcher::new(config, Arc::new(|| Timestamp(0))).err().expect("refused").to_string();
        assert!(error.contains(expect), "{error}");
    };
    let field = |name: &str, value: &str| FetchConfig {
        headers: vec![(name.to_owned(), value.to_owned())],
        ..FetchConfig::default()
    };
    check(field("X Y", "1"), "`X Y` has characters that cannot be sent");
    check(field("X", "a\r\nHost: b"), "`X` has characters that cannot be sent");
    check(field("host", "b"), "`host` is set by the crawler itself");
    check(FetchConfig { user_agent: "a\nb".to_owned(), ..FetchConfig::default() }, "`User-Agent` has characters");
    let certs = |pem: &str| FetchConfig { ca_certs: vec![pem.into()], ..FetchConfig::default() };
    check(certs("nonsense"), "CA certificate file number 1: no certificate in it");
    check(certs("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), "CA certificate file number 1: ");
}
