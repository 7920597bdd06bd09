//! The tables as rows that can be compared: every column as text.

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::RecordBatch;
use dataset::schema::Table;
use dataset::{Batches, Column, Layout};

/// A row: the columns that are not null, by name.
pub type Row = BTreeMap<String, String>;

/// The rows of a table in an order that depends on their values alone.
pub fn rows(dir: &str, table: Table) -> Vec<Row> {
    let layout = Layout::at(Path::new(dir).join("dataset"));
    let mut rows = Vec::new();
    for batch in layout.batches(table, &[]).expect("a dataset") {
        rows.extend(rows_of(&batch.expect("a batch")));
    }
    rows.sort();
    rows
}

/// The same with those that later visits have superseded: all that the files hold.
pub fn rows_of_all_visits(dir: &str, table: Table) -> Vec<Row> {
    let files = std::fs::read_dir(Path::new(dir).join("dataset").join(table.as_str())).expect("a table");
    let mut rows = Vec::new();
    for batch in files.flat_map(|file| Batches::of_file(&file.expect("a file").path(), &[])) {
        rows.extend(rows_of(&batch.expect("a batch")));
    }
    rows.sort();
    rows
}

/// The pages by URL; each has one row.
pub fn pages(dir: &str) -> BTreeMap<String, Row> {
    let rows = rows(dir, Table::Pages);
    let count = rows.len();
    let pages: BTreeMap<String, Row> = rows.into_iter().map(|row| (row["url"].clone(), row)).collect();
    assert_eq!(pages.len(), count, "a URL has one row");
    pages
}

fn rows_of(batch: &RecordBatch) -> Vec<Row> {
    let value = |name: &str, row| {
        let text = batch.text(name, row).map(str::to_owned);
        let key = || batch.key(name, row).map(|key| key.to_string());
        let number = || batch.number(name, row).map(|number| number.to_string());
        let flag = || batch.flag(name, row).map(|flag| flag.to_string());
        let bytes = || batch.bytes(name, row).map(|bytes| format!("{bytes:?}"));
        text.or_else(key).or_else(number).or_else(flag).or_else(bytes)
    };
    let schema = batch.schema();
    let names: Vec<&String> = schema.fields().iter().map(|field| field.name()).collect();
    let row = |row| names.iter().filter_map(|name| Some(((*name).clone(), value(name, row)?))).collect();
    (0..batch.num_rows()).map(row).collect()
}
