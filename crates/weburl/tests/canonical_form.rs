//! The canonical form: what is one URL, what is rejected, and that canonicalising twice changes nothing.

#![expect(clippy::expect_used, reason = "a test: what fails is to stop it")]

use proptest::prelude::*;
use weburl::{CanonicalRules, CanonicalUrl, HashRoutes, ReferenceCache, Rejected};

fn canonical(text: &str) -> String {
    CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text).as_str().to_owned()
}

#[test]
fn one_vertex_for_every_spelling() {
    for (input, expect) in [
        ("http://example.com", "http://example.com/"),
        ("HTTP://EXAMPLE.com/", "http://example.com/"),
        ("http://example.com:80/", "http://example.com/"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("http://example.com/#top", "http://example.com/"),
        ("http://example.com/a/./b/../c", "http://example.com/a/c"),
        ("http://example.com/../../a", "http://example.com/a"),
        ("http://example.com/%7Euser/%2fx", "http://example.com/~user/%2Fx"),
        ("http://example.com/a b", "http://example.com/a%20b"),
        ("http://example.com/ž", "http://example.com/%C5%BE"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://example.com./a", "http://example.com/a"),
        ("http://user:secret@example.com/", "http://example.com/"),
        ("  http://example.com/\n", "http://example.com/"),
        ("http://example.com/a\tb", "http://example.com/ab"),
        ("http:\\\\example.com\\a", "http://example.com/a"),
        ("http://127.1/", "http://127.0.0.1/"),
        ("http://0x7f.0.0.1/", "http://127.0.0.1/"),
        ("http://[0:0::1]/", "http://[::1]/"),
        ("http://example.com/?q=%7e%3d", "http://example.com/?q=~%3D"),
        ("http://example.com/?", "http://example.com/?"),
        ("http://example.com//a", "http://example.com//a"),
        ("http://example.com/a%2e%2e/b", "http://example.com/a../b"),
        ("http://example.com/%2e%2e/b", "http://example.com/b"),
    ] {
        assert_eq!(canonical(input), expect, "{input:?}");
    }
}

#[test]
fn links_are_resolved_as_a_browser_does() {
    let rules = CanonicalRules::default();
    let base = CanonicalUrl::parse("https://foo.com:8000/bar/xyz.html?q", &rules).expect("base");
    for (href, expect) in [
        ("#abc", "https://foo.com:8000/bar/xyz.html?q"),
        ("", "https://foo.com:8000/bar/xyz.html?q"),
        ("blah.html#test", "https://foo.com:8000/bar/blah.html"),
        ("../blubb/123.html", "https://foo.com:8000/blubb/123.html"),
        ("/one/two.html", "https://foo.com:8000/one/two.html"),
        ("http://elsewhere.com/some.html", "http://elsewhere.com/some.html"),
        ("//other.test/x", "https://other.test/x"),
        ("///other.test/x", "https://other.test/x"),
        (" \t//\n//\\other.test/x", "https://other.test/x"),
        ("?z=1", "https://foo.com:8000/bar/xyz.html?z=1"),
        ("https:rel", "https://foo.com:8000/bar/rel"),
    ] {
        assert_eq!(base.join(href, &rules).expect(href).as_str(), expect, "{href}");
    }
}

#[test]
fn a_query_is_encoded_as_its_document_is() {
    let rules = CanonicalRules::default();
    let base = CanonicalUrl::parse("http://a.test/", &rules).expect("base");
    fn latin1(text: &str) -> std::borrow::Cow<'_, [u8]> {
        text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
    }
    assert_eq!(base.join_encoded("/é?é", &rules, Some(&latin1)).expect("joined").as_str(), "http://a.test/%C3%A9?%E9");
}

#[test]
fn what_cannot_be_crawled_is_rejected_with_the_reason() {
    let rules = CanonicalRules::default();
    for (input, expect) in [
        ("mailto:a@b.c", "the scheme is mailto, not http or https"),
        ("file:///etc/passwd", "the scheme is file, not http or https"),
        ("javascript:alert(1)", "the scheme is javascript, not http or https"),
        ("example.com/x", "not a URL: relative URL without a base"),
        ("http://", "not a URL: empty host"),
        ("http://a b/", "not a URL: invalid international domain name"),
        ("http://./", "not a URL: empty host"),
        ("http://a:99999/", "not a URL: invalid port number"),
    ] {
        assert_eq!(CanonicalUrl::parse(input, &rules).expect_err(input).to_string(), expect, "{input}");
    }
    let long = format!("http://a.test/{}", "x".repeat(weburl::URL_BYTES_MAX));
    assert_eq!(CanonicalUrl::parse(&long, &rules), Err(Rejected::TooLong(weburl::URL_BYTES_MAX)));
    let megabyte = format!("http://a.test/{}", "../".repeat(400_000));
    assert_eq!(CanonicalUrl::parse(&megabyte, &rules), Err(Rejected::TooLong(weburl::URL_BYTES_MAX)));
}

#[test]
fn optional_rules_do_what_their_names_say_and_only_when_on() {
    let rule = |set: fn(&mut CanonicalRules)| {
        let mut rules = CanonicalRules::default();
        set(&mut rules);
        rules
    };
    for (rules, input, expect) in [
        (rule(|r| r.sort_query = true), "http://a.test/?b=2&a=1&&b=1", "http://a.test/?a=1&b=1&b=2"),
        (
            rule(|r| r.strip_session_ids = true),
            "http://a.test/p;jsessionid=1A/q?PHPSESSID=1&x=2&SID=3",
            "http://a.test/p/q?x=2",
        ),
        (rule(|r| r.strip_session_ids = true), "http://a.test/?sid=1", "http://a.test/"),
        (rule(|r| r.strip_session_ids = true), "http://a.test/p;jsessionid=1;JSESSIONID=2;x/q", "http://a.test/p;x/q"),
        (rule(|r| r.strip_tracking = true), "http://a.test/?utm_source=x&id=7&fbclid=y", "http://a.test/?id=7"),
        (rule(|r| r.collapse_slashes = true), "http://a.test//x///y/?u=//", "http://a.test/x/y/?u=//"),
        (rule(|r| r.strip_www = true), "http://www.a.test/", "http://a.test/"),
        (rule(|r| r.strip_www = true), "http://www.www.a.test/", "http://a.test/"),
        (rule(|r| r.strip_www = true), "http://www.com/", "http://www.com/"),
    ] {
        assert_eq!(CanonicalUrl::parse(input, &rules).expect(input).as_str(), expect, "{input}");
    }
}

/// Found by fuzzing: without the session id there are two slashes more.
#[test]
fn slashes_around_a_session_id_are_collapsed_too() {
    let rules = CanonicalRules { strip_session_ids: true, collapse_slashes: true, ..CanonicalRules::default() };
    let url = CanonicalUrl::parse("http://a.test/;jsessionid=1//b", &rules).expect("a URL");
    assert_eq!(url.as_str(), "http://a.test/b");
}

#[test]
fn the_key_puts_a_site_together() {
    let rules = CanonicalRules::default();
    let a = CanonicalUrl::parse("http://a.test/1", &rules).expect("a");
    let b = CanonicalUrl::parse("http://a.test/2", &rules).expect("b");
    assert_eq!(a.key().site, b.site().key());
    assert_ne!(a.key().url, b.key().url);
}

/// References in which nothing has to be parsed, and those that look so.
const REFERENCES: &[&str] = &[
    "",
    "#",
    "#a b",
    "?",
    "?a",
    "?a=b&c",
    "?a'b",
    "?a%7eb",
    "?a?b/../c",
    "a",
    "a.html",
    "a.html#x",
    "a/b",
    "a//b",
    "a/",
    "/",
    "/a",
    "//",
    "//a",
    "///a",
    "////a/b",
    "//\\a",
    " //\t/a",
    "///",
    "/a//b",
    "./a",
    ".",
    "./",
    "..",
    "../",
    "../..",
    "../../../../a",
    "../a/../b",
    "../.a",
    "a/.",
    "a/./b",
    "a/../b",
    "a/..",
    "/..",
    "/../a",
    "/./a",
    "..//a",
    ".//a",
    "../?a",
    ".?a",
    "..?a",
    "?../a",
    "a?../b",
    "a b",
    " a",
    "a ",
    "a\tb",
    "a\\b",
    "a%2e",
    "%2e%2e/a",
    "a%7e",
    "a:b",
    "a/b:c",
    "http:a",
    "http:/a",
    "http://a.test",
    "http://a.test/",
    "http://a.test/b?c",
    "http://a.test//b",
    "http://a.test:8080/b",
    "http://a.test:80/b",
    "https://a.test/b",
    "HTTP://A.TEST/b",
    "http://a.test?b",
    "http://a.test/../b",
    "http://a.test/b#c",
    "a;b=c",
    "(a)",
    "a@b",
    "~a",
    "a|b",
    "[a]",
    "{a}",
    "a`b",
    "a^b",
    "a'b",
    "ž",
    "a\0",
];

const BASES: &[&str] = &[
    "http://a.test/",
    "http://a.test/b",
    "http://a.test/b/",
    "http://a.test/b/c/d.html?e=f/g",
    "http://a.test:8080/b/c?d",
    "https://a.test/b//c/",
    "http://a.test//",
    "http://[::1]/a/b",
    "http://a.test/?b",
    "http://a.test/%C5%BE/~b;c/d",
];

/// Resolves by the URL parser alone: absolute URLs go nowhere else.
fn by_parser(base: &CanonicalUrl, href: &str, rules: &CanonicalRules) -> Result<CanonicalUrl, Rejected> {
    let base = url::Url::parse(base.as_str()).expect("canonical");
    let joined = match base.join(href) {
        // The parser ignores further slashes before a host, as the standard says, only where there is a scheme.
        Err(url::ParseError::EmptyHost) if href.trim_start_matches(|c| c <= ' ').starts_with('/') => {
            url::Url::parse(&format!("{}:{}", base.scheme(), href.trim_start_matches(|c| c <= ' ')))
        }
        joined => joined,
    };
    let joined = joined.map_err(|error| Rejected::Syntax(error.to_string()))?;
    CanonicalUrl::parse(joined.as_str(), rules)
}

fn check_joined(base: &str, href: &str, rules: &CanonicalRules) {
    let base = CanonicalUrl::parse(base, &CanonicalRules::default()).expect("base");
    let joined = base.join(href, rules);
    assert_eq!(joined, by_parser(&base, href, rules), "{base} {href:?}");
    if let Ok(joined) = joined {
        // All parts, not the text alone.
        let read = CanonicalUrl::parse(joined.as_str(), rules).expect("canonical");
        let parts = |url: &CanonicalUrl| {
            (url.site(), url.host().to_owned(), url.path().to_owned(), url.query().map(str::to_owned))
        };
        assert_eq!(parts(&joined), parts(&read), "{base} {href:?}");
    }
}

#[test]
fn references_that_need_no_parser_are_resolved_as_by_the_parser() {
    let short = CanonicalRules { url_bytes_max: 24, ..CanonicalRules::default() };
    for base in BASES {
        for href in REFERENCES {
            check_joined(base, href, &CanonicalRules::default());
            check_joined(base, href, &CanonicalRules { collapse_slashes: true, ..CanonicalRules::default() });
            check_joined(base, href, &short);
        }
    }
}

#[test]
fn a_hash_route_is_a_page_of_its_own_where_the_rules_say_so() {
    let rules = |hash_routes| CanonicalRules { hash_routes, ..CanonicalRules::default() };
    let (never, auto, always) = (rules(HashRoutes::Never), rules(HashRoutes::Auto), rules(HashRoutes::Always));
    let routed = CanonicalUrl::parse("http://a.test/dir/app?q#/x?id=part", &auto).expect("a URL");
    assert_eq!(routed.as_str(), "http://a.test/dir/app?q#/x");
    assert_eq!((routed.path_and_query(), routed.query(), routed.route()), ("/dir/app?q", Some("q"), Some("/x")));
    assert_eq!(routed.without_route(), "http://a.test/dir/app?q");
    assert_eq!(CanonicalUrl::parse("http://a.test/dir/app?q#/x", &never).expect("a URL").route(), None);
    for (href, kept, dropped) in [
        ("", "http://a.test/dir/app?q", "http://a.test/dir/app?q"),
        ("#/y", "http://a.test/dir/app?q#/y", "http://a.test/dir/app?q"),
        ("#/", "http://a.test/dir/app?q", "http://a.test/dir/app?q"),
        ("#part", "http://a.test/dir/app?q", "http://a.test/dir/app?q"),
        ("?r#!y", "http://a.test/dir/app?r#!y", "http://a.test/dir/app?r"),
        ("next", "http://a.test/dir/next", "http://a.test/dir/next"),
        ("/", "http://a.test/", "http://a.test/"),
        ("https://b.test/#/y z", "https://b.test/#/y%20z", "https://b.test/"),
    ] {
        for (rules, expect) in [(&always, kept), (&auto.with_router(), kept), (&auto, dropped), (&never, dropped)] {
            let joined = routed.join(href, rules).expect(href);
            assert_eq!(joined.as_str(), expect, "{href}, {:?}", rules.hash_routes);
            assert_eq!(CanonicalUrl::from_canonical(expect).as_ref(), Some(&joined), "{href}");
            assert_eq!(ReferenceCache::default().join(&routed, href, rules, None).as_ref(), Ok(&joined), "{href}");
        }
    }
    assert_eq!(CanonicalUrl::from_canonical("http://a.test/#part"), None);
    assert_eq!(CanonicalUrl::from_canonical("http://a.test/#/x?id=part"), None);
    assert_ne!(routed.key(), CanonicalUrl::parse(routed.as_str(), &never).expect("a URL").key());
}

proptest! {
    #[test]
    fn any_reference_is_resolved_as_by_the_parser(
        base in prop::sample::select(BASES),
        pieces in prop::collection::vec(prop::sample::select(REFERENCES), 0..4),
        any in "[a-c./?#:%~ ;=&@ž]{0,12}",
    ) {
        check_joined(base, &pieces.concat(), &CanonicalRules::default());
        check_joined(base, &any, &CanonicalRules::default());
    }

    #[test]
    fn canonicalising_twice_changes_nothing(host in "[a-zA-Z0-9.-]{1,20}", rest in "[ -~ž]{0,40}", on in any::<[bool; 6]>()) {
        let rules = CanonicalRules {
            sort_query: on[0], strip_session_ids: on[1], strip_tracking: on[2], collapse_slashes: on[3], strip_www: on[4],
            hash_routes: if on[5] { HashRoutes::Always } else { HashRoutes::Never },
            ..CanonicalRules::default()
        };
        if let Ok(once) = CanonicalUrl::parse(&format!("http://{host}/{rest}"), &rules) {
            let twice = CanonicalUrl::parse(once.as_str(), &rules).expect("canonical text parses");
            prop_assert_eq!(once.as_str(), twice.as_str());
            prop_assert_eq!(CanonicalUrl::from_canonical(once.as_str()).expect("reads back"), once);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        let _ = CanonicalUrl::parse(&text, &CanonicalRules::default());
    }
}
