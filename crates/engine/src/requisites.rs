//! What a document needs to be shown, as URLs.

use std::collections::HashSet;

use extract::media_type::{Kind, sniff};
use extract::requisites::{self, Limits, Requisites};
use extract::{charset, html};
use model::{Exchange, FetchOutcome, Limit, Method, essence};
use weburl::{CanonicalUrl, UrlKey};

use crate::Settings;
use crate::references::{Resolver, base_of};

/// Where browsers look for the icon of a page that names none.
const ICON: &str = "/favicon.ico";

/// What documents need, collected.
#[derive(Debug, Default)]
pub struct Found {
    /// Each once.
    pub urls: Vec<CanonicalUrl>,
    /// There are more than may be taken, or longer ones.
    pub(crate) is_cut: bool,
}

/// How a document is read.
#[derive(Clone, Copy)]
enum Reading {
    Page,
    StyleSheet,
    Script,
    Manifest,
}

/// What a page needs whose bytes are in an encoding of this name; a rendered one, what it shows in the browser without what the browser
/// has loaded.
pub(crate) fn of_page(outcome: &FetchOutcome, body: &[u8], encoding: &str, settings: &Settings) -> Found {
    let rendering = outcome.rendering.as_ref();
    let document = rendering.and_then(|rendering| rendering.document.as_ref().ok());
    let (bytes, encoding) = document.map_or((body, encoding), |document| (&document.html[..], "UTF-8"));
    let mut found = Found::default();
    found.add_page(&outcome.url, bytes, encoding, settings);
    let loaded = rendering.map_or(&[][..], |rendering| &rendering.resources);
    let got = || loaded.iter().filter(|exchange| exchange.method == Method::Get);
    for exchange in got() {
        let headers = fetch::parse_fields(&exchange.response_head);
        let bytes_max = usize::try_from(settings.limits.body_bytes_max).unwrap_or(usize::MAX);
        let body = fetch::decode(headers.all("content-encoding"), exchange.payload.to_vec(), bytes_max);
        found.add_document(&exchange.url, &body, headers.get("content-type"), settings);
    }
    found.leave_out(got());
    found
}

/// What a page needs whose bytes come with this media type: what it was when it was fetched, or in the browser.
#[must_use]
pub fn of_html(url: &CanonicalUrl, body: &[u8], content_type: Option<&str>, settings: &Settings) -> Found {
    let mut found = Found::default();
    found.add_page(url, body, charset::decide(body, content_type).encoding.name(), settings);
    found
}

/// What another document needs: a style sheet, a script, a manifest, an SVG image, a frame.
#[must_use]
pub fn of_document(url: &CanonicalUrl, body: &[u8], content_type: Option<&str>, settings: &Settings) -> Found {
    let mut found = Found::default();
    found.add_document(url, body, content_type, settings);
    found
}

impl Found {
    fn add_page(&mut self, url: &CanonicalUrl, bytes: &[u8], encoding: &str, settings: &Settings) {
        let text = html::decode(bytes, encoding);
        let mut references = none(settings);
        requisites::of_page(&text, &mut references);
        if !references.has_icon {
            references.add(ICON);
        }
        self.add(url, &references, encoding, settings);
    }

    fn add_document(&mut self, url: &CanonicalUrl, body: &[u8], content_type: Option<&str>, settings: &Settings) {
        let Some(reading) = reading_of(url, body, content_type) else { return };
        let encoding = match reading {
            Reading::Page => charset::decide(body, content_type).encoding.name(),
            Reading::StyleSheet | Reading::Script | Reading::Manifest => "UTF-8",
        };
        let text = html::decode(body, encoding);
        let mut references = none(settings);
        match reading {
            Reading::Page => requisites::of_page(&text, &mut references),
            Reading::StyleSheet => requisites::of_style_sheet(&text, &mut references),
            Reading::Script => requisites::of_script(&text, &mut references),
            Reading::Manifest => requisites::of_manifest(&text, &mut references),
        }
        self.add(url, &references, encoding, settings);
    }

    fn add(&mut self, url: &CanonicalUrl, references: &Requisites, encoding: &str, settings: &Settings) {
        self.is_cut |= references.is_cut;
        let base = base_of(url, references.base_href.as_deref(), settings);
        let mut resolver = Resolver::new(base, encoding, &settings.canonical, references.references.len());
        for reference in &references.references {
            resolver.place(reference);
        }
        self.is_cut |= resolver.has_too_long;
        self.urls.extend(resolver.urls.into_iter().filter(|other| other.key() != url.key()));
    }

    /// Leaves out what was loaded already, and what several documents need.
    fn leave_out<'e>(&mut self, loaded: impl Iterator<Item = &'e Exchange>) {
        let mut known: HashSet<UrlKey> = loaded.map(|exchange| exchange.url.key()).collect();
        self.urls.retain(|url| known.insert(url.key()));
    }

    /// What it is cut by.
    pub(crate) fn limit(&self) -> Option<Limit> {
        self.is_cut.then_some(Limit::Requisites)
    }
}

fn none(settings: &Settings) -> Requisites {
    Requisites::new(Limits {
        references_max: settings.limits.requisites_per_page_max,
        href_bytes_max: settings.canonical.url_bytes_max * 4,
    })
}

/// How a document is read: as its media type says, or as its URL ends where that says nothing. `None` if nothing is read in it.
fn reading_of(url: &CanonicalUrl, body: &[u8], content_type: Option<&str>) -> Option<Reading> {
    let ending = url.path_extension();
    match essence(content_type.unwrap_or_default()).as_str() {
        "text/css" => Some(Reading::StyleSheet),
        "application/manifest+json" | "application/json" => Some(Reading::Manifest),
        script if script.ends_with("javascript") || script.ends_with("ecmascript") => Some(Reading::Script),
        _ => match sniff(body, content_type, ending).kind {
            Kind::Html | Kind::Xhtml | Kind::Svg => Some(Reading::Page),
            Kind::Other | Kind::Text => match ending?.to_ascii_lowercase().as_str() {
                "css" => Some(Reading::StyleSheet),
                "js" | "mjs" => Some(Reading::Script),
                "webmanifest" => Some(Reading::Manifest),
                _ => None,
            },
            _ => None,
        },
    }
}
