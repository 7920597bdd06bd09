//! A crawl's directory: `crawl.toml`, `archive/`, `state/`, `dataset/`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use store_embedded::EmbeddedStore;

use crate::options::Options;

/// A directory that holds a crawl, or will.
#[derive(Clone, Debug)]
pub struct CrawlDir {
    root: PathBuf,
}

impl CrawlDir {
    /// A directory for a crawl, new or not. It is not touched yet.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        CrawlDir { root: root.into() }
    }

    /// A directory that holds a crawl.
    ///
    /// # Errors
    /// It does not; the message says what is there instead.
    pub fn existing(root: &Path) -> anyhow::Result<Self> {
        let dir = CrawlDir::at(root);
        if !root.is_dir() {
            bail!("{}: no such directory", root.display());
        }
        if !dir.holds_crawl() {
            bail!("{}: holds no crawl (there is no crawl.toml)", root.display());
        }
        Ok(dir)
    }

    /// Makes the directory, if it is not there. What a process left that was killed before it wrote `crawl.toml` is taken
    /// over: nothing was crawled yet.
    ///
    /// # Errors
    /// It cannot be made or written to, or it holds something else than a crawl.
    pub fn create(&self) -> anyhow::Result<()> {
        if self.root.exists() && !self.root.is_dir() {
            bail!("{}: is not a directory", self.root.display());
        }
        std::fs::create_dir_all(&self.root).with_context(|| format!("cannot make {}", self.root.display()))?;
        if self.holds_crawl() {
            return Ok(());
        }
        let entries = self.root.read_dir().with_context(|| format!("cannot read {}", self.root.display()))?;
        let ours = [self.state(), self.temporary_settings()];
        if entries.map_while(Result::ok).any(|entry| !ours.contains(&entry.path())) {
            bail!("{}: is not empty and holds no crawl: choose another directory with -o", self.root.display());
        }
        Ok(())
    }

    /// The directory itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> PathBuf {
        self.root.join("crawl.toml")
    }

    /// Where the settings are written before they get their name.
    fn temporary_settings(&self) -> PathBuf {
        self.root.join("crawl.toml.tmp")
    }

    /// The WARC segments and their indexes.
    #[must_use]
    pub fn archive(&self) -> PathBuf {
        self.root.join("archive")
    }

    /// The Parquet tables.
    #[must_use]
    pub fn dataset(&self) -> PathBuf {
        self.root.join("dataset")
    }

    /// The store.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    /// True where a crawl was begun here.
    #[must_use]
    pub fn holds_crawl(&self) -> bool {
        self.settings().is_file()
    }

    /// The options of the crawl that is here.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn options(&self) -> anyhow::Result<Options> {
        Options::read(&self.settings())
    }

    /// Writes the options down, whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_options(&self, options: &Options) -> anyhow::Result<()> {
        let header = format!(
            "The settings of this crawl, by argiope {}.\nThe file can be given to `argiope crawl --config`.",
            env!("CARGO_PKG_VERSION")
        );
        let path = self.settings();
        let temporary = self.temporary_settings();
        let write = || -> std::io::Result<()> {
            use std::io::Write;
            let mut file = std::fs::File::create(&temporary)?;
            file.write_all(options.to_toml(&header).map_err(std::io::Error::other)?.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&temporary, &path)?;
            std::fs::File::open(&self.root)?.sync_all()
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }

    /// Opens the store, which one process can do at a time.
    ///
    /// # Errors
    /// It is in use, of another version, or damaged.
    pub fn open_store(&self) -> anyhow::Result<EmbeddedStore> {
        Ok(EmbeddedStore::open(&self.state(), store_embedded::Options::default())?)
    }
}
