//! Which cookies are kept, which go with which request, and what the limits cut.

use proptest::prelude::*;

use super::*;

const NOW: Timestamp = Timestamp(1_700_000_000_000_000);

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text)
}

fn after(seconds: u64) -> Timestamp {
    Timestamp(NOW.0 + seconds * 1_000_000)
}

/// A jar that got this from these servers.
fn jar(set: &[(&str, &str)]) -> Jar {
    let mut jar = Jar::default();
    for (index, (from, text)) in set.iter().enumerate() {
        let _ = jar.receive(&url(from), text, after(index as u64));
    }
    jar
}

fn check(set: &[(&str, &str)], asked: &[(&str, &str)]) {
    let jar = jar(set);
    for (to, expect) in asked {
        assert_eq!(jar.field(&url(to), after(100)).unwrap_or_default(), *expect, "{set:?} {to}");
    }
}

#[test]
fn a_cookie_goes_to_its_host_or_domain() {
    check(
        &[("https://www.example.com/", "a=1")],
        &[
            ("https://www.example.com/x", "a=1"),
            ("https://example.com/", ""),
            ("https://a.www.example.com/", ""),
            ("http://www.example.com:8080/", "a=1"),
            ("https://evil.test/www.example.com", ""),
        ],
    );
    check(
        &[("https://www.example.com/", "a=1; Domain=.Example.com")],
        &[
            ("https://www.example.com/", "a=1"),
            ("https://example.com/", "a=1"),
            ("https://x.y.example.com/", "a=1"),
            ("https://badexample.com/", ""),
            ("https://example.com.evil.test/", ""),
        ],
    );
}

#[test]
fn values_are_known_as_secrets_after_others_took_their_places() {
    let from = "https://a.test/";
    let mut jar =
        jar(&[(from, "t=first"), (from, "t=second"), (from, "t=second"), (from, "u=ended"), (from, "u=; Max-Age=0")]);
    let mut values: Vec<&str> = jar.values().collect();
    values.sort_unstable();
    assert_eq!(values, ["ended", "first", "second"]);
    assert!(!format!("{jar:?}").contains("first"));
    for number in 0..=FORMER_MAX {
        let _ = jar.receive(&url(from), &format!("t={number}"), NOW);
    }
    assert_eq!(jar.values().count(), FORMER_MAX + 1);
    assert!(jar.values().all(|value| value != "first"));
}

#[test]
fn scripts_read_what_is_neither_http_only_nor_of_another_site() {
    let jar = jar(&[
        ("https://a.example.com/x/", "a=1; Path=/x"),
        ("https://b.example.com/", "b=2"),
        ("https://b.example.com/", "c=3; Domain=example.com; Secure"),
        ("https://a.example.com/", "d=4; HttpOnly"),
        ("https://example.test/", "e=5"),
        ("https://a.example.com/", "f=6; Max-Age=10"),
    ]);
    for (page, expect) in [("https://a.example.com/", &["a", "b", "c"][..]), ("http://a.example.com/", &["a", "b"])] {
        let page = url(page);
        let names = jar.for_scripts(&page, after(100)).map(|cookie| cookie.name.as_str());
        assert_eq!(names.collect::<Vec<_>>(), expect, "{page}");
    }
    let mut jar = jar;
    let _ = jar.receive(&url("https://a.example.com/x/"), "a=later; Path=/x", after(100));
    assert_eq!(jar.values_of("example.com").collect::<Vec<_>>(), ["2", "3", "4", "6", "later", "1"]);
}

#[test]
fn nobody_sets_cookies_for_others() {
    let refused = |from: &str, text: &str, expect: Refused| {
        assert_eq!(Jar::default().receive(&url(from), text, NOW).err(), Some(expect), "{from} {text}");
    };
    refused("https://example.com/", "a=1; Domain=other.com", Refused::Domain);
    refused("https://example.com/", "a=1; Domain=www.example.com", Refused::Domain);
    refused("https://a.example.com/", "a=1; Domain=b.example.com", Refused::Domain);
    refused("https://example.com/", "a=1; Domain=com", Refused::PublicSuffix);
    refused("https://a.github.io/", "a=1; Domain=github.io", Refused::PublicSuffix);
    refused("https://a.co.uk/", "a=1; Domain=co.uk", Refused::PublicSuffix);
    refused("http://127.0.0.1/", "a=1; Domain=0.0.1", Refused::Domain);
    refused("https://example.com/", "a=1; Domain=exam ple.com", Refused::Domain);
    // A suffix, a name without dots and an address may have cookies of their own.
    check(
        &[("https://github.io/", "a=1; Domain=github.io")],
        &[("https://github.io/", "a=1"), ("https://x.github.io/", "")],
    );
    check(&[("http://localhost/", "a=1; Domain=localhost")], &[("http://localhost:9/", "a=1")]);
    check(&[("http://[::1]/", "a=1; Domain=[::1]")], &[("http://[::1]/", "a=1")]);
}

#[test]
fn what_is_secure_neither_leaves_nor_is_replaced_without_tls() {
    let secure = ("https://example.com/", "a=secret; Secure; Domain=example.com");
    check(&[secure], &[("https://example.com/", "a=secret"), ("http://example.com/", "")]);
    for other in ["a=evil", "a=evil; Path=/x", "a=evil; Domain=example.com"] {
        check(&[secure, ("http://example.com/", other)], &[("https://example.com/x", "a=secret")]);
    }
    check(&[secure, ("http://www.example.com/", "a=evil")], &[("https://www.example.com/", "a=secret")]);
    check(&[("http://example.com/", "b=1; Secure")], &[("https://example.com/", "")]);
    check(&[secure, ("https://example.com/", "a=2; Domain=example.com")], &[("http://example.com/", "a=2")]);
}

#[test]
fn names_promise_what_they_begin_with() {
    for (text, is_kept) in [
        ("__Secure-a=1; Secure", true),
        ("__Secure-a=1", false),
        ("__Host-a=1; Secure; Path=/", true),
        ("__host-a=1; Secure; Path=/; Domain=example.com", false),
        ("__Host-a=1; Secure; Path=/x", false),
        ("__Host-a=1; Path=/", false),
        ("=__Host-a=1; Secure; Path=/", false),
        ("a=1; SameSite=None", false),
        ("a=1; SameSite=None; Secure", true),
        ("a=1; SameSite=Strict", true),
    ] {
        let taken = Jar::default().receive(&url("https://example.com/"), text, NOW);
        assert_eq!(taken.is_ok(), is_kept, "{text}: {taken:?}");
    }
}

#[test]
fn the_longest_path_comes_first_and_then_the_oldest() {
    let from = "https://example.com/a/b/c";
    check(
        &[(from, "r=1; Path=/"), (from, "d=2"), (from, "a=3; Path=/a"), (from, "s=4; Path=/"), (from, "r=5; Path=/")],
        &[
            ("https://example.com/a/b/x", "d=2; a=3; r=5; s=4"),
            ("https://example.com/ab", "r=5; s=4"),
            ("https://example.com/a", "a=3; r=5; s=4"),
        ],
    );
}

#[test]
fn cookies_end() {
    let from = url("https://example.com/");
    let mut jar = jar(&[("https://example.com/", "a=1; Max-Age=50"), ("https://example.com/", "b=2")]);
    let field = |jar: &Jar, seconds| jar.field(&from, after(seconds)).unwrap_or_default();
    assert_eq!(field(&jar, 49), "a=1; b=2");
    assert_eq!(field(&jar, 50), "b=2");
    // A server takes one back. Nothing has changed if there was none.
    assert!(jar.receive(&from, "b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT", after(60)).expect("taken").is_some());
    assert!(jar.receive(&from, "b=; Max-Age=0", after(60)).expect("taken").is_none());
    assert_eq!(field(&jar, 60), "");
    let _ = jar.receive(&from, "c=1; Max-Age=999999999999", NOW);
    let latest = LIFETIME_MAX.as_secs();
    assert_eq!((field(&jar, latest - 1), field(&jar, latest)), ("c=1".to_owned(), String::new()));
}

#[test]
fn a_domain_keeps_a_limited_number_and_the_rest_is_counted() {
    let from = url("https://example.com/");
    let mut jar = Jar::default();
    jar.receive(&from, "session=1; Secure", NOW).expect("taken");
    let more = 10;
    for number in 0..COOKIES_PER_DOMAIN_MAX + more {
        jar.receive(&from, &format!("c{number}=1"), after(1 + number as u64)).expect("taken");
    }
    let field = jar.field(&from, after(1000)).expect("cookies");
    assert_eq!(field.split("; ").count(), COOKIES_PER_DOMAIN_MAX);
    assert!(field.starts_with("session=1; c11=1"), "{field}");
    assert_eq!(jar.tally(), Tally { refused: 0, beyond_limits: more as u64 + 1 });
}

#[test]
fn all_take_a_limited_number_of_bytes_and_none_drives_out_another() {
    let mut jar = jar(&[("https://first.test/", "a=1")]);
    let long = "x".repeat(COOKIE_BYTES_MAX - 10);
    let mut number = 0;
    loop {
        let from = url(&format!("https://host{}.test/", number / COOKIES_PER_DOMAIN_MAX));
        let taken = jar.receive(&from, &format!("c{number}={long}"), NOW);
        if taken == Err(Refused::Full) {
            break;
        }
        number += 1;
    }
    assert!(jar.live(NOW).map(Cookie::bytes).sum::<usize>() <= JAR_BYTES_MAX);
    assert!(number > JAR_BYTES_MAX / COOKIE_BYTES_MAX / 2, "{number}");
    assert_eq!(jar.field(&url("https://first.test/"), NOW).as_deref(), Some("a=1"));
    assert_eq!(jar.tally().beyond_limits, 1);
}

proptest! {
    #[test]
    fn any_field_is_taken_or_refused_and_what_is_sent_can_be_sent(texts in prop::collection::vec("[ -~\\t=;]{0,40}|(__Host-|a)=b;( (Path|Domain|Secure|Expires|Max-Age|SameSite)(=[ -~]{0,12})?;){0,5}", 0..20)) {
        let mut jar = Jar::default();
        let from = url("https://www.example.com/a/b");
        for text in &texts {
            let _ = jar.receive(&from, text, NOW);
        }
        prop_assert_eq!(jar.bytes, jar.live(Timestamp(0)).map(Cookie::bytes).sum::<usize>());
        for to in ["https://www.example.com/a/b", "http://example.com/", "https://other.com/"] {
            let field = jar.field(&url(to), NOW).unwrap_or_default();
            prop_assert!(field.bytes().all(|byte| byte == b'\t' || !byte.is_ascii_control()));
            prop_assert!(!to.contains("other") || field.is_empty());
        }
    }
}
