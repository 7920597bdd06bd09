//! RFC 9309 §2.3.1: what the fetch of a robots.txt means for the site.

use robots::{Lifetime, Matching, Reason, RobotsFetch, Undefined, access};

const BODY: &[u8] = b"User-agent: *\nDisallow: /private\n";

/// What a fetch leads to.
#[derive(Debug, PartialEq)]
enum Rules {
    OfTheBody,
    AllowAll,
    DisallowAll(Undefined),
}
use Rules::{AllowAll, DisallowAll, OfTheBody};

#[track_caller]
fn check(fetch: RobotsFetch<'_>, rules: &Rules, lifetime: Lifetime) {
    let access = access(fetch, "argiope");
    assert_eq!(access.lifetime, lifetime, "{fetch:?}");
    let decide = |path| {
        let decision = access.rules.decide(path, Matching::LongestMatch);
        (decision.allowed, decision.reason)
    };
    let (public, private) = match rules {
        OfTheBody => ((true, Reason::NoRuleMatches), (false, Reason::Rule)),
        AllowAll => ((true, Reason::NoRobotsTxt), (true, Reason::NoRobotsTxt)),
        DisallowAll(cause) => ((false, Reason::Undefined(*cause)), (false, Reason::Undefined(*cause))),
    };
    assert_eq!((decide("/"), decide("/private")), (public, private), "{fetch:?}");
    assert_eq!(decide("/robots.txt"), (true, Reason::RobotsTxtItself), "{fetch:?}");
}

#[track_caller]
fn check_status(code: u16, rules: &Rules, lifetime: Lifetime) {
    check(RobotsFetch::Status { code, body: BODY }, rules, lifetime);
}

#[test]
fn a_successful_fetch_gives_the_rules_of_the_body() {
    for code in [200, 201, 203, 206, 299] {
        check_status(code, &OfTheBody, Lifetime::Final);
    }
}

#[test]
fn a_redirect_that_leads_nowhere_means_there_is_no_file() {
    for code in [300, 301, 302, 303, 307, 308, 399] {
        check_status(code, &AllowAll, Lifetime::Final);
    }
    check(RobotsFetch::TooManyRedirects, &AllowAll, Lifetime::Final);
}

#[test]
fn a_client_error_means_there_is_no_file() {
    for code in [400, 401, 403, 404, 405, 408, 410, 418, 425, 428, 430, 451, 499] {
        check_status(code, &AllowAll, Lifetime::Final);
    }
}

#[test]
fn too_many_requests_is_no_permission() {
    check_status(429, &DisallowAll(Undefined::Status(429)), Lifetime::Temporary);
}

#[test]
fn an_unchanged_file_that_nobody_has_is_no_permission() {
    check_status(304, &DisallowAll(Undefined::Status(304)), Lifetime::Temporary);
}

#[test]
fn a_server_error_disallows_all_for_now() {
    for code in [500, 501, 502, 503, 504, 508, 520, 599] {
        check_status(code, &DisallowAll(Undefined::Status(code)), Lifetime::Temporary);
    }
}

#[test]
fn a_status_that_is_none_disallows_all_for_now() {
    for code in [0, 99, 100, 101, 103, 199, 600, 999, u16::MAX] {
        check_status(code, &DisallowAll(Undefined::Status(code)), Lifetime::Temporary);
    }
}

#[test]
fn no_answer_disallows_all_for_now() {
    check(RobotsFetch::Unreachable, &DisallowAll(Undefined::Unreachable), Lifetime::Temporary);
}

#[test]
fn a_body_that_is_no_robots_txt_allows_all() {
    for body in [
        &b""[..],
        b"<!DOCTYPE html><html><head><title>404</title></head>\n<body>Disallow: /</body></html>",
        b"<html>\n<a href=\"http://a.example/\">Allow: us</a>\nuser-agent: <b>*</b>\ndisallow: /\n</html>",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"{\"User-agent\": \"*\", \"Disallow\": \"/\"}",
        b"\0\0\0\0",
    ] {
        let access = access(RobotsFetch::Status { code: 200, body }, "argiope");
        let decision = access.rules.decide("/a", Matching::LongestMatch);
        assert!(decision.allowed, "{:?}: {decision:?}", String::from_utf8_lossy(body));
    }
}
