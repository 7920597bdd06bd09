//! JSON to the URLs in it: import maps (HTML Standard, "import maps") and web application manifests (W3C, "Web Application Manifest").

use serde_json::Value;

use super::{Requisites, Role};

/// Adds the modules that an import map names. Of a prefix (`"lib/": "/lib/"`) nobody knows what is behind it.
pub(super) fn of_import_map(text: &str, found: &mut Requisites) {
    let Ok(Value::Object(map)) = serde_json::from_str(text) else { return };
    let scopes = map.get("scopes").and_then(Value::as_object).into_iter().flat_map(|scopes| scopes.values());
    for addresses in map.get("imports").into_iter().chain(scopes).filter_map(Value::as_object) {
        addresses
            .values()
            .filter_map(Value::as_str)
            .filter(|url| !url.ends_with('/'))
            .for_each(|url| found.add(url, Role::File));
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
