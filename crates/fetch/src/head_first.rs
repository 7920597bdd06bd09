//! HEAD, then GET only for a page worth having: the decision.

use model::{MediaRange, Response, essence};

/// What makes a page worth having.
#[derive(Debug)]
pub(crate) struct HeadFirst {
    accepts: Vec<MediaRange>,
    body_bytes_max: u64,
}

impl HeadFirst {
    /// `accepts` are media types taken besides HTML, XML and text.
    pub(crate) fn new(accepts: &[MediaRange], body_bytes_max: u64) -> Self {
        HeadFirst { accepts: accepts.to_vec(), body_bytes_max }
    }

    /// Why the answer to a HEAD is not followed by GET; `None` if it is. An error may be about HEAD alone, 404 and 410 too: GET decides.
    /// Where the server asks to wait, GET is sent after that: its URL is requested again, without HEAD.
    pub(crate) fn reason_against(&self, response: &Response) -> Option<String> {
        let says_when = response.headers.get("retry-after").is_some();
        match response.status {
            200..=299 => {}
            status @ (301 | 302 | 303 | 307 | 308 | 429 | 503) => return Some(format!("status {status}")),
            status @ (408 | 502 | 504) if says_when => return Some(format!("status {status} with Retry-After")),
            _ => return None,
        }
        if let Some(value) = response.headers.get("content-type") {
            let media_type = essence(value);
            if !media_type.is_empty() && !self.takes(&media_type) {
                return Some(format!("content type {}", media_type.escape_debug()));
            }
        }
        let length = response.headers.get("content-length").and_then(|value| value.trim().parse::<u64>().ok());
        length
            .filter(|length| *length > self.body_bytes_max)
            .map(|length| format!("{length} bytes are more than {} (body_bytes_max)", self.body_bytes_max))
    }

    fn takes(&self, media_type: &str) -> bool {
        let (kind, subtype) = media_type.split_once('/').unwrap_or((media_type, ""));
        kind == "text"
            || (kind == "application" && (subtype == "xml" || subtype.ends_with("+xml")))
            || self.accepts.iter().any(|accepted| accepted.contains(media_type))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use model::Headers;

    use super::*;

    fn check(status: u16, content_type: Option<&str>, content_length: Option<&str>, expect: Option<&str>) {
        let fields = [("Content-Type", content_type), ("Content-Length", content_length)];
        let fields = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        let headers = Headers(fields.collect());
        let response =
            Response { status, headers, body: Bytes::new(), truncated: None, is_undecoded: false, note: None };
        let policy =
            HeadFirst::new(&["application/pdf", "Image/*"].map(|range| MediaRange::parse(range).expect(range)), 1000);
        assert_eq!(policy.reason_against(&response).as_deref(), expect, "{status} {content_type:?} {content_length:?}");
    }

    #[test]
    fn pages_are_worth_a_get() {
        check(200, None, None, None);
        check(200, Some(""), None, None);
        check(200, Some("text/html"), Some("1000"), None);
        check(200, Some("Text/HTML; charset=utf-8"), Some("nonsense"), None);
        check(200, Some("application/xhtml+xml"), None, None);
        check(200, Some("application/xml"), None, None);
        check(200, Some("application/rss+xml"), None, None);
        check(200, Some("text/plain"), None, None);
        check(200, Some("application/pdf"), None, None);
        check(200, Some("image/png"), None, None);
        check(204, None, None, None);
    }

    #[test]
    fn after_an_error_get_decides() {
        for status in [300, 304, 400, 401, 403, 404, 405, 408, 410, 418, 500, 501, 502, 504, 999] {
            check(status, Some("application/zip"), None, None);
        }
    }

    #[test]
    fn other_answers_end_with_the_head() {
        for status in [301, 302, 303, 307, 308, 429, 503] {
            check(status, Some("text/html"), None, Some(&format!("status {status}")));
        }
        for status in [200, 203, 206] {
            check(status, Some("application/zip"), None, Some("content type application/zip"));
        }
        check(200, Some("video/mp4"), None, Some("content type video/mp4"));
        check(200, Some("text/html"), Some("1001"), Some("1001 bytes are more than 1000 (body_bytes_max)"));
    }

    #[test]
    fn get_waits_where_the_server_asks_for_it() {
        let of = |status| {
            let headers = Headers(vec![("Retry-After".to_owned(), "9".to_owned())]);
            let response =
                Response { status, headers, body: Bytes::new(), truncated: None, is_undecoded: false, note: None };
            HeadFirst::new(&[], 1000).reason_against(&response)
        };
        for status in [408, 502, 504] {
            assert_eq!(of(status), Some(format!("status {status} with Retry-After")));
        }
        assert_eq!(of(404), None, "such a URL is not requested again");
    }
}
