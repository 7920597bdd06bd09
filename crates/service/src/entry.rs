//! The way into an interface by a token: a browser gives it once, in a form or an address, and has a cookie from then on.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::Router;
use subtle::ConstantTimeEq;
use tonic::Status;
use url::form_urlencoded;

use crate::access::Guard;
use crate::port::Refusal;

/// The field of a form or an address that has the token.
const FIELD: &str = "token";
/// Where the form with the token is sent. It is no screen.
pub const PATH: &str = "/token";
/// Bytes of that form, at most: a token, each byte of it as three.
const FORM_BYTES_MAX: usize = 16 << 10;
/// What a request without the token is answered.
const NEEDED: &str = "this interface asks for its token";
/// What one with a wrong token is answered.
const WRONG: &str = "this is not the token";

/// Who may come in.
#[derive(Clone)]
pub(crate) struct Entry {
    guard: Guard,
    /// The cookie of those who gave the token, with its name. It holds until the process ends.
    cookie: Arc<str>,
    /// What everybody may read, so that the page of a refusal looks as it should.
    open: &'static [&'static str],
    refusal: Refusal,
}

impl Entry {
    /// By the token of a guard. `session` is unguessable, and `port` keeps interfaces on one machine apart: browsers send cookies to all ports.
    pub(crate) fn new(guard: Guard, session: &str, port: u16, open: &'static [&'static str], refusal: Refusal) -> Self {
        Entry { guard, cookie: format!("argiope-{port}={session}").into(), open, refusal }
    }

    /// The router behind it.
    pub(crate) fn before(self, router: Router) -> Router {
        router.layer(from_fn_with_state(self, pass))
    }

    fn is_token(&self, given: &str) -> bool {
        self.guard.admits(Some(format!("Bearer {given}").as_bytes()))
    }

    /// Whether a request proves that it may come in.
    fn admits(&self, head: &HeaderMap) -> bool {
        let is_ours = |cookie: &[u8]| bool::from(cookie.trim_ascii().ct_eq(self.cookie.as_bytes()));
        let mut cookies =
            head.get_all(header::COOKIE).iter().flat_map(|all| all.as_bytes().split(|byte| *byte == b';'));
        let authorization = head.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
        cookies.any(is_ours) || authorization.is_some_and(|given| self.guard.admits(Some(given)))
    }

    /// Leads on, with the cookie. The address that had the token is in no history, and no page names it.
    fn let_in(&self, to: &str) -> Response {
        let cookie = format!("{}; Path=/; HttpOnly; SameSite=Lax", self.cookie);
        let (Ok(cookie), Ok(to)) = (HeaderValue::from_str(&cookie), HeaderValue::from_str(to)) else {
            return (self.refusal)(&Status::invalid_argument("the address cannot be read"));
        };
        let fields: [(HeaderName, HeaderValue); 4] = [
            (header::SET_COOKIE, cookie),
            (header::LOCATION, to),
            (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
            (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        ];
        (StatusCode::SEE_OTHER, fields.into_iter().collect::<HeaderMap>()).into_response()
    }

    fn refuse(&self, why: &str) -> Response {
        (self.refusal)(&Status::unauthenticated(why))
    }
}

async fn pass(State(entry): State<Entry>, request: Request<Body>, next: Next) -> Response {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let given = token_of(request.uri().query().unwrap_or_default());
    let is_let_in = entry.admits(request.headers());
    match given {
        Some(given) if is_read => match is_let_in || entry.is_token(&given) {
            true => entry.let_in(&without_token(request.uri())),
            false => entry.refuse(WRONG),
        },
        _ if is_let_in || is_read && entry.open.contains(&request.uri().path()) => next.run(request).await,
        _ if *request.method() == Method::POST && request.uri().path() == PATH => {
            let form = to_bytes(request.into_body(), FORM_BYTES_MAX).await.unwrap_or_default();
            match token_of(&String::from_utf8_lossy(&form)) {
                Some(given) if entry.is_token(&given) => entry.let_in("/"),
                _ => entry.refuse(WRONG),
            }
        }
        _ => entry.refuse(NEEDED),
    }
}

/// The token in a query or a form.
fn token_of(fields: &str) -> Option<String> {
    let mut fields = form_urlencoded::parse(fields.as_bytes());
    fields.find(|(name, _)| name == FIELD).map(|(_, value)| value.trim().to_owned())
}

/// The same path and query without the token. It never leads to another host.
fn without_token(uri: &Uri) -> String {
    let query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).filter(|(name, _)| name != FIELD);
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    let path = format!("/{}", uri.path().trim_start_matches(['/', '\\']));
    if query.is_empty() { path } else { format!("{path}?{query}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "a-token-of-the-tests";

    fn entry() -> Entry {
        fn refusal(status: &Status) -> Response {
            crate::port::http(status).into_response()
        }
        Entry::new(Guard::by_token(Some(TOKEN)), "5e55", 7880, &["/ui.css"], refusal)
    }

    #[test]
    fn a_cookie_or_the_token_lets_in_and_nothing_else_does() {
        let entry = entry();
        let head = |name: HeaderName, value: &'static str| {
            let mut head = HeaderMap::new();
            head.insert(name, HeaderValue::from_static(value));
            head
        };
        for (name, value, expect) in [
            (header::COOKIE, "argiope-7880=5e55", true),
            (header::COOKIE, "other=1; argiope-7880=5e55", true),
            (header::COOKIE, "argiope-7880=5e56", false),
            (header::COOKIE, "argiope-7881=5e55", false),
            (header::COOKIE, "argiope-7880=a-token-of-the-tests", false),
            (header::AUTHORIZATION, "Bearer a-token-of-the-tests", true),
            (header::AUTHORIZATION, "Bearer a-token-of-the-test", false),
            (header::AUTHORIZATION, "a-token-of-the-tests", false),
        ] {
            assert_eq!(entry.admits(&head(name, value)), expect, "{value}");
        }
        assert!(!entry.admits(&HeaderMap::new()));
    }

    #[test]
    fn the_token_leaves_the_address_and_the_rest_stays() {
        for (given, expect) in [
            ("/?token=x", "/"),
            ("/urls?state=html&token=x&match=*%2Fa%20b", "/urls?state=html&match=*%2Fa+b"),
            ("//evil.test/?token=x", "/evil.test/"),
            ("/%5Cevil.test/?token=x", "/%5Cevil.test/"),
        ] {
            assert_eq!(without_token(&given.parse().expect("an address")), expect, "{given}");
        }
        assert_eq!(token_of("a=b&token=+a%2Bb+").as_deref(), Some("a+b"));
        assert_eq!(token_of("tokens=x"), None);
    }
}
