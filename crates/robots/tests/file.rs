//! The file itself: byte order mark, line ends, comments, slips, size; and what a decision shows of it.

use robots::{LINE_TEXT_BYTES_MAX, Matching, ROBOTS_BYTES_MAX, RobotsTxt};

#[track_caller]
fn check(file: impl AsRef<[u8]>, path: &str, expect: &str) {
    let file = file.as_ref();
    let decision = RobotsTxt::parse(file, "argiope").decide(path, Matching::LongestMatch);
    let word = if decision.allowed { "allow" } else { "deny" };
    let got = match decision.rule {
        Some(line) => format!("{word} {} {}", line.line_number, line.text),
        None => word.to_owned(),
    };
    assert_eq!(got, expect, "{path} by {:.200}", String::from_utf8_lossy(file));
}

#[test]
fn any_line_end_will_do() {
    for end in ["\n", "\r", "\r\n"] {
        let lines = ["# head", "User-agent: *", "", "Disallow: /a", "Allow: /a/b", ""];
        check(lines.join(end), "/a", "deny 4 Disallow: /a");
        check(lines.join(end), "/a/b", "allow 5 Allow: /a/b");
    }
    check("User-agent: *\r\nDisallow: /a\rDisallow: /b\n\rDisallow: /c", "/a", "deny 2 Disallow: /a");
    check("User-agent: *\r\nDisallow: /a\rDisallow: /b\n\rDisallow: /c", "/c", "deny 5 Disallow: /c");
}

#[test]
fn the_last_line_needs_no_end() {
    check("User-agent: *\nDisallow: /a", "/a", "deny 2 Disallow: /a");
}

#[test]
fn a_byte_order_mark_is_dropped_at_the_start_only() {
    check(b"\xEF\xBB\xBFUser-agent: *\nDisallow: /a\n", "/a", "deny 2 Disallow: /a");
    check(b"\xEF\xBB\xBF\nUser-agent: *\nDisallow: /a\n", "/a", "deny 3 Disallow: /a");
    check(b"# x\n\xEF\xBB\xBFUser-agent: *\nDisallow: /a\n", "/a", "allow");
    check(b"\xEF\xBB\xBF\xEF\xBB\xBFUser-agent: *\nDisallow: /a\n", "/a", "allow");
}

#[test]
fn white_space_and_case_do_not_matter() {
    check("  USER-AGENT\t:\t*  \n\t dIsAlLoW :/a \n", "/a", "deny 2 dIsAlLoW :/a");
    check("user-agent:*\n\n\n\ndisallow:/a", "/a", "deny 5 disallow:/a");
}

#[test]
fn comments_are_not_rules_but_are_shown() {
    check("User-agent: * # all\n# Disallow: /b\nDisallow: /a # private\n", "/a", "deny 3 Disallow: /a # private");
    check("User-agent: *\n# Disallow: /b\n", "/b", "allow");
    check("User-agent: *\nDisallow: /a#b\n", "/ab", "deny 2 Disallow: /a#b");
}

#[test]
fn slips_are_understood() {
    for rule in ["disallow /", "Disalow: /", "Dissallow: /", "Dissalow: /", "Diasllow: /", "Disallaw: /"] {
        check(format!("User-agent: *\n{rule}\n"), "/a", &format!("deny 2 {rule}"));
    }
    for agent in ["user-agent *", "useragent: *", "user agent: *"] {
        check(format!("{agent}\nDisallow: /\n"), "/a", "deny 2 Disallow: /");
    }
}

#[test]
fn a_broken_line_harms_only_itself() {
    for broken in ["\u{0}\u{1}", "::::", "Disallow", "Allow /a b", "\u{fffd}", "=====", "User-agent"] {
        check(format!("User-agent: *\n{broken}\nDisallow: /a\n"), "/a", "deny 3 Disallow: /a");
    }
    check(b"User-agent: *\n\xFF\xFE\xC0\x80\nDisallow: /a\n", "/a", "deny 3 Disallow: /a");
}

#[test]
fn the_limit_is_500_kib_cut_at_a_line() {
    let at = |offset: usize, tail: &str| {
        let head = "User-agent: *\n";
        format!("{head}{}\n{tail}", "#".repeat(offset - head.len() - 1))
    };
    let rule = "Disallow: /a";
    // The rule's last byte is the last inside the limit; with and without a line end behind it.
    check(at(ROBOTS_BYTES_MAX - rule.len(), rule), "/a", "deny 3 Disallow: /a");
    check(at(ROBOTS_BYTES_MAX - rule.len(), "Disallow: /a\n"), "/a", "deny 3 Disallow: /a");
    // One byte too far: the whole line is gone, not turned into `Disallow: /`.
    check(at(ROBOTS_BYTES_MAX - rule.len() + 1, rule), "/b", "allow");
    check(at(ROBOTS_BYTES_MAX - rule.len() + 1, "Disallow: /a\n"), "/a", "allow");
    check(at(ROBOTS_BYTES_MAX, rule), "/a", "allow");
    check(at(700 * 1024, rule), "/a", "allow");
    check(format!("User-agent: *\nDisallow: /a\n{}", "x".repeat(700 * 1024)), "/a", "deny 2 Disallow: /a");
}

#[test]
fn a_long_line_decides_whole_but_is_shown_cut() {
    let path = format!("/{}", "a".repeat(5_000));
    let robots = RobotsTxt::parse(format!("User-agent: *\nDisallow: {path}\n").as_bytes(), "argiope");
    assert!(robots.decide(&path[..5_000], Matching::LongestMatch).allowed);
    let line = robots.decide(&path, Matching::LongestMatch).rule.unwrap();
    assert!(line.text.ends_with("aaa…") && line.text.len() <= LINE_TEXT_BYTES_MAX + '…'.len_utf8(), "{}", line.text);
}

#[test]
fn a_shown_line_is_safe_to_print() {
    let file = b"User-agent: *\nDisallow: /a\x1b[31m\x07\xff # \x00\n";
    check(file, "/a%1b%5B31m%07%ff", "deny 2 Disallow: /a\u{fffd}[31m\u{fffd}\u{fffd} # \u{fffd}");
}

#[test]
fn a_hostile_file_holds_bounded_memory() {
    for line in ["allow:/\n", "allow:*\u{ff}\n", "Sitemap: x\n", "Disallow: /\u{1}\u{1}\u{1}\n"] {
        let file = format!("User-agent: *\n{}", line.repeat(ROBOTS_BYTES_MAX / line.len()));
        let held = RobotsTxt::parse(file.as_bytes(), "argiope").heap_bytes();
        assert!(held < 6 * ROBOTS_BYTES_MAX, "{held} bytes for {line:?}");
    }
    assert!(RobotsTxt::parse(b"User-agent: *\nDisallow: /\n", "argiope").heap_bytes() < 256);
}
