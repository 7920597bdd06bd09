//! Tables, in the form that GitHub gave Markdown. A table that only lays a page out is none.

use super::blocks::Renderer;
use super::tree::{Id, is_block};

/// Columns that are kept.
const COLUMNS_MAX: usize = 64;

/// The rows of a table.
pub(super) struct Rows {
    rows: Vec<Vec<String>>,
    has_header: bool,
}

/// The rows, if it is a table of data: more than one column, and nothing in its cells that a line cannot hold.
pub(super) fn rows(renderer: &Renderer<'_>, table: Id) -> Option<Rows> {
    let tree = renderer.tree;
    if tree.element(table)?.has_word("role", "presentation") {
        return None;
    }
    let mut rows = Vec::new();
    let mut has_header = false;
    let mut groups: Vec<Id> = tree.children(table).iter().rev().copied().collect();
    while let Some(id) = groups.pop() {
        match tree.element(id).map(|element| element.name.as_str()) {
            Some("thead" | "tbody" | "tfoot") => groups.extend(tree.children(id).iter().rev()),
            Some("tr") => {
                let mut row = Vec::new();
                let mut are_headers = true;
                for cell in tree.children(id) {
                    let Some(element) = tree.element(*cell) else { continue };
                    if !matches!(element.name.as_str(), "td" | "th") {
                        continue;
                    }
                    if has_blocks(renderer, *cell) {
                        return None;
                    }
                    are_headers &= element.name == "th";
                    let span = element.attribute("colspan").and_then(|span| span.trim().parse().ok()).unwrap_or(1);
                    row.push(renderer.line_of(*cell).replace('|', "\\|"));
                    row.extend(std::iter::repeat_n(String::new(), span.clamp(1, COLUMNS_MAX) - 1));
                }
                row.truncate(COLUMNS_MAX);
                if row.iter().any(|cell| !cell.is_empty()) {
                    has_header |= rows.is_empty() && are_headers;
                    rows.push(row);
                }
            }
            _ => {}
        }
    }
    let is_data = rows.iter().map(Vec::len).max().unwrap_or_default() > 1;
    is_data.then_some(Rows { rows, has_header })
}

/// Whether a cell holds what cannot stand in a line; paragraphs can, one behind the other.
fn has_blocks(renderer: &Renderer<'_>, cell: Id) -> bool {
    let mut left = vec![cell];
    while let Some(id) = left.pop() {
        for child in renderer.tree.children(id) {
            let Some(element) = renderer.tree.element(*child) else { continue };
            if is_block(&element.name) && !matches!(element.name.as_str(), "p" | "div") {
                return true;
            }
            left.push(*child);
        }
    }
    false
}

/// The table; a header there must be, so it is empty where the page has none.
pub(super) fn render(table: &Rows) -> String {
    let columns = table.rows.iter().map(Vec::len).max().unwrap_or_default();
    let line = |row: &[String]| {
        let cells = (0..columns).map(|column| row.get(column).map_or("", String::as_str));
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let (header, body) = match table.rows.split_first() {
        Some((header, body)) if table.has_header => (&header[..], body),
        _ => (&[][..], &table.rows[..]),
    };
    let mut lines = vec![line(header), format!("|{}", " --- |".repeat(columns))];
    lines.extend(body.iter().map(|row| line(row)));
    lines.join("\n")
}
