//! Names of schema.org, which are short wherever a page may write them in full.

/// Where the vocabulary is, as pages write it.
const PREFIXES: [&str; 6] = [
    "https://schema.org/",
    "http://schema.org/",
    "https://www.schema.org/",
    "http://www.schema.org/",
    "//schema.org/",
    "schema:",
];

/// A name of schema.org without its vocabulary; any other as it is.
pub(crate) fn short(name: &str) -> &str {
    let own = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
    let short = own.map_or(name, |own| own.strip_suffix('/').unwrap_or(own));
    if short.is_empty() { name } else { short }
}

/// Names in one text, each once, in the order of the alphabet; `None` without any.
pub(crate) fn names(mut names: Vec<String>) -> Option<String> {
    names.sort();
    names.dedup();
    (!names.is_empty()).then(|| names.join(", "))
}
