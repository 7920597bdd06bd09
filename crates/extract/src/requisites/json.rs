//! JSON to the URLs in it: import maps (HTML Standard, "import maps") and web application manifests (W3C, "Web Application Manifest").

use serde_json::Value;

use super::{Mapped, Requisites, Role};

/// Adds the modules that an import map names. What is behind the beginning of a name (`"lib/": "/lib/"`) only scripts tell.
pub(super) fn of_import_map(text: &str, found: &mut Requisites) {
    let Ok(Value::Object(map)) = serde_json::from_str(text) else { return };
    let scopes = map.get("scopes").and_then(Value::as_object).into_iter().flatten();
    let all = map.get("imports").map(|imports| (None, imports));
    let mut mapped = Vec::new();
    for (scope, imports) in all.into_iter().chain(scopes.map(|(scope, imports)| (Some(scope), imports))) {
        for (name, href) in imports.as_object().into_iter().flatten() {
            let Some(href) = href.as_str() else { continue };
            if !href.ends_with('/') {
                found.add(href, Role::File);
            }
            mapped.push(Mapped { scope: scope.cloned(), name: name.clone(), href: href.to_owned() });
        }
    }
    if mapped.iter().any(|mapped| mapped.name.ends_with('/')) {
        let max = found.limits.href_bytes_max;
        let all = mapped.len();
        mapped.retain(|Mapped { scope, name, href }| {
            [scope.as_ref(), Some(name), Some(href)].into_iter().flatten().all(|text| text.len() <= max)
        });
        mapped.truncate(found.limits.references_max.saturating_sub(found.mapped.len()));
        found.is_cut |= mapped.len() < all;
        found.mapped.append(&mut mapped);
    }
}

/// Adds the icons and screenshots that a manifest names, with those of its shortcuts.
pub fn of_manifest(text: &str, found: &mut Requisites) {
    let Ok(Value::Object(manifest)) = serde_json::from_str(text) else { return };
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let mut images = [list(manifest.get("icons")), list(manifest.get("screenshots"))].concat();
    for shortcut in list(manifest.get("shortcuts")) {
        images.extend(list(shortcut.get("icons")));
    }
    images.iter().filter_map(|image| image.get("src")?.as_str()).for_each(|url| found.add(url, Role::File));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requisites::{Limits, hrefs};

    fn check(read: impl Fn(&str, &mut Requisites), json: &str, expect: &[&str]) {
        let mut found = Requisites::new(Limits { references_max: 100, href_bytes_max: 1_000 });
        read(json, &mut found);
        assert_eq!(hrefs(&found), expect, "{json}");
    }

    #[test]
    fn addresses_of_modules() {
        let map = r#"{"imports": {"a": "./a.js", "lib/": "/lib/", "b": null}, "scopes": {"/x/": {"a": "/x/a.js"}, "/y/": 1}}"#;
        check(of_import_map, map, &["./a.js", "/x/a.js"]);
        let mut found = Requisites::new(Limits { references_max: 100, href_bytes_max: 1_000 });
        of_import_map(map, &mut found);
        let mapped: Vec<_> =
            found.mapped.iter().map(|one| (one.scope.as_deref(), &one.name[..], &one.href[..])).collect();
        assert_eq!(mapped, [(None, "a", "./a.js"), (None, "lib/", "/lib/"), (Some("/x/"), "a", "/x/a.js")]);
        let map = r#"{"imports": {"lib/": "/lib/", "long/name/of/a/module/": "/long/"}}"#;
        let mut found = Requisites::new(Limits { references_max: 100, href_bytes_max: 10 });
        of_import_map(map, &mut found);
        assert_eq!((found.mapped.len(), found.is_cut), (1, true));
        check(of_import_map, "[]", &[]);
        check(of_import_map, "{", &[]);
    }

    #[test]
    fn images_of_applications() {
        let json = r#"{"icons": [{"src": "a.png"}, {}, 1], "screenshots": [{"src": "b.png"}], "start_url": "/no",
            "shortcuts": [{"icons": [{"src": "c.png"}]}, {"url": "/no"}]}"#;
        check(of_manifest, json, &["a.png", "b.png", "c.png"]);
        check(of_manifest, r#"{"icons": {"16": "no.png"}}"#, &[]);
        check(of_manifest, "null", &[]);
    }
}
