//! Answers that break HTTP, and answers that are slow on purpose.

use model::Outcome::{ConnectionError, Html, Timeout, TooLarge};

use super::{IMPATIENT, check, check_failure, led_to};

#[tokio::test(flavor = "multi_thread")]
async fn headers_without_end_are_too_large() {
    check_failure("/endless-headers", &[], TooLarge, "header_bytes_max").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_of_a_megabyte_is_too_large() {
    check_failure("/huge-cookie", &[], TooLarge, "header_bytes_max").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn informational_answers_without_end_are_too_large() {
    check_failure("/informational", &IMPATIENT, TooLarge, "header_bytes_max").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_byte_a_second_is_a_timeout() {
    check_failure("/slow-headers", &IMPATIENT, Timeout, "no whole head of an answer within 2s").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_byte_a_second_is_cut() {
    check("/drip", &IMPATIENT, Html, "truncated: not at its end after 2s (total_timeout)").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_never_answers_is_a_timeout() {
    check_failure("/silent", &IMPATIENT, Timeout, "no whole head of an answer within 2s").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_length_that_is_too_long_or_too_short_leaves_what_came() {
    led_to(&check("/length-too-long", &[], Html, "truncated: connection ended within the body").await, "/after-broken");
    led_to(&check("/length-too-short", &[], Html, "").await, "/after-broken");
    check_failure("/two-lengths", &[], ConnectionError, "answer is not HTTP").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_reset_in_the_body_leaves_what_came() {
    led_to(&check("/reset", &[], Html, "truncated: connection ended within the body").await, "/after-broken");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_ends_without_an_answer_is_an_error() {
    check_failure("/reset-at-once", &[], ConnectionError, "closed without an answer (after 2 attempts)").await;
    check_failure("/close", &[], ConnectionError, "closed without an answer (after 2 attempts)").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_that_are_none_leave_what_came() {
    check("/chunked-garbage", &[], Html, "truncated: broken body").await;
    check("/chunk-too-large", &[], Html, "truncated").await;
    led_to(&check("/chunked-cut", &[], Html, "truncated: connection ended within the body").await, "/after-broken");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_http_is_an_error() {
    check_failure("/bad-status-line", &[], ConnectionError, "answer is not HTTP").await;
    check_failure("/no-head", &[], ConnectionError, "answer is not HTTP").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_line_without_a_colon_is_passed_over() {
    led_to(&check("/bad-header", &[], Html, "").await, "/after-broken");
}
