//! What a document needs to be shown as its author meant it: style sheets, scripts, images, fonts, media, frames, icons.
//!
//! Each kind of document has a scanner of its own. They return references as written, each once, in the order of the document; nothing in
//! them is followed or resolved here. What scripts compute is not found: that takes a browser.

mod css;
mod html;
mod json;
mod link_header;
mod script;
mod xml;

pub use css::of_style_sheet;
pub use html::of_page;
pub use json::of_manifest;
pub use link_header::of_link_field;
pub use script::of_script;
pub use xml::{of_prolog, of_xslt};

use std::collections::{BTreeSet, HashMap};

use crate::data_uri::{self, Refused};
use crate::href::{self, Target};

/// Bytes of a document in a `data:` URI that is read.
const DATA_BYTES_MAX: usize = 1 << 20;

/// Bases of one document, with those in `srcdoc`. References behind a further one are resolved as those before.
const BASES_MAX: usize = 100;

/// Limits of what is read of one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Different references kept; later ones are dropped.
    pub references_max: usize,
    /// The longest reference kept, in bytes of UTF-8.
    pub href_bytes_max: usize,
}

/// What a document needs a file for, as far as it decides how the answer is read. The last prevails where several hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A script, an image, a font, a film, a manifest.
    #[default]
    File,
    /// A style sheet.
    StyleSheet,
    /// A document of its own within it: in a frame or an object.
    Frame,
}

/// A reference to a file that a document needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// As written, cleaned as [`href::clean`](crate::href::clean) says.
    pub href: String,
    /// What for.
    pub role: Role,
    /// What it is relative to: the document's own base URL if 0, else that many-th of [`Requisites::bases`].
    pub base: usize,
}

/// What references are relative to that are not relative to the URL of their document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// `href` of a `base` element, or the like, cleaned.
    pub href: String,
    /// What that is relative to, as [`Reference::base`] says it.
    pub of: usize,
}

/// An entry of an import map (HTML Standard, "import maps").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// The beginning of the URLs of the scripts for which it holds; `None` for all.
    pub scope: Option<String>,
    /// The name of a module. If it ends with `/`, the beginning of names.
    pub name: String,
    /// Where that leads.
    pub href: String,
}

/// What one document needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requisites {
    limits: Limits,
    /// The references, each once.
    pub references: Vec<Reference>,
    /// `href` of the `base` element of a page that counts for its links, cleaned: the first one that has one.
    pub base_href: Option<String>,
    /// What references are relative to. A browser requests what stands before a `base` element, relative to the URL of the page, before it
    /// sees that, and documents in `srcdoc` have bases of their own.
    pub bases: Vec<Base>,
    /// A page names an icon. Browsers request `/favicon.ico` of the site of a page that names none.
    pub has_icon: bool,
    /// A page says that requests for what it needs may not name it (Referrer Policy, `no-referrer` and `same-origin`).
    pub is_unnamed: bool,
    /// The import maps of a page, if they map beginnings of names: what lies behind those, only scripts tell.
    pub mapped: Vec<Mapped>,
    /// Modules by names that only an import map resolves.
    pub modules: BTreeSet<String>,
    /// References were left out for their number or length, or a part of the page was not read.
    pub is_cut: bool,
    /// What was seen of each base, with its place among the references if it has one.
    known: Vec<HashMap<String, Option<usize>>>,
    /// What the next reference is relative to.
    base: usize,
    /// It is in a `data:` URI: no reference in it is relative, and another one in it is not read.
    is_inside: bool,
}

impl Requisites {
    /// None yet.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Requisites {
            limits,
            references: Vec::new(),
            base_href: None,
            bases: Vec::new(),
            has_icon: false,
            is_unnamed: false,
            mapped: Vec::new(),
            modules: BTreeSet::new(),
            is_cut: false,
            known: vec![HashMap::new()],
            base: 0,
            is_inside: false,
        }
    }

    /// Adds a reference, unless it leads nowhere that HTTP reaches, or into the document itself. Two that differ behind `#` only are one.
    pub fn add(&mut self, reference: &str, role: Role) {
        let (reference, target) = href::read(reference);
        if target == Target::Data {
            return self.add_inside(&reference, role);
        }
        let begins = |begin: &str| reference.get(..begin.len()).is_some_and(|it| it.eq_ignore_ascii_case(begin));
        if self.is_inside && !begins("http:") && !begins("https:") {
            return;
        }
        let whole = reference.split('#').next().unwrap_or_default();
        if target != Target::Web || whole.is_empty() {
            return;
        }
        let Some(known) = self.known.get_mut(self.base) else { return };
        if let Some(place) = known.get(whole) {
            if let Some(known) = place.and_then(|place| self.references.get_mut(place)) {
                known.role = known.role.max(role);
            }
            return;
        }
        if self.references.len() >= self.limits.references_max {
            self.is_cut = true;
            return;
        }
        let is_kept = reference.len() <= self.limits.href_bytes_max;
        known.insert(whole.to_owned(), is_kept.then_some(self.references.len()));
        if is_kept {
            self.references.push(Reference { href: reference.into_owned(), role, base: self.base });
        } else {
            self.is_cut = true;
        }
    }
}

impl Requisites {
    /// Makes references relative to this from now on.
    fn rebase(&mut self, href: &str) {
        if self.bases.len() >= BASES_MAX {
            self.is_cut = true;
            return;
        }
        self.bases.push(Base { href: href::clean(href).into_owned(), of: self.base });
        self.known.push(HashMap::new());
        self.base = self.bases.len();
    }

    /// Adds what a document names that is in its reference itself.
    fn add_inside(&mut self, uri: &str, role: Role) {
        type Read = fn(&str, &mut Requisites);
        let kinds: [(Role, &str, Read); 5] = [
            (Role::StyleSheet, "data:text/css", of_style_sheet),
            (Role::Frame, "data:text/html", of_page),
            (Role::Frame, "data:image/svg+xml", of_page),
            (Role::File, "data:text/javascript", of_script),
            (Role::File, "data:application/javascript", of_script),
        ];
        let begins = |begin: &str| uri.get(..begin.len()).is_some_and(|it| it.eq_ignore_ascii_case(begin));
        let kind = kinds.iter().find(|(for_what, begin, _)| *for_what == role && begins(begin));
        let Some((_, _, read)) = kind.filter(|_| !self.is_inside) else { return };
        let data = data_uri::decode(uri, DATA_BYTES_MAX);
        self.is_cut |= matches!(data, Err(Refused::TooLarge));
        let Ok(data) = data else { return };
        let mut inside = Requisites { is_inside: true, ..Requisites::new(self.limits) };
        read(&String::from_utf8_lossy(&data.bytes), &mut inside);
        self.is_cut |= inside.is_cut;
        for reference in &inside.references {
            self.add(&reference.href, reference.role);
        }
        inside.modules.iter().for_each(|name| self.add_module(name));
    }

    /// Adds a module by its name: one that is no URL is for an import map (HTML Standard, "resolve a module specifier").
    fn add_module(&mut self, name: &str) {
        if ["/", "./", "../", "http://", "https://"].iter().any(|begin| name.starts_with(begin)) {
            self.add(name, Role::File);
        } else if name.len() > self.limits.href_bytes_max
            || (self.modules.len() >= self.limits.references_max && !self.modules.contains(name))
        {
            self.is_cut = true;
        } else {
            self.modules.insert(name.to_owned());
        }
    }
}

/// Referrer policies that leave nothing of the page to requests to other sites, and those that leave something (Referrer Policy, §3; HTML
/// Standard, "meta referrer", for the older names).
const UNNAMED: [&str; 3] = ["no-referrer", "same-origin", "never"];
const NAMED: [&str; 9] = [
    "no-referrer-when-downgrade",
    "origin",
    "strict-origin",
    "origin-when-cross-origin",
    "strict-origin-when-cross-origin",
    "unsafe-url",
    "origin-when-crossorigin",
    "default",
    "always",
];

/// Whether a referrer policy leaves nothing of the page to requests to other sites. The last word of a list that is a policy decides; `None` if
/// none is.
#[must_use]
pub fn is_unnamed_by(policies: &str) -> Option<bool> {
    let is_among = |known: &[&str], word: &str| known.iter().any(|known| word.eq_ignore_ascii_case(known));
    let mut words = policies.rsplit(',').map(str::trim);
    let last = words.find(|word| is_among(&UNNAMED, word) || is_among(&NAMED, word))?;
    Some(is_among(&UNNAMED, last))
}

/// The references as texts.
#[cfg(test)]
fn hrefs(found: &Requisites) -> Vec<&str> {
    found.references.iter().map(|reference| reference.href.as_str()).collect()
}
