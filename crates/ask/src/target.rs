//! What is asked about: a URL, a site, or a host.

use weburl::{CanonicalRules, CanonicalUrl, Rejected, Site};

/// What is asked about.
#[derive(Debug, PartialEq, Eq)]
pub enum Target {
    /// A URL, in the crawl's canonical form.
    Url(CanonicalUrl),
    /// All sites of a host.
    Host(Host),
    /// A text that is no URL for a crawler.
    NotCrawlable(Rejected),
}

/// A host, by all schemes and ports or by those given.
#[derive(Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name.
    pub name: String,
    is_https: Option<bool>,
    port: Option<u16>,
}

impl Target {
    /// Reads what was given: a text with a path is a URL, one with nothing but scheme, host and port a site, any other
    /// a host.
    #[must_use]
    pub fn parse(text: &str, rules: &CanonicalRules) -> Self {
        let text = text.trim();
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (Some(scheme), rest),
            None => (None, text),
        };
        let is_url = rest.contains(['/', '?', '#']) || (scheme.is_none() && has_another_scheme(rest));
        match CanonicalUrl::parse(&with_scheme(text), rules) {
            Err(rejected) => Target::NotCrawlable(rejected),
            Ok(url) if is_url => Target::Url(url),
            Ok(url) => {
                let site = url.site();
                let names_port = port_of(rest).is_some() || scheme.is_some();
                Target::Host(Host {
                    name: site.host().to_owned(),
                    is_https: scheme.map(|_| site.is_https()),
                    port: names_port.then(|| port_of(rest).unwrap_or(site.port())),
                })
            }
        }
    }
}

impl Target {
    /// The host that is named; of a URL that of its site.
    #[must_use]
    pub fn into_host(self) -> Option<Host> {
        match self {
            Target::Host(host) => Some(host),
            Target::Url(url) => {
                let site = url.site();
                Some(Host { name: site.host().to_owned(), is_https: Some(site.is_https()), port: Some(site.port()) })
            }
            Target::NotCrawlable(_) => None,
        }
    }
}

impl Host {
    /// True where a site is one of those asked about.
    #[must_use]
    pub fn includes(&self, site: &Site) -> bool {
        site.host() == self.name
            && self.is_https.is_none_or(|https| site.is_https() == https)
            && self.port.is_none_or(|port| site.port() == port)
    }

    /// True where a port is given: then the usual sites are all there are.
    #[must_use]
    pub fn has_port(&self) -> bool {
        self.port.is_some()
    }

    /// The sites that a host has by the default ports, or by the port given.
    #[must_use]
    pub fn usual_sites(&self) -> Vec<Site> {
        let texts = ["http", "https"].map(|scheme| {
            let default = if scheme == "https" { 443 } else { 80 };
            match self.port.filter(|port| *port != default) {
                Some(port) => format!("{scheme}://{}:{port}", self.name),
                None => format!("{scheme}://{}", self.name),
            }
        });
        texts.iter().filter_map(|text| Site::from_text(text)).filter(|site| self.includes(site)).collect()
    }
}

/// A text with a scheme in front, if it has none.
#[must_use]
pub fn with_scheme(text: &str) -> String {
    match text.contains("://") || has_another_scheme(text) {
        true => text.to_owned(),
        false => format!("http://{text}"),
    }
}

/// `mailto:someone`, but not `example.com:8080` or `[::1]`.
fn has_another_scheme(text: &str) -> bool {
    !text.starts_with('[')
        && text.split_once(':').is_some_and(|(_, rest)| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn port_of(authority: &str) -> Option<u16> {
    authority.rsplit_once(':')?.1.parse().ok()
}

/// Host and port.
#[must_use]
pub fn domain_name(url: &CanonicalUrl) -> String {
    let site = url.site();
    site.as_str().split_once("://").map_or_else(String::new, |(_, authority)| authority.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let found = match Target::parse(text, &CanonicalRules::default()) {
            Target::Url(url) => format!("url {url}"),
            Target::NotCrawlable(rejected) => format!("no: {rejected}"),
            Target::Host(host) => {
                let sites: Vec<String> = host.usual_sites().iter().map(ToString::to_string).collect();
                format!("host {}: {}", host.name, sites.join(" "))
            }
        };
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn urls_sites_and_hosts_are_told_apart() {
        check("http://a.test/x#y", "url http://a.test/x");
        check("HTTP://A.test:80/", "url http://a.test/");
        check("a.test/x", "url http://a.test/x");
        check("a.test", "host a.test: http://a.test https://a.test");
        check("A.test:8080", "host a.test: http://a.test:8080 https://a.test:8080");
        check("a.test:80", "host a.test: http://a.test https://a.test:80");
        check("https://a.test", "host a.test: https://a.test");
        check("https://a.test:8443", "host a.test: https://a.test:8443");
        check("[::1]", "host [::1]: http://[::1] https://[::1]");
        check("[::1]:81", "host [::1]: http://[::1]:81 https://[::1]:81");
        check("mailto:me@a.test", "no: the scheme is mailto, not http or https");
        check("ftp://a.test/", "no: the scheme is ftp, not http or https");
        check("http://", "no: not a URL: empty host");
    }
}
