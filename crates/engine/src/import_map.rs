//! Where the names of modules lead (HTML Standard, "resolve a module specifier"): scripts name them, and the import map of their page says.

use std::cmp::Reverse;

use extract::requisites::Mapped;
use weburl::{CanonicalRules, CanonicalUrl};

/// The import maps of a page, as far as they map beginnings of names.
#[derive(Clone, Debug, Default)]
pub struct ImportMap {
    /// Those of narrower scopes and with longer names first: the first that fits decides.
    addresses: Vec<Address>,
}

#[derive(Clone, Debug)]
struct Address {
    scope: Option<String>,
    name: String,
    url: CanonicalUrl,
}

impl Address {
    /// Where it stands among the others.
    fn place(&self) -> Reverse<(Option<&str>, &str)> {
        Reverse((self.scope.as_deref(), &self.name))
    }
}

impl ImportMap {
    /// Adds the entries of maps in a document with this base URL.
    pub(crate) fn add(&mut self, mapped: &[Mapped], base: &CanonicalUrl, rules: &CanonicalRules) {
        for Mapped { scope, name, href } in mapped {
            let scope = scope.as_ref().map(|scope| base.join(scope, rules).map(|url| url.to_string()));
            if let (Ok(url), Ok(scope)) = (base.join(href, rules), scope.transpose()) {
                self.addresses.push(Address { scope, name: name.clone(), url });
            }
        }
        self.sort();
    }

    /// Adds those of another document of the same page, a frame. What is there goes before them. Gives whether some were left out, since it has
    /// so many entries.
    pub(crate) fn extend(&mut self, mut other: ImportMap, entries_max: usize) -> bool {
        other.addresses.retain(|one| self.addresses.binary_search_by_key(&one.place(), Address::place).is_err());
        let room = entries_max.saturating_sub(self.addresses.len());
        let is_cut = other.addresses.len() > room;
        other.addresses.truncate(room);
        self.addresses.append(&mut other.addresses);
        self.sort();
        is_cut
    }

    /// Puts the entries in their order. Of two for the same name, the earlier one counts.
    fn sort(&mut self) {
        self.addresses.sort_by(|one, other| one.place().cmp(&other.place()));
        self.addresses.dedup_by(|later, one| later.place() == one.place());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// What it takes of memory, about.
    pub(crate) fn bytes(&self) -> usize {
        let of =
            |one: &Address| 100 + one.scope.as_ref().map_or(0, String::len) + one.name.len() + one.url.as_str().len();
        self.addresses.iter().map(of).sum()
    }

    /// Where a name leads that a script at `from` imports.
    pub(crate) fn resolve(&self, name: &str, from: &CanonicalUrl, rules: &CanonicalRules) -> Option<CanonicalUrl> {
        let is_for = |one: &&Address| {
            let is_in_scope = one.scope.as_deref().is_none_or(|scope| {
                from.as_str() == scope || (scope.ends_with('/') && from.as_str().starts_with(scope))
            });
            is_in_scope && (one.name == name || (one.name.ends_with('/') && name.starts_with(&one.name)))
        };
        let Address { name: begin, url, .. } = self.addresses.iter().find(is_for)?;
        let behind = name.strip_prefix(begin.as_str()).filter(|behind| !behind.is_empty());
        let Some(behind) = behind else { return Some(url.clone()) };
        // What leads out of the directory is an error in browsers.
        url.join(behind, rules).ok().filter(|module| module.as_str().starts_with(url.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_scope_and_the_longest_name_decide() {
        let rules = CanonicalRules::default();
        let url = |text: &str| CanonicalUrl::parse(text, &rules).expect("a URL");
        let mapped = |scope: Option<&str>, name: &str, href: &str| Mapped {
            scope: scope.map(str::to_owned),
            name: name.to_owned(),
            href: href.to_owned(),
        };
        let mut map = ImportMap::default();
        let entries = [
            mapped(None, "three", "/v/three.js"),
            mapped(None, "three/", "/v/"),
            mapped(None, "three/addons/", "jsm/"),
            mapped(None, "three/addons/own.js", "/own.js"),
            mapped(Some("/old/"), "three/", "http://b.test/old/"),
            mapped(Some("/old/one.js"), "three/", "/one/"),
        ];
        map.add(&entries, &url("http://a.test/x/"), &rules);
        for (from, name, expect) in [
            ("/app.js", "three", Some("http://a.test/v/three.js")),
            ("/app.js", "three/a/b.js", Some("http://a.test/v/a/b.js")),
            ("/app.js", "three/addons/c.js?d", Some("http://a.test/x/jsm/c.js?d")),
            ("/app.js", "three/addons/own.js", Some("http://a.test/own.js")),
            ("/app.js", "three/../../e.js", None),
            ("/app.js", "three/http://c.test/", None),
            ("/app.js", "four", None),
            ("/old/app.js", "three/a.js", Some("http://b.test/old/a.js")),
            ("/old/app.js", "three", Some("http://a.test/v/three.js")),
            ("/old/one.js", "three/a.js", Some("http://a.test/one/a.js")),
            ("/old/one.jsx", "three/a.js", Some("http://b.test/old/a.js")),
        ] {
            let resolved = map.resolve(name, &url(&format!("http://a.test{from}")), &rules);
            assert_eq!(resolved.as_ref().map(CanonicalUrl::as_str), expect, "{from} {name}");
        }
    }

    #[test]
    fn the_map_of_a_page_goes_before_those_of_its_frames_and_has_so_many_entries() {
        let rules = CanonicalRules::default();
        let url = |text: &str| CanonicalUrl::parse(text, &rules).expect("a URL");
        let map = |entries: &[(&str, &str)]| {
            let mapped = |(name, href): &(&str, &str)| Mapped {
                scope: None,
                name: (*name).to_owned(),
                href: (*href).to_owned(),
            };
            let mut map = ImportMap::default();
            map.add(&entries.iter().map(mapped).collect::<Vec<_>>(), &url("http://a.test/"), &rules);
            map
        };
        let mut page = map(&[("a/", "/page/"), ("a/", "/second/")]);
        assert!(!page.extend(map(&[("a/", "/frame/"), ("b/", "/frame/")]), 2));
        assert!(!page.extend(map(&[("a/", "/frame/"), ("b/", "/frame/")]), 2), "they are known");
        assert!(page.extend(map(&[("z/", "/frame/"), ("a/", "/frame/")]), 2));
        for (name, expect) in
            [("a/x", Some("http://a.test/page/x")), ("b/x", Some("http://a.test/frame/x")), ("z/x", None)]
        {
            let resolved = page.resolve(name, &url("http://a.test/"), &rules);
            assert_eq!(resolved.as_ref().map(CanonicalUrl::as_str), expect, "{name}");
        }
    }
}
