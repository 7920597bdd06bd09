//! The head of an answer: where it is among the bytes that came, and what it says about the body and the connection.

use std::mem::MaybeUninit;
use std::ops::Range;

use httparse::{Header, ParserConfig, Response, Status};

use super::chunks::Chunks;
use super::framing::Framing;
use crate::head::EndOfHead;

/// Fields of a head; the real limit is on its bytes.
pub(super) const FIELDS_MAX: usize = 1000;

/// The smallest status there is (RFC 9110 §15). Greater ones than 599 are none either, but servers send them: they count as server errors,
/// as that section says.
const STATUS_MIN: u16 = 100;

/// A head that was found.
#[derive(Debug)]
pub(super) struct ParsedHead {
    /// Where it is, with the empty line at its end.
    pub(super) head: Range<usize>,
    pub(super) status: u16,
    pub(super) framing: Framing,
    /// Whether the server takes another request after this one.
    pub(super) is_kept: bool,
}

/// Why there is no head.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    TooLarge,
    TooManyFields,
    NotHttp(String),
}

/// Finds the head of the final answer in `bytes`, which may still lack some; `Ok(None)` if more is needed. `is_head` says that HEAD
/// was asked. Sloppiness that leaves no doubt is put up with: lines that end in LF alone, space around names, continued lines,
/// lines that are no fields.
pub(super) fn find(bytes: &[u8], head_bytes_max: usize, is_head: bool) -> Result<Option<ParsedHead>, Wrong> {
    // Not a byte beyond the limit is looked at, so that it does not matter how many came at once.
    let bytes = &bytes[..bytes.len().min(head_bytes_max.saturating_add(1))];
    let mut begin = 0;
    loop {
        let mut fields = [const { MaybeUninit::<Header<'_>>::uninit() }; FIELDS_MAX];
        let mut answer = Response::new(&mut []);
        let parsed = ParserConfig::default()
            .allow_spaces_after_header_name_in_responses(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .parse_response_with_uninit_headers(&mut answer, &bytes[begin..], &mut fields);
        let length = match parsed {
            Ok(Status::Complete(length)) => Some(length),
            Ok(Status::Partial) => None,
            // Where there is no end yet, that is what is wrong with it.
            Err(httparse::Error::TooManyHeaders) if EndOfHead::default().find(&bytes[begin..]).is_none() => None,
            Err(httparse::Error::TooManyHeaders) => return Err(Wrong::TooManyFields),
            Err(error) => return Err(Wrong::NotHttp(error.to_string())),
        };
        if length.map_or(bytes.len(), |length| begin + length) > head_bytes_max {
            return Err(Wrong::TooLarge);
        }
        let (Some(length), Some(status)) = (length, answer.code) else { return Ok(None) };
        if status < STATUS_MIN {
            return Err(Wrong::NotHttp(format!("the status is {status:03}")));
        }
        let head = begin..begin + length;
        if is_interim(status) {
            begin = head.end;
            continue;
        }
        let framing = framing(&answer, status, is_head).map_err(Wrong::NotHttp)?;
        let is_kept = is_kept(&answer, &framing) && !announces_body_behind(&answer, status);
        return Ok(Some(ParsedHead { head, status, framing, is_kept }));
    }
}

/// 1xx comes before the answer proper, but 101 is the last that is HTTP (RFC 9110 §15.2).
fn is_interim(status: u16) -> bool {
    (100..200).contains(&status) && status != 101
}

/// A status without a body (RFC 9112 §6.3).
fn is_without_body(status: u16) -> bool {
    matches!(status, 101 | 204 | 304)
}

/// An answer that has no body, but fields that announce one. A server may send it nevertheless, also much later: it would be read as the answer
/// to the next request. 304 may repeat the length of the page, and is not worth the risk.
fn announces_body_behind(answer: &Response<'_, '_>, status: u16) -> bool {
    let has_length = || values(answer, "content-length").any(|value| value.iter().any(|digit| *digit != b'0'));
    is_without_body(status) && (values(answer, "transfer-encoding").next().is_some() || has_length())
}

/// The rules of RFC 9112 §6.3, in their order.
fn framing(answer: &Response<'_, '_>, status: u16, is_head: bool) -> Result<Framing, String> {
    if is_head || is_without_body(status) {
        return Ok(Framing::NONE);
    }
    if let Some(last) = values(answer, "transfer-encoding").last() {
        let is_chunked = last.eq_ignore_ascii_case(b"chunked");
        return Ok(if is_chunked { Framing::Chunked(Chunks::default()) } else { Framing::UntilClose });
    }
    let mut length = None;
    for value in values(answer, "content-length") {
        let said = std::str::from_utf8(value).ok().filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()));
        let said: Option<u64> = said.and_then(|value| value.parse().ok());
        match (length, said) {
            (None, Some(said)) => length = Some(said),
            (Some(before), Some(said)) if before == said => {}
            (Some(_), Some(_)) => return Err("Content-Length twice, with different values".to_owned()),
            (_, None) => return Err(format!("Content-Length is no number: {}", value.escape_ascii())),
        }
    }
    Ok(length.map_or(Framing::UntilClose, Framing::Length))
}

/// RFC 9112 §9.3; and not where the end of the body is uncertain (§6.1, §6.3).
fn is_kept(answer: &Response<'_, '_>, framing: &Framing) -> bool {
    let says = |token: &[u8]| values(answer, "connection").any(|value| value.eq_ignore_ascii_case(token));
    let is_http_1_0 = answer.version == Some(0);
    let is_wanted = !says(b"close") && (!is_http_1_0 || says(b"keep-alive"));
    let is_certain = match framing {
        Framing::Length(_) => true,
        Framing::Chunked(_) => !is_http_1_0 && values(answer, "content-length").next().is_none(),
        Framing::UntilClose => false,
    };
    is_wanted && is_certain
}

/// The members of all lists in fields of that name.
fn values<'a>(answer: &'a Response<'_, '_>, name: &'static str) -> impl Iterator<Item = &'a [u8]> {
    let fields = answer.headers.iter().filter(move |field| field.name.eq_ignore_ascii_case(name));
    fields.flat_map(|field| field.value.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 400;

    /// What is found, in short: status, how the body ends, whether the connection is kept.
    fn found(bytes: &str, is_head: bool) -> String {
        match find(bytes.as_bytes(), MAX, is_head) {
            Ok(None) => "more".to_owned(),
            Err(wrong) => format!("{wrong:?}"),
            Ok(Some(found)) => {
                let body = match found.framing {
                    Framing::Length(length) => length.to_string(),
                    Framing::Chunked(_) => "chunked".to_owned(),
                    Framing::UntilClose => "until close".to_owned(),
                };
                format!("{} {body}{}", found.status, if found.is_kept { ", kept" } else { "" })
            }
        }
    }

    #[test]
    fn a_head_says_where_the_body_ends_and_whether_the_connection_is_kept() {
        for (head, expect) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "200 5, kept"),
            ("HTTP/1.1 200 OK\r\nCONTENT-LENGTH:5\r\n\r\n", "200 5, kept"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", "200 5, kept"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n", "200 5, kept"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: Close\r\n\r\n", "200 5"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: x, close\r\n\r\n", "200 5"),
            ("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", "200 5"),
            ("HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: Keep-Alive\r\n\r\n", "200 5, kept"),
            ("HTTP/1.1 200 OK\r\n\r\n", "200 until close"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "200 chunked, kept"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n", "200 chunked, kept"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", "200 chunked"),
            ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n", "200 chunked"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", "200 until close"),
            ("HTTP/1.1 204 No Content\r\n\r\n", "204 0, kept"),
            ("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", "204 0, kept"),
            ("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "204 0"),
            ("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", "204 0"),
            ("HTTP/1.1 304 Not Modified\r\n\r\n", "304 0, kept"),
            ("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "304 0"),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\n", "101 0, kept"),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n", "404 5, kept"),
            ("HTTP/1.1 100 Continue\r\n\r\n", "more"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", "more"),
            ("\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "200 5, kept"),
            ("", "more"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", "different values"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", "no number: 99999999999999999999"),
            ("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n", "no number: +5"),
            ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "no number: "),
            ("HTTP/1.1 000 OK\r\nContent-Length: 5\r\n\r\n", "the status is 000"),
            ("HTTP/1.1 099 OK\r\nContent-Length: 5\r\n\r\n", "the status is 099"),
            ("HTTP/1.1 999 OK\r\nContent-Length: 5\r\n\r\n", "999 5, kept"),
            ("SSH-2.0-OpenSSH_9.2\r\n", "NotHttp"),
        ] {
            let found = found(head, false);
            assert!(found == expect || found.contains("NotHttp") && found.contains(expect), "{head:?}: {found}");
        }
        assert_eq!(found("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true), "200 0, kept");
    }

    #[test]
    fn the_head_of_the_final_answer_is_found_once_it_is_whole() {
        let last = "HTTP/1.1 200 OK\r\nX-MiXed: 1\r\nset-cookie: a\r\nSet-Cookie: b\r\n\r\n";
        let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        for before in [String::new(), interim.to_owned(), interim.repeat(5)] {
            let all = format!("{before}{last}body\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n");
            let end = before.len() + last.len();
            for length in 0..all.len() {
                let head = find(&all.as_bytes()[..length], MAX, false).expect("HTTP").map(|found| found.head);
                assert_eq!(head, (length >= end).then_some(before.len()..end), "{length} of {all:?}");
            }
        }
    }

    #[test]
    fn a_head_may_be_as_long_as_the_limit_and_interim_ones_count() {
        let head = |length: usize| format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "x".repeat(length - 24));
        let interim = "HTTP/1.1 100 Continue\r\n\r\n";
        for (bytes, expect) in [
            (head(MAX), "200 until close"),
            (head(MAX + 1), "TooLarge"),
            (head(MAX + 1)[..MAX].to_owned(), "more"),
            (head(MAX + 2)[..=MAX].to_owned(), "TooLarge"),
            (format!("{interim}{}", head(MAX - interim.len())), "200 until close"),
            (format!("{interim}{}", head(MAX + 1 - interim.len())), "TooLarge"),
            (interim.repeat(100), "TooLarge"),
            (format!("{}{}", head(MAX), "x".repeat(MAX)), "200 until close"),
        ] {
            assert_eq!(found(&bytes, false), expect, "{bytes:?}");
        }
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a:b\r\n".repeat(FIELDS_MAX + 1));
        let many = many.as_bytes();
        assert_eq!(find(many, many.len(), false).err(), Some(Wrong::TooManyFields));
        assert_eq!(find(many, MAX, false).err(), Some(Wrong::TooLarge));
        assert!(matches!(find(&many[..many.len() - 1], many.len(), false), Ok(None)));
    }
}
