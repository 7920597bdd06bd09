//! One attempt to log in.

use std::time::Duration;

use bytes::Bytes;
use fetch::{Fetcher, Initiator, PageRequest};
use model::{FetchTask, Fetched, Headers, Method, Purpose, Response, TaskId};
use weburl::{CanonicalUrl, registrable_domain};

use crate::description::Login;
use crate::error::{LoginError, Place, REDIRECTS_MAX};
use crate::form::{self, Submission};
use crate::marks::Seen;

/// Logs in, and tells the page to which that leads. The cookies are in the jar of the fetcher. Before each request but the first it waits.
///
/// # Errors
/// It did not work.
pub(crate) async fn log_in(login: &Login, requests: Requests<'_>) -> Result<CanonicalUrl, LoginError> {
    let fetcher = requests.fetcher;
    let (page, response) = requests.get(login.url.clone()).await?;
    let seen = Seen::new(&page, &response);
    if login.success.is_of_page() && login.success.lacking(&seen, fetcher).is_none() {
        return Ok(page);
    }
    if !(200..300).contains(&response.status) && response.status != 401 && response.status != 403 {
        return Err(LoginError::Status { place: Place::from(&page), status: response.status });
    }
    let submission = form::fill(login, &page, seen.html(), seen.charset())?;
    let (landed, response) = requests.post(&page, submission).await?;
    let seen = Seen::new(&landed, &response);
    let lacking = match login.success.is_empty() {
        true => login.is_logged_out(&seen).then(|| "it looks as if one were logged out".to_owned()),
        false => login.success.lacking(&seen, fetcher),
    };
    match lacking {
        None if response.status < 400 => Ok(landed),
        lacking => {
            let lacking = lacking.unwrap_or_else(|| "that is an error".to_owned());
            Err(LoginError::Refused { status: response.status, lacking, place: Place::from(&landed) })
        }
    }
}

impl Login {
    /// Whether a URL is that of the page with the form.
    pub(crate) fn is_at_form(&self, url: &CanonicalUrl) -> bool {
        let path = |url: &CanonicalUrl| url.path().trim_end_matches('/').to_owned();
        url.site() == self.url.site() && path(url) == path(&self.url)
    }

    /// Whether an answer is one that people get who are not logged in: it leads to the form or shows it, wants an authorization, or has a
    /// mark of the description.
    pub(crate) fn is_logged_out(&self, seen: &Seen<'_>) -> bool {
        let status = seen.status;
        status == 401
            || seen.target().is_some_and(|target| self.is_at_form(&target))
            || self.is_at_form(seen.url) && !(300..400).contains(&status)
            || (200..300).contains(&status) && seen.may_ask_password() && form::is_in(self, seen.html())
            || self.logged_out.any(seen)
    }

    /// Whether a page may lead to the form by way of this URL: on its own domain, or on one of the login. It may send people anywhere, and
    /// other servers are asked by their robots.txt, at their turn.
    fn may_lead(&self, page: &CanonicalUrl, by: &CanonicalUrl) -> bool {
        let sent_to = self.sent_to.as_ref().map(|site| registrable_domain(site.host()));
        [Some(page.domain()), Some(self.url.domain()), sent_to].contains(&Some(by.domain()))
    }
}

/// Whether a URL may be requested.
pub(crate) type MayAsk<'f> = &'f (dyn Fn(&CanonicalUrl) -> bool + Sync);

/// The requests of a login, one after the other.
#[derive(Clone, Copy)]
pub(crate) struct Requests<'f> {
    pub(crate) fetcher: &'f Fetcher,
    /// The wait before each but the first.
    pub(crate) pause: Duration,
    /// Whether a redirect is followed.
    pub(crate) may_ask: MayAsk<'f>,
}

impl Requests<'_> {
    /// Asks for a page, and follows redirects.
    async fn get(&self, url: CanonicalUrl) -> Result<(CanonicalUrl, Response), LoginError> {
        let answer = self.ask(&url, None).await?;
        self.follow(url, answer).await
    }

    /// Sends a form of `page`, and follows redirects.
    async fn post(&self, page: &CanonicalUrl, form: Submission) -> Result<(CanonicalUrl, Response), LoginError> {
        tokio::time::sleep(self.pause).await;
        let headers = fields_of_form(page, &form.url);
        let body = Bytes::from(form.body);
        let request = PageRequest {
            initiator: Initiator::Page(page),
            method: Method::Post,
            headers: &headers,
            body: &body,
            time_max: Duration::MAX,
        };
        let answer = self.ask(&form.url, Some(&request)).await?;
        if matches!(answer.status, 307 | 308) {
            return Err(LoginError::Again { place: Place::from(&form.url), status: answer.status });
        }
        self.follow(form.url, answer).await
    }

    async fn follow(
        &self,
        mut url: CanonicalUrl,
        mut answer: Response,
    ) -> Result<(CanonicalUrl, Response), LoginError> {
        for _ in 0..REDIRECTS_MAX {
            let target = Seen::new(&url, &answer).target().filter(|target| (self.may_ask)(target));
            let Some(target) = target else { return Ok((url, answer)) };
            tokio::time::sleep(self.pause).await;
            (answer, url) = (self.ask(&target, None).await?, target);
        }
        match Seen::new(&url, &answer).target() {
            None => Ok((url, answer)),
            Some(url) => Err(LoginError::Redirects { place: Place::from(&url) }),
        }
    }

    /// Sends one request. Nothing of it is recorded.
    async fn ask(&self, url: &CanonicalUrl, request: Option<&PageRequest<'_>>) -> Result<Response, LoginError> {
        let (id, purpose) = (TaskId(0), Purpose::Page);
        let task = FetchTask {
            id,
            url: url.clone(),
            purpose,
            address: None,
            head_first: false,
            condition: None,
            for_page: None,
        };
        match self.fetcher.fetch_for(task, request).await.fetched {
            Fetched::Response(response) => Ok(response),
            Fetched::Failed(failure) => Err(LoginError::NoAnswer { place: Place::from(url), detail: failure.detail }),
        }
    }
}

/// The fields with which a browser sends a form of `page` (Referrer Policy, `strict-origin-when-cross-origin`). Servers take a form without
/// them for one of another site.
fn fields_of_form(page: &CanonicalUrl, to: &CanonicalUrl) -> Headers {
    let site = page.site();
    let referer = if to.site() == site { page.without_route().to_owned() } else { format!("{site}/") };
    let fields = [
        ("Content-Type", "application/x-www-form-urlencoded".to_owned()),
        ("Origin", site.to_string()),
        ("Referer", referer),
    ];
    Headers(fields.map(|(name, value)| (name.to_owned(), value)).into())
}

/// Whether the redirect of a page ends in turn where people are sent who are not logged in: a single sign-on has pages between. Only targets
/// with a query are looked at, which has the page to come back to, and none that the crawl may not ask for: one may end the session.
pub(crate) async fn ends_at_form(
    login: &Login,
    (page, target): (&CanonicalUrl, CanonicalUrl),
    may_ask: MayAsk<'_>,
    requests: Requests<'_>,
) -> bool {
    let may_ask = |url: &CanonicalUrl| may_ask(url) && login.may_lead(page, url);
    if !target.as_str().contains('?') || !may_ask(&target) {
        return false;
    }
    tokio::time::sleep(requests.pause).await;
    let ended = Requests { may_ask: &may_ask, ..requests }.get(target).await;
    ended.is_ok_and(|(page, response)| login.is_logged_out(&Seen::new(&page, &response)))
}

/// Who looks at a page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Viewer {
    /// The crawl, with its cookies.
    Member,
    /// Somebody without cookies and without other secrets.
    Stranger,
}

/// Whether the page at `url` shows success to this viewer now; `None` if its server has no answer to that at the moment.
pub(crate) async fn shows_success(
    login: &Login,
    url: &CanonicalUrl,
    viewer: Viewer,
    requests: Requests<'_>,
) -> Option<bool> {
    tokio::time::sleep(requests.pause).await;
    let (headers, body) = (Headers::default(), Bytes::new());
    let (initiator, method, time_max) = (Initiator::Anonymous, Method::Get, Duration::MAX);
    let of_stranger = PageRequest { initiator, method, headers: &headers, body: &body, time_max };
    let answer = requests.ask(url, (viewer == Viewer::Stranger).then_some(&of_stranger)).await;
    let response = answer.ok().filter(|response| response.status != 429 && response.status < 500)?;
    Some(login.success.lacking(&Seen::new(url, &response), requests.fetcher).is_none())
}

#[cfg(test)]
mod tests {
    use model::{Pictures, RenderedDocument};
    use weburl::CanonicalRules;

    use super::*;
    use crate::description::LoginSet;

    #[test]
    fn a_form_says_where_it_comes_from_as_browsers_do() {
        let url = |text: &str| CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text);
        for (page, to, origin, referer) in [
            ("https://a.test/login?next=/x#y", "https://a.test/in", "https://a.test", "https://a.test/login?next=/x"),
            ("https://a.test:8443/login", "https://a.test/in", "https://a.test:8443", "https://a.test:8443/"),
            ("http://a.test/login?next=/x", "https://sso.test/in", "http://a.test", "http://a.test/"),
        ] {
            let fields = fields_of_form(&url(page), &url(to));
            assert_eq!((fields.get("origin"), fields.get("referer")), (Some(origin), Some(referer)), "{page} {to}");
        }
    }

    #[test]
    fn what_a_browser_shows_is_for_strangers_if_it_shows_the_form_or_leads_there() {
        const FORM: &str = "<form><input name=user><input type=password name=pass></form>";
        let given = "[a]\nurl = \"http://a.test/login\"\nfields = { user = \"ana\", pass = \"x\" }";
        let login = LoginSet::of(&given.parse().expect("TOML")).expect("a login").forms.remove(0);
        let at = CanonicalUrl::parse("http://a.test/x", &CanonicalRules::default()).expect("a URL");
        for (html, redirect, expect) in [
            (FORM, None, true),
            ("<p>members only", None, false),
            ("<p>members only", Some("/login"), true),
            ("<p>members only", Some("/more"), false),
        ] {
            let (html, redirect) = (Bytes::from(html), redirect.map(str::to_owned));
            let (outlinks, has_router, pictures) = (Vec::new(), false, Pictures::default());
            let document = RenderedDocument { html, outlinks, redirect, has_router, pictures };
            assert_eq!(login.is_logged_out(&Seen::rendered(&at, &document)), expect, "{document:?}");
        }
    }
}
