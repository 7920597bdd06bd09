//! Tables, in the form that GitHub gave Markdown. A table that only lays a page out is none.

use extract::html::dom::{Document, Id, Tag};

use super::code;
use crate::kept::Kept;
use crate::steps;

/// Columns in which cells may span others, and up to which short rows are filled up with empty cells.
const COLUMNS_MAX: usize = 64;

/// The rows of a table.
pub(super) struct Rows {
    rows: Vec<Vec<String>>,
    has_header: bool,
}

/// Whether a table shows data: more than one column, and headers, or in every cell nothing that structures a page; and no code of
/// several lines.
pub(crate) fn is_data(tree: &Document<'_>, table: Id) -> bool {
    if ["presentation", "none"].iter().any(|role| tree.has_word(table, "role", role)) {
        return false;
    }
    let rows = rows_of(tree, table);
    steps::count(rows.len());
    let cells = || rows.iter().flat_map(|row| cells_of(tree, *row));
    let has_columns = rows.iter().any(|row| cells_of(tree, *row).count() > 1);
    let has_header = cells().any(|cell| tree.tag(cell) == Some(Tag::Th));
    let structures = |tag: Tag| is_structure(tag) && !(has_header && tag.heading_rank().is_some());
    let is_structure = |id: Id| {
        steps::count(1);
        tree.tag(id).is_some_and(structures) || has_lines(tree, id)
    };
    let holds = |cell: Id| tree.subtree(cell).skip(1).any(is_structure);
    has_columns && cells().all(|cell| !holds(cell))
}

/// The rows, if it is a table of data. `line_of` gives the Markdown of a cell. A cell that spans several columns or rows stands in the first
/// of them; the others are empty.
pub(super) fn rows(tree: &Document<'_>, kept: &Kept, table: Id, line_of: impl Fn(Id) -> String) -> Option<Rows> {
    if !is_data(tree, table) {
        return None;
    }
    let mut rows = Vec::new();
    let mut has_header = false;
    // For each column, how many of the next rows a cell above reaches into.
    let mut reach = [0_usize; COLUMNS_MAX];
    let mut group = table;
    for id in rows_of(tree, table) {
        // No cell reaches into another group of rows.
        if std::mem::replace(&mut group, tree.parent(id)) != group {
            reach.fill(0);
        }
        let mut row: Vec<String> = Vec::new();
        let mut are_headers = true;
        for cell in cells_of(tree, id) {
            skip_reached(&mut row, &mut reach);
            are_headers &= tree.tag(cell) == Some(Tag::Th);
            let first = row.len();
            let text = if kept.holds(cell) { line_of(cell) } else { String::new() };
            row.push(text.replace('|', "\\|"));
            let columns = span(tree, cell, "colspan").unwrap_or(1).min(COLUMNS_MAX.saturating_sub(first));
            row.extend(std::iter::repeat_n(String::new(), columns.saturating_sub(1)));
            let rows_below = span(tree, cell, "rowspan").map_or(usize::MAX, |rows| rows - 1);
            reach.iter_mut().take(row.len()).skip(first).for_each(|reach| *reach = rows_below);
        }
        skip_reached(&mut row, &mut reach);
        if row.iter().any(|cell| !cell.is_empty()) {
            has_header |= rows.is_empty() && are_headers;
            rows.push(row);
        }
    }
    Some(Rows { rows, has_header })
}

/// How many columns or rows a cell spans; `None` for 0: rows up to the end of the group.
fn span(tree: &Document<'_>, cell: Id, name: &str) -> Option<usize> {
    /// As HTML has it.
    const SPAN_MAX: usize = 65_534;
    let span = tree.attribute(cell, name).and_then(|span| span.trim().parse().ok());
    Some(span.unwrap_or(1).min(SPAN_MAX)).filter(|span| *span > 0)
}

/// Leaves the columns empty into which cells above reach.
fn skip_reached(row: &mut Vec<String>, reach: &mut [usize; COLUMNS_MAX]) {
    while let Some(left) = reach.get_mut(row.len()).filter(|left| **left > 0) {
        *left -= 1;
        row.push(String::new());
    }
}

/// The rows of a table and of its groups, in order.
fn rows_of(tree: &Document<'_>, table: Id) -> Vec<Id> {
    let mut rows = Vec::new();
    for child in tree.children(table) {
        match tree.tag(child) {
            Some(Tag::Thead | Tag::Tbody | Tag::Tfoot) => {
                rows.extend(tree.children(child).filter(|row| tree.tag(*row) == Some(Tag::Tr)));
            }
            Some(Tag::Tr) => rows.push(child),
            _ => {}
        }
    }
    rows
}

fn cells_of<'t>(tree: &'t Document<'_>, row: Id) -> impl Iterator<Item = Id> + 't {
    tree.children(row).filter(|cell| matches!(tree.tag(*cell), Some(Tag::Td | Tag::Th)))
}

/// Whether it is code of several lines, which no cell in Markdown can hold.
fn has_lines(tree: &Document<'_>, id: Id) -> bool {
    tree.tag(id) == Some(Tag::Pre) && code::text_of(tree, id).contains('\n')
}

/// What pages are laid out with, and no cell of data is.
fn is_structure(tag: Tag) -> bool {
    let is_region = matches!(
        tag,
        Tag::Table
            | Tag::Form
            | Tag::Section
            | Tag::Article
            | Tag::Main
            | Tag::Nav
            | Tag::Aside
            | Tag::Header
            | Tag::Footer
            | Tag::Figure
            | Tag::Hr
    );
    is_region || tag.heading_rank().is_some()
}

/// The table; a header there must be, so it is empty where the page has none.
pub(super) fn render(table: &Rows) -> String {
    let columns = table.rows.iter().map(Vec::len).max().unwrap_or_default();
    let line = |row: &[String], columns: usize| {
        let cells = (0..columns.max(row.len())).map(|column| row.get(column).map_or("", String::as_str));
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let (header, body) = match table.rows.split_first() {
        Some((header, body)) if table.has_header => (&header[..], body),
        _ => (&[][..], &table.rows[..]),
    };
    let mut lines = vec![line(header, columns), format!("|{}", " --- |".repeat(columns))];
    lines.extend(body.iter().map(|row| line(row, columns.min(COLUMNS_MAX))));
    lines.join("\n")
}
