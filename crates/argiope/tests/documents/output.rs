//! Whether a command printed what a page says, but for what differs from run to run.

/// Stands for any lines.
const ELLIPSIS: &str = "…";
/// Begins the line of a summary that only a crawl prints which took some time of the processor.
const PROCESSOR: &str = "processor ";

/// Compares line by line. Times, dates, sizes and other fractions may differ; where `numbers_vary`, so may all numbers.
pub fn matches(expected: &str, printed: &str, numbers_vary: bool) -> bool {
    // Python ends its tables with an empty line.
    let lines = |text: &str| {
        text.trim_end().lines().filter(|line| !line.starts_with(PROCESSOR)).map(str::to_owned).collect::<Vec<_>>()
    };
    let plain = |text: &str| lines(text).iter().map(|line| plain(line, numbers_vary)).collect::<Vec<_>>();
    let (expected, printed) = (plain(expected), plain(printed));
    let mut rest = printed.as_slice();
    let pieces: Vec<&[String]> = expected.split(|line| line == ELLIPSIS).collect();
    for (number, piece) in pieces.iter().enumerate() {
        let is_last = number + 1 == pieces.len();
        let at = match (number, is_last) {
            (0, _) => Some(0),
            (_, true) => rest.len().checked_sub(piece.len()),
            _ => (0..=rest.len()).find(|at| rest[*at..].starts_with(piece)),
        };
        match at {
            Some(at) if rest[at..].starts_with(piece) => rest = &rest[at + piece.len()..],
            _ => return false,
        }
    }
    rest.is_empty() || expected.last().is_some_and(|line| line == ELLIPSIS)
}

/// A line without what differs: numbers that do are `#`, and what is aligned by their length is one space or one line.
fn plain(line: &str, numbers_vary: bool) -> String {
    let mut made = String::new();
    let mut rest = line.trim_end();
    while let Some(next) = rest.chars().next() {
        let is_part =
            |c: char| if next.is_ascii_digit() { ".:-TZ".contains(c) || c.is_ascii_digit() } else { c == next };
        let end = match next {
            ' ' | '─' | '0'..='9' => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
            _ => next.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        let is_seconds = after.strip_prefix(" s").is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
        let differs = numbers_vary || is_seconds || token.contains('.') || token.len() > "2026-11-26".len();
        match next {
            '0'..='9' if differs => made.push('#'),
            '0'..='9' => made.push_str(token),
            other => made.push(other),
        }
        rest = after;
    }
    made
}

#[test]
fn what_differs_from_run_to_run_is_left_out() {
    let page = "10 pages (2.9 kB) in 2 s\n  html   10\njudged 2026-11-26T00:39:14.763Z\n";
    assert!(matches(page, "10 pages (12.9 kB) in 12 s\n  html  10\njudged 2027-01-01T10:00:00.000Z\n", false));
    assert!(!matches(page, "11 pages (2.9 kB) in 2 s\n  html   10\njudged 2026-11-26T00:39:14.763Z\n", false));
    assert!(matches("11 of 104\n", "9 of 1\n", true));
    assert!(matches("1 page\nin x\n", "1 page\nprocessor 0.1 s: other 81 %\nin x\n", false));
    assert!(matches("│ 1 │\n├──┤\n", "│ 1 │\n├─────┤\n", false));
}

#[test]
fn lines_may_be_left_out_where_the_page_says_so() {
    assert!(matches("a\n…\nc\n", "a\nb\nb\nc\n", false));
    assert!(
        matches("…\nc\n", "a\nc\n", false) && matches("a\n…\n", "a\n", false) && matches("a\n…\n", "a\nb\n", false)
    );
    for (page, printed) in [("a\n", "a\nb\n"), ("a\nb\n", "a\n"), ("a\n…\nc\n", "a\nb\n"), ("…\nb\n", "a\nb\nc\n")]
    {
        assert!(!matches(page, printed, false), "{page} {printed}");
    }
}
