//! The report as one page that needs nothing from anywhere: template, style, script and data in one file.
//!
//! Titles and URLs come from the web. They are in the page only as JSON in which nothing can end the element or begin another, and
//! the script shows them as text. The page's own policy allows no script and no style but these, by their hashes, and no
//! connection at all.

use std::io::Write as _;

use data_encoding::BASE64;
use printable::Printable;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::tables::{Table, tables};
use crate::{Picture, ReportError, Speed, Statistics};

/// Rows of a table in the page, so that it opens at once on a phone.
const ROWS_MAX: usize = 200;
/// Seeds named.
const SEEDS_MAX: usize = 20;

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = concat!(
    include_str!("page/tables.js"),
    include_str!("page/charts.js"),
    include_str!("page/picture.js"),
    include_str!("page/main.js")
);

/// What the script shows.
#[derive(Serialize)]
struct Data<'a> {
    seeds: Vec<String>,
    seed_count: usize,
    missing: Option<String>,
    tables: Vec<Table>,
    speed: &'a Speed,
    picture: Option<Picture>,
}

/// The page.
///
/// # Errors
/// The statistics cannot be turned into JSON.
pub fn html(statistics: &Statistics) -> Result<Vec<u8>, ReportError> {
    let shown = |text: &String| Printable(text).to_string();
    let mut tables = tables(statistics);
    for table in &mut tables {
        table.rows.truncate(ROWS_MAX);
    }
    let mut picture = statistics.picture.clone();
    for page in picture.iter_mut().flat_map(|picture| &mut picture.pages) {
        page.title = page.title.as_ref().map(shown);
    }
    let data = Data {
        seeds: statistics.seeds.iter().take(SEEDS_MAX).map(shown).collect(),
        seed_count: statistics.seeds.len(),
        missing: statistics.missing.as_ref().map(shown),
        tables,
        speed: &statistics.speed,
        picture,
    };
    let data = harmless(&serde_json::to_string(&data)?);
    let hash = |text: &str| format!("'sha256-{}'", BASE64.encode(&Sha256::digest(text)));
    let (style_hash, script_hash) = (hash(STYLE), hash(SCRIPT));
    let parts = [
        ("style-hash", &*style_hash),
        ("script-hash", &*script_hash),
        ("style", STYLE),
        ("script", SCRIPT),
        ("data", &*data),
    ];
    let mut out = Vec::new();
    let mut rest = TEMPLATE;
    // Each place once, in one pass: what is put in is never searched for places again.
    while let Some((before, (name, after))) =
        rest.split_once("{{").and_then(|(before, rest)| Some((before, rest.split_once("}}")?)))
    {
        let part = parts.iter().find(|(part, _)| *part == name).map_or("", |(_, text)| text);
        // Writing to memory cannot fail.
        let _ = write!(out, "{before}{part}");
        rest = after;
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(out)
}

/// JSON in which nothing means anything to HTML, and which is still the same JSON.
fn harmless(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_the_same_and_says_nothing_to_html() {
        let text = "</script><!--<script>&amp;\u{2028}\u{2029}\"\\ Ž";
        let json = harmless(&serde_json::to_string(text).unwrap());
        assert!(!json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn nothing_in_script_or_style_ends_its_element() {
        for text in [SCRIPT, STYLE] {
            assert!(!text.contains("</") && !text.contains("<!--"));
        }
    }
}
