//! The archive of a crawl by several workers: sealed segments on storage that all of them reach.
//!
//! ```text
//! worker's directory ── put_segment ──▶ file:///dir, s3://bucket/prefix, gs://…, az://… ── get ──▶ other workers
//! ```
//!
//! The root is laid out as the directory of a crawl (`crawl.toml`, `archive/`, `dataset/`), so what reads a crawl made by one process
//! reads this one. Of a segment the WARC file is put last: where it lies, all of the segment does.
//!
//! Invariants: memory is bounded, whatever the size of a file; every request is tried again for a bounded time; nothing here knows the
//! state, so what is on the storage and what counts are brought in line by the worker that commits.
//!
//! Calls wait for the network. They are for threads, not for within an async runtime.

mod error;
mod place;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset::Layout;
use dataset::schema::Table;
use futures_util::TryStreamExt;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, WriteMultipart};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;

pub use error::SharedArchiveError;

/// What is read of a file at once, and the size of an object above which it goes up in parts of that size, in bytes.
const PART_BYTES: usize = 8 << 20;

/// Parts on their way at once.
const PARTS_AT_ONCE: usize = 4;

/// Bytes that are read of a text.
pub const TEXT_BYTES_MAX: usize = 64 << 10;

/// What is written to see whether the archive can be written.
const PROBE: &str = "write-probe";
/// The directory of the segments, in a crawl's directory as here.
pub const ARCHIVE: &str = "archive";
/// The directory of the dataset.
pub const DATASET: &str = "dataset";
/// The directory in [`ARCHIVE`] for what the state does not know.
const ORPHANED: &str = "orphaned";
/// The ending of the names of segments.
const WARC_ENDING: &str = ".warc.gz";

/// An archive on shared storage.
pub struct SharedArchive {
    url: String,
    store: Arc<dyn ObjectStore>,
    /// `None` only while this is dropped.
    runtime: Option<Runtime>,
}

/// An object of the archive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Object {
    /// Its name below the root, as `archive/NAME.warc.gz`.
    pub key: String,
    /// Its length in bytes.
    pub bytes: u64,
}

impl SharedArchive {
    /// The archive at `file:///dir`, `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`, with credentials, and with all
    /// that else may be set, from the usual variables of the environment (`AWS_…`, `GOOGLE_…`, `AZURE_…`). Nothing is asked of it yet.
    ///
    /// # Errors
    /// The address is none of these, or what the environment says cannot be used.
    pub fn open(url: &str) -> Result<Self, SharedArchiveError> {
        Self::open_with(
            url,
            std::env::vars_os().filter_map(|(key, value)| key.into_string().ok().zip(value.into_string().ok())),
        )
    }

    /// The same with these variables in place of the environment's.
    ///
    /// # Errors
    /// As [`SharedArchive::open`].
    pub fn open_with(
        url: &str,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SharedArchiveError> {
        let store = place::store(url, variables)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("shared-archive")
            .enable_all()
            .build()
            .map_err(|source| SharedArchiveError::Runtime { source })?;
        Ok(SharedArchive { url: place::shown(url).into_owned(), store, runtime: Some(runtime) })
    }

    /// An address for a message, without what may be secret. Where that changes nothing, it has no such part.
    #[must_use]
    pub fn shown(url: &str) -> Cow<'_, str> {
        place::shown(url)
    }

    /// Its address, as it may be shown.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Makes sure that it can be written to.
    ///
    /// # Errors
    /// It cannot; the message says why.
    pub fn check(&self) -> Result<(), SharedArchiveError> {
        let key = key(PROBE)?;
        let probe = async {
            self.store.put(&key, Vec::from(PROBE).into()).await?;
            ignore_missing(self.store.delete(&key).await)
        };
        self.wait(probe).map_err(|error| SharedArchiveError::write(&self.url, &error))
    }

    /// Puts a segment (`NAME.warc.gz`) here from a directory that is laid out as a crawl's: its dataset files and its index as far as
    /// they are there, and then the WARC file. May be repeated.
    ///
    /// # Errors
    /// A file cannot be read, or the archive cannot be written.
    pub fn put_segment(&self, name: &str, crawl_dir: &Path) -> Result<(), SharedArchiveError> {
        let items = Layout::at(crawl_dir.join(DATASET))
            .item_tables()
            .map_err(|error| SharedArchiveError::local(&crawl_dir.join(DATASET), std::io::Error::other(error)))?;
        for key in beside(name, &items) {
            let path = crawl_dir.join(&key);
            if path.is_file() {
                self.put(&key, &path)?;
            }
        }
        let warc = warc_of(name);
        self.put(&warc, &crawl_dir.join(&warc))
    }

    /// Takes a segment out of the archive that the state does not know as sealed. Its WARC file is moved to `archive/orphaned/`, since nothing
    /// else may have its records. Its other files are removed: they are made of that one, or are all that a lost worker wrote. Gives what was
    /// moved; `None` if its WARC file is not here. May be repeated.
    ///
    /// # Errors
    /// The archive cannot be written.
    pub fn set_aside(&self, name: &str) -> Result<Option<Object>, SharedArchiveError> {
        beside(name, &[]).chain(self.items_of(name)?).try_for_each(|name| self.remove(&name))?;
        let from = key(&warc_of(name))?;
        self.wait(async {
            let Some(bytes) = self.bytes_of(&from).await? else { return Ok(None) };
            let (mut to, mut number) = (key(&orphan_of(name, 1))?, 1);
            // One as long as this one is the same: a process was killed while it moved it.
            while self.bytes_of(&to).await?.is_some_and(|found| found != bytes) {
                number += 1;
                to = key(&orphan_of(name, number))?;
            }
            match self.store.rename(&from, &to).await {
                Ok(()) => Ok(Some(Object { key: to.to_string(), bytes })),
                // Another worker was faster.
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(SharedArchiveError::write(&self.url, &error)),
            }
        })
    }

    async fn bytes_of(&self, key: &Key) -> Result<Option<u64>, SharedArchiveError> {
        match self.store.head(key).await {
            Ok(found) => Ok(Some(found.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(SharedArchiveError::read(&self.url, &error)),
        }
    }

    /// The WARC files of the segments here by the segments' names, with their lengths in bytes. Those set aside are not among them.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn segments(&self) -> Result<BTreeMap<String, u64>, SharedArchiveError> {
        let listed = self.wait(self.store.list_with_delimiter(Some(&key(ARCHIVE)?)));
        let listed = listed.map_err(|error| SharedArchiveError::read(&self.url, &error))?;
        let segment = |object: object_store::ObjectMeta| {
            let name = object.location.filename().filter(|name| name.ends_with(WARC_ENDING))?;
            Some((name.to_owned(), object.size))
        };
        Ok(listed.objects.into_iter().filter_map(segment).collect())
    }

    /// The files of a segment in all tables of items that are here.
    fn items_of(&self, name: &str) -> Result<Vec<String>, SharedArchiveError> {
        let layout = Layout::at(DATASET);
        let (all, file) = (key(&layout.all_items().display().to_string())?, layout.items("", name));
        let is_of_segment = |object: &object_store::ObjectMeta| {
            file.file_name().and_then(|file| file.to_str()) == object.location.filename()
        };
        let listed = self.wait(self.store.list(Some(&all)).try_collect::<Vec<_>>());
        let listed = listed.map_err(|error| SharedArchiveError::read(&self.url, &error))?;
        Ok(listed.iter().filter(|object| is_of_segment(object)).map(|object| object.location.to_string()).collect())
    }

    /// Copies an object to a local file atomically. False if there is no such object.
    ///
    /// # Errors
    /// The object cannot be read, or the file cannot be written.
    pub fn get(&self, name: &str, to: &Path) -> Result<bool, SharedArchiveError> {
        let key = key(name)?;
        let unfinished = to.with_added_extension("unfinished");
        let local = |source| SharedArchiveError::local(&unfinished, source);
        let read = |error: object_store::Error| SharedArchiveError::read(&self.url, &error);
        self.wait(async {
            let object = match self.store.get(&key).await {
                Ok(object) => object,
                Err(object_store::Error::NotFound { .. }) => return Ok(false),
                Err(error) => return Err(read(error)),
            };
            if let Some(dir) = to.parent() {
                tokio::fs::create_dir_all(dir).await.map_err(local)?;
            }
            let mut file = tokio::fs::File::from_std(fresh::create(&unfinished).map_err(local)?);
            let mut pieces = object.into_stream();
            while let Some(piece) = pieces.try_next().await.map_err(read)? {
                file.write_all(&piece).await.map_err(local)?;
            }
            file.flush().await.map_err(local)?;
            tokio::fs::rename(&unfinished, to).await.map_err(local)?;
            Ok(true)
        })
    }

    /// Bytes of the WARC file of a segment; fewer where it ends before. `None` if there is no such file.
    ///
    /// # Errors
    /// The archive cannot be read, or the file ends before the first of them.
    pub fn piece(&self, segment: &str, range: Range<u64>) -> Result<Option<Vec<u8>>, SharedArchiveError> {
        let key = key(&warc_of(segment))?;
        match self.wait(self.store.get_range(&key, range)) {
            Ok(bytes) => Ok(Some(bytes.to_vec())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(SharedArchiveError::read(&self.url, &error)),
        }
    }

    /// All objects, in the order of their keys.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn list(&self) -> Result<Vec<Object>, SharedArchiveError> {
        let object = |meta: object_store::ObjectMeta| Object { key: meta.location.to_string(), bytes: meta.size };
        let objects = self.wait(self.store.list(None).map_ok(object).try_collect::<Vec<Object>>());
        let mut objects = objects.map_err(|error| SharedArchiveError::read(&self.url, &error))?;
        objects.sort();
        Ok(objects)
    }

    /// Puts a text here, such as `crawl.toml`, unless there is one. Says whether it did.
    ///
    /// # Errors
    /// The archive cannot be written.
    pub fn put_text_if_absent(&self, name: &str, text: &str) -> Result<bool, SharedArchiveError> {
        let key = key(name)?;
        let payload = text.as_bytes().to_vec().into();
        match self.wait(self.store.put_opts(&key, payload, PutMode::Create.into())) {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(SharedArchiveError::write(&self.url, &error)),
        }
    }

    /// The text of a small object, such as a mark; no more than [`TEXT_BYTES_MAX`] of it. `None` if there is no such object.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn text(&self, name: &str) -> Result<Option<String>, SharedArchiveError> {
        self.text_begin(name, TEXT_BYTES_MAX)
    }

    /// The whole text of an object that may be longer. `None` if there is no such object.
    ///
    /// # Errors
    /// The archive cannot be read, or the text has more bytes than `bytes_max`.
    pub fn whole_text(&self, name: &str, bytes_max: usize) -> Result<Option<String>, SharedArchiveError> {
        match self.text_begin(name, bytes_max + 1)? {
            Some(text) if text.len() > bytes_max => Err(SharedArchiveError::Read {
                url: self.url.clone(),
                detail: format!("{name} has more than {bytes_max} bytes"),
            }),
            text => Ok(text),
        }
    }

    fn text_begin(&self, name: &str, bytes_max: usize) -> Result<Option<String>, SharedArchiveError> {
        let key = key(name)?;
        let read = async {
            let object = match self.store.get(&key).await {
                Ok(object) => object,
                Err(object_store::Error::NotFound { .. }) => return Ok(None),
                Err(error) => return Err(error),
            };
            let (mut pieces, mut text) = (object.into_stream(), Vec::new());
            while text.len() < bytes_max
                && let Some(piece) = pieces.try_next().await?
            {
                text.extend_from_slice(&piece);
            }
            text.truncate(bytes_max);
            Ok(Some(String::from_utf8_lossy(&text).into_owned()))
        };
        self.wait(read).map_err(|error| SharedArchiveError::read(&self.url, &error))
    }

    /// Whether there is anything in this directory.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn has_any_in(&self, directory: &str) -> Result<bool, SharedArchiveError> {
        let prefix = key(directory)?;
        let first = self.wait(async { self.store.list(Some(&prefix)).try_next().await });
        Ok(first.map_err(|error| SharedArchiveError::read(&self.url, &error))?.is_some())
    }

    /// Removes an object, if it is there.
    ///
    /// # Errors
    /// The archive cannot be written.
    pub fn remove(&self, name: &str) -> Result<(), SharedArchiveError> {
        let key = key(name)?;
        let removed = self.wait(async { ignore_missing(self.store.delete(&key).await) });
        removed.map_err(|error| SharedArchiveError::write(&self.url, &error))
    }

    /// Puts a text here, in place of the one that may be there.
    ///
    /// # Errors
    /// The archive cannot be written.
    pub fn put_text(&self, name: &str, text: &str) -> Result<(), SharedArchiveError> {
        let key = key(name)?;
        let put = self.wait(self.store.put(&key, text.as_bytes().to_vec().into()));
        put.map(drop).map_err(|error| SharedArchiveError::write(&self.url, &error))
    }

    fn put(&self, name: &str, from: &Path) -> Result<(), SharedArchiveError> {
        let key = key(name)?;
        let local = |source| SharedArchiveError::local(from, source);
        let failed = |error: object_store::Error| SharedArchiveError::write(&self.url, &error);
        self.wait(async {
            let mut file = tokio::fs::File::open(from).await.map_err(local)?;
            let mut piece = next_piece(&mut file).await.map_err(local)?;
            if piece.len() < PART_BYTES {
                return self.store.put(&key, piece.into()).await.map(|_| ()).map_err(failed);
            }
            let upload = self.store.put_multipart(&key).await.map_err(failed)?;
            let mut upload = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
            while !piece.is_empty() {
                let taken = upload.wait_for_capacity(PARTS_AT_ONCE).await.map_err(failed);
                upload.put(piece.into());
                let next = next_piece(&mut file).await.map_err(local);
                piece = match taken.and(next) {
                    Ok(next) => next,
                    Err(error) => {
                        // Where even this fails, the storage removes the parts when it sees fit.
                        let _ = upload.abort().await;
                        return Err(error);
                    }
                };
            }
            upload.finish().await.map(|_| ()).map_err(failed)
        })
    }

    fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        match &self.runtime {
            Some(runtime) => runtime.block_on(work),
            None => unreachable!("it is being dropped"),
        }
    }
}

impl Drop for SharedArchive {
    fn drop(&mut self) {
        // Within an async runtime another must not be waited for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Where the WARC file of a segment lies.
fn warc_of(name: &str) -> String {
    format!("{ARCHIVE}/{name}")
}

/// Where it lies once it is set aside: an older state may have been restored more than once.
fn orphan_of(name: &str, number: u32) -> String {
    match number {
        1 => format!("{ARCHIVE}/{ORPHANED}/{name}"),
        _ => format!("{ARCHIVE}/{ORPHANED}/{}-again-{number}{WARC_ENDING}", name.trim_end_matches(WARC_ENDING)),
    }
}

/// Where the files of a segment lie that are not its WARC file, with those in these tables of items.
fn beside(name: &str, items: &[String]) -> impl Iterator<Item = String> {
    let index = format!("{ARCHIVE}/{}.cdxj", name.trim_end_matches(WARC_ENDING));
    let layout = Layout::at(DATASET);
    let tables = Table::ALL.map(|table| layout.file(table, name));
    let items: Vec<PathBuf> = items.iter().map(|rule| layout.items(rule, name)).collect();
    tables.into_iter().chain(items).map(|file| file.display().to_string()).chain([index])
}

fn key(name: &str) -> Result<Key, SharedArchiveError> {
    Key::parse(name).map_err(|source| SharedArchiveError::Key { key: name.to_owned(), source })
}

/// What goes up at once: less than [`PART_BYTES`] only at the end of the file.
async fn next_piece(file: &mut tokio::fs::File) -> std::io::Result<Vec<u8>> {
    let mut piece = Vec::with_capacity(PART_BYTES);
    file.take(PART_BYTES as u64).read_to_end(&mut piece).await?;
    Ok(piece)
}

fn ignore_missing(removed: object_store::Result<()>) -> object_store::Result<()> {
    match removed {
        Err(object_store::Error::NotFound { .. }) => Ok(()),
        removed => removed,
    }
}
