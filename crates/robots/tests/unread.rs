//! Lines that cannot be read are reported with their numbers, if they would have mattered for us.

use robots::{LINE_TEXT_BYTES_MAX, SITEMAPS_MAX, UNREAD_LINES_MAX, unread};

#[track_caller]
fn check(file: &str, expect: &[&str]) {
    let unread = unread(file.as_bytes(), "argiope");
    let lines: Vec<String> = unread.lines.iter().map(ToString::to_string).collect();
    assert_eq!(lines, expect, "{file}");
    assert_eq!(unread.more, 0, "{file}");
}

#[test]
fn a_delay_that_cannot_be_read_is_told_with_its_line() {
    for value in ["1_0", "banana", "inf", "-3", "1m30s", "1,000"] {
        let told = format!("line 2: Crawl-delay: {value} (no number of seconds, and no unit that is known)");
        check(&format!("User-agent: *\nCrawl-delay: {value}\n"), &[&told]);
    }
    check("User-agent: *\nCrawl-delay: 1m\nCrawl-delay: 0.5\nDisallow:\n", &[]);
}

#[test]
fn lines_for_others_are_not_told() {
    check("User-agent: other\nCrawl-delay: soon\nDisallow: a\nnonsense\n", &[]);
    check("User-agent: *\nCrawl-delay: soon\nUser-agent: argiope\nDisallow: /a\n", &[]);
    check(
        "User-agent: argiope\nCrawl-delay: soon # later\nDisallow:\nUser-agent: *\nCrawl-delay: banana\n",
        &["line 2: Crawl-delay: soon # later (no number of seconds, and no unit that is known)"],
    );
    check("User-agent: slow\nCrawl-delay: soon\nUser-agent: argiope\nCrawl-delay: 2\n", &[]);
}

#[test]
fn rules_that_cannot_match_or_are_for_nobody_are_told() {
    check(
        "Disallow: /\nDisallow:\nCrawl-delay: 2\nUser-agent: *\nDisallow: /a\n",
        &[
            "line 1: Disallow: / (before the first User-agent line, so it is for nobody)",
            "line 3: Crawl-delay: 2 (before the first User-agent line, so it is for nobody)",
        ],
    );
    check(
        "User-agent: *\nDisallow: private/\nDisallow: http://a.test/x\nAllow: *.html\nDisallow: /a b\nDisallow: /a, /b\n",
        &[
            "line 2: Disallow: private/ (begins with neither / nor *, so it matches no path)",
            "line 3: Disallow: http://a.test/x (begins with neither / nor *, so it matches no path)",
            "line 6: Disallow: /a, /b (several patterns, read as one)",
        ],
    );
}

#[test]
fn agents_that_are_not_understood_are_told() {
    let only_first = |line: &str| format!("line 1: {line} (only the name that comes first counts)");
    for line in [
        "User-agent: other, argiope",
        "User-agent: Mozilla/5.0 (compatible; argiope/1.0)",
        "User-agent: other, *",
        "User-agent: *, other",
        "User-agent: * argiope",
    ] {
        check(&format!("{line}\nDisallow: /\n"), &[&only_first(line)]);
    }
    for line in ["User-agent: argiope, other", "User-agent: other", "User-agent: my-argiope", "User-agent: * # all"] {
        check(&format!("{line}\nDisallow: /\n"), &[]);
    }
    check("User-agent:\nDisallow: /\n", &["line 1: User-agent: (names nobody)"]);
    check(
        "User-agent: other\nDisallow: /a\nUser_agent: *\nDisallow: /b\n",
        &["line 3: User_agent: * (no field that is known)"],
    );
}

#[test]
fn fields_that_are_not_known_are_told_unless_they_ask_nothing_of_a_crawler() {
    check(
        "User-agent: *\nDisalllow: /a\nRequest-rate: 1/10\nHost: a.test\nContent-Signal: ai-train=no\ndisallow /a b\n",
        &[
            "line 2: Disalllow: /a (no field that is known)",
            "line 3: Request-rate: 1/10 (no field that is known)",
            "line 6: disallow /a b (no field that is known)",
        ],
    );
    check("<!doctype html>\n<a href=http://a.test/>all: *bold*</a>\n", &[]);
}

#[test]
fn sitemaps_that_cannot_be_fetched_are_told() {
    check(
        "Sitemap: htp://a.test/s.xml\nSitemap: /s.xml\nSitemap: https://a.test/1.xml https://a.test/2.xml\nSitemap:\nSitemap: s?u=a:b\n",
        &[
            "line 1: Sitemap: htp://a.test/s.xml (no URL that can be fetched)",
            "line 3: Sitemap: https://a.test/1.xml https://a.test/2.xml (no URL that can be fetched)",
        ],
    );
    let many: String = (0..=SITEMAPS_MAX).map(|i| format!("Sitemap: /{i}.xml\n")).collect();
    check(&many, &["line 1001: Sitemap: /1000.xml (more sitemaps than are read)"]);
}

#[test]
fn a_file_in_utf_16_is_told() {
    let file: Vec<u8> = "\u{feff}User-agent: *\nDisallow: /\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let unread = unread(&file, "argiope");
    assert_eq!(unread.lines[0].to_string(), "line 1:  (the file is in UTF-16, not UTF-8, so nothing of it is read)");
}

#[test]
fn what_is_kept_is_bounded_and_in_the_order_of_the_file() {
    let lines: String =
        (0..UNREAD_LINES_MAX).map(|i| format!("Sitemap: ftp://a.test/{i}\nnonsense {i} \u{1b}\n")).collect();
    let unread = unread(format!("User-agent: *\n{lines}{}", "x".repeat(1_000)).as_bytes(), "argiope");
    let numbers: Vec<u32> = unread.lines.iter().map(|line| line.line_number).collect();
    assert_eq!(numbers, (2..).take(UNREAD_LINES_MAX).collect::<Vec<_>>());
    assert_eq!(unread.more, UNREAD_LINES_MAX + 1);
    assert!(unread.lines.iter().all(|line| line.text.len() <= LINE_TEXT_BYTES_MAX && !line.text.contains('\u{1b}')));
    assert_eq!(unread.told().last().as_deref(), Some("not read: 21 more"));
}
