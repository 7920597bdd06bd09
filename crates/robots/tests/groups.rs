//! RFC 9309 §2.2.1: which lines of the file are for us.

use robots::{Matching, RobotsTxt};

/// `expect` is `allow` or `deny`, with the number of the line that decides if there is one.
#[track_caller]
fn check_for(token: &str, file: &str, path: &str, expect: &str) {
    let decision = RobotsTxt::parse(file.as_bytes(), token).decide(path, Matching::LongestMatch);
    let word = if decision.allowed { "allow" } else { "deny" };
    let got = match decision.rule {
        Some(line) => format!("{word} {}", line.line_number),
        None => word.to_owned(),
    };
    assert_eq!(got, expect, "{token} at {path} by\n{file}");
}

#[track_caller]
fn check(file: &str, path: &str, expect: &str) {
    check_for("argiope", file, path, expect);
}

/// RFC 9309 §5.1.
const SIMPLE_EXAMPLE: &str = "\
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
";

#[test]
fn the_simple_example_of_the_rfc() {
    for (token, path, expect) in [
        ("argiope", "/", "allow"),
        ("argiope", "/a.gif", "deny 2"),
        ("argiope", "/a.gif?size=1", "allow"),
        ("argiope", "/example/page.html", "deny 3"),
        ("argiope", "/publications/", "allow 4"),
        ("argiope", "/publications/a.gif", "allow 4"),
        ("foobot", "/", "deny 7"),
        ("foobot", "/publications/", "deny 7"),
        ("foobot", "/example/page.html", "allow 8"),
        ("foobot", "/example/page.html.bak", "allow 8"),
        ("foobot", "/example/allowed.gif", "allow 9"),
        ("barbot", "/example/page.html", "deny 13"),
        ("bazbot", "/example/page.html", "deny 13"),
        ("bazbot", "/a.gif", "allow"),
        ("quxbot", "/a.gif", "allow"),
        ("quxbot", "/example/page.html", "allow"),
    ] {
        check_for(token, SIMPLE_EXAMPLE, path, expect);
    }
}

#[test]
fn a_group_that_names_us_replaces_the_one_for_everybody() {
    let file = "User-agent: *\nDisallow: /x/\nUser-agent: argiope\nDisallow: /y/\n";
    check(file, "/x/a", "allow");
    check(file, "/y/a", "deny 4");
    check_for("other", file, "/x/a", "deny 2");
    check_for("other", file, "/y/a", "allow");

    let reversed = "User-agent: argiope\nDisallow: /y/\nUser-agent: *\nDisallow: /x/\n";
    check(reversed, "/x/a", "allow");
    check(reversed, "/y/a", "deny 2");
}

#[test]
fn a_group_that_names_us_without_rules_allows_all() {
    check("User-agent: *\nDisallow: /\nUser-agent: argiope\n", "/a", "allow");
    check("User-agent: argiope\nDisallow:\nUser-agent: *\nDisallow: /\n", "/a", "allow");
    check("User-agent: argiope\nCrawl-delay: 1\nDisallow:\nUser-agent: *\nDisallow: /\n", "/a", "allow");
}

#[test]
fn no_group_for_us_means_no_rules() {
    check("", "/a", "allow");
    check("User-agent: other\nDisallow: /\n", "/a", "allow");
    check("Disallow: /\n", "/a", "allow");
    check("Disallow: /\nUser-agent: *\nDisallow: /b\n", "/a", "allow");
}

#[test]
fn groups_that_name_the_same_agents_are_one() {
    // RFC 9309 §2.2.1, the example of a merge.
    let file = "user-agent: ArgioPe\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: argiope\ndisallow: /baz\n";
    check(file, "/foo", "deny 2");
    check(file, "/bar", "deny 3");
    check(file, "/baz", "deny 6");

    let apart =
        "User-agent: argiope\nDisallow: /a\nUser-agent: other\nDisallow: /b\nUser-agent: argiope\nDisallow: /c\n";
    check(apart, "/a", "deny 2");
    check(apart, "/b", "allow");
    check(apart, "/c", "deny 6");

    let wildcards = "User-agent: *\nDisallow: /a\nUser-agent: other\nDisallow: /b\nUser-agent: *\nDisallow: /c\n";
    check(wildcards, "/a", "deny 2");
    check(wildcards, "/b", "allow");
    check(wildcards, "/c", "deny 6");

    let competing = "User-agent: argiope\nDisallow: /a\nUser-agent: argiope\nAllow: /a/b\n";
    check(competing, "/a/b", "allow 4");
}

#[test]
fn several_agents_share_a_group() {
    let file = "User-agent: one\nUser-agent: argiope\nUser-agent: *\nDisallow: /a\n";
    for token in ["one", "argiope", "other"] {
        check_for(token, file, "/a", "deny 4");
    }
}

#[test]
fn only_rules_end_the_list_of_agents() {
    // RFC 9309 §2.2.4: other records must not interfere.
    for between in [
        "",
        "\n",
        "# comment",
        "Sitemap: https://a.example/sitemap.xml",
        "Crawl-delay: 5",
        "Host: a.example",
        "Clean-param: ref /",
        "nonsense",
    ] {
        let file = format!("User-agent: argiope\n{between}\nUser-agent: other\nDisallow: /a\n");
        let rule = file.lines().count();
        check(&file, "/a", &format!("deny {rule}"));
        check_for("other", &file, "/a", &format!("deny {rule}"));
    }
    for rule in ["Disallow:", "Disallow: /x", "Allow: /x", "Allow:"] {
        let file = format!("User-agent: argiope\n{rule}\nUser-agent: other\nDisallow: /a\n");
        check(&file, "/a", "allow");
        check_for("other", &file, "/a", "deny 4");
    }
}

#[test]
fn other_records_do_not_end_a_group() {
    for between in ["", "# comment", "Sitemap: /s.xml", "Crawl-delay: 1", "Noindex: /", "nonsense"] {
        let file = format!("User-agent: argiope\nDisallow: /a\n{between}\nDisallow: /b\n");
        check(&file, "/a", "deny 2");
        check(&file, "/b", "deny 4");
    }
}

#[test]
fn agents_are_named_by_whole_tokens_in_any_case() {
    for value in ["argiope", "ARGIOPE", "Argiope/1.0", "argiope foo", "argiope/*", "argiope # us"] {
        check(&format!("User-agent: {value}\nDisallow: /\n"), "/a", "deny 2");
    }
    for value in ["argiope-images", "argiope_news", "argiopes", "argio", "my-argiope", "Mozilla/5.0 argiope", ""] {
        check(&format!("User-agent: {value}\nDisallow: /\n"), "/a", "allow");
    }
    check_for("Argiope", "User-agent: argiope\nDisallow: /\n", "/a", "deny 2");
    check_for("argiope/0.1 (+https://a.example/)", "User-agent: argiope\nDisallow: /\n", "/a", "deny 2");
    check_for("", "User-agent:\nDisallow: /a\nUser-agent: *\nDisallow: /b\n", "/a", "allow");
    check_for("", "User-agent:\nDisallow: /a\nUser-agent: *\nDisallow: /b\n", "/b", "deny 4");
}

#[test]
fn everybody_is_a_star_alone() {
    check("User-agent: *\nDisallow: /\n", "/a", "deny 2");
    check("User-agent: * # all\nDisallow: /\n", "/a", "deny 2");
    check("User-agent: * all of you\nDisallow: /\n", "/a", "deny 2");
    check("User-agent: *bot\nDisallow: /\n", "/a", "allow");
    check("User-agent: **\nDisallow: /\n", "/a", "allow");
}
