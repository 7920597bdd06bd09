//! Request fields that only some servers may learn: which, and who.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use data_encoding::BASE64;
use http::header::{self, HeaderMap, HeaderValue};
use weburl::{CanonicalUrl, Site, UrlPattern, UserInfo};

use crate::Field;
use crate::initiator::Initiator;

/// The secrets of a crawl with those who may learn them. A clone is the same keyring: what is added to one is on all.
///
/// *The seeds' sites* are the scheme, host and port of each seed that the user gives, and for a seed of plain http on port 80 also https
/// on port 443 of the same host, to which such sites usually redirect. What a seed redirects to is none, and the way from https to
/// plain http is none.
///
/// Of fields of one name the last of these is sent: one for the seeds' sites, one for a pattern, the user name and password of a seed.
#[derive(Clone, Default)]
pub struct Keyring(Arc<RwLock<Keys>>);

#[derive(Default)]
struct Keys {
    for_seed_sites: Vec<Field>,
    for_patterns: Vec<(UrlPattern, Field)>,
    seed_sites: HashSet<Site>,
    /// By seeds' sites, as the value of `Authorization`.
    credentials: HashMap<Site, HeaderValue>,
    /// Secrets that are in no field.
    unsent: Vec<String>,
}

/// A user name that basic authentication cannot say (RFC 7617 §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the user name has a colon or a control character, which basic authentication cannot carry")]
pub struct CredentialsError;

impl Keyring {
    /// A keyring with fields for the seeds' sites, and fields for the URLs that match a pattern.
    #[must_use]
    pub fn new(for_seed_sites: Vec<Field>, for_patterns: Vec<(UrlPattern, Field)>) -> Self {
        Keyring(Arc::new(RwLock::new(Keys { for_seed_sites, for_patterns, ..Keys::default() })))
    }

    /// Makes the site of a seed one that may learn what is for the seeds' sites.
    pub fn add_seed_site(&self, site: &Site) {
        let mut keys = self.write();
        for site in with_upgrade(site) {
            keys.seed_sites.insert(site);
        }
    }

    /// The same, with a user name and password for this site alone.
    ///
    /// # Errors
    /// They cannot be said.
    pub fn add_credentials(&self, site: &Site, user: &UserInfo) -> Result<(), CredentialsError> {
        let authorization = basic(user)?;
        self.add_seed_site(site);
        let mut keys = self.write();
        for site in with_upgrade(site) {
            keys.credentials.insert(site, authorization.clone());
        }
        Ok(())
    }

    /// Adds a secret that no field of a request has, such as a password in a form. Requests do not change; no record has it.
    pub fn add_unsent(&self, value: String) {
        self.write().unsent.push(value);
    }

    /// Each secret that no field has.
    pub(crate) fn each_unsent(&self, each: impl FnMut(&str)) {
        self.read().unsent.iter().map(String::as_str).for_each(each);
    }

    /// Whether there is anything on it that requests bear.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.read().is_empty()
    }

    /// The fields that are for the seeds' sites, by their names.
    #[must_use]
    pub fn names_for_seed_sites(&self) -> Vec<String> {
        self.read().for_seed_sites.iter().map(|field| field.name().to_owned()).collect()
    }

    /// Whether a request for `url` bears a secret.
    #[must_use]
    pub fn fits(&self, url: &CanonicalUrl, initiator: Initiator<'_>) -> bool {
        let mut fields = HeaderMap::new();
        self.add_fields(url, initiator, &mut fields);
        !fields.is_empty()
    }

    /// Adds the fields that the server of `url` may learn. A page in a browser that requests it must be of the same site as `url`, and a
    /// seed's too, or match the pattern of the field: otherwise a foreign page, or that of another seed, could request, and read, in the
    /// user's name.
    pub(crate) fn add_fields(&self, url: &CanonicalUrl, initiator: Initiator<'_>, fields: &mut HeaderMap) {
        let keys = self.read();
        let page = match initiator {
            Initiator::Crawl => None,
            Initiator::Page(page) => Some(page),
            Initiator::Anonymous => return,
        };
        if keys.is_empty() {
            return;
        }
        let site = url.site();
        let is_trusted = page.is_none_or(|page| page.is_same_site(url) && keys.seed_sites.contains(&page.site()));
        if is_trusted && keys.seed_sites.contains(&site) {
            insert_all(fields, keys.for_seed_sites.iter());
        }
        let fitting = keys.for_patterns.iter().filter(|(pattern, _)| {
            pattern.matches(url) && (is_trusted || page.is_some_and(|page| pattern.matches(page)))
        });
        insert_all(fields, fitting.map(|(_, field)| field));
        if let Some(authorization) = keys.credentials.get(&site).filter(|_| is_trusted) {
            fields.insert(header::AUTHORIZATION, authorization.clone());
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Keys> {
        // What changes is inserted in one step.
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Keys> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keys {
    fn is_empty(&self) -> bool {
        self.for_seed_sites.is_empty() && self.for_patterns.is_empty() && self.credentials.is_empty()
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.read();
        let sites: Vec<&Site> = keys.credentials.keys().collect();
        f.debug_struct("Keyring")
            .field("for_seed_sites", &keys.for_seed_sites)
            .field("for_patterns", &keys.for_patterns)
            .field("credentials", &sites)
            .finish_non_exhaustive()
    }
}

/// A seed's site, and that to which it may be upgraded: the same host by https, each on the port of its scheme.
fn with_upgrade(site: &Site) -> impl Iterator<Item = Site> {
    let is_plain = !site.is_https() && site.port() == 80;
    let upgraded = is_plain.then(|| Site::from_text(&format!("https://{}", site.host()))).flatten();
    std::iter::once(site.clone()).chain(upgraded)
}

fn insert_all<'f>(fields: &mut HeaderMap, more: impl Iterator<Item = &'f Field>) {
    for Field { name, value } in more {
        fields.insert(name.clone(), value.clone());
    }
}

/// The value of `Authorization`, or of `Proxy-Authorization`, for a user (RFC 7617 §2).
pub(crate) fn basic(user: &UserInfo) -> Result<HeaderValue, CredentialsError> {
    let (mut credentials, password) = user.decoded();
    if credentials.contains(&b':') || credentials.iter().chain(&password).any(u8::is_ascii_control) {
        return Err(CredentialsError);
    }
    credentials.push(b':');
    credentials.extend(password);
    let mut value =
        HeaderValue::try_from(format!("Basic {}", BASE64.encode(&credentials))).map_err(|_| CredentialsError)?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use weburl::CanonicalRules;

    use super::*;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text)
    }

    /// The fields that the server of a URL learns.
    fn learns(keyring: &Keyring, asked: &str, page: Option<&str>) -> Vec<String> {
        let (mut fields, page) = (HeaderMap::new(), page.map(url));
        let initiator = page.as_ref().map_or(Initiator::Crawl, Initiator::Page);
        keyring.add_fields(&url(asked), initiator, &mut fields);
        assert_ne!(keyring.fits(&url(asked), initiator), fields.is_empty());
        fields.iter().map(|(name, value)| format!("{name}: {}", value.to_str().expect("ASCII"))).collect()
    }

    fn field(text: &str) -> Field {
        text.parse().expect(text)
    }

    #[test]
    fn the_sites_of_seeds_are_those_the_user_named_and_their_upgrade() {
        let keyring = Keyring::new(vec![field("Cookie: s3cret")], Vec::new());
        for seed in ["http://plain.test/", "https://tls.test/", "http://port.test:8080/"] {
            keyring.add_seed_site(&url(seed).site());
        }
        for (asked, expect) in [
            ("http://plain.test/x", true),
            ("https://plain.test/x", true),
            ("http://plain.test:8080/x", false),
            ("https://plain.test:8443/x", false),
            ("http://www.plain.test/x", false),
            ("https://tls.test/x", true),
            ("http://tls.test/x", false),
            ("http://port.test:8080/x", true),
            ("http://port.test/x", false),
            ("https://port.test/x", false),
            ("http://evil.test/plain.test/", false),
        ] {
            assert_eq!(learns(&keyring, asked, None), if expect { vec!["cookie: s3cret"] } else { vec![] }, "{asked}");
        }
        assert!(!format!("{keyring:?}").contains("s3cret"));
    }

    #[test]
    fn the_most_particular_field_of_a_name_is_sent() {
        let pattern = |text: &str| UrlPattern::new(text).expect(text);
        let keyring = Keyring::new(
            vec![field("Authorization: seeds"), field("X-Api-Key: seeds")],
            vec![(pattern("https://api.test/*"), field("Authorization: api")), (pattern("*"), field("X-All: all"))],
        );
        keyring.add_seed_site(&url("https://api.test/").site());
        let user = UserInfo::of("http://Aladdin:open%20sesame@user.test/").expect("a user");
        keyring.add_credentials(&url("https://user.test/").site(), &user).expect("usable");
        let sorted = |asked: &str| {
            let mut learnt = learns(&keyring, asked, None);
            learnt.sort();
            learnt
        };
        assert_eq!(sorted("https://api.test/"), ["authorization: api", "x-all: all", "x-api-key: seeds"]);
        let basic = "authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="; // RFC 7617 §2
        assert_eq!(sorted("https://user.test/"), [basic, "x-all: all", "x-api-key: seeds"]);
        assert_eq!(sorted("https://else.test/"), ["x-all: all"]);
    }

    #[test]
    fn a_foreign_page_in_a_browser_cannot_ask_in_the_users_name() {
        let api = UrlPattern::new("https://api.*").expect("a pattern");
        let keyring = Keyring::new(vec![field("Cookie: seeds")], vec![(api, field("X-Api-Key: api"))]);
        for seed in ["https://seed.test/", "https://other.test/"] {
            keyring.add_seed_site(&url(seed).site());
        }
        let user = UserInfo::of("http://a:b@h/").expect("a user");
        keyring.add_credentials(&url("https://login.test/").site(), &user).expect("usable");
        let check = |page: &str, asked: &str, expect: &[&str]| {
            assert_eq!(learns(&keyring, asked, Some(page)), expect, "{page} asks for {asked}");
        };
        check("https://seed.test/a", "https://seed.test/b", &["cookie: seeds"]);
        check("https://seed.test/a", "https://api.seed.test/b", &["x-api-key: api"]);
        check("https://seed.test/a", "https://api.test/b", &[]);
        check("https://seed.test/a", "https://other.test/b", &[]);
        check("https://seed.test/a", "https://login.test/b", &[]);
        check("https://api.test/a", "https://api.test/b", &["x-api-key: api"]);
        check("https://evil.test/a", "https://seed.test/b", &[]);
        check("https://evil.test/a", "https://api.test/b", &[]);
        check("https://seed.test/a", "https://evil.test/b", &[]);
    }

    #[test]
    fn what_basic_authentication_cannot_say_is_refused() {
        let keyring = Keyring::default();
        for user in ["http://a%3Ab:c@h/", "http://a:b%0Ac@h/"] {
            let user = UserInfo::of(user).expect(user);
            assert_eq!(keyring.add_credentials(&url("http://h/").site(), &user), Err(CredentialsError));
        }
        assert!(keyring.is_empty());
    }
}
