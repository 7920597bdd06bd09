//! First match: the first rule in the order of the file whose prefix fits decides.

use robots::{Matching, RobotsTxt};

#[track_caller]
fn check(file: &str, path: &str, expect: &str) {
    let decision = RobotsTxt::parse(file.as_bytes(), "cis5550-crawler").decide(path, Matching::FirstMatch);
    let word = if decision.allowed { "allow" } else { "deny" };
    let got = match decision.rule {
        Some(line) => format!("{word} {}", line.line_number),
        None => word.to_owned(),
    };
    assert_eq!(got, expect, "{path} by\n{file}");
}

#[test]
fn the_example_of_the_assignment() {
    let file = "User-agent: cis5550-crawler\nAllow: /abc\nDisallow: /a\n";
    check(file, "/abcdef", "allow 2");
    check(file, "/alpha", "deny 3");
    check(file, "/xyz", "allow");
}

#[test]
fn the_order_of_the_file_decides_not_the_length() {
    let file = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /\nAllow: /z\n";
    check(file, "/a/b", "deny 2");
    check(file, "/z", "deny 4");
    check("User-agent: *\nAllow: /\nDisallow: /a\n", "/a", "allow 2");
    check("User-agent: *\nDisallow: /a\nAllow: /a\n", "/a", "deny 2");
}

#[test]
fn groups_are_chosen_as_by_the_rfc() {
    let file = "User-agent: *\nDisallow: /\n\nUser-agent: cis5550-crawler\nDisallow: /private\n";
    check(file, "/a", "allow");
    check(file, "/private/a", "deny 5");
    check("User-agent: *\nDisallow: /\nUser-agent: cis\nAllow: /\n", "/a", "deny 2");
    check("User-agent: other\nDisallow: /\n", "/a", "allow");
    let merged = "User-agent: cis5550-crawler\nAllow: /a\nUser-agent: *\nDisallow: /\nUser-agent: CIS5550-Crawler\nDisallow: /a\n";
    check(merged, "/a", "allow 2");
}

#[test]
fn special_characters_stand_for_themselves() {
    let file = "User-agent: *\nDisallow: /*.gif\nDisallow: /end$\nDisallow: *\n";
    check(file, "/a.gif", "allow");
    check(file, "/*.gif", "deny 2");
    check(file, "/%2A.gif", "deny 2");
    check(file, "/end", "allow");
    check(file, "/end$ing", "deny 3");
}

#[test]
fn rules_without_a_pattern_are_passed_over() {
    check("User-agent: *\nDisallow:\nDisallow: /a\n", "/a", "deny 3");
    check("User-agent: *\nDisallow:\n", "/a", "allow");
    check("User-agent: *\nAllow:\nDisallow: /a\n", "/a", "deny 3");
}

#[test]
fn both_sides_are_compared_in_normal_form() {
    check("User-agent: *\nDisallow: /%7euser\n", "/~user/a", "deny 2");
    check("User-agent: *\nDisallow: /ツ\n", "/%E3%83%84", "deny 2");
    check("User-agent: *\nDisallow: /?u=%2Fa\n", "/?u=/a", "deny 2");
}
