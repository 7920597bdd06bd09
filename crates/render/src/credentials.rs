//! Whether a request bears credentials, which no event of the protocol says. But the browser adds cookies to a request just where the Fetch
//! standard has it bear credentials: by `credentials`, `withCredentials`, `crossorigin`, in workers too. So the page gets a cookie of ours, for
//! all hosts of its site; where that comes back, the request bears them. Scripts do not see it, and no server gets it.

use model::Headers;
use weburl::CanonicalUrl;

/// The name of the cookie.
const MARK: &str = "__argiope_credentials";

/// The fields of the page's answer that set the cookie: for its registrable domain, and for its host, if that has none.
pub(crate) fn marks(page: &CanonicalUrl) -> [(String, String); 2] {
    let cookie = format!("{MARK}=1; Path=/; HttpOnly");
    [format!("{cookie}; Domain={}", page.domain()), cookie].map(|value| ("Set-Cookie".to_owned(), value))
}

/// Takes the cookie out of the fields of a request. Gives whether it was there.
pub(crate) fn take_marks(fields: &mut Headers) -> bool {
    let is_mark = |cookie: &&str| cookie.trim().split_once('=').is_some_and(|(name, _)| name == MARK);
    let mut has_mark = false;
    for (name, value) in &mut fields.0 {
        if name.eq_ignore_ascii_case("cookie") && value.split(';').any(|cookie| is_mark(&cookie)) {
            has_mark = true;
            let others: Vec<&str> = value.split(';').filter(|cookie| !is_mark(cookie)).map(str::trim).collect();
            *value = others.join("; ");
        }
    }
    fields.0.retain(|(name, value)| !(name.eq_ignore_ascii_case("cookie") && value.is_empty()));
    has_mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_taken_out_of_the_cookies() {
        for (cookies, expect, has_mark) in [
            ("a=1; __argiope_credentials=1; b=2", Some("a=1; b=2"), true),
            ("__argiope_credentials=1; __argiope_credentials=1", None, true),
            ("a=__argiope_credentials=1", Some("a=__argiope_credentials=1"), false),
            ("", None, false),
        ] {
            let mut fields = Headers(vec![("Cookie".to_owned(), cookies.to_owned())]);
            assert_eq!((take_marks(&mut fields), fields.get("cookie")), (has_mark, expect), "{cookies}");
        }
    }
}
