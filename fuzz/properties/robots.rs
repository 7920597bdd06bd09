//! What holds for every robots.txt and every path.
//!
//! Input: the first line is a path with its query, the rest is the file.

use robots::{
    CRAWL_DELAY_MAX, Decision, LINE_TEXT_BYTES_MAX, Lifetime, Matching, ROBOTS_BYTES_MAX, Reason, RobotsFetch,
    RobotsTxt, SITEMAP_URL_BYTES_MAX, SITEMAPS_MAX, UNREAD_LINES_MAX, Undefined, access, unread,
};

const BOTH: [Matching; 2] = [Matching::LongestMatch, Matching::FirstMatch];
const TOKEN: &str = "argiope";

/// What a file may become in memory: a bound on [`RobotsTxt::heap_bytes`] in bytes a byte of the file, and a constant.
const HEAP_PER_BYTE: usize = 16;
const HEAP_FREE: usize = 1024;

/// Asserts it.
pub fn hold(input: &[u8]) {
    let cut = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let path = String::from_utf8_lossy(&input[..cut]);
    let body = input.get(cut + 1..).unwrap_or_default();
    let robots = RobotsTxt::parse(body, TOKEN);
    what_it_holds_is_bounded(&robots, body);
    what_is_unread_is_bounded(body);
    for matching in BOTH {
        a_decision_names_its_line(&robots.decide(&path, matching), &path, body);
    }
    spelling_changes_nothing(&robots, &path, body);
    status_decides_what_the_file_means(&robots, &path, body);
}

fn what_it_holds_is_bounded(robots: &RobotsTxt, body: &[u8]) {
    assert!(robots.crawl_delay().is_none_or(|delay| delay <= CRAWL_DELAY_MAX));
    assert!(robots.sitemaps().len() <= SITEMAPS_MAX);
    for url in robots.sitemaps() {
        // A byte that is not UTF-8 becomes the three of U+FFFD.
        assert!((1..=3 * SITEMAP_URL_BYTES_MAX).contains(&url.len()), "{url:?}");
        assert!(!url.contains(['\n', '\r', '#']) && url.trim_ascii() == url, "{url:?}");
    }
    assert!(robots.heap_bytes() <= HEAP_FREE + HEAP_PER_BYTE * body.len(), "{} bytes of heap", robots.heap_bytes());
}

fn what_is_unread_is_bounded(body: &[u8]) {
    let unread = unread(body, TOKEN);
    assert!(unread.lines.len() <= UNREAD_LINES_MAX && (unread.more == 0 || unread.lines.len() == UNREAD_LINES_MAX));
    assert!(unread.lines.is_sorted_by_key(|line| line.line_number));
    for line in &unread.lines {
        assert!(
            line.text.len() <= LINE_TEXT_BYTES_MAX + '…'.len_utf8() && !line.text.contains(char::is_control),
            "{line}"
        );
    }
}

fn a_decision_names_its_line(decision: &Decision, path: &str, body: &[u8]) {
    assert_eq!(decision.rule.is_some(), decision.reason == Reason::Rule);
    let Some(rule) = &decision.rule else {
        let is_refused = decision.reason == Reason::TooManySteps;
        assert!(decision.allowed != is_refused, "without a rule nothing is forbidden: {path:?}");
        assert_eq!(decision.reason == Reason::RobotsTxtItself, path == "/robots.txt");
        return;
    };
    assert!(rule.text.len() <= LINE_TEXT_BYTES_MAX + '…'.len_utf8(), "{rule}");
    assert!(!rule.text.contains(char::is_control), "{rule}");
    let line = line_of(body, rule.line_number as usize).to_ascii_lowercase();
    let field: &[u8] = if decision.allowed { b"allow" } else { b"di" };
    assert!(line.trim_ascii().starts_with(field), "{rule}");
    let beginning: String = rule.text.chars().take_while(char::is_ascii).collect();
    assert!(line.trim_ascii().starts_with(beginning.to_ascii_lowercase().as_bytes()), "{rule}");
}

fn line_of(body: &[u8], number: usize) -> Vec<u8> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let text = with_every(&with_every(body, b"\r\n", b"\n"), b"\r", b"\n");
    text.split(|byte| *byte == b'\n').nth(number - 1).unwrap_or_default().to_vec()
}

/// `text` with every `old` replaced by `new`.
fn with_every(text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.first() {
        if let Some(after) = rest.strip_prefix(old) {
            out.extend_from_slice(new);
            rest = after;
        } else {
            out.push(*first);
            rest = &rest[1..];
        }
    }
    out
}

fn spelling_changes_nothing(robots: &RobotsTxt, path: &str, body: &[u8]) {
    let expect = answers(robots, path);
    let check = |body: &[u8], token: &str, what: &str| {
        if body.len() <= ROBOTS_BYTES_MAX {
            assert_eq!(answers(&RobotsTxt::parse(body, token), path), expect, "{path:?} with {what}");
        }
    };
    check(body, "ARGIOPE/2.0 (+http://example.com/)", "the token in capitals, with a version");
    if !body.contains(&b'\r') {
        check(&with_every(body, b"\n", b"\r\n"), TOKEN, "CRLF line ends");
        check(&with_every(body, b"\n", b" # comment\n"), TOKEN, "comments behind the lines");
    }
    // The empty rule ends a group that is still open.
    let others = [body, b"\nDisallow:\nUser-agent: argiope-images\nUser-agent: another\nDisallow: /\n"].concat();
    check(&others, TOKEN, "a group for others at the end");
    if !path.contains('%') && path != "/robots.txt" {
        let escape = |c: char| if c.is_ascii_alphanumeric() { format!("%{:02x}", u32::from(c)) } else { c.to_string() };
        let escaped: String = path.chars().map(escape).collect();
        if escaped != "/robots.txt" {
            assert_eq!(answers(robots, &escaped), expect, "{path:?} escaped");
        }
    }
}

/// What the file says about the path, and the lines that say it.
fn answers(robots: &RobotsTxt, path: &str) -> [(bool, Option<u32>); 2] {
    BOTH.map(|matching| {
        let decision = robots.decide(path, matching);
        (decision.allowed, decision.rule.map(|rule| rule.line_number))
    })
}

fn status_decides_what_the_file_means(robots: &RobotsTxt, path: &str, body: &[u8]) {
    let is_file = path == "/robots.txt";
    let ask = |fetch| {
        let access = access(fetch, TOKEN);
        (answers(&access.rules, path), access.lifetime)
    };
    let allow_all = ([(true, None); 2], Lifetime::Final);
    let disallow_all = ([(is_file, None); 2], Lifetime::Temporary);
    for code in [0, 100, 199, 200, 299, 300, 399, 400, 404, 428, 429, 430, 499, 500, 599, 600, u16::MAX] {
        let expect = match code {
            200..=299 => (answers(robots, path), Lifetime::Final),
            429 => disallow_all,
            300..=499 => allow_all,
            _ => disallow_all,
        };
        assert_eq!(ask(RobotsFetch::Status { code, body }), expect, "status {code}");
    }
    assert_eq!(ask(RobotsFetch::TooManyRedirects), allow_all);
    assert_eq!(ask(RobotsFetch::Unreachable), disallow_all);
    let reason = RobotsTxt::disallow_all(Undefined::Unreachable).decide("/", Matching::default()).reason;
    assert_eq!(reason, Reason::Undefined(Undefined::Unreachable));
}
