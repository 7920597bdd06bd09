//! `inspect url`.

use super::run::Dir;

#[test]
fn text_shows_the_parts_of_the_canonical_form() {
    Dir::new(&[]).check(
        &["url", "HTTP://User:pw@www.Example.co.uk:80/a/../b/%7eme?q=1#top"],
        "\
href         HTTP://User:pw@www.Example.co.uk:80/a/../b/%7eme?q=1#top
crawlable    yes
url          http://www.example.co.uk/b/~me?q=1
site         http://www.example.co.uk
host         www.example.co.uk
domain       example.co.uk
path         /b/~me
query        q=1
surt         uk,co,example,www)/b/~me?q=1
key          262eaab8f74eacbf0b80b3ee88e703a3
site key     262eaab8f74eacbf
counted as   simple_queries, at most 100000 of one shape
",
    );
}

#[test]
fn json_has_every_key_always() {
    let dir = Dir::new(&[]);
    dir.check(
        &["--json", "url", "http://example.com:8080/x"],
        concat!(
            r#"{"inspect":"url","href":"http://example.com:8080/x","base":null,"crawlable":true,"reason":null,"#,
            r#""url":"http://example.com:8080/x","site":"http://example.com:8080","scheme":"http","host":"example.com","#,
            r#""port":8080,"domain":"example.com","path":"/x","query":null,"surt":"com,example:8080)/x","#,
            r#""key":"fc14d65255e73a0b3cd7a3bae3b8e7fb","site_key":"fc14d65255e73a0b","trap":null,"counted_as":null,"counted_max":null}"#,
            "\n"
        ),
    );
    dir.check(
        &["--json", "url", "mailto:x@example.com"],
        concat!(
            r#"{"inspect":"url","href":"mailto:x@example.com","base":null,"crawlable":false,"#,
            r#""reason":"the scheme is mailto, not http or https","url":null,"site":null,"scheme":null,"host":null,"#,
            r#""port":null,"domain":null,"path":null,"query":null,"surt":null,"key":null,"site_key":null,"trap":null,"#,
            r#""counted_as":null,"counted_max":null}"#,
            "\n"
        ),
    );
}

/// Runs with `args` and expects these values of `label` in the text.
fn check(args: &[&str], label: &str, value: &str) {
    let run = Dir::new(&[]).run(args);
    let stdout = String::from_utf8(run.stdout).unwrap();
    assert_eq!(run.code, Some(0), "{args:?} {}", run.stderr);
    assert!(stdout.contains(&format!("\n{label:<12} {value}\n")), "{args:?}\n{stdout}");
}

#[test]
fn references_are_resolved_against_the_base() {
    check(&["url", "../c d?x", "--base", "HTTP://a.test/x/y/#z"], "url", "http://a.test/x/c%20d?x");
    check(&["url", "//b.test", "--base", "https://a.test/"], "url", "https://b.test/");
    check(&["url", "", "--base", "http://a.test/x?y"], "url", "http://a.test/x?y");
    check(&["url", "--base", "http://a.test/x", "--", "-y"], "url", "http://a.test/-y");
}

#[test]
fn what_is_not_crawled_says_why() {
    check(&["url", "../c"], "crawlable", "no: not a URL: relative URL without a base");
    check(&["url", "ftp://a.test/"], "crawlable", "no: the scheme is ftp, not http or https");
    check(&["url", "http://[1"], "crawlable", "no: not a URL: invalid IPv6 address");
    check(&["url", &format!("http://a.test/{}", "x".repeat(2048))], "crawlable", "no: longer than 2048 bytes");
    check(&["url", "http://a.test/a/a/a/a"], "crawlable", "no: trap: segments of the path repeat more than 3 times");
    check(&["url", "http://a.test/a/a/a/a"], "surt", "test,a)/a/a/a/a");
}

#[test]
fn the_optional_rules_are_flags() {
    let url = "http://www.a.test//b;jsessionid=1?z=1&utm_source=x&PHPSESSID=2&a=1";
    check(&["url", url], "url", url);
    check(&["url", url, "--strip-www"], "url", &url.replace("www.", ""));
    check(&["url", url, "--collapse-slashes"], "url", &url.replace("t//b", "t/b"));
    check(&["url", url, "--strip-session-ids"], "url", "http://www.a.test//b?z=1&utm_source=x&a=1");
    check(&["url", url, "--strip-tracking"], "url", "http://www.a.test//b;jsessionid=1?z=1&PHPSESSID=2&a=1");
    check(
        &["url", url, "--sort-query", "--strip-session-ids", "--strip-tracking", "--collapse-slashes", "--strip-www"],
        "url",
        "http://a.test/b?a=1&z=1",
    );
}

#[test]
fn urls_of_an_endless_kind_say_what_bounds_them() {
    check(&["url", "http://a.test/cal/2026/11"], "counted as", "calendar, at most 1000 of one shape");
    check(&["url", "http://a.test/p?sid=8f14e45f"], "counted as", "session, at most 50 of one shape");
    check(&["url", "http://a.test/p?a=1&b=2&c=3"], "counted as", "queries, at most 1000 of one shape");
}
