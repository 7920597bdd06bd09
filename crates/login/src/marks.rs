//! What an answer shows of whether one is logged in.

use std::cell::OnceCell;

use encoding_rs::Encoding;
use extract::charset;
use extract::html::{self, dom::Document};
use fetch::Fetcher;
use model::{RenderedDocument, Response};
use rules::Query;
use weburl::{CanonicalRules, CanonicalUrl, UrlPattern};

/// Bytes of a page that are looked at, from its begin. Pages with a form to log in are shorter.
const PAGE_BYTES_MAX: usize = 256 << 10;

/// Signs of one kind.
#[derive(Clone, Default)]
pub(crate) struct Marks {
    /// An element, with the selector as it was given.
    pub(crate) selector: Option<(String, Query)>,
    /// A text that people see.
    pub(crate) text: Option<String>,
    /// Where one is, or is sent.
    pub(crate) url: Option<UrlPattern>,
    /// A cookie of that name.
    pub(crate) cookie: Option<String>,
    /// Status codes.
    pub(crate) status: Vec<u16>,
}

/// An answer, or the page that a browser made of it. What is in the page is read once, when it is asked for.
pub(crate) struct Seen<'r> {
    pub(crate) url: &'r CanonicalUrl,
    pub(crate) status: u16,
    /// Where it leads.
    to: Option<&'r str>,
    /// The begin of the page.
    bytes: &'r [u8],
    content_type: Option<&'r str>,
    html: OnceCell<String>,
}

impl<'r> Seen<'r> {
    pub(crate) fn new(url: &'r CanonicalUrl, response: &'r Response) -> Self {
        let is_redirect = matches!(response.status, 301 | 302 | 303 | 307 | 308);
        let to = response.headers.get("location").filter(|_| is_redirect);
        let content_type = response.headers.get("content-type");
        Seen { url, status: response.status, to, bytes: begin_of(&response.body), content_type, html: OnceCell::new() }
    }

    /// The page at `url` as a browser shows it. Whatever status its server gives to an application, this is a page.
    pub(crate) fn rendered(url: &'r CanonicalUrl, document: &'r RenderedDocument) -> Self {
        let (to, content_type) = (document.redirect.as_deref(), Some(RenderedDocument::CONTENT_TYPE));
        Seen { url, status: 200, to, bytes: begin_of(&document.html), content_type, html: OnceCell::new() }
    }

    /// Where it leads.
    pub(crate) fn target(&self) -> Option<CanonicalUrl> {
        self.url.join(self.to?, &CanonicalRules::default()).ok()
    }

    /// The encoding of the page.
    pub(crate) fn charset(&self) -> &'static Encoding {
        charset::decide(self.bytes, self.content_type).encoding
    }

    /// The page as text.
    pub(crate) fn html(&self) -> &str {
        self.html.get_or_init(|| html::decode_as(self.bytes, self.content_type).into_owned())
    }

    /// Whether the page may have a field for a password: a look at its bytes, which saves reading most pages.
    pub(crate) fn may_ask_password(&self) -> bool {
        const WORD: &[u8] = b"password";
        self.bytes.windows(WORD.len()).any(|window| window.eq_ignore_ascii_case(WORD))
    }

    fn has(&self, query: &Query) -> bool {
        query.first(&Document::parse(self.html())).is_some()
    }

    fn shows(&self, text: &str) -> bool {
        Document::parse(self.html()).root().visible_text(PAGE_BYTES_MAX).contains(text)
    }

    fn is_at(&self, pattern: &UrlPattern) -> bool {
        pattern.matches(self.url) || self.target().is_some_and(|target| pattern.matches(&target))
    }
}

fn begin_of(body: &[u8]) -> &[u8] {
    &body[..body.len().min(PAGE_BYTES_MAX)]
}

impl Marks {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        !self.is_of_page() && self.url.is_none() && self.cookie.is_none() && self.status.is_empty()
    }

    /// Whether a page has something by which it is recognised.
    pub(crate) fn is_of_page(&self) -> bool {
        self.selector.is_some() || self.text.is_some()
    }

    /// Whether an answer has any of them.
    pub(crate) fn any(&self, seen: &Seen<'_>) -> bool {
        self.status.contains(&seen.status)
            || self.url.as_ref().is_some_and(|pattern| seen.is_at(pattern))
            || self.selector.as_ref().is_some_and(|(_, query)| seen.has(query))
            || self.text.as_ref().is_some_and(|text| seen.shows(text))
    }

    /// The first of them that an answer lacks, in words.
    pub(crate) fn lacking(&self, seen: &Seen<'_>, fetcher: &Fetcher) -> Option<String> {
        if let Some(pattern) = self.url.as_ref().filter(|pattern| !pattern.matches(seen.url)) {
            return Some(format!("its URL does not match {}", pattern.as_str()));
        }
        if let Some((text, _)) = self.selector.as_ref().filter(|(_, query)| !seen.has(query)) {
            return Some(format!("it has no element `{text}`"));
        }
        if let Some(text) = self.text.as_ref().filter(|text| !seen.shows(text)) {
            return Some(format!("it does not show the text `{text}`"));
        }
        let is_missing = |name: &&String| !fetcher.has_cookie(seen.url, name);
        self.cookie.as_ref().filter(is_missing).map(|name| format!("no cookie `{name}` was set"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cookies::Cookies;
    use fetch::FetchConfig;
    use model::{Headers, Timestamp};

    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000_000);

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text)
    }

    fn response(status: u16, location: Option<&str>, body: &'static str) -> Response {
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let headers = location.map(|to| field("Location", to)).into_iter().chain([field("Content-Type", "text/html")]);
        let (truncated, note) = (None, None);
        let headers = Headers(headers.collect());
        Response { status, headers, body: body.into(), truncated, is_undecoded: false, note }
    }

    fn pattern(text: &str) -> Option<UrlPattern> {
        Some(UrlPattern::new(text).expect(text))
    }

    fn selector(text: &str) -> Option<(String, Query)> {
        Some((text.to_owned(), Query::parse(text).expect(text)))
    }

    const PAGE: &str = "<p class=a>Hello <b>Ana</b></p><script>var hidden = 'Bye'</script>";

    #[tokio::test]
    async fn success_is_all_that_is_asked_for() {
        let cookies = Cookies::default();
        let home = url("https://a.test/home");
        cookies.receive(&home, ["id=1"], NOW);
        let config = FetchConfig { cookies: Some(cookies), ..FetchConfig::default() };
        let fetcher = Fetcher::new(config, Arc::new(|| NOW)).expect("a fetcher");
        let page = response(200, None, PAGE);
        let seen = Seen::new(&home, &page);
        let lacking = |marks: Marks| marks.lacking(&seen, &fetcher);
        let text = |text: &str| Some(text.to_owned());
        let all = || Marks {
            selector: selector("p.a"),
            text: text("Hello Ana"),
            url: pattern("https://a.test/home"),
            cookie: text("id"),
            status: Vec::new(),
        };
        assert_eq!(lacking(all()), None);
        let check = |marks: Marks, expect: &str| assert_eq!(lacking(marks).as_deref(), Some(expect));
        check(Marks { selector: selector("p.b"), ..all() }, "it has no element `p.b`");
        check(Marks { text: text("Bye"), ..all() }, "it does not show the text `Bye`");
        check(Marks { url: pattern("https://a.test/login*"), ..all() }, "its URL does not match https://a.test/login*");
        check(Marks { cookie: text("session"), ..all() }, "no cookie `session` was set");
    }

    #[test]
    fn any_mark_shows_that_one_is_logged_out() {
        let at = url("https://a.test/x");
        let check = |marks: Marks, answer: &Response, expect: bool| {
            assert_eq!(marks.any(&Seen::new(&at, answer)), expect, "{answer:?}");
        };
        let (page, moved) = (response(200, None, PAGE), response(302, Some("/expired?from=x"), ""));
        let marks = || Marks { url: pattern("https://a.test/expired*"), status: vec![403, 419], ..Marks::default() };
        check(marks(), &page, false);
        check(marks(), &moved, true);
        check(marks(), &response(419, None, ""), true);
        // A page that is not a redirect leads nowhere.
        check(marks(), &response(200, Some("/expired"), ""), false);
        check(Marks { selector: selector("b"), ..Marks::default() }, &page, true);
        check(Marks { text: Some("Hello Ana".to_owned()), ..Marks::default() }, &page, true);
        check(Marks { text: Some("hidden".to_owned()), ..Marks::default() }, &page, false);
        assert!(Marks::default().is_empty() && !marks().is_empty() && !marks().is_of_page());
    }
}
