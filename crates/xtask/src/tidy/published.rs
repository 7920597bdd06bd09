//! What the registry wants of the crates that are published: names, licence, description, and versions of each other.

use std::path::Path;

use toml::{Table, Value};

/// How the names of published crates begin; the program alone has the first word as its name.
const PREFIX: &str = "argiope";

/// What says under which licences the crates are, beside the manifests.
const LICENSE_FILES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// What a manifest of a crate lacks that other programs get from the registry. Tools and tests are not published.
///
/// `workspace` is the manifest of the workspace, `uses` are the dependencies of the crate that are ours.
#[must_use]
pub fn problems<'a>(
    dir: &'a str,
    manifest: &Table,
    workspace: &Table,
    uses: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let package = manifest.get("package").and_then(Value::as_table).cloned().unwrap_or_default();
    if package.get("publish") == Some(&Value::Boolean(false)) {
        return Vec::new();
    }
    let mut problems = Vec::new();
    let mut expect = |holds: bool, what: String| {
        if !holds {
            problems.push(format!("crates/{dir}: {what}"));
        }
    };
    let name = if dir == PREFIX { PREFIX.to_owned() } else { format!("{PREFIX}-{dir}") };
    expect(text(&package, "name") == Some(&name), format!("its package is not named {name}"));
    for key in ["version", "license", "edition", "rust-version"] {
        expect(is_of_workspace(&package, key), format!("{key} is not that of the workspace"));
    }
    let described = text(&package, "description").is_some_and(|text| text.len() > 1 && text.ends_with('.'));
    expect(described, "has no description that is a sentence".to_owned());
    let shared = |path: &[&str]| path.iter().try_fold(workspace, |table, key| table.get(*key)?.as_table());
    let version = shared(&["workspace", "package"]).and_then(|package| text(package, "version"));
    let ours = shared(&["workspace", "dependencies"]);
    for used in std::iter::once(dir).filter(|dir| *dir != PREFIX).chain(uses) {
        let entry = ours.and_then(|ours| ours.get(used)).and_then(Value::as_table);
        let has = |key: &str, value: Option<&str>| entry.and_then(|entry| text(entry, key)) == value && value.is_some();
        let is_named = has("package", Some(&format!("{PREFIX}-{used}")));
        expect(is_named, format!("{used} has no package {PREFIX}-{used} in Cargo.toml: is it published?"));
        expect(has("version", version), format!("{used} has another version in Cargo.toml than the workspace"));
    }
    problems
}

/// The files that the crates promise, and that are not in the workspace.
pub fn missing_files(workspace: &Path) -> impl Iterator<Item = String> {
    let missing = LICENSE_FILES.into_iter().filter(move |name| !workspace.join(name).is_file());
    missing.map(|name| format!("{name}: is missing, though the manifests name the licence"))
}

fn text<'t>(table: &'t Table, key: &str) -> Option<&'t str> {
    table.get(key).and_then(Value::as_str)
}

fn is_of_workspace(package: &Table, key: &str) -> bool {
    package.get(key).and_then(|value| value.get("workspace")) == Some(&Value::Boolean(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKSPACE: &str = "[workspace.package]\nversion = \"1.2.3\"\n[workspace.dependencies]\n\
        a = { path = \"crates/a\", package = \"argiope-a\", version = \"1.2.3\" }\n\
        old = { path = \"crates/old\", package = \"argiope-old\", version = \"1.2.2\" }\n\
        tool = { path = \"crates/tool\" }";
    const OF_WORKSPACE: &str =
        "version.workspace = true\nlicense.workspace = true\nedition.workspace = true\nrust-version.workspace = true\n";

    fn check(dir: &str, package: &str, uses: &[&str], expect: &[&str]) {
        let parsed = |text: &str| text.parse::<Table>().expect("a manifest");
        let manifest = parsed(&format!("[package]\n{package}"));
        let found = problems(dir, &manifest, &parsed(WORKSPACE), uses.iter().copied());
        let expect: Vec<String> = expect.iter().map(|what| format!("crates/{dir}: {what}")).collect();
        assert_eq!(found, expect, "{package}");
    }

    #[test]
    fn a_crate_that_is_published_has_what_the_registry_wants() {
        let good = |name: &str| format!("name = \"{name}\"\ndescription = \"It is.\"\n{OF_WORKSPACE}");
        check("a", &good("argiope-a"), &[], &[]);
        check("argiope", &good("argiope"), &["a"], &[]);
        check("tool", "name = \"tool\"\npublish = false", &["old"], &[]);
        check("a", &good("a"), &[], &["its package is not named argiope-a"]);
        check(
            "a",
            &format!("name = \"argiope-a\"\n{}", OF_WORKSPACE.replace("license.workspace = true", "license = \"MIT\"")),
            &[],
            &["license is not that of the workspace", "has no description that is a sentence"],
        );
        check("a", &good("argiope-a"), &["old"], &["old has another version in Cargo.toml than the workspace"]);
        check(
            "a",
            &good("argiope-a"),
            &["tool"],
            &[
                "tool has no package argiope-tool in Cargo.toml: is it published?",
                "tool has another version in Cargo.toml than the workspace",
            ],
        );
    }
}
