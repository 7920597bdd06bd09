//! Where the files of a dataset lie.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rules::RuleSet;

use crate::DatasetError;
use crate::schema::Table;

/// The directory of the lists.
pub(crate) const SUPERSEDED_DIR: &str = "superseded";
/// The extension of a list.
pub(crate) const SUPERSEDED_EXTENSION: &str = "keys";

/// The directory of the tables of items.
const ITEMS_DIR: &str = "items";

/// The extension of a file that is being written.
const UNFINISHED: &str = "unfinished";

/// The name, in place of a segment's, of the file of pages that have no record in the archive.
pub const UNRECORDED: &str = "unrecorded";

/// The directory of a dataset.
#[derive(Clone, Debug)]
pub struct Layout {
    root: PathBuf,
    /// The segments that are read, by the names of their files; `None` where all are.
    only: Option<Arc<BTreeSet<String>>>,
    /// What is taken out of pages beside the tables.
    rules: Arc<RuleSet>,
}

impl Layout {
    /// The dataset in a directory, which need not exist yet.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Layout { root: root.into(), only: None, rules: Arc::default() }
    }

    /// The same with no other segments than these (`NAME.warc.gz`), whatever else lies there.
    #[must_use]
    pub fn only<'a>(self, segments: impl IntoIterator<Item = &'a str>) -> Self {
        let only = segments.into_iter().map(|segment| stem_of(segment).to_owned()).collect();
        Layout { only: Some(Arc::new(only)), ..self }
    }

    /// The same with a table of items for each of these rules: a segment is covered only if its items are.
    #[must_use]
    pub fn with_rules(self, rules: Arc<RuleSet>) -> Self {
        Layout { rules, ..self }
    }

    /// What is taken out of pages.
    #[must_use]
    pub fn rules(&self) -> &RuleSet {
        &self.rules
    }

    /// The file of a rule's items for a segment.
    #[must_use]
    pub fn items(&self, rule: &str, segment: &str) -> PathBuf {
        self.items_dir(rule).join(format!("{}.parquet", stem_of(segment)))
    }

    /// The directory of a rule's items.
    #[must_use]
    pub fn items_dir(&self, rule: &str) -> PathBuf {
        self.all_items().join(rule)
    }

    /// The directory of the directories of all rules' items.
    #[must_use]
    pub fn all_items(&self) -> PathBuf {
        self.root.join(ITEMS_DIR)
    }

    /// The names of all tables of items that are there, whichever rules made them.
    ///
    /// # Errors
    /// The directory cannot be read. One that is not there has none.
    pub fn item_tables(&self) -> Result<Vec<String>, DatasetError> {
        let dir = self.all_items();
        let entries = match std::fs::read_dir(&dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| DatasetError::io(&dir, error))?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| DatasetError::io(&dir, error))?;
            names.extend(entry.path().is_dir().then(|| entry.file_name().to_string_lossy().into_owned()));
        }
        names.sort();
        Ok(names)
    }

    /// The finished files of a table of items, in the order of the segments.
    ///
    /// # Errors
    /// As [`Layout::item_tables`].
    pub fn item_files(&self, rule: &str) -> Result<Vec<PathBuf>, DatasetError> {
        self.files_in(&self.items_dir(rule), "parquet")
    }

    /// The files of items that are being written, or that a killed process left.
    ///
    /// # Errors
    /// As [`Layout::item_tables`].
    pub fn unfinished_item_files(&self) -> Result<Vec<PathBuf>, DatasetError> {
        let mut files = Vec::new();
        for rule in self.item_tables()? {
            files.extend(self.files_in(&self.items_dir(&rule), UNFINISHED)?);
        }
        Ok(files)
    }

    /// The directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file of a table for a segment (`NAME.warc.gz`, or [`UNRECORDED`]).
    #[must_use]
    pub fn file(&self, table: Table, segment: &str) -> PathBuf {
        self.root.join(table.as_str()).join(format!("{}.parquet", stem_of(segment)))
    }

    /// The list of the rows of a segment that later visits have superseded; there may be none.
    #[must_use]
    pub fn superseded(&self, segment: &str) -> PathBuf {
        superseded_list(&self.root, stem_of(segment))
    }

    /// The finished files of a table in the order of their names, which is the order of the segments.
    ///
    /// # Errors
    /// The directory cannot be read. One that is not there has no files.
    pub fn files(&self, table: Table) -> Result<Vec<PathBuf>, DatasetError> {
        self.files_with(table, "parquet")
    }

    /// The files of a table that are being written, or that a killed process left.
    ///
    /// # Errors
    /// As [`Layout::files`].
    pub fn unfinished_files(&self, table: Table) -> Result<Vec<PathBuf>, DatasetError> {
        self.files_with(table, UNFINISHED)
    }

    fn files_with(&self, table: Table, ending: &str) -> Result<Vec<PathBuf>, DatasetError> {
        self.files_in(&self.root.join(table.as_str()), ending)
    }

    fn files_in(&self, dir: &Path, ending: &str) -> Result<Vec<PathBuf>, DatasetError> {
        let entries = match std::fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(DatasetError::io(dir, error)),
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| DatasetError::io(dir, error))?.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let is_read = self.only.as_ref().is_none_or(|only| only.contains(stem));
            if is_read && path.extension().is_some_and(|extension| extension == ending) {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }

    /// True if there is at least one file of pages.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.files(Table::Pages).is_ok_and(|files| !files.is_empty())
    }
}

/// The name of a segment's files, without their extension.
fn stem_of(segment: &str) -> &str {
    segment.trim_end_matches(".warc.gz")
}

/// The file of a table while it is written. Tools that read a directory of Parquet files (Arrow, pandas, Spark) leave out names that begin
/// with `_`.
pub(crate) fn unfinished(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("_{stem}.{UNFINISHED}"))
}

/// The list of the segment with this name, without its extension.
pub(crate) fn superseded_list(root: &Path, stem: &str) -> PathBuf {
    root.join(SUPERSEDED_DIR).join(format!("{stem}.{SUPERSEDED_EXTENSION}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_segments_are_all_that_is_read() {
        let root = tempfile::tempdir().expect("a directory");
        let layout = Layout::at(root.path());
        std::fs::create_dir(root.path().join("pages")).expect("a directory");
        for segment in ["a-1", "a-2", UNRECORDED] {
            std::fs::write(layout.file(Table::Pages, segment), "").expect("a file");
        }
        let count = |layout: Layout| layout.files(Table::Pages).expect("a directory").len();
        assert_eq!(count(layout.clone()), 3);
        assert_eq!(count(layout.clone().only(["a-2.warc.gz", "b-1.warc.gz"])), 1);
        assert_eq!(count(layout.only([])), 0);
    }
}
