//! A file with all ranks.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use arrow_array::{Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use dataset::{Column as _, Layout, schema};
use export::PendingFile;
use graph::{Graph, Ranks};
use parquet::arrow::ArrowWriter;
use printable::write_csv_line;
use settings::usage;
use sort::Sorter;
use weburl::UrlKey;

/// Rows written at once.
const ROWS_AT_ONCE: usize = 4_096;

/// A file that ranks are written to.
#[derive(Clone, Debug)]
pub struct Table {
    path: PathBuf,
    is_parquet: bool,
}

impl Table {
    /// The file at a path, whose name says in which format.
    ///
    /// # Errors
    /// It ends neither in `.csv` nor in `.parquet`.
    pub fn at(path: &Path) -> anyhow::Result<Self> {
        let is_parquet = match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => false,
            Some("parquet") => true,
            _ => anyhow::bail!(usage(format!("--out {}: must end in .csv or .parquet", path.display()))),
        };
        Ok(Table { path: path.to_owned(), is_parquet })
    }

    /// Writes the ranks, the highest first; `names` are those of groups, URLs are taken from the dataset.
    pub(super) fn write(
        &self,
        layout: &Layout,
        graph: &Graph,
        ranks: &Ranks,
        names: Option<&HashMap<UrlKey, String>>,
    ) -> anyhow::Result<()> {
        let mut by_vertex = vec![0.0; graph.len()];
        for (key, rank) in &ranks.values {
            if let Some(vertex) = graph.vertex(*key) {
                by_vertex[vertex as usize] = *rank;
            }
        }
        let mut sorter = Sorter::beside(&self.path);
        // No rank is negative, so that the order of the bits is that of the ranks.
        let mut push = |rank: f64, name: &str| sorter.push(&[&(!rank.to_bits()).to_be_bytes(), name.as_bytes()]);
        if let Some(names) = names {
            for (key, name) in names {
                let vertex = graph.vertex(*key);
                push(vertex.map_or(0.0, |vertex| by_vertex[vertex as usize]), name)?;
            }
        } else {
            let mut is_named = vec![false; graph.len()];
            for (table, key, url) in
                [(schema::Table::Pages, "url_key", "url"), (schema::Table::Links, "target_key", "target")]
            {
                for batch in layout.batches(table, &[key, url])? {
                    let batch = batch?;
                    for row in 0..batch.num_rows() {
                        let Some(vertex) = batch.key(key, row).and_then(|key| graph.vertex(key)) else { continue };
                        if let Some(url) = batch.text(url, row)
                            && !std::mem::replace(&mut is_named[vertex as usize], true)
                        {
                            push(by_vertex[vertex as usize], url)?;
                        }
                    }
                }
            }
        }
        self.write_sorted(sorter).with_context(|| self.path.display().to_string())
    }

    fn write_sorted(&self, sorter: Sorter) -> anyhow::Result<()> {
        let mut rows = sorter.sorted()?.map(|record| -> anyhow::Result<(f64, String)> {
            let record = record?;
            let (rank, name) = record.split_first_chunk().context("internal error: a record without a rank")?;
            Ok((f64::from_bits(!u64::from_be_bytes(*rank)), String::from_utf8(name.to_vec())?))
        });
        let mut file = PendingFile::create(&self.path)?;
        if self.is_parquet {
            let fields = [("url", DataType::Utf8), ("rank", DataType::Float64)];
            let fields = fields.map(|(name, kind)| Field::new(name, kind, false));
            let schema: SchemaRef = Arc::new(Schema::new(fields.to_vec()));
            let mut writer = ArrowWriter::try_new(&mut file, schema.clone(), None)?;
            loop {
                let some = rows.by_ref().take(ROWS_AT_ONCE).collect::<anyhow::Result<Vec<_>>>()?;
                if some.is_empty() {
                    break;
                }
                let urls = StringArray::from_iter_values(some.iter().map(|(_, url)| url));
                let ranks = Float64Array::from_iter_values(some.iter().map(|(rank, _)| *rank));
                writer.write(&RecordBatch::try_new(schema.clone(), vec![Arc::new(urls), Arc::new(ranks)])?)?;
            }
            writer.close()?;
        } else {
            write_csv_line(&mut file, ["url".into(), "rank".into()])?;
            for row in rows {
                let (rank, name) = row?;
                write_csv_line(&mut file, [name.into(), rank.to_string().into()])?;
            }
        }
        Ok(file.finish()?)
    }
}
