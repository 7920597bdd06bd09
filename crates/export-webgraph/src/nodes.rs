//! The nodes: URLs in the order of their keys, so that those of a site lie together.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use dataset::Column;
use dataset::schema::Table;
use export::{Crawl, ExportError, Filter, Progress};
use sort::Sorter;
use weburl::UrlKey;

/// Bytes of a key.
pub(crate) const KEY: usize = 16;

/// The keys of the nodes, in order, in a file without a name.
pub(crate) struct Nodes {
    keys: File,
    dir: PathBuf,
    count: usize,
}

impl Nodes {
    /// Writes the URLs, one a line.
    pub(crate) fn write(
        crawl: &Crawl<'_>,
        filter: &Filter,
        path: &Path,
        progress: Progress<'_>,
    ) -> Result<Self, ExportError> {
        let mut sorter = Sorter::beside(path);
        crawl.select(filter, false, progress, |selected| {
            let url = &selected.entry.candidate.url;
            Ok(sorter.push(&[&url.key().to_bytes(), url.as_str().as_bytes()])?)
        })?;
        if filter.is_everything() {
            push_linked(crawl, &mut sorter)?;
        }
        let dir = path.parent().unwrap_or(Path::new(".")).to_owned();
        let in_dir = |error| ExportError::io(&dir, error);
        let in_file = |error| ExportError::io(path, error);
        let mut keys = BufWriter::new(tempfile::tempfile_in(&dir).map_err(in_dir)?);
        let mut urls = BufWriter::new(File::create(path).map_err(in_file)?);
        let mut count = 0;
        let mut last = Vec::new();
        for record in sorter.sorted()? {
            let record = record?;
            let Some((key, url)) = record.split_at_checked(KEY).filter(|(key, _)| last != *key) else { continue };
            last = key.to_owned();
            count += 1;
            keys.write_all(key).map_err(in_dir)?;
            urls.write_all(url).and_then(|()| urls.write_all(b"\n")).map_err(in_file)?;
        }
        urls.flush().map_err(in_file)?;
        let keys = keys.into_inner().map_err(|error| in_dir(error.into_error()))?;
        Ok(Nodes { keys, dir, count })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Calls `each` for every node with its number and its key, in order.
    pub(crate) fn each(
        &self,
        mut each: impl FnMut(u64, &[u8; KEY]) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let error = |error| ExportError::io(&self.dir, error);
        let mut keys = BufReader::new(&self.keys);
        keys.rewind().map_err(error)?;
        let mut key = [0; KEY];
        for number in 0..self.count as u64 {
            keys.read_exact(&mut key).map_err(error)?;
            each(number, &key)?;
        }
        Ok(())
    }
}

/// Adds both ends of every link.
fn push_linked(crawl: &Crawl<'_>, sorter: &mut Sorter) -> Result<(), ExportError> {
    for batch in crawl.table(Table::Links, &["source_key", "source", "target_key", "target"])? {
        let batch = batch?;
        let mut last_source = None;
        for row in 0..batch.num_rows() {
            let source = batch.key("source_key", row);
            let ends: &[_] = if source == last_source { &[("target_key", "target")] } else { &ENDS };
            last_source = source;
            for (key, url) in ends {
                if let (Some(key), Some(url)) = (batch.key(key, row).map(UrlKey::to_bytes), batch.text(url, row)) {
                    sorter.push(&[&key, url.as_bytes()])?;
                }
            }
        }
    }
    Ok(())
}

const ENDS: [(&str, &str); 2] = [("source_key", "source"), ("target_key", "target")];
