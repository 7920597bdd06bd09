//! Whether a page can be used by everybody, by the rules of axe-core: a judge that is not ours.

use std::path::PathBuf;

use serde_json::Value;

use crate::browser::Browser;

/// What is wrong with a page: the rule, and the first elements that break it.
const RUN: &str = "axe.run().then(({ violations }) => violations.map(({ id, help, nodes }) =>
    `${id}: ${help}: ${nodes.slice(0, 3).map(({ html, any, all }) => `${html} ${[...any, ...all].map((it) => it.message)}`).join(' | ')}`))";

/// The rules that the shown page breaks.
pub fn violations(browser: &mut Browser) -> Vec<String> {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/npm/node_modules/axe-core/axe.min.js"));
    let rules = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{}: {error}: `cargo xtask test` installs axe-core", file.display()));
    browser.value(&format!("{rules};0"));
    let violations = browser.value(RUN);
    let text = |violation: &Value| violation.as_str().expect("a text").to_owned();
    violations.as_array().expect("violations").iter().map(text).collect()
}
