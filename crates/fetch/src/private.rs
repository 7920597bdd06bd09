//! Which sites may be connected to at addresses that are not public: the rule behind `--deny-private`.
//!
//! Every connection passes it ([`crate::connect`]). What the web says never widens it: a link, a redirect, robots.txt, a
//! sitemap, an image or a script may name any host, but only the user names a site whose address may be private.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use model::{Failure, FailureKind};
use weburl::{Site, SiteKey};

use crate::failure::failure;
use crate::route::literal_address;

/// When addresses that are not globally routable ([`crate::is_globally_routable`]) are refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DenyPrivate {
    /// Except for what the user names: sites of seeds ([`Grants`]), and addresses given by hand.
    #[default]
    Auto,
    /// Always, also where they are given by hand.
    Always,
    /// Never.
    Never,
}

/// What is known of a site besides its address of now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedStatus {
    /// No seed of the user names it. That a seed redirects to it does not count.
    NotNamed,
    /// A seed names it, and no earlier run found its address.
    New,
    /// A seed names it, and an earlier run found it at a private address.
    FoundPrivate,
    /// A seed names it, and an earlier run found it at a public address.
    FoundPublic,
}

/// Tells the standing of a site that may be named by a seed. It may block; it is asked once of a site, and only of one that has a
/// private address.
pub type AskStanding = Box<dyn Fn(&Site) -> SeedStatus + Send + Sync>;

/// The sites that may have private addresses because a seed names them.
///
/// The first address that a site of a seed is found at decides for good: one that was public is refused when it becomes private,
/// whatever DNS says by then. A fetcher without seeds grants nothing.
#[derive(Default)]
pub struct Grants {
    sites: Mutex<HashMap<SiteKey, Granted>>,
    standing: OnceLock<AskStanding>,
}

/// What was decided of a site of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Granted {
    /// Nothing yet: its address is not known.
    Open,
    Private,
    Public,
}

impl Grants {
    /// Sets the source of the seed status of sites. The first one stays.
    pub fn ask(&self, standing: AskStanding) {
        let _ = self.standing.set(standing);
    }

    /// Adds sites that seeds may name: their seed status is looked up before anything is granted.
    pub fn add(&self, sites: impl IntoIterator<Item = SiteKey>) {
        let mut known = self.lock();
        for site in sites {
            known.entry(site).or_insert(Granted::Open);
        }
    }

    /// Takes note of a site that was found at a public address.
    fn found_public(&self, site: &Site) {
        if let Some(granted @ Granted::Open) = self.lock().get_mut(&site.key()) {
            *granted = Granted::Public;
        }
    }

    /// What is decided of a site that was found at a private address, or `None` if its seed status must be looked up.
    fn decided(&self, site: SiteKey) -> Option<bool> {
        match self.lock().get(&site) {
            None | Some(Granted::Public) => Some(false),
            Some(Granted::Private) => Some(true),
            Some(Granted::Open) => None,
        }
    }

    /// Decides of a site that was found at a private address, which may block.
    fn decide(&self, site: &Site) -> bool {
        let Some(standing) = self.standing.get() else { return false };
        let is_private = matches!(standing(site), SeedStatus::New | SeedStatus::FoundPrivate);
        let mut sites = self.lock();
        // It may have been found at a public address meanwhile.
        let granted = sites.entry(site.key()).or_insert(Granted::Open);
        if *granted == Granted::Open {
            *granted = if is_private { Granted::Private } else { Granted::Public };
        }
        *granted == Granted::Private
    }

    /// Whether a seed names the other of http://host and https://host, and that was found to be private: sites lead from one to the
    /// other.
    fn is_twin_private(&self, site: &Site) -> bool {
        let Some(twin) = twin(site) else { return false };
        match self.decided(twin.key()) {
            Some(is_private) => is_private,
            None => self.standing.get().is_some_and(|standing| standing(&twin) == SeedStatus::FoundPrivate),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SiteKey, Granted>> {
        // Nothing within leaves it half changed.
        self.sites.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The rule of one fetcher.
pub(crate) struct PrivateRule {
    deny: DenyPrivate,
    pub(crate) grants: Arc<Grants>,
}

impl PrivateRule {
    pub(crate) fn new(deny: DenyPrivate) -> Self {
        PrivateRule { deny, grants: Arc::default() }
    }

    /// Whether private addresses are allowed whatever the site. `by_hand` where the user gave the address.
    pub(crate) fn allows(&self, by_hand: bool) -> bool {
        match self.deny {
            DenyPrivate::Never => true,
            DenyPrivate::Auto => by_hand,
            DenyPrivate::Always => false,
        }
    }

    /// Takes note of a site that was found at a public address.
    pub(crate) fn found_public(&self, site: &Site) {
        if self.deny == DenyPrivate::Auto {
            self.grants.found_public(site);
        }
    }

    /// Whether a site may have a private address that was not given by hand.
    pub(crate) async fn grants(&self, site: &Site) -> bool {
        match self.deny {
            DenyPrivate::Never => return true,
            DenyPrivate::Always => return false,
            DenyPrivate::Auto => {}
        }
        let decided = self.grants.decided(site.key());
        if decided == Some(true) {
            return true;
        }
        let (grants, site) = (self.grants.clone(), site.clone());
        let decide = move || {
            (decided.is_none() && grants.decide(&site)) || (decided == Some(false) && grants.is_twin_private(&site))
        };
        // What panics grants nothing.
        tokio::task::spawn_blocking(decide).await.unwrap_or(false)
    }

    /// The failure of a connection for `site` to `host`, which is a private address, or has one.
    pub(crate) fn denied(&self, site: &Site, host: &str, address: Option<IpAddr>) -> Failure {
        let is_literal = address.is_none_or(|address| literal_address(host) == Some(address));
        let what = match address.filter(|_| !is_literal) {
            Some(address) => format!("{host} has the address {address}, which is not public"),
            None => format!("{host} is not a public address"),
        };
        let why = match self.deny {
            DenyPrivate::Always => "--deny-private=always".to_owned(),
            DenyPrivate::Auto | DenyPrivate::Never => {
                format!("--deny-private=auto: no seed named {site} by such an address; --deny-private=never allows it")
            }
        };
        failure(FailureKind::AddressDenied, format!("{what} ({why})"))
    }
}

/// Whether a name is that of this machine by RFC 6761 §6.3, with any resolver.
pub(crate) fn is_localhost(host: &str) -> bool {
    let host = host.trim_end_matches('.');
    host.eq_ignore_ascii_case("localhost") || host.to_ascii_lowercase().ends_with(".localhost")
}

/// The same host over https instead of http, or the other way round, where both have their default port.
fn twin(site: &Site) -> Option<Site> {
    let (other, port) = if site.is_https() { ("http", 443) } else { ("https", 80) };
    (site.port() == port).then(|| Site::from_text(&format!("{other}://{}", site.host())))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(text: &str) -> Site {
        Site::from_text(text).expect(text)
    }

    fn rule(seeds: &[(&str, SeedStatus)]) -> PrivateRule {
        let rule = PrivateRule::new(DenyPrivate::Auto);
        let known: HashMap<String, SeedStatus> =
            seeds.iter().map(|(seed, standing)| ((*seed).to_owned(), *standing)).collect();
        rule.grants.add(seeds.iter().map(|(seed, _)| site(seed).key()));
        rule.grants.ask(Box::new(move |site| known.get(site.as_str()).copied().unwrap_or(SeedStatus::NotNamed)));
        rule
    }

    #[tokio::test]
    async fn only_what_a_seed_names_is_granted() {
        use SeedStatus::{FoundPrivate, FoundPublic, New, NotNamed};
        let rule = rule(&[
            ("http://new.test", New),
            ("http://private.test", FoundPrivate),
            ("http://public.test", FoundPublic),
            ("http://redirected.test", NotNamed),
        ]);
        for (text, expect) in [
            ("http://new.test", true),
            ("http://new.test:81", false),
            ("http://private.test", true),
            ("http://public.test", false),
            ("http://redirected.test", false),
            ("http://other.test", false),
        ] {
            for _ in 0..2 {
                assert_eq!(rule.grants(&site(text)).await, expect, "{text}");
            }
        }
        for (deny, expect) in [(DenyPrivate::Always, false), (DenyPrivate::Never, true)] {
            assert_eq!(PrivateRule::new(deny).grants(&site("http://new.test")).await, expect);
        }
        assert!(!PrivateRule::new(DenyPrivate::Auto).grants(&site("http://new.test")).await, "without seeds");
    }

    #[tokio::test]
    async fn what_was_public_first_stays_so() {
        let rule = rule(&[("http://a.test", SeedStatus::New), ("http://b.test", SeedStatus::New)]);
        rule.found_public(&site("http://a.test"));
        assert!(!rule.grants(&site("http://a.test")).await);
        assert!(rule.grants(&site("http://b.test")).await);
        rule.found_public(&site("http://b.test"));
        assert!(rule.grants(&site("http://b.test")).await, "it was private first");
        rule.grants.add([site("http://a.test").key()]);
        assert!(!rule.grants(&site("http://a.test")).await, "named again");
    }

    #[tokio::test]
    async fn http_and_https_of_a_host_are_granted_together() {
        let rule = rule(&[("http://a.test", SeedStatus::New), ("https://b.test", SeedStatus::FoundPrivate)]);
        assert!(!rule.grants(&site("https://a.test")).await, "its address is not known yet");
        assert!(rule.grants(&site("http://a.test")).await);
        assert!(rule.grants(&site("https://a.test")).await);
        assert!(!rule.grants(&site("https://a.test:444")).await);
        assert!(rule.grants(&site("http://b.test")).await, "by an earlier run");
    }

    #[test]
    fn names_of_this_machine_are_known() {
        for (host, expect) in
            [("localhost", true), ("a.LOCALHOST.", true), ("localhost.test", false), ("notlocalhost", false)]
        {
            assert_eq!(is_localhost(host), expect, "{host}");
        }
    }
}
