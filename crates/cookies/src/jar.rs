//! Which cookies are kept, and which of them a request bears (RFC 6265bis §5.7 and §5.8).

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use model::Timestamp;
use weburl::{CanonicalRules, CanonicalUrl, is_public_suffix, registrable_domain};

use crate::cookie::{Cookie, SameSite, default_path, is_below, is_secure, path_matches};
use crate::refused::{COOKIE_BYTES_MAX, Refused};
use crate::set_cookie::SetCookie;
use crate::stored::Stored;

/// Cookies of a registrable domain. One more makes the oldest go; those without `Secure` go first. Browsers keep 150 to 180.
pub const COOKIES_PER_DOMAIN_MAX: usize = 180;

/// Bytes that all cookies take together, about. More are refused, so no site can drive out the cookies of another.
pub const JAR_BYTES_MAX: usize = 32 << 20;

/// The longest time that a cookie is kept (§5.5).
pub const LIFETIME_MAX: Duration = Duration::from_secs(400 * 24 * 3600);

/// Cookies whose values are known as secrets after others took their places. A page that got one may send it for as long as it is shown.
const FORMER_MAX: usize = 1_000;

/// Cookies, and what became of those that were set.
#[derive(Debug, Default)]
pub struct Jar {
    /// By registrable domain.
    domains: HashMap<String, Vec<Cookie>>,
    /// What origins keep besides, by registrable domain, each with its secrets.
    stored: HashMap<String, Vec<(Stored, Vec<String>)>>,
    bytes: usize,
    /// The last ones that others have replaced.
    former: VecDeque<Cookie>,
    tally: Tally,
}

/// How many cookies came to nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// By the rules of cookies.
    pub refused: u64,
    /// By a limit: too long, too many of a domain, too many in all.
    pub beyond_limits: u64,
}

impl Jar {
    /// Takes what an answer from `url` sets. Tells the cookie as it is kept now, if anything has changed.
    ///
    /// # Errors
    /// It is refused.
    pub fn receive(&mut self, url: &CanonicalUrl, text: &str, now: Timestamp) -> Result<Option<Cookie>, Refused> {
        let taken = self.judge(url, text, now).and_then(|cookie| self.put(cookie, now));
        match taken {
            Err(Refused::TooLong | Refused::Full) => self.tally.beyond_limits += 1,
            Err(_) => self.tally.refused += 1,
            Ok(_) => {}
        }
        taken
    }

    /// The cookie that an answer from `url` sets, if it may.
    fn judge(&self, url: &CanonicalUrl, text: &str, now: Timestamp) -> Result<Cookie, Refused> {
        let set = SetCookie::parse(text, now)?;
        let host = url.host();
        let domain = set.domain.map(|domain| canonical_host(domain).ok_or(Refused::Domain)).transpose()?;
        let (domain, host_only) = match domain {
            Some(domain) if domain == host => {
                // A public suffix may have cookies of its own (§5.7, step 9).
                let host_only = is_public_suffix(host) || is_address(host);
                (domain, host_only)
            }
            Some(domain) if is_below(host, &domain) && !is_address(host) => (domain, false),
            Some(_) => return Err(Refused::Domain),
            None => (host.to_owned(), true),
        };
        let cookie = Cookie {
            name: set.name.to_owned(),
            value: set.value.to_owned(),
            domain,
            host_only,
            path: set.path.unwrap_or_else(|| default_path(url.path())).to_owned(),
            secure: set.secure,
            http_only: set.http_only,
            same_site: set.same_site,
            expires: set.expires,
            created: now,
        };
        if !is_secure(url) && (cookie.secure || self.has_secure(&cookie)) {
            return Err(Refused::Insecure);
        }
        Ok(cookie)
    }

    /// Whether there is a `Secure` cookie whose place one without would take (§5.7, step 17).
    fn has_secure(&self, cookie: &Cookie) -> bool {
        let is_in_place = |kept: &Cookie| {
            kept.secure
                && kept.name == cookie.name
                && (kept.domain == cookie.domain
                    || is_below(&kept.domain, &cookie.domain)
                    || is_below(&cookie.domain, &kept.domain))
                && path_matches(&cookie.path, &kept.path)
        };
        self.of_domain(registrable_domain(&cookie.domain)).any(is_in_place)
    }

    /// Puts a cookie into the jar that is in order by itself. Tells it as it is kept now, if anything has changed; one that has ended takes
    /// the place of the one before, and goes.
    ///
    /// # Errors
    /// It is refused.
    pub fn put(&mut self, mut cookie: Cookie, now: Timestamp) -> Result<Option<Cookie>, Refused> {
        check(&cookie)?;
        let latest = Timestamp(now.0.saturating_add(LIFETIME_MAX.as_secs() * 1_000_000));
        cookie.expires = cookie.expires.map(|expires| expires.min(latest));
        let domain = registrable_domain(&cookie.domain).to_owned();
        let kept = self.domains.entry(domain.clone()).or_default();
        let before = kept.iter().position(|kept| cookie.replaces(kept)).map(|at| kept.remove(at));
        self.bytes -= before.as_ref().map_or(0, Cookie::bytes);
        if let Some(before) = before.as_ref().filter(|before| before.value != cookie.value) {
            self.former.push_back(before.clone());
            if self.former.len() > FORMER_MAX {
                self.former.pop_front();
            }
        }
        if cookie.has_expired(now) {
            if kept.is_empty() {
                self.domains.remove(&domain);
            }
            return Ok(before.map(|_| cookie));
        }
        if self.bytes + cookie.bytes() > JAR_BYTES_MAX {
            return Err(Refused::Full);
        }
        cookie.created = before.as_ref().map_or(cookie.created, |before| before.created);
        let has_changed = before.is_none_or(|before| before != cookie);
        self.bytes += cookie.bytes();
        kept.push(cookie.clone());
        self.tally.beyond_limits += self.thin_out(&domain, now);
        Ok(has_changed.then_some(cookie))
    }

    /// Takes an entry of the storage of an origin, in place of the one before.
    ///
    /// # Errors
    /// It is refused.
    pub fn store(&mut self, entry: Stored) -> Result<(), Refused> {
        let domain = entry.domain().ok_or(Refused::Domain)?;
        let kept = self.stored.entry(domain).or_default();
        if let Some(at) = kept.iter().position(|(before, _)| entry.replaces(before)) {
            self.bytes -= kept.remove(at).0.bytes();
        }
        if self.bytes + entry.bytes() > JAR_BYTES_MAX {
            return Err(Refused::Full);
        }
        self.bytes += entry.bytes();
        let secrets = entry.secrets();
        kept.push((entry, secrets));
        Ok(())
    }

    /// All entries of storage.
    pub fn stored(&self) -> impl Iterator<Item = &Stored> {
        self.stored.values().flatten().map(|(entry, _)| entry)
    }

    /// The entries of storage for a page: those of all origins of its registrable domain, so that frames of its site have theirs.
    pub fn stored_for(&self, page: &CanonicalUrl) -> impl Iterator<Item = &Stored> {
        self.stored.get(page.domain()).into_iter().flatten().map(|(entry, _)| entry)
    }

    /// Makes room in a domain that has too many cookies (§5.7, "remove excess cookies"). Tells how many went that had not ended.
    fn thin_out(&mut self, domain: &str, now: Timestamp) -> u64 {
        let Some(kept) = self.domains.get_mut(domain).filter(|kept| kept.len() > COOKIES_PER_DOMAIN_MAX) else {
            return 0;
        };
        let before: usize = kept.iter().map(Cookie::bytes).sum();
        kept.retain(|cookie| !cookie.has_expired(now));
        let mut gone = 0;
        while kept.len() > COOKIES_PER_DOMAIN_MAX {
            let oldest = kept.iter().enumerate().min_by_key(|(_, cookie)| (cookie.secure, cookie.created));
            let Some((at, _)) = oldest else { break };
            kept.remove(at);
            gone += 1;
        }
        self.bytes -= before - kept.iter().map(Cookie::bytes).sum::<usize>();
        gone
    }

    /// The value of the field `Cookie` of a request for `url` (§5.8.3). `None` without cookies for it.
    #[must_use]
    pub fn field(&self, url: &CanonicalUrl, now: Timestamp) -> Option<String> {
        let mut fitting: Vec<&Cookie> =
            self.of_domain(url.domain()).filter(|cookie| !cookie.has_expired(now) && cookie.is_for(url)).collect();
        fitting.sort_by_key(|cookie| (std::cmp::Reverse(cookie.path.len()), cookie.created));
        let pair = |cookie: &Cookie| match cookie.name.is_empty() {
            true => cookie.value.clone(),
            false => format!("{}={}", cookie.name, cookie.value),
        };
        let pairs: Vec<String> = fitting.into_iter().map(pair).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// Whether a request for `url` bears a cookie of this name.
    #[must_use]
    pub fn has(&self, url: &CanonicalUrl, name: &str, now: Timestamp) -> bool {
        self.of_domain(url.domain()).any(|cookie| cookie.name == name && !cookie.has_expired(now) && cookie.is_for(url))
    }

    /// All cookies that have not ended.
    pub fn live(&self, now: Timestamp) -> impl Iterator<Item = &Cookie> {
        self.domains.values().flatten().filter(move |cookie| !cookie.has_expired(now))
    }

    /// The values of all cookies, and of the last that others have replaced; and the secrets in storage.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        let cookies = self.domains.values().flatten().chain(&self.former).map(|cookie| cookie.value.as_str());
        cookies.chain(self.stored.values().flatten().flat_map(|(_, secrets)| secrets.iter().map(String::as_str)))
    }

    /// The same of one registrable domain.
    pub fn values_of(&self, domain: &str) -> impl Iterator<Item = &str> {
        let former =
            self.former.iter().filter(move |cookie| cookie.domain == domain || is_below(&cookie.domain, domain));
        let stored = self.stored.get(domain).into_iter().flatten();
        let stored = stored.flat_map(|(_, secrets)| secrets.iter().map(String::as_str));
        self.of_domain(domain).chain(former).map(|cookie| cookie.value.as_str()).chain(stored)
    }

    /// The cookies that scripts of a page may read, for all hosts of its registrable domain, so that frames of its site have theirs: none
    /// with `HttpOnly`, and none with `Secure` unless the page came over TLS.
    pub fn for_scripts(&self, page: &CanonicalUrl, now: Timestamp) -> impl Iterator<Item = &Cookie> {
        let is_encrypted = is_secure(page);
        let is_seen = move |cookie: &&Cookie| !cookie.http_only && (is_encrypted || !cookie.secure);
        self.of_domain(page.domain()).filter(move |cookie| !cookie.has_expired(now)).filter(is_seen)
    }

    /// What came to nothing since the jar was made.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally
    }

    fn of_domain(&self, domain: &str) -> impl Iterator<Item = &Cookie> {
        self.domains.get(domain).into_iter().flatten()
    }
}

/// What every cookie must be, wherever it comes from.
fn check(cookie: &Cookie) -> Result<(), Refused> {
    let has_control = |text: &str| text.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t');
    if [&cookie.name, &cookie.value, &cookie.path].into_iter().any(|text| has_control(text)) {
        return Err(Refused::Control);
    }
    if cookie.name.is_empty() && cookie.value.is_empty() {
        return Err(Refused::Empty);
    }
    if cookie.name.len() + cookie.value.len() > COOKIE_BYTES_MAX {
        return Err(Refused::TooLong);
    }
    if !cookie.host_only && is_public_suffix(&cookie.domain) {
        return Err(Refused::PublicSuffix);
    }
    if cookie.same_site == SameSite::None && !cookie.secure {
        return Err(Refused::SameSite);
    }
    let begins = |prefix: &str| {
        let is_prefix = |text: &str| text.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix));
        // A server may read `=__Host-a=b` as a name (§5.7, step 22).
        is_prefix(&cookie.name) || cookie.name.is_empty() && is_prefix(&cookie.value)
    };
    let is_in_order = if begins("__Host-") {
        !cookie.name.is_empty() && cookie.secure && cookie.host_only && cookie.path == "/"
    } else {
        !begins("__Secure-") || !cookie.name.is_empty() && cookie.secure
    };
    if is_in_order { Ok(()) } else { Err(Refused::Prefix) }
}

/// A host as URLs have it. `None` if it is none.
pub(crate) fn canonical_host(host: &str) -> Option<String> {
    let is_host = |char: char| !matches!(char, '/' | '\\' | '?' | '#' | '@') && !char.is_whitespace();
    if host.is_empty() || !host.chars().all(is_host) || host.contains(':') && !host.starts_with('[') {
        return None;
    }
    let url = CanonicalUrl::parse(&format!("http://{host}/"), &CanonicalRules::default()).ok()?;
    (url.site().port() == 80).then(|| url.host().to_owned())
}

/// Whether a host is an address, which has no hosts below it.
pub(crate) fn is_address(host: &str) -> bool {
    host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok()
}

#[cfg(test)]
mod tests;
