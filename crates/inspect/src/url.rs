//! What a reference is to the crawler.

use frontier::{ShapeRule, TrapRules};
use serde::Serialize;
use weburl::{CanonicalRules, CanonicalUrl};

use crate::reference::{Resolver, by_rules};
use crate::request::Request;

/// A reference, and what it stands on.
#[derive(Debug)]
pub struct Question {
    /// A URL, or a reference to be resolved against the base.
    pub href: String,
    /// The URL of the page that the reference stands on.
    pub base: Option<CanonicalUrl>,
    /// The canonical form.
    pub rules: CanonicalRules,
}

/// What a reference is to the crawler.
#[derive(Debug, Serialize)]
#[serde(tag = "inspect", rename = "url")]
pub struct UrlAnswer {
    /// The reference.
    pub href: String,
    /// What it was resolved against.
    pub base: Option<String>,
    /// It is a URL that is crawled: http or https, not too long, and no trap by its form.
    pub crawlable: bool,
    /// Why it is not.
    pub reason: Option<String>,
    /// The canonical URL.
    #[serde(flatten)]
    pub parts: Parts,
}

/// A canonical URL in its parts; all `None` where there is no such URL.
#[derive(Debug, Default, Serialize)]
pub struct Parts {
    /// The URL itself.
    pub url: Option<String>,
    /// Scheme, host and port.
    pub site: Option<String>,
    /// `http` or `https`.
    pub scheme: Option<String>,
    /// The host.
    pub host: Option<String>,
    /// The port.
    pub port: Option<u16>,
    /// The registrable domain.
    pub domain: Option<String>,
    /// The path.
    pub path: Option<String>,
    /// The query.
    pub query: Option<String>,
    /// The URL in SURT form, as indexes of archives sort it.
    pub surt: Option<String>,
    /// The key by which a store knows it.
    pub key: Option<String>,
    /// The key of its site.
    pub site_key: Option<String>,
    /// The rule against traps that its form breaks.
    pub trap: Option<String>,
    /// The rule that counts URLs of its shape.
    pub counted_as: Option<&'static str>,
    /// How many URLs of one shape that rule admits.
    pub counted_max: Option<u32>,
}

pub(crate) fn answer_request(mut request: Request) -> anyhow::Result<UrlAnswer> {
    let question =
        Question { href: request.needed_text("href")?, base: request.page_url("base")?, rules: request.rules()? };
    request.end()?;
    Ok(inspect(question))
}

/// What a reference is to the crawler.
#[must_use]
pub fn inspect(Question { href, base, rules }: Question) -> UrlAnswer {
    let base = base.map(|base| by_rules(&base, &rules));
    let resolver = Resolver::new(base, &rules);
    let (parts, reason) = match resolver.join(&href) {
        Err(error) => (Parts::default(), Some(error.to_string())),
        Ok(url) => {
            let parts = Parts::of(&url);
            let reason = parts.trap.as_ref().map(|rule| format!("trap: {rule}"));
            (parts, reason)
        }
    };
    let base = resolver.base.map(|base| base.to_string());
    UrlAnswer { href, base, crawlable: reason.is_none(), reason, parts }
}

impl Parts {
    fn of(url: &CanonicalUrl) -> Self {
        let site = url.site();
        let traps = TrapRules::default();
        let shape = traps.shape(url).map(|(_, rule)| rule);
        Parts {
            url: Some(url.to_string()),
            site: Some(site.to_string()),
            scheme: Some(site.scheme().to_owned()),
            host: Some(url.host().to_owned()),
            port: Some(site.port()),
            domain: Some(url.domain().to_owned()),
            path: Some(url.path().to_owned()),
            query: url.query().map(str::to_owned),
            surt: Some(weburl::surt(url)),
            key: Some(url.key().to_string()),
            site_key: Some(site.key().to_string()),
            trap: traps.broken_by(url).map(|(_, reason)| reason),
            counted_as: shape.map(shape_name),
            counted_max: shape.and_then(|rule| traps.fetched_max(rule)),
        }
    }
}

/// The rule that counts URLs of this shape, in a word.
fn shape_name(rule: ShapeRule) -> &'static str {
    match rule {
        ShapeRule::Calendar => "calendar",
        ShapeRule::Session => "session",
        ShapeRule::Queries => "queries",
        ShapeRule::SimpleQueries => "simple_queries",
    }
}
