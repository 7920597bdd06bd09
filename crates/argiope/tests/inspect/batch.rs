//! `inspect --batch`.

use std::io::{BufRead as _, BufReader, Write as _};

use super::run::Dir;

/// Sends requests, one a line, and expects as many answers.
fn check(dir: &Dir, requests_and_answers: &[(&str, &str)]) {
    let (requests, answers): (Vec<&str>, Vec<&str>) = requests_and_answers.iter().copied().unzip();
    dir.check_with(&["--batch"], (requests.join("\n") + "\n").as_bytes(), &(answers.join("\n") + "\n"));
}

#[test]
fn the_answers_are_those_of_the_command_line() {
    let robots = "User-agent: *\nDisallow: /x\n";
    let html = "<title>T</title><a href=b?utm_source=x>B</a>";
    let sitemap = "http://a.test/1\n";
    let dir =
        Dir::new(&[("robots.txt", robots.as_bytes()), ("page.html", html.as_bytes()), ("map.txt", sitemap.as_bytes())]);
    let mut warc = Vec::new();
    let id = warc::RecordId::new([1; 16]);
    warc::Record::response(id, 0, "http://a.test/", b"HTTP/1.1 200 OK\r\n\r\n", b"x").write_to(&mut warc).unwrap();
    std::fs::write(dir.path("a.warc"), warc).unwrap();
    for (args, request) in [
        (
            &["url", "../b?z&a", "--base", "http://www.a.test/x/", "--sort-query", "--strip-www"][..],
            r#"{"inspect":"url","href":"../b?z&a","base":"http://www.a.test/x/","sort_query":true,"strip_www":true,"strip_tracking":false}"#,
        ),
        (&["robots", "robots.txt", "/x/y"], r#"{"inspect":"robots","file":"robots.txt","url":"/x/y"}"#),
        (
            &["robots", "robots.txt", "--user-agent", "Foo/1", "--match", "first-match", "--status", "404"],
            r#"{"inspect":"robots","body":"User-agent: *\nDisallow: /x\n","user_agent":"Foo/1","match":"first-match","status":404,"url":null}"#,
        ),
        (
            &["robots", "robots.txt", "--status", "unreachable", "/"],
            r#"{"inspect":"robots","body_base64":"VXNlci1hZ2VudDogKgpEaXNhbGxvdzogL3gK","status":"unreachable","url":"/"}"#,
        ),
        (
            &["html", "page.html", "--url", "http://a.test/", "--content-type", "text/html", "--strip-tracking"],
            r#"{"inspect":"html","file":"page.html","url":"http://a.test/","content_type":"text/html","strip_tracking":true}"#,
        ),
        (
            &["sitemap", "map.txt", "--url", "http://a.test/map.txt"],
            r#"{"inspect":"sitemap","body":"http://a.test/1\n","url":"http://a.test/map.txt"}"#,
        ),
        (&["warc", "a.warc:0"], r#"{"inspect":"warc","file":"a.warc","offset":0}"#),
    ] {
        let expect = dir.run(&[&["--json"], args].concat());
        assert_eq!((expect.code, expect.stderr.as_str()), (Some(0), ""), "{args:?}");
        check(&dir, &[(request, String::from_utf8(expect.stdout).unwrap().trim_end())]);
    }
}

#[test]
fn bad_requests_get_an_error_on_their_line() {
    let error = |words: &str| format!("{{\"error\":{}}}", serde_json::Value::from(words));
    let cases = [
        ("", "not a JSON object: EOF while parsing a value at line 1 column 0"),
        ("nonsense", "not a JSON object: expected ident at line 1 column 2"),
        ("[1]", "not a JSON object: invalid type: sequence, expected a map at line 1 column 0"),
        ("{}", "\"inspect\" is missing"),
        (r#"{"inspect":7}"#, "\"inspect\" is not a string"),
        (r#"{"inspect":"urls"}"#, "\"inspect\" is none of robots, url, html, sitemap, warc"),
        (r#"{"inspect":"url"}"#, "\"href\" is missing"),
        (r#"{"inspect":"url","href":"x","bass":"y"}"#, "unknown key \"bass\""),
        (r#"{"inspect":"url","href":"x","base":"y"}"#, "\"base\": not a URL: relative URL without a base"),
        (r#"{"inspect":"url","href":"x","strip_www":1}"#, "\"strip_www\" is neither true nor false"),
        (r#"{"inspect":"robots","url":"/"}"#, "exactly one of \"file\", \"body\" and \"body_base64\" must be given"),
        (
            r#"{"inspect":"robots","body":"","status":99}"#,
            "\"status\": neither a status code nor unreachable nor too-many-redirects",
        ),
        (r#"{"inspect":"robots","body":"","match":"last"}"#, "\"match\": neither rfc9309 nor first-match"),
        (r#"{"inspect":"html","body":"x"}"#, "\"url\" is missing"),
        (r#"{"inspect":"html","file":"nothing","url":"http://a.test/"}"#, "nothing: No such file or directory"),
        (r#"{"inspect":"sitemap","file":"-"}"#, "\"file\": standard input holds the requests"),
        (r#"{"inspect":"sitemap","body_base64":"!"}"#, "\"body_base64\": invalid length at 0"),
        (r#"{"inspect":"warc","file":"nothing"}"#, "\"offset\" is missing"),
        (r#"{"inspect":"warc","file":"nothing","offset":-1}"#, "\"offset\" is not a whole number"),
    ];
    let answers = cases.map(|(_, words)| error(words));
    let pairs: Vec<_> = cases.iter().zip(&answers).map(|((request, _), answer)| (*request, answer.as_str())).collect();
    check(&Dir::new(&[]), &pairs);
}

#[test]
fn the_id_of_a_request_is_repeated() {
    check(
        &Dir::new(&[]),
        &[
            (
                r#"{"id":7,"inspect":"x"}"#,
                r#"{"id":7,"error":"\"inspect\" is none of robots, url, html, sitemap, warc"}"#,
            ),
            (
                r#"{"inspect":"sitemap","body":"","id":{"a":["\u001b"]}}"#,
                r#"{"id":{"a":["\u001b"]},"inspect":"sitemap","url":null,"kind":"unknown","entries":[],"truncated":[],"flaws":{"broken_xml_at":null,"broken_gzip":false,"without_url":0,"too_long":0}}"#,
            ),
            (r#"{"id":null}"#, r#"{"error":"\"inspect\" is missing"}"#),
        ],
    );
}

#[test]
fn bytes_that_are_no_text_and_a_last_line_without_an_end_are_requests_too() {
    let stdout = b"{\"inspect\":\"\xff\"}\n{}";
    let run = Dir::new(&[]).run_with(&["--batch"], stdout);
    let lines = String::from_utf8(run.stdout).unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!((run.code, lines.len()), (Some(0), 2), "{lines:?}");
    assert!(lines[0].starts_with(r#"{"error":"not a JSON object: invalid unicode"#), "{lines:?}");
    assert_eq!(lines[1], r#"{"error":"\"inspect\" is missing"}"#);
}

#[test]
fn each_answer_comes_before_the_next_request() {
    let dir = Dir::new(&[]);
    let mut child = dir.start(&["--batch"]);
    let mut requests = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for page in 0..3 {
        writeln!(requests, r#"{{"id":{page},"inspect":"url","href":"http://a.test/{page}"}}"#).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!((&answer["id"], &answer["path"]), (&page.into(), &format!("/{page}").into()));
    }
    drop(requests);
    assert!(answers.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
