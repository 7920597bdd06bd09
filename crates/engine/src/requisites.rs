//! What a document needs to be shown, as URLs; and what may be read of an answer, which follows from what it was asked for.

use std::collections::{BTreeSet, HashSet};

use extract::media_type::{Kind, sniff};
use extract::requisites::{self, Limits, Reference, Requisites, Role};
use extract::{charset, html};
use model::{Candidate, FetchOutcome, ForPage, Headers, Method, Purpose, Response, Via, essence};
use weburl::{CanonicalUrl, Site, UrlKey};

use crate::Settings;
use crate::import_map::ImportMap;
use crate::references::{Resolver, base_of};

/// Where browsers look for the icon of a page that names none.
const ICON: &str = "/favicon.ico";

/// What a document needs.
#[derive(Debug, Default)]
pub struct Needs {
    /// Each once, with what for.
    pub urls: Vec<(CanonicalUrl, Role)>,
    /// There are more than may be taken, or longer ones.
    pub is_cut: bool,
    /// Requests for them may not name the page.
    pub is_unnamed: bool,
    /// The import maps in it.
    pub imports: ImportMap,
    /// Modules that an import map resolves.
    pub modules: BTreeSet<String>,
    /// How the document was read; `None` if it was not.
    pub reading: Option<Reading>,
}

/// How a document is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// HTML.
    Page,
    /// SVG, which is read as HTML is.
    Svg,
    /// Other XML, of which the style sheets before its first element are read; of a style sheet in XSLT, what it imports and writes.
    Xml,
    /// CSS.
    StyleSheet,
    /// A script.
    Script,
    /// A manifest.
    Manifest,
    /// As CSS, though nothing says what it is.
    Unlabelled,
}

impl Reading {
    /// Whether a file that is needed for this may be read so. HTML in place of another file is an error page, whatever its status says:
    /// what it names belongs to no page.
    fn is_for(self, role: Role) -> bool {
        match self {
            Reading::Page => role == Role::Frame,
            Reading::Unlabelled => role == Role::StyleSheet,
            Reading::Svg | Reading::Xml | Reading::StyleSheet | Reading::Script | Reading::Manifest => true,
        }
    }

    /// Whether the answer for this URL may be read so.
    fn is_of(self, source: &Candidate) -> bool {
        let is_page = self == Reading::Page && source.purpose != Purpose::Requisite;
        is_page || self.is_for(role_of(source.via))
    }
}

/// How a requisite for this came to be known.
pub(crate) fn via_of(role: Role) -> Via {
    match role {
        Role::File => Via::Link,
        Role::StyleSheet => Via::StyleSheet,
        Role::Frame => Via::Frame,
    }
}

fn role_of(via: Via) -> Role {
    match via {
        Via::Frame => Role::Frame,
        Via::StyleSheet => Role::StyleSheet,
        Via::Seed | Via::Link | Via::Redirect | Via::Sitemap => Role::File,
    }
}

/// What browsers accept where they ask for a style sheet, and for a file of any kind. Of images they accept more, and get other formats.
const ACCEPT_STYLE_SHEET: &str = "text/css,*/*;q=0.1";
const ACCEPT_FILE: &str = "*/*";

/// How a URL is requested that a page needs as a file. A frame is requested as a page is.
pub(crate) fn for_page(candidate: &Candidate, referer: Option<Site>) -> Option<Box<ForPage>> {
    let accept = match role_of(candidate.via) {
        _ if candidate.purpose != Purpose::Requisite => return None,
        Role::Frame => return referer.map(|site| Box::new(ForPage { accept: None, referer: Some(site) })),
        Role::StyleSheet => ACCEPT_STYLE_SHEET,
        Role::File => ACCEPT_FILE,
    };
    Some(Box::new(ForPage { accept: Some(accept), referer }))
}

/// What a page needs whose bytes are in an encoding of this name; a rendered one, what it shows and requests in the browser without
/// what the browser has loaded.
pub(crate) fn of_page(outcome: &FetchOutcome, response: &Response, encoding: &str, settings: &Settings) -> Needs {
    let rendering = outcome.rendering.as_ref();
    let document = rendering.and_then(|rendering| rendering.document.as_ref().ok());
    let (bytes, encoding) = document.map_or((&response.body[..], encoding), |document| (&document.html[..], "UTF-8"));
    let content_type = response.headers.get("content-type").filter(|_| document.is_none());
    let mut found = Needs::of_page(&outcome.url, bytes, (encoding, content_type), settings);
    found.add_head(&outcome.url, &response.headers, settings);
    // Here, since the browser has loaded most of the modules.
    let mut imports = ImportMap::default();
    found.resolve(&mut imports, &outcome.url, settings);
    let loaded = rendering.map_or(&[][..], |rendering| &rendering.resources);
    let got = || loaded.iter().filter(|exchange| exchange.method == Method::Get);
    let shared = rendering.map_or(&[][..], |rendering| &rendering.shared);
    // What was loaded is left out at the end. A page takes no more.
    let urls_max = settings.limits.requisites_per_page_max.saturating_add(loaded.len() + shared.len());
    for exchange in got() {
        let headers = fetch::parse_fields(&exchange.response_head);
        let bytes_max = usize::try_from(settings.limits.body_bytes_max).unwrap_or(usize::MAX);
        let body = fetch::decode(headers.all("content-encoding"), exchange.payload.to_vec(), bytes_max);
        let content_type = headers.get("content-type");
        let needed = found.urls.iter().find(|(url, _)| url.key() == exchange.url.key());
        let role = needed.map_or(Role::File, |(_, role)| *role);
        if let Some(reading) = reading_of(&exchange.url, &body, content_type).filter(|reading| reading.is_for(role)) {
            found.add_document(&exchange.url, &body, (reading, content_type), settings);
            found.resolve(&mut imports, &exchange.url, settings);
            found.shorten(urls_max);
        }
    }
    found.imports = imports;
    let unloaded = rendering.map_or(&[][..], |rendering| &rendering.unloaded);
    let requested = unloaded.iter().filter_map(|url| CanonicalUrl::parse(url, &settings.canonical).ok());
    found.urls.extend(requested.map(|url| (url, Role::File)));
    found.leave_out(got().map(|exchange| exchange.url.key()).chain(shared.iter().copied()));
    found
}

/// What a page needs whose bytes come with this media type: what it was when it was fetched, or in the browser.
#[must_use]
pub fn of_html(
    url: &CanonicalUrl,
    body: &[u8],
    content_type: Option<&str>,
    headers: &Headers,
    settings: &Settings,
) -> Needs {
    let encoding = charset::decide(body, content_type).encoding.name();
    let mut found = Needs::of_page(url, body, (encoding, content_type), settings);
    found.add_head(url, headers, settings);
    found.leave_out(std::iter::empty());
    found
}

/// What another document needs: a style sheet, a script, a manifest, an SVG image, a frame.
#[must_use]
pub fn of_document(url: &CanonicalUrl, body: &[u8], content_type: Option<&str>, settings: &Settings) -> Needs {
    let reading = reading_of(url, body, content_type);
    let mut found = Needs { reading, ..Needs::default() };
    if let Some(reading) = reading {
        found.add_document(url, body, (reading, content_type), settings);
    }
    found
}

impl Needs {
    /// What counts for a document that was asked for in this way: all, or nothing.
    #[must_use]
    pub fn of(self, source: &Candidate) -> Self {
        if self.reading.is_some_and(|reading| reading.is_of(source)) { self } else { Needs::default() }
    }

    /// Resolves its modules by the import maps of its page, to which it adds its own.
    pub fn resolve(&mut self, of_page: &mut ImportMap, from: &CanonicalUrl, settings: &Settings) {
        let own = std::mem::take(&mut self.imports);
        self.is_cut |= of_page.extend(own, settings.limits.requisites_per_page_max);
        let modules = std::mem::take(&mut self.modules).into_iter();
        let urls = modules.filter_map(|name| of_page.resolve(&name, from, &settings.canonical));
        self.urls.extend(urls.map(|url| (url, Role::File)));
    }

    fn of_page(
        url: &CanonicalUrl,
        bytes: &[u8],
        (encoding, content_type): (&str, Option<&str>),
        settings: &Settings,
    ) -> Self {
        let mut references = none(settings);
        of_markup(bytes, encoding, content_type, &mut references);
        if !references.has_icon {
            references.add(ICON, Role::File);
        }
        let mut found = Needs { reading: Some(Reading::Page), ..Needs::default() };
        found.add(url, references, encoding, settings);
        found
    }

    /// Adds what the head of its answer says: the referrer policy, and links that browsers load as those of the page.
    fn add_head(&mut self, url: &CanonicalUrl, headers: &Headers, settings: &Settings) {
        self.is_unnamed |= headers.all("referrer-policy").filter_map(requisites::is_unnamed_by).last() == Some(true);
        let mut references = none(settings);
        headers.all("link").for_each(|value| requisites::of_link_field(value, &mut references));
        if !references.references.is_empty() || references.is_cut {
            self.add(url, references, "UTF-8", settings);
        }
    }

    fn add_document(
        &mut self,
        url: &CanonicalUrl,
        body: &[u8],
        (reading, content_type): (Reading, Option<&str>),
        settings: &Settings,
    ) {
        let encoding = match reading {
            Reading::Page | Reading::Svg | Reading::Xml => charset::decide(body, content_type).encoding.name(),
            Reading::StyleSheet | Reading::Unlabelled => charset::of_style_sheet(body, content_type).name(),
            Reading::Script | Reading::Manifest => "UTF-8",
        };
        let text = html::decode(body, encoding);
        let mut references = none(settings);
        match reading {
            Reading::Page => of_markup(body, encoding, content_type, &mut references),
            Reading::Svg => {
                requisites::of_prolog(&text, &mut references);
                requisites::of_page(&text, &mut references);
            }
            Reading::Xml => {
                requisites::of_prolog(&text, &mut references);
                requisites::of_xslt(&text, &mut references);
            }
            Reading::StyleSheet | Reading::Unlabelled => requisites::of_style_sheet(&text, &mut references),
            Reading::Script => requisites::of_script(&text, &mut references),
            Reading::Manifest => requisites::of_manifest(&text, &mut references),
        }
        self.add(url, references, encoding, settings);
    }

    fn add(&mut self, url: &CanonicalUrl, mut references: Requisites, encoding: &str, settings: &Settings) {
        self.is_cut |= references.is_cut;
        self.is_unnamed |= references.is_unnamed;
        if !references.mapped.is_empty() {
            let base = base_of(url, references.base_href.as_deref(), settings);
            self.imports.add(&references.mapped, &base, &settings.canonical);
        }
        self.modules.append(&mut references.modules);
        let mut bases = vec![url.clone()];
        for base in &references.bases {
            let of = bases.get(base.of).unwrap_or(url);
            bases.push(base_of(of, Some(&base.href), settings));
        }
        for (nth, base) in bases.into_iter().enumerate() {
            self.add_relative(
                url,
                base,
                references.references.iter().filter(|one| one.base == nth),
                encoding,
                settings,
            );
        }
    }

    fn add_relative<'r>(
        &mut self,
        url: &CanonicalUrl,
        base: CanonicalUrl,
        references: impl Iterator<Item = &'r Reference> + Clone,
        encoding: &str,
        settings: &Settings,
    ) {
        let count = references.clone().count();
        if count == 0 {
            return;
        }
        let mut resolver = Resolver::new(base, encoding, &settings.canonical, count);
        let mut roles: Vec<Role> = Vec::with_capacity(count);
        for reference in references {
            let Some(place) = resolver.place(&reference.href) else { continue };
            match roles.get_mut(place) {
                Some(role) => *role = (*role).max(reference.role),
                None => roles.push(reference.role),
            }
        }
        self.is_cut |= resolver.has_too_long;
        self.urls.extend(resolver.urls.into_iter().zip(roles).filter(|(other, _)| other.key() != url.key()));
    }

    /// Leaves out what several documents need, and what is too much.
    fn shorten(&mut self, urls_max: usize) {
        self.leave_out(std::iter::empty());
        self.is_cut |= self.urls.len() > urls_max;
        self.urls.truncate(urls_max);
    }

    /// Leaves out what was loaded already, and what several documents need.
    fn leave_out(&mut self, loaded: impl Iterator<Item = UrlKey>) {
        let mut known: HashSet<UrlKey> = loaded.collect();
        self.urls.retain(|(url, _)| known.insert(url.key()));
    }
}

/// What HTML needs, or XML that is read as HTML is.
fn of_markup(bytes: &[u8], encoding: &str, content_type: Option<&str>, references: &mut Requisites) {
    if html::is_xml(content_type) {
        requisites::of_prolog(&html::decode(bytes, encoding), references);
    }
    requisites::of_page(&html::decode_page(bytes, encoding, content_type), references);
}

fn none(settings: &Settings) -> Requisites {
    Requisites::new(Limits {
        references_max: settings.limits.requisites_per_page_max,
        href_bytes_max: settings.canonical.url_bytes_max.saturating_mul(4),
    })
}

/// How a document is read: as its media type says, or as its URL ends where that says nothing. `None` if nothing is read in it.
fn reading_of(url: &CanonicalUrl, body: &[u8], content_type: Option<&str>) -> Option<Reading> {
    let ending = url.path_extension();
    match essence(content_type.unwrap_or_default()).as_str() {
        "text/css" => Some(Reading::StyleSheet),
        "text/xsl" | "application/xslt+xml" => Some(Reading::Xml),
        "application/manifest+json" | "application/json" => Some(Reading::Manifest),
        script if script.ends_with("javascript") || script.ends_with("ecmascript") => Some(Reading::Script),
        _ => match sniff(body, content_type, ending).kind {
            Kind::Html | Kind::Xhtml => Some(Reading::Page),
            Kind::Svg => Some(Reading::Svg),
            Kind::Xml | Kind::SitemapXml => Some(Reading::Xml),
            Kind::Other | Kind::Text => match ending.unwrap_or_default().to_ascii_lowercase().as_str() {
                "css" => Some(Reading::StyleSheet),
                "js" | "mjs" => Some(Reading::Script),
                "webmanifest" => Some(Reading::Manifest),
                _ => content_type.is_none().then_some(Reading::Unlabelled),
            },
            _ => None,
        },
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use model::{Exchange, Fetched, Pictures, Refusals, RenderedDocument, Rendering, Shown, Tally, TaskId, Timestamp};
    use weburl::CanonicalRules;

    use super::*;
    use crate::step::tests::settings;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text, &CanonicalRules::default()).expect("a URL")
    }

    /// A script as a browser loads it.
    pub(crate) fn script(at: &str, text: String) -> Exchange {
        Exchange {
            url: url(at),
            method: Method::Get,
            address: None,
            started_at: Timestamp(1),
            request_head: Default::default(),
            request_body: Default::default(),
            response_head: "HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\n\r\n".into(),
            payload: text.into(),
            truncated: None,
            redacted: Default::default(),
        }
    }

    /// An empty page with what it loaded.
    pub(crate) fn rendering(resources: Vec<Exchange>) -> Box<Rendering> {
        let document = RenderedDocument {
            html: "<link rel=icon href=data:,>".into(),
            outlinks: Vec::new(),
            redirect: None,
            has_router: false,
            pictures: Pictures::default(),
        };
        Box::new(Rendering {
            at: Timestamp(1),
            evidence: String::new(),
            before: Shown::default(),
            document: Ok(document),
            resources,
            robots: Vec::new(),
            shared: Vec::new(),
            unloaded: Vec::new(),
            refused: Refusals::default(),
            left_out: Tally::default(),
            script_errors: Vec::new(),
        })
    }

    #[test]
    fn what_many_loaded_scripts_import_is_held_within_the_limit_of_a_page() {
        let mut settings = settings();
        settings.limits.requisites_per_page_max = 10;
        let of_number = |n: usize| {
            let imports = (0..9).map(|of| format!("import './{}.js';", 100 * n + of));
            script(&format!("http://a.test/{n}.js"), imports.collect())
        };
        for (scripts, urls, is_cut) in [(1, 9, false), (2, 12, true), (30, 40, true)] {
            let (headers, body, note) = (Headers::default(), Default::default(), None);
            let response = Response { status: 200, headers, body, truncated: None, is_undecoded: false, note };
            let outcome = FetchOutcome {
                id: TaskId(1),
                url: url("http://a.test/"),
                exchanges: Vec::new(),
                fetched: Fetched::Response(response.clone()),
                rendering: Some(rendering((1..=scripts).map(of_number).collect())),
                started_at: Timestamp(1),
                finished_at: Timestamp(1),
                response_time: Duration::ZERO,
            };
            let needs = of_page(&outcome, &response, "UTF-8", &settings);
            assert_eq!((needs.urls.len(), needs.is_cut), (urls, is_cut), "{scripts} scripts");
        }
    }

    #[test]
    fn each_reference_is_resolved_against_its_base() {
        let html = "<img src=before.png><base href=/b/><img src=after.png>\
                    <iframe srcdoc='<img src=in.png><base href=c/><img src=in.png>'></iframe><img src=data.png>";
        let needs =
            of_html(&url("http://a.test/d/"), html.as_bytes(), Some("text/html"), &Headers::default(), &settings());
        let mut urls: Vec<&str> = needs.urls.iter().map(|(url, _)| url.path()).collect();
        urls.sort_unstable();
        assert_eq!(urls, ["/b/after.png", "/b/c/in.png", "/b/data.png", "/b/in.png", "/d/before.png", ICON]);
    }
}
