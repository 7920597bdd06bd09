//! The house rules that the compiler does not know: which crate may use which, what belongs into the repository, how files begin, how long
//! they are, how they open others, and how long the sentences of the documents are.

mod cycles;
mod floors;
mod opened;
mod published;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, bail};

use crate::prose;
use crate::workspace::{tracked_files, workspace};

/// Lines of a file of the product, tests in it included.
const SOURCE_LINES_MAX: usize = 700;

/// Lines of the sources of the binary, tests in them included: it parses arguments and prints.
const BINARY_LINES_MAX: usize = 5_000;

/// Lines of a file of tests.
const TEST_LINES_MAX: usize = 900;

/// Bytes of a file in the repository.
const FILE_BYTES_MAX: u64 = 1_000_000;

/// Where builds and benchmarks put what they make.
const BUILD_DIRECTORY: &str = "target";

/// Code that a test makes and compares.
const GENERATED_DIRECTORY: &str = "generated";

/// Names that say nothing about what is in a module.
const FORBIDDEN_NAMES: [&str; 6] = ["utils", "util", "common", "helpers", "helper", "misc"];

/// Which crate may use which: an arrow points down (`ARCHITECTURE.md`). Test-only uses are not listed.
const ARROWS: &[(&str, &[&str])] = &[
    ("weburl", &[]),
    ("model", &["weburl"]),
    ("robots", &[]),
    ("extract", &["weburl"]),
    ("structured", &["extract"]),
    ("documents", &["extract"]),
    ("maintext", &["extract"]),
    ("rules", &["extract", "structured", "weburl"]),
    ("sort", &[]),
    ("printable", &[]),
    ("fresh", &[]),
    ("stages", &[]),
    ("deflate", &[]),
    ("warc", &["deflate", "fresh", "sort"]),
    ("store", &["model", "weburl"]),
    ("against", &["archive", "fresh", "model", "sort", "warc"]),
    ("store-embedded", &["fresh", "model", "stages", "store", "weburl"]),
    ("coordination", &["model", "store", "weburl"]),
    ("database", &["fresh"]),
    ("store-postgres", &["coordination", "database", "model", "stages", "store", "weburl"]),
    ("api", &[]),
    ("cookies", &["fresh", "model", "weburl"]),
    ("fetch", &["cookies", "model", "stages", "weburl"]),
    ("login", &["extract", "fetch", "model", "rules", "weburl"]),
    ("render", &["cookies", "fresh", "model", "weburl"]),
    ("frontier", &["model", "robots", "weburl"]),
    ("archive", &["fresh", "model", "store", "warc", "weburl"]),
    (
        "engine",
        &[
            "against",
            "archive",
            "cookies",
            "documents",
            "extract",
            "fetch",
            "frontier",
            "login",
            "maintext",
            "model",
            "render",
            "robots",
            "rules",
            "stages",
            "store",
            "structured",
            "warc",
            "weburl",
        ],
    ),
    ("cluster", &["coordination", "engine", "fetch", "model", "printable", "store", "weburl"]),
    ("replay", &["against", "fetch", "model", "store", "warc", "weburl"]),
    ("dataset", &["fresh", "model", "rules", "store", "structured", "weburl"]),
    ("shared-archive", &["dataset", "fresh"]),
    (
        "export",
        &[
            "database",
            "dataset",
            "documents",
            "engine",
            "extract",
            "fresh",
            "maintext",
            "model",
            "printable",
            "replay",
            "sort",
            "store",
            "structured",
            "warc",
            "weburl",
        ],
    ),
    ("graph", &["dataset", "fresh", "model", "weburl"]),
    ("query-wire", &["weburl"]),
    ("view-wire", &["model", "store", "weburl"]),
    ("export-webgraph", &["dataset", "export", "sort", "weburl"]),
    ("webhook", &["fresh"]),
    ("inspect", &["engine", "extract", "frontier", "model", "robots", "rules", "warc", "weburl"]),
    ("report", &["ask", "dataset", "extract", "graph", "model", "printable", "store", "weburl"]),
    ("testweb", &[]),
    ("testdb", &[]),
    ("testpages", &[]),
    ("testkit", &["dataset", "model", "robots", "store", "testweb", "weburl"]),
    (
        "settings",
        &[
            "cookies",
            "database",
            "documents",
            "engine",
            "fetch",
            "fresh",
            "frontier",
            "login",
            "model",
            "render",
            "robots",
            "rules",
            "store-postgres",
            "warc",
            "weburl",
        ],
    ),
    (
        "crawl",
        &[
            "against",
            "archive",
            "cookies",
            "dataset",
            "documents",
            "engine",
            "extract",
            "fetch",
            "fresh",
            "frontier",
            "login",
            "maintext",
            "model",
            "printable",
            "render",
            "replay",
            "rules",
            "robots",
            "settings",
            "stages",
            "store",
            "store-embedded",
            "store-postgres",
            "structured",
            "view-wire",
            "warc",
            "weburl",
        ],
    ),
    (
        "sim",
        &[
            "archive",
            "crawl",
            "engine",
            "extract",
            "frontier",
            "model",
            "robots",
            "store",
            "store-embedded",
            "warc",
            "weburl",
        ],
    ),
    ("check", &["against", "archive", "crawl", "fresh", "model", "printable", "settings", "store", "warc", "weburl"]),
    (
        "ask",
        &[
            "archive",
            "crawl",
            "dataset",
            "engine",
            "export",
            "extract",
            "frontier",
            "graph",
            "model",
            "printable",
            "replay",
            "robots",
            "settings",
            "sort",
            "store",
            "weburl",
        ],
    ),
    ("pages", &["crawl", "export", "fresh", "frontier", "model", "printable", "replay", "settings", "store", "weburl"]),
    ("console", &["crawl", "engine", "printable", "settings"]),
    (
        "service",
        &[
            "api",
            "archive",
            "ask",
            "cluster",
            "console",
            "coordination",
            "crawl",
            "database",
            "dataset",
            "engine",
            "fetch",
            "fresh",
            "frontier",
            "graph",
            "model",
            "printable",
            "query-wire",
            "render",
            "replay",
            "report",
            "settings",
            "shared-archive",
            "stages",
            "store",
            "store-postgres",
            "warc",
            "weburl",
        ],
    ),
    (
        "ui",
        &[
            "api",
            "ask",
            "crawl",
            "dataset",
            "engine",
            "graph",
            "model",
            "printable",
            "report",
            "service",
            "settings",
            "store",
            "weburl",
        ],
    ),
    (
        "argiope",
        &[
            "against",
            "api",
            "archive",
            "ask",
            "check",
            "console",
            "crawl",
            "database",
            "dataset",
            "documents",
            "engine",
            "export",
            "export-webgraph",
            "extract",
            "fetch",
            "fresh",
            "frontier",
            "graph",
            "inspect",
            "model",
            "pages",
            "printable",
            "render",
            "replay",
            "report",
            "robots",
            "service",
            "settings",
            "sort",
            "stages",
            "store",
            "store-postgres",
            "testweb",
            "ui",
            "warc",
            "webhook",
            "weburl",
        ],
    ),
    ("xtask", &[]),
];

/// Checks all rules.
///
/// # Errors
/// The rules that are broken, and where.
pub fn run() -> anyhow::Result<()> {
    let mut problems = Vec::new();
    check_arrows(&mut problems)?;
    check_cycles(&mut problems)?;
    prose::check(&mut problems)?;
    let mut binary = 0;
    for file in tracked_files()? {
        check_file(&file, &mut problems)?;
        if file.starts_with("crates/argiope/src") {
            binary += std::fs::read_to_string(workspace().join(&file)).map_or(0, |text| text.lines().count());
        }
    }
    if binary > BINARY_LINES_MAX {
        problems.push(format!("crates/argiope/src: {binary} lines, more than {BINARY_LINES_MAX}"));
    }
    if problems.is_empty() {
        return Ok(());
    }
    bail!("{} house rules are broken:\n  {}", problems.len(), problems.join("\n  "))
}

fn check_arrows(problems: &mut Vec<String>) -> anyhow::Result<()> {
    let floors = floors::Floors::of(&std::fs::read_to_string(workspace().join("ARCHITECTURE.md"))?);
    problems.extend(floors.unknown(is_ours));
    problems.extend(published::missing_files(&workspace()));
    let shared: toml::Table = std::fs::read_to_string(workspace().join("Cargo.toml"))?.parse()?;
    for entry in workspace().join("crates").read_dir()? {
        let dir = entry?.path();
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let manifest = std::fs::read_to_string(dir.join("Cargo.toml")).with_context(|| name.clone())?;
        let manifest: toml::Table = manifest.parse()?;
        let uses = uses(&manifest);
        let ours: BTreeSet<&str> = uses.iter().map(String::as_str).filter(|key| is_ours(key)).collect();
        problems.extend(floors.problems(&name, ours.iter().copied()));
        problems.extend(published::problems(&name, &manifest, &shared, ours.iter().copied()));
        match ARROWS.iter().find(|(from, _)| *from == name) {
            None => problems.push(format!("crates/{name}: its arrows are not listed in xtask/src/tidy.rs")),
            Some((_, allowed)) => {
                for to in ours.iter().filter(|to| !allowed.contains(to)) {
                    problems.push(format!("crates/{name}: must not depend on {to}"));
                }
            }
        }
    }
    Ok(())
}

/// What the manifest of a crate names as its dependencies, those of one platform and of its build too, but not those of its tests.
fn uses(manifest: &toml::Table) -> BTreeSet<String> {
    let platforms = manifest.get("target").and_then(toml::Value::as_table);
    let tables = platforms.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table);
    let tables = std::iter::once(manifest).chain(tables);
    let named = tables.flat_map(|table| ["dependencies", "build-dependencies"].map(|kind| table.get(kind)));
    named.flatten().filter_map(toml::Value::as_table).flat_map(toml::Table::keys).cloned().collect()
}

fn check_cycles(problems: &mut Vec<String>) -> anyhow::Result<()> {
    for entry in workspace().join("crates").read_dir()? {
        let dir = entry?.path();
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let root = ["src/lib.rs", "src/main.rs"].map(|root| dir.join(root)).into_iter().find(|root| root.exists());
        let cycles = cycles::Files::of(&root.with_context(|| format!("crates/{name}: no root"))?)?.cycles();
        if !cycles.is_empty() {
            let files: usize = cycles.iter().map(|cycle| cycle.files).sum();
            let shown = cycles.iter().flat_map(|cycle| &cycle.imports).map(String::as_str).collect::<Vec<_>>();
            let shown = shown.join("\n    ");
            problems.push(format!("crates/{name}: {files} of its files import each other in cycles:\n    {shown}"));
        }
    }
    Ok(())
}

fn is_ours(name: &str) -> bool {
    ARROWS.iter().any(|(ours, _)| *ours == name)
}

fn check_file(file: &Path, problems: &mut Vec<String>) -> anyhow::Result<()> {
    if file.components().any(|part| part.as_os_str() == BUILD_DIRECTORY) {
        problems.push(format!("{}: made by a build, and no part of the repository", file.display()));
        return Ok(());
    }
    let path = workspace().join(file);
    let Ok(metadata) = path.metadata() else { return Ok(()) };
    if metadata.len() > FILE_BYTES_MAX {
        problems.push(format!("{}: {} bytes, more than {FILE_BYTES_MAX}", file.display(), metadata.len()));
    }
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let is_generated = file.components().any(|part| part.as_os_str() == GENERATED_DIRECTORY);
    if is_generated || file.extension().is_none_or(|extension| extension != "rs") {
        return Ok(());
    }
    if FORBIDDEN_NAMES.contains(&&*stem) {
        problems.push(format!("{}: `{stem}` says nothing about what is in it", file.display()));
    }
    let text = std::fs::read_to_string(&path)?;
    if !text.starts_with("//!") {
        problems.push(format!("{}: does not begin with //!, what it is and why", file.display()));
    }
    opened::check(file, &text, problems);
    let is_test = file.components().any(|part| part.as_os_str() == "tests");
    let (lines, max) = (text.lines().count(), if is_test { TEST_LINES_MAX } else { SOURCE_LINES_MAX });
    if lines > max {
        problems.push(format!("{}: {lines} lines, more than {max}", file.display()));
    }
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let switched_off = line.starts_with("#[allow(") || line.starts_with("#![allow(");
        if switched_off || line.starts_with("#[ignore") {
            problems.push(format!("{}:{}: {line}", file.display(), number + 1));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn dependencies_of_a_platform_and_of_the_build_count_and_those_of_tests_do_not() {
        let manifest = "[dependencies]\na.workspace = true\n[target.'cfg(unix)'.dependencies]\nb = \"1\"\n\
            [build-dependencies]\nc = \"1\"\n[dev-dependencies]\nd = \"1\"\n[target.'cfg(unix)'.dev-dependencies]\ne = \"1\"";
        let uses = super::uses(&manifest.parse().expect("a manifest"));
        assert_eq!(uses.into_iter().collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn the_house_rules_hold() {
        if let Err(error) = super::run() {
            panic!("{error}");
        }
    }
}
