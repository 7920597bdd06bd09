//! Answers compressed on their way (RFC 9110 §8.4), where the browser takes that.

use std::io::Write;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Bytes of an answer that are worth it.
const BYTES_MIN: u64 = 1 << 10;
/// Bytes of an answer that are compressed, at most: it is in memory meanwhile. A longer one is a file that somebody downloads.
const BYTES_MAX: u64 = 4 << 20;

/// Compresses the answer if it is a text of known length.
pub(crate) async fn compressed(request: Request, next: Next) -> Response {
    let is_taken = *request.method() == Method::GET && takes_gzip(request.headers());
    let mut answer = next.run(request).await;
    let is_one = is_text(answer.headers())
        && !answer.headers().contains_key(header::CONTENT_ENCODING)
        && answer.body().size_hint().exact().is_some_and(|bytes| (BYTES_MIN..=BYTES_MAX).contains(&bytes));
    if !is_one {
        return answer;
    }
    answer.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    if !is_taken {
        return answer;
    }
    let (mut head, body) = answer.into_parts();
    let packed = async {
        let body = to_bytes(body, usize::try_from(BYTES_MAX).ok()?).await.ok()?;
        tokio::task::spawn_blocking(move || pack(&body)).await.ok()?.ok()
    };
    let Some(packed) = packed.await else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    head.headers.remove(header::CONTENT_LENGTH);
    head.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    Response::from_parts(head, Body::from(packed))
}

fn pack(body: &Bytes) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body)?;
    encoder.finish()
}

/// The browser takes gzip: it names it, without a weight of zero.
fn takes_gzip(head: &HeaderMap) -> bool {
    let lists = head.get_all(header::ACCEPT_ENCODING).into_iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(Some(1.0), |weight| weight.parse().ok());
        name.trim().eq_ignore_ascii_case("gzip") && weight.is_some_and(|weight: f32| weight > 0.0)
    })
}

fn is_text(head: &HeaderMap) -> bool {
    let Some(content_type) = head.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok()) else { return false };
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.starts_with("text/") || ["application/json", "image/svg+xml"].contains(&essence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_taken_where_it_is_named() {
        let check = |given: &'static str, expect| {
            let head = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(given))]);
            assert_eq!(takes_gzip(&head), expect, "{given}");
        };
        assert!(!takes_gzip(&HeaderMap::new()));
        check("gzip, deflate, br, zstd", true);
        check("br, GZIP;q=0.5", true);
        check("br", false);
        check("gzip;q=0", false);
        check("gzip;q=x", false);
        check("xgzip", false);
    }

    #[test]
    fn texts_are_compressed_and_files_of_other_kinds_are_not() {
        let check = |given: &'static str, expect| {
            let head = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(given))]);
            assert_eq!(is_text(&head), expect, "{given}");
        };
        check("text/html; charset=utf-8", true);
        check("application/json", true);
        check("image/png", false);
        check("application/vnd.apache.parquet", false);
    }
}
