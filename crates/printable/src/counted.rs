//! Counts in sentences.

/// A number with its noun: `1 record`, `2 records`.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}
