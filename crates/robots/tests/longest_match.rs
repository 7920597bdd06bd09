//! RFC 9309 §2.2.2 and §2.2.3: which rule decides, by longest match.

use robots::{Matching, Reason, RobotsTxt};

/// `rules` are separated by `|`; `expect` is `allow` or `deny`, with the number of the rule that
/// decides, counted from 1, if there is one.
#[track_caller]
fn check(rules: &str, path: &str, expect: &str) {
    let file = format!("User-agent: *|{rules}").replace('|', "\n");
    let decision = RobotsTxt::parse(file.as_bytes(), "argiope").decide(path, Matching::LongestMatch);
    let word = if decision.allowed { "allow" } else { "deny" };
    let got = match decision.rule {
        Some(line) => format!("{word} {}", line.line_number - 1),
        None => word.to_owned(),
    };
    assert_eq!(got, expect, "{path} by\n{file}");
}

/// Whether the pattern matches each of `yes` and none of `no`.
#[track_caller]
fn check_pattern(pattern: &str, yes: &[&str], no: &[&str]) {
    for path in yes {
        check(&format!("Disallow: {pattern}"), path, "deny 1");
    }
    for path in no {
        check(&format!("Disallow: {pattern}"), path, "allow");
    }
}

#[test]
fn the_longest_match_example_of_the_rfc() {
    // RFC 9309 §5.2.
    let rules = "Allow: /example/page/|Disallow: /example/page/disallowed.gif";
    check(rules, "/example/page/disallowed.gif", "deny 2");
    check(rules, "/example/page/disallow.gif", "allow 1");
    check(rules, "/example/page/", "allow 1");
    check(rules, "/example/", "allow");
}

#[test]
fn the_precedence_examples_of_google() {
    // "How Google interprets the robots.txt specification", order of precedence for rules.
    check("Allow: /p|Disallow: /", "/page", "allow 1");
    check("Allow: /folder|Disallow: /folder", "/folder/page", "allow 1");
    check("Allow: /page|Disallow: /*.htm", "/page.htm", "deny 2");
    check("Allow: /page|Disallow: /*.ph", "/page.php5", "allow 1");
    check("Allow: /$|Disallow: /", "/", "allow 1");
    check("Allow: /$|Disallow: /", "/page.htm", "deny 2");
}

#[test]
fn the_path_examples_of_google() {
    // The same page, URL matching based on path values.
    let below_fish =
        ["/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html", "/fish.php?id=anything"];
    let not_fish = ["/Fish.asp", "/catfish", "/?id=fish", "/desert/fish"];
    check_pattern("/", &["/", "/a", "/a/b?c"], &[]);
    check_pattern("/*", &["/", "/a", "/a/b?c"], &[]);
    check_pattern("/$", &["/"], &["/a", "/?a"]);
    check_pattern("/fish", &below_fish, &not_fish);
    check_pattern("/fish*", &below_fish, &not_fish);
    check_pattern(
        "/fish/",
        &["/fish/", "/fish/?id=anything", "/fish/salmon.htm"],
        &["/fish", "/fish.html", "/animals/fish/", "/Fish/Salmon.asp"],
    );
    check_pattern(
        "/*.php",
        &[
            "/index.php",
            "/filename.php",
            "/folder/filename.php",
            "/folder/filename.php?parameters",
            "/folder/any.php.file.html",
            "/filename.php/",
        ],
        &["/", "/windows.PHP"],
    );
    check_pattern(
        "/*.php$",
        &["/filename.php", "/folder/filename.php"],
        &["/filename.php?parameters", "/filename.php/", "/filename.php5", "/windows.PHP"],
    );
    check_pattern("/fish*.php", &["/fish.php", "/fishheads/catfish.php?parameters"], &["/Fish.PHP"]);
}

#[test]
fn the_order_of_the_file_does_not_matter() {
    for (one, other) in
        [("Allow: /a/b", "Disallow: /a"), ("Allow: /a", "Disallow: /a"), ("Disallow: /a/b", "Allow: /a")]
    {
        for path in ["/a", "/a/b", "/a/b/c", "/"] {
            let decide = |rules: String| {
                let decision = RobotsTxt::parse(rules.as_bytes(), "argiope").decide(path, Matching::LongestMatch);
                (decision.allowed, decision.rule.map(|line| line.text))
            };
            let forward = decide(format!("User-agent: *\n{one}\n{other}\n"));
            let backward = decide(format!("User-agent: *\n{other}\n{one}\n"));
            assert_eq!(forward, backward, "{one}, {other}: {path}");
        }
    }
}

#[test]
fn the_most_octets_win_and_allow_wins_ties() {
    check("Disallow: /x|Allow: /x/", "/x", "deny 1");
    check("Disallow: /x|Allow: /x/", "/x/", "allow 2");
    check("Disallow: /a|Allow: /a", "/a", "allow 2");
    check("Disallow: /a|Disallow: /a", "/a", "deny 1");
    check("Allow: /page|Disallow: /*.html", "/page.html", "deny 2");
    check("Allow: /x/page.|Disallow: /*.html", "/x/page.html", "allow 1");
    check("Disallow: /a*|Allow: /a", "/a", "deny 1");
    check("Disallow: /a|Allow: /a$", "/a", "allow 2");
    check("Disallow: /a|Allow: /a$", "/ab", "deny 1");
}

#[test]
fn a_rule_without_a_pattern_matches_nothing() {
    check("Disallow:", "/a", "allow");
    check("Disallow: # nothing", "/a", "allow");
    check("Allow:|Disallow: /", "/a", "deny 2");
    check("Disallow:|Disallow: /a", "/a", "deny 2");
}

#[test]
fn robots_txt_itself_is_always_allowed() {
    let robots = RobotsTxt::parse(b"User-agent: *\nDisallow: /\n", "argiope");
    for matching in [Matching::LongestMatch, Matching::FirstMatch] {
        let decision = robots.decide("/robots.txt", matching);
        assert!(decision.allowed && decision.reason == Reason::RobotsTxtItself && decision.rule.is_none());
        assert!(!robots.decide("/robots.txt.bak", matching).allowed);
        assert!(!robots.decide("/a/robots.txt", matching).allowed);
    }
}

#[test]
fn matching_begins_at_the_first_octet_and_is_case_sensitive() {
    check_pattern("/x/", &["/x/y"], &["/X/y", "/a/x/y", "/x"]);
    check_pattern("x", &[], &["/x", "/"]);
    check_pattern("https://a.example/x", &[], &["/x", "/https://a.example/x"]);
}

#[test]
fn special_characters() {
    // RFC 9309 §2.2.3.
    check_pattern("/this/path/exactly$", &["/this/path/exactly"], &["/this/path/exactly/", "/this/path/exactly?a"]);
    check_pattern(
        "/this/*/exactly",
        &["/this/is/exactly", "/this/a/b/exactly/so", "/this//exactly"],
        &["/this/exactly"],
    );
    check_pattern("*", &["/", "/a?b"], &[]);
    check_pattern("*.gif$", &["/a.gif", "/a/b.gif", "/?x=.gif"], &["/a.gif?b", "/a.gifs"]);
    check_pattern("/*?", &["/?", "/a?b", "/a/b?"], &["/", "/a"]);
    check_pattern("/a*b*c", &["/abc", "/axbxc", "/abbcc"], &["/acb", "/ab"]);
    check_pattern("/a$b", &["/a$b", "/a$bc"], &["/a", "/ab"]);
    check_pattern("/a*$", &["/a", "/abc"], &["/b"]);
}

#[test]
fn special_characters_taken_literally_are_percent_encoded() {
    // RFC 9309 §2.2.3, the second table.
    check_pattern(
        "/path/file-with-a-%2A.html",
        &["/path/file-with-a-*.html", "/path/file-with-a-%2a.html"],
        &["/path/file-with-a-b.html"],
    );
    check_pattern("/path/foo-%24", &["/path/foo-$", "/path/foo-$bar", "/path/foo-%24"], &["/path/foo-"]);
}

#[test]
fn percent_encoding() {
    // RFC 9309 §2.2.2, the table: each spelling of a path matches each spelling of the pattern.
    for spellings in [
        &["/foo/bar?baz=quz", "/foo/bar?baz=%71uz"][..],
        &["/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https%3a//foo.bar"],
        &["/foo/bar/ツ", "/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"],
        &["/foo/bar/%62%61%7A", "/foo/bar/baz", "/foo/bar/%62a%7a"],
        &["/~user", "/%7Euser", "/%7euser"],
        &["/a b", "/a%20b"],
        &["/list[1]", "/list%5B1%5D"],
        &["/100%", "/100%25"],
    ] {
        for pattern in spellings {
            check_pattern(pattern, spellings, &["/", "/foo/bar"]);
        }
    }
}

#[test]
fn a_delimiter_is_not_its_escape() {
    check_pattern("/a/b", &["/a/b"], &["/a%2Fb"]);
    check_pattern("/a%2Fb", &["/a%2Fb", "/a%2fb"], &["/a/b"]);
    check_pattern("/a%3Fb", &["/a%3Fb"], &["/a?b"]);
    check_pattern("/?a=b%26c", &["/?a=b%26c"], &["/?a=b&c"]);
}

#[test]
fn wildcards_meet_delimiters_in_either_spelling() {
    check_pattern("*u=%2Fa", &["/?u=%2Fa"], &[]);
    check_pattern("/*/print", &["/a/print", "/?p=a/print", "/?p=a%2Fprint"], &["/a%2Fprint"]);
}

#[test]
fn bytes_that_are_not_utf_8_match_their_escapes() {
    let robots = RobotsTxt::parse(b"User-agent: *\nDisallow: /caf\xE9\n", "argiope");
    let decision = robots.decide("/caf%e9/menu", Matching::LongestMatch);
    assert!(!decision.allowed);
    assert_eq!(decision.rule.map(|line| line.text).as_deref(), Some("Disallow: /caf\u{fffd}"));
    assert!(robots.decide("/café", Matching::LongestMatch).allowed);
}
