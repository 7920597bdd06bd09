//! Answers with a part of a content (206). A request without Range gets the whole, or none (RFC 9110 §15.3.7).

use model::{Exchange, FetchOutcome, Response};

/// Whether an answer with status 206 has a part that no request has asked for. One that has all bytes is as good as a 200.
pub(crate) fn is_unasked(outcome: &FetchOutcome, response: &Response) -> bool {
    let has_range = |exchange: &Exchange| fetch::parse_fields(&exchange.request_head).get("range").is_some();
    is_part(response) && !outcome.exchanges.last().is_some_and(has_range)
}

/// Whether an answer has not all of the content.
pub(crate) fn is_part(response: &Response) -> bool {
    response.status == 206 && !response.headers.get("content-range").is_some_and(is_whole)
}

/// Whether a Content-Range has all bytes: `bytes 0-99/100` (RFC 9110 §14.4). The case of the unit does not matter (§14.1).
fn is_whole(field: &str) -> bool {
    let range = field.trim().split_once(' ').filter(|(unit, _)| unit.eq_ignore_ascii_case("bytes"));
    let parts = range.and_then(|(_, range)| range.split_once('/'));
    let bytes =
        parts.and_then(|(range, length)| Some((range.trim().split_once('-')?, length.trim().parse::<u64>().ok()?)));
    bytes.is_some_and(|((first, last), length)| {
        first == "0" && last.parse::<u64>().is_ok_and(|last| last.checked_add(1) == Some(length))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_the_whole_or_a_part() {
        for (field, expect) in [
            ("bytes 0-99/100", true),
            (" bytes 0-0/1 ", true),
            ("Bytes 0-99/100", true),
            ("BYTES 0-98/100", false),
            ("bytes=0-99/100", false),
            ("bytes 0-98/100", false),
            ("bytes 1-99/100", false),
            ("bytes 0-99/*", false),
            ("bytes */100", false),
            ("bytes 0-18446744073709551615/0", false),
            ("pages 0-99/100", false),
            ("bytes", false),
            ("", false),
        ] {
            assert_eq!(is_whole(field), expect, "{field}");
        }
    }
}
