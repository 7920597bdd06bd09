//! Hooks: user code that judges URLs and examines answers during a crawl.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;

use model::{Candidate, Exchange, Fetched, Response};
use serde_json::{Value, json};
use weburl::{CanonicalUrl, UrlKey};

use crate::{Content, Fetch, Settings};

/// The largest JSON that hooks may make of an answer, in bytes.
pub const EXTRA_BYTES_MAX: usize = 1 << 20;

/// The status of an answer for unchanged content.
const NOT_MODIFIED: u16 = 304;

/// Judges URLs, and examines answers. Several hooks run in the order in which they were added.
pub trait Hook: Send + Sync {
    /// Judges a found URL that the rules of the crawl admit, before it enters the frontier. Seeds, their redirect targets, and sitemaps are
    /// not judged. The scheduler calls it and waits: it must answer at once, and always
    /// the same.
    fn admit(&self, _candidate: &Candidate) -> Admit {
        Admit::Accept
    }

    /// Examines an answer, on a thread where it may take its time. A panic counts as a failed attempt of the fetch.
    fn responded(&self, _answer: &Answer<'_>) -> Extra {
        Extra::default()
    }
}

/// The decision of a hook about a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admit {
    /// It enters the frontier.
    Accept,
    /// It ends as `excluded`, for this reason.
    Refuse(String),
}

/// The answer to the fetch of a page or document, with any status except 304.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The URL, and the exchange byte for byte.
    pub exchange: &'a Exchange,
    /// Its status and header fields, and its body without content coding.
    pub response: &'a Response,
    /// Its content as the crawl parsed it.
    pub content: &'a Content,
}

/// The results of a hook for an answer. They are committed with the visit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extra {
    /// Values by name. If two hooks set the same name, the later value counts.
    pub fields: BTreeMap<String, Value>,
    /// More links, absolute or relative to the URL. They count as links of the page: as deep, and subject to the same rules.
    pub links: Vec<String>,
    /// Tags by which to find the answer again.
    pub tags: Vec<String>,
}

/// The hooks of a crawl.
#[derive(Clone, Default)]
pub struct Hooks(Arc<[Arc<dyn Hook>]>);

impl Hooks {
    /// These hooks, in this order.
    #[must_use]
    pub fn new(hooks: Vec<Arc<dyn Hook>>) -> Self {
        Hooks(hooks.into())
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The reason if a hook refuses a URL.
    pub(crate) fn refusal(&self, candidate: &Candidate) -> Option<String> {
        self.0.iter().find_map(|hook| match hook.admit(candidate) {
            Admit::Accept => None,
            Admit::Refuse(reason) => Some(format!("hook: {reason}")),
        })
    }

    /// Shows the end of a fetch to the hooks, and adds their results to its content.
    pub(crate) fn responded(&self, fetch: &mut Fetch, settings: &Settings) {
        let Fetched::Response(response) = &fetch.outcome.fetched else { return };
        let Some(exchange) = fetch.outcome.exchanges.last().filter(|_| response.status != NOT_MODIFIED) else { return };
        let answer = Answer { exchange, response, content: &fetch.content };
        let said = self.0.iter().map(|hook| hook.responded(&answer)).reduce(Extra::and).unwrap_or_default();
        let links_max = settings.limits.links_per_page_max;
        let mut known: HashSet<UrlKey> = HashSet::new();
        let links = said.links.iter().filter_map(|link| fetch.outcome.url.join(link, &settings.canonical).ok());
        let more: Vec<CanonicalUrl> = links.filter(|url| known.insert(url.key())).take(links_max).collect();
        let json = said.to_json();
        fetch.content.more_links = more;
        if let Some(details) = &mut fetch.content.details {
            details.extra = json;
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} hooks", self.0.len())
    }
}

impl Extra {
    fn and(mut self, later: Extra) -> Extra {
        self.fields.extend(later.fields);
        self.links.extend(later.links);
        self.tags.extend(later.tags);
        self
    }

    /// The fields and tags as they are stored; `None` without any. Beyond [`EXTRA_BYTES_MAX`] only the size is stored.
    fn to_json(&self) -> Option<String> {
        let tags: BTreeSet<&String> = self.tags.iter().collect();
        let mut object = serde_json::Map::new();
        if !self.fields.is_empty() {
            object.insert("fields".to_owned(), json!(self.fields));
        }
        if !tags.is_empty() {
            object.insert("tags".to_owned(), json!(tags));
        }
        let text = (!object.is_empty()).then(|| Value::Object(object).to_string())?;
        let bytes = text.len();
        Some(if bytes > EXTRA_BYTES_MAX { json!({ "too_large_bytes": bytes }).to_string() } else { text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extra(fields: &[(&str, i64)], tags: &[&str]) -> Extra {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        Extra { fields, tags: tags.iter().map(|tag| (*tag).to_owned()).collect(), ..Extra::default() }
    }

    #[test]
    fn what_several_hooks_say_is_one_object() {
        assert_eq!(Extra::default().to_json(), None);
        assert_eq!(Extra { links: vec!["/a".to_owned()], ..Extra::default() }.to_json(), None, "links are links");
        let both = extra(&[("a", 1), ("b", 2)], &["x", "w"]).and(extra(&[("b", 3)], &["x"]));
        assert_eq!(both.to_json().as_deref(), Some(r#"{"fields":{"a":1,"b":3},"tags":["w","x"]}"#));
    }

    #[test]
    fn what_is_too_large_is_not_kept_and_says_so() {
        let large = Extra { tags: vec!["x".repeat(EXTRA_BYTES_MAX)], ..Extra::default() };
        let bytes = EXTRA_BYTES_MAX + r#"{"tags":[""]}"#.len();
        assert_eq!(large.to_json(), Some(format!(r#"{{"too_large_bytes":{bytes}}}"#)));
    }
}
