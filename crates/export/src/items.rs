//! What rules took out of pages: the rows of one table of items as JSON lines or CSV (`docs/extract.md`).

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use dataset::{Column as _, Layout, item_values};
use printable::{write_csv_line, write_json_line};
use serde_json::Value;
use weburl::UrlKey;

use crate::{Crawl, ExportError, Filter, Progress};

/// The form of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A JSON object a line.
    JsonLines,
    /// CSV with a line of names. A list or an object is a cell with JSON.
    Csv,
}

impl Form {
    /// CSV for a file whose name says so.
    #[must_use]
    pub fn of_target(target: Option<&Path>) -> Self {
        let is_csv = target.and_then(Path::extension).is_some_and(|ending| ending == "csv");
        if is_csv { Form::Csv } else { Form::JsonLines }
    }
}

/// Writes the rows of the table `name`, or of the only one, that no later visit has superseded and whose pages the filter admits.
/// `target` names what is written to, in errors.
///
/// # Errors
/// There is no such table, or there are several and none is named; the dataset or the state cannot be read, or `out` cannot be
/// written.
pub fn write(
    crawl: &Crawl<'_>,
    filter: &Filter,
    name: Option<&str>,
    form: Form,
    target: &Path,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), ExportError> {
    let name = table(&crawl.dataset, name)?;
    crawl.require_dataset()?;
    let mut admission = crawl.admission(filter)?;
    write_rows(&crawl.dataset, &name, |key| admission.admits(key), form, target, out, progress)
}

/// The same of tables that belong to no crawl, as `argiope derive -o` makes them of the archives of other tools: all rows.
///
/// # Errors
/// As [`write`].
pub fn write_tables(
    tables: &Layout,
    name: Option<&str>,
    form: Form,
    target: &Path,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), ExportError> {
    write_rows(tables, &table(tables, name)?, |_| Ok(true), form, target, out, progress)
}

fn write_rows(
    tables: &Layout,
    name: &str,
    mut admits: impl FnMut(UrlKey) -> Result<bool, ExportError>,
    form: Form,
    target: &Path,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), ExportError> {
    let mut columns: Vec<String> = Vec::new();
    let mut done = 0;
    for batch in tables.item_batches(name)? {
        let batch = batch?;
        let schema = batch.schema();
        let fields: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        if columns.is_empty() {
            columns = fields;
            if form == Form::Csv {
                let cells = columns.iter().map(|name| Cow::Borrowed(name.as_str()));
                write_csv_line(&mut *out, cells).map_err(|error| ExportError::io(target, error))?;
            }
        } else if columns != fields {
            return Err(ExportError::Other(format!(
                "items/{name}: its files were made by different rules: run `argiope derive --extract RULES`"
            )));
        }
        for row in 0..batch.num_rows() {
            let Some(key) = batch.key(dataset::schema::ITEM_KEY, row) else { continue };
            if !admits(key)? {
                continue;
            }
            let values = item_values(&batch, row);
            let written = match form {
                Form::JsonLines => write_json_line(&mut *out, &values),
                Form::Csv => write_csv_line(&mut *out, values.into_values().map(cell)),
            };
            written.map_err(|error| ExportError::io(target, error))?;
        }
        done += batch.num_rows() as u64;
        progress(done);
    }
    Ok(())
}

fn table(layout: &Layout, name: Option<&str>) -> Result<String, ExportError> {
    let tables = layout.item_tables()?;
    match name {
        Some(name) if tables.iter().any(|table| table == name) => Ok(name.to_owned()),
        None if tables.len() == 1 => Ok(tables.concat()),
        _ if tables.is_empty() => Err(ExportError::Other(
            "there are no items: `argiope derive --extract RULES` takes them out of the archive".to_owned(),
        )),
        Some(name) => Err(ExportError::Other(format!("there are no items {name}, but {}", tables.join(", ")))),
        None => Err(ExportError::Other(format!("--items NAME: choose one of {}", tables.join(", ")))),
    }
}

fn cell(value: Value) -> Cow<'static, str> {
    match value {
        Value::Null => "".into(),
        Value::String(text) => text.into(),
        value => value.to_string().into(),
    }
}
