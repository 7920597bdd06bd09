//! The database `crawldb` of the course Web Information Extraction and Retrieval: seven tables in PostgreSQL
//! (`docs/exports.md`).
//!
//! ```text
//! state ──▶ sites ──▶ pages ──▶ documents ──▶ images ──▶ links        each by COPY, into a schema of another name
//!                                                                     ──▶ keys, old schema away, new name, COMMIT
//! ```
//!
//! All of it is one transaction: an export that is stopped leaves what was there. Ids are places in an order that the crawl
//! determines: sites by name, pages by key.

mod codes;
mod copy;
mod documents;
mod fitting;
mod images;
mod links;
mod pages;
mod schema;
mod sites;

use std::borrow::Cow;
use std::path::PathBuf;

use crate::{Crawl, ExportError, Filter, Progress, Selected};
use database::Address;
pub use fitting::Shortened;
use sites::Sites;

/// The schema.
pub const SCHEMA: &str = "crawldb";

/// Fills the schema of a database given as `postgres://USER@HOST/DATABASE` or as `host=… user=… dbname=…`. A schema of that
/// name is replaced if an export wrote it. Gives what was shortened to fit the course's columns.
///
/// # Errors
/// The database cannot be reached or refuses something, there is a schema `crawldb` of somebody else, or the crawl or its
/// dataset cannot be read.
pub fn write(
    crawl: &Crawl<'_>,
    filter: &Filter,
    database: &str,
    progress: Progress<'_>,
) -> Result<Shortened, ExportError> {
    let database = Address::parse(database).map_err(|error| ExportError::Other(format!("-o: {error}")))?;
    let mut client = database.connect(None).map_err(|error| ExportError::Other(error.to_string()))?;
    let result = client.transaction().map_err(Failed::from).and_then(|mut transaction| {
        let into = &mut transaction;
        schema::begin(into)?;
        let export = Export { crawl, filter };
        let sites = Sites::write(&export, into)?;
        pages::write(&export, sites, into, progress)?;
        let mut shortened = Shortened::default();
        documents::write(&export, into, &mut shortened)?;
        images::write(&export, into, &mut shortened)?;
        links::write(&export, into)?;
        schema::finish(into)?;
        transaction.commit()?;
        Ok(shortened)
    });
    result.map_err(|failed| match failed {
        Failed::Export(error) => error,
        Failed::Database(error) => ExportError::Other(format!("{}: {}", database.name(), database::in_words(&error))),
        Failed::Refused(why) => ExportError::Other(format!("{}: {why}", database.name())),
    })
}

/// What is exported.
struct Export<'e, 's> {
    crawl: &'e Crawl<'s>,
    filter: &'e Filter,
}

impl Export<'_, '_> {
    /// Calls `each` for every page with its id.
    fn pages(
        &self,
        progress: Progress<'_>,
        mut each: impl FnMut(i32, Selected) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let mut id = 0;
        let mut failed = None;
        let result = self.crawl.select(self.filter, false, progress, |selected| {
            id += 1;
            each(id, selected).map_err(|error| {
                failed = Some(error);
                ExportError::Other(String::new())
            })
        });
        match failed {
            Some(failed) => Err(failed),
            None => Ok(result?),
        }
    }

    /// The greatest body, in bytes.
    fn body_bytes_max(&self) -> usize {
        usize::try_from(self.crawl.body_bytes_max()).unwrap_or(usize::MAX)
    }

    /// Where what has to be sorted lies: the database may be on another machine.
    fn beside() -> PathBuf {
        std::env::temp_dir().join(SCHEMA)
    }
}

/// Why an export failed.
enum Failed {
    Export(ExportError),
    Database(postgres::Error),
    Refused(String),
}

impl From<postgres::Error> for Failed {
    fn from(error: postgres::Error) -> Self {
        Failed::Database(error)
    }
}

impl From<ExportError> for Failed {
    fn from(error: ExportError) -> Self {
        Failed::Export(error)
    }
}

impl From<sort::SortError> for Failed {
    fn from(error: sort::SortError) -> Self {
        Failed::Export(error.into())
    }
}

impl From<store::StoreError> for Failed {
    fn from(error: store::StoreError) -> Self {
        Failed::Export(error.into())
    }
}

impl From<dataset::DatasetError> for Failed {
    fn from(error: dataset::DatasetError) -> Self {
        Failed::Export(error.into())
    }
}

/// Text as PostgreSQL can hold it: U+0000 becomes U+FFFD.
fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}
