//! Tables, in the form that GitHub gave Markdown. A table that only lays a page out is none.

use super::tree::{Element, Id, Tree};

/// Columns that are kept.
const COLUMNS_MAX: usize = 64;

/// The rows of a table.
pub(super) struct Rows {
    rows: Vec<Vec<String>>,
    has_header: bool,
}

/// Whether a table shows data: more than one column, and headers, or in every cell nothing that structures a page.
pub(super) fn is_data(tree: &Tree, table: Id) -> bool {
    let Some(element) = tree.element(table).filter(|element| element.name == "table") else { return false };
    if ["presentation", "none"].iter().any(|role| element.has_word("role", role)) {
        return false;
    }
    let rows = rows_of(tree, table);
    let mut cells = rows.iter().flat_map(|row| cells_of(tree, *row));
    let has_columns = rows.iter().any(|row| cells_of(tree, *row).count() > 1);
    let has_header = cells.clone().any(|(_, cell)| cell.name == "th");
    let structures = |name: &str| is_structure(name) && !(has_header && is_heading(name));
    has_columns && cells.all(|(cell, _)| !holds(tree, cell, structures))
}

/// Whether a table shows data in more than one row: no cell of it says anything by itself.
pub(super) fn is_of_rows(tree: &Tree, table: Id) -> bool {
    is_data(tree, table) && rows_of(tree, table).len() > 1
}

/// The rows, if it is a table of data. `line_of` gives the Markdown of a cell.
pub(super) fn rows(tree: &Tree, table: Id, line_of: impl Fn(Id) -> String) -> Option<Rows> {
    if !is_data(tree, table) {
        return None;
    }
    let mut rows = Vec::new();
    let mut has_header = false;
    for id in rows_of(tree, table) {
        let mut row = Vec::new();
        let mut are_headers = true;
        for (cell, element) in cells_of(tree, id) {
            are_headers &= element.name == "th";
            let span = element.attribute("colspan").and_then(|span| span.trim().parse().ok()).unwrap_or(1);
            row.push(line_of(cell).replace('|', "\\|"));
            row.extend(std::iter::repeat_n(String::new(), span.clamp(1, COLUMNS_MAX) - 1));
        }
        row.truncate(COLUMNS_MAX);
        if row.iter().any(|cell| !cell.is_empty()) {
            has_header |= rows.is_empty() && are_headers;
            rows.push(row);
        }
    }
    Some(Rows { rows, has_header })
}

/// The rows of a table and of its groups, in order.
fn rows_of(tree: &Tree, table: Id) -> Vec<Id> {
    let mut rows = Vec::new();
    let mut left: Vec<Id> = tree.children(table).iter().rev().copied().collect();
    while let Some(id) = left.pop() {
        match tree.element(id).map(|element| element.name.as_str()) {
            Some("thead" | "tbody" | "tfoot") => left.extend(tree.children(id).iter().rev()),
            Some("tr") => rows.push(id),
            _ => {}
        }
    }
    rows
}

fn cells_of(tree: &Tree, row: Id) -> impl Iterator<Item = (Id, &Element)> + Clone {
    let elements = tree.children(row).iter().filter_map(|cell| Some((*cell, tree.element(*cell)?)));
    elements.filter(|(_, element)| matches!(element.name.as_str(), "td" | "th"))
}

/// Whether a cell holds an element of such a name.
fn holds(tree: &Tree, cell: Id, is_such: impl Fn(&str) -> bool) -> bool {
    let mut left = vec![cell];
    while let Some(id) = left.pop() {
        for child in tree.children(id) {
            match tree.element(*child) {
                Some(element) if is_such(&element.name) => return true,
                Some(_) => left.push(*child),
                None => {}
            }
        }
    }
    false
}

/// What pages are laid out with, and no cell of data is.
fn is_structure(name: &str) -> bool {
    let is_region = matches!(
        name,
        "table" | "form" | "section" | "article" | "main" | "nav" | "aside" | "header" | "footer" | "figure" | "hr"
    );
    is_region || is_heading(name)
}

fn is_heading(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
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
