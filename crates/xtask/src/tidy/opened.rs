//! Files are opened by the crate `fresh`, which follows no links and waits for no pipes: a crawl's directory may come from somebody else.

use std::path::Path;

/// What opens a file in another way.
const OPENERS: [&str; 8] = [
    "File::open(",
    "File::create(",
    "File::options()",
    "OpenOptions::new()",
    "fs::read(",
    "fs::read_to_string(",
    "fs::write(",
    "fs::copy(",
];

/// What makes a line harmless: `fresh` opens the file, it must be new, it is a directory made durable, or a file of the system.
const HARMLESS: [&str; 5] = ["fresh::open", "create_new(", "sync_all", "\"/proc", "\"/dev"];

/// Crates that only tests and builds use, and the one that opens files.
const CRATES: [&str; 7] = ["fresh", "sim", "testdb", "testkit", "testpages", "testweb", "xtask"];

/// Files that open others, and why they may.
const MAY: &[(&str, &str)] = &[
    ("argiope/src/commands/testweb.rs", "a file that the command line names"),
    ("console/src/message.rs", "--log"),
    ("crawl/src/live.rs", "the crawl's directory itself"),
    ("crawl/src/seed_list.rs", "--seeds"),
    ("crawl/src/socket.rs", "the crawl's directory itself"),
    ("crawl/src/stream/sender.rs", "--stream, and by `fresh` within the crawl's directory"),
    ("crawl/src/views.rs", "the crawl's directory itself"),
    ("database/src/password.rs", "~/.pgpass"),
    ("export/src/pending.rs", "a pipe or a device as the target of an export"),
    ("export/src/pending_dir.rs", "the directory of an export, made durable"),
    ("export-webgraph/src/nodes.rs", "a new file in a new directory"),
    ("inspect/src/input.rs", "a file that the command line names"),
    ("render/src/browser.rs", "/proc"),
    ("service/src/access.rs", "certificates and tokens that the command line names"),
    ("settings/src/extract.rs", "--extract"),
    ("settings/src/text_file.rs", "--config, --behaviour"),
    ("shared-archive/src/lib.rs", "the worker's own segments"),
    ("store-embedded/src/holder.rs", "/proc"),
    ("store-embedded/src/mirror.rs", "the mirror, a directory of its own"),
    ("store-embedded/src/place.rs", "the directory of the state"),
    ("store-embedded/src/torn.rs", "a journal of the state, in which links were refused before"),
];

/// Looks at a file of the product, named from the workspace.
pub fn check(file: &Path, text: &str, problems: &mut Vec<String>) {
    let Some(name) = product(file) else { return };
    let opens = opens(text);
    let may = MAY.iter().any(|(may, _)| *may == name);
    if opens.is_empty() && may {
        problems.push(format!("crates/{name}: opens no file: remove it from xtask/src/tidy/opened.rs"));
    }
    for line in opens.iter().filter(|_| !may) {
        problems.push(format!(
            "crates/{name}:{line}: opens a file: use `fresh`, or say in xtask/src/tidy/opened.rs why not"
        ));
    }
}

/// The path of a file of the product below `crates`.
fn product(file: &Path) -> Option<&str> {
    let name = file.to_str()?.strip_prefix("crates/")?;
    let (krate, path) = name.split_once('/')?;
    let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
    (path.starts_with("src/") && !is_test && !CRATES.contains(&krate)).then_some(name)
}

/// The numbers of the lines that open files, without those of the tests at the end.
fn opens(text: &str) -> Vec<usize> {
    let product = text.split("\nmod tests {").next().unwrap_or_default();
    let lines = product.lines().enumerate().filter(|(_, line)| opens_one(line.trim_start()));
    lines.map(|(before, _)| before + 1).collect()
}

fn opens_one(line: &str) -> bool {
    let is_word = |before: &str| before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_there = |opener: &&str| line.match_indices(*opener).any(|(at, _)| !is_word(&line[..at]));
    !line.starts_with("//") && OPENERS.iter().any(is_there) && !HARMLESS.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_opened_by_fresh_or_for_a_reason() {
        let check = |file: &str, text: &str, expect: &str| {
            let mut problems = Vec::new();
            super::check(Path::new(file), text, &mut problems);
            assert!(
                problems.join("\n").starts_with(expect) && problems.is_empty() == expect.is_empty(),
                "{problems:?}"
            );
        };
        let index = "//! Indexes.\n\n    match File::open(&index) {\n";
        check("crates/export/src/cdxj.rs", index, "crates/export/src/cdxj.rs:3: opens a file: use `fresh`");
        check("crates/export/src/x.rs", "let bytes = std::fs::read(&index)?;", "crates/export/src/x.rs:1: ");
        check("crates/export/src/x.rs", "#[cfg(test)]\nmod tests {\n    fs::write(a, b)", "");
        for line in [
            "// fs::read(path)",
            "let file = PendingFile::create(path)?;",
            "fresh::open(OpenOptions::new().append(true), path)",
            "std::fs::File::open(&dir)?.sync_all()",
            "let status = fs::read_to_string(\"/proc/self/status\")?;",
        ] {
            check("crates/export/src/x.rs", line, "");
        }
        for file in ["crates/export/tests/x.rs", "crates/export/src/x/tests.rs", "crates/testkit/src/x.rs", "x.rs"] {
            check(file, index, "");
        }
        check("crates/settings/src/extract.rs", index, "");
        check("crates/settings/src/extract.rs", "", "crates/settings/src/extract.rs: opens no file: remove it");
    }
}
