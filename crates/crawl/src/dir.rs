//! A crawl's directory: `crawl.toml`, `changes.jsonl`, `history.jsonl`, `views.json`, `secrets.toml`, `cookies.jsonl`, `archive/`, `state/`,
//! `dataset/`.

mod state;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use archive::ORPHANED;
use cookies::CookieFile;
use dataset::Layout;

use crate::held::Held;
pub use crate::socket::STATE;
use crate::tables::UNSETTLED;
use crate::traces::Traces;
use settings::options::Options;
use settings::plan::Plan;
use settings::secrets_file::{self, SECRETS, Secrets};
use settings::text_file::read_text_within;
use settings::usage;
use weburl::CanonicalUrl;

/// The file in `state/` by which a directory whose state is in a database recognises it.
const CRAWL_ID: &str = "crawl-id";

/// The name of the file with the settings.
pub const SETTINGS: &str = "crawl.toml";
/// The name of the file with the changes.
pub const CHANGES: &str = "changes.jsonl";
/// The name of the file that says how the crawl went.
pub const HISTORY: &str = "history.jsonl";
const VIEWS: &str = "views.json";
/// The name of the file with the cookies.
pub const COOKIES: &str = "cookies.jsonl";
const DATASET: &str = "dataset";

/// The file that makes a directory on shared storage a crawl with its state in a database: its name and its content.
#[must_use]
pub fn mark_of_shared(crawl_id: &str) -> (String, String) {
    (format!("{STATE}/{CRAWL_ID}"), format!("{crawl_id}\n"))
}

/// The other files of such a directory, each as the path in it.
pub const NAMES_OF_SHARED: [&[&str]; 2] = [&[SETTINGS], &[DATASET, UNSETTLED]];

/// Those files with their contents. The dataset is marked as unsettled, so that the next command that opens it derives the rest.
///
/// # Errors
/// The options cannot be written.
pub fn files_of_shared(options: &Options) -> anyhow::Result<[(String, String); 2]> {
    let settings = options.to_toml("The settings of a crawl by several workers.")?;
    let [settings_name, unsettled_name] = NAMES_OF_SHARED.map(|name| name.join("/"));
    Ok([(settings_name, settings), (unsettled_name, String::new())])
}

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

    /// The name of the directory of a crawl from this seed, if none is given. Two servers on one host are two crawls.
    #[must_use]
    pub fn default_name(seed: &CanonicalUrl) -> String {
        let site = seed.site();
        let host = site.host().trim_matches(['[', ']']).replace(':', "-");
        match (site.is_https(), site.port()) {
            (false, 80) | (true, 443) => format!("crawl-{host}"),
            (_, port) => format!("crawl-{host}-{port}"),
        }
    }

    /// A directory that holds a crawl.
    ///
    /// # Errors
    /// It does not; the message names what it found instead.
    pub fn existing(root: &Path) -> anyhow::Result<Self> {
        let dir = CrawlDir::at(root);
        match std::fs::metadata(root) {
            Err(error) if error.kind() == ErrorKind::NotFound => bail!("{}: no such directory", root.display()),
            Err(error) => bail!("{}: {error}: it cannot be looked at", root.display()),
            Ok(found) if !found.is_dir() => bail!("{}: is not a directory: name that of a crawl", root.display()),
            Ok(_) => {}
        }
        dir.refuse_closed()?;
        match std::fs::metadata(dir.settings()) {
            Ok(found) if found.is_file() => dir.refuse_links()?,
            _ => bail!("{}: holds no crawl (there is no crawl.toml)", root.display()),
        }
        Ok(dir)
    }

    /// Refuses a directory that may not be looked into: whether it holds a crawl cannot be known.
    ///
    /// # Errors
    /// It is one; the message names the way out.
    pub(crate) fn refuse_closed(&self) -> anyhow::Result<()> {
        match std::fs::metadata(self.settings()) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                bail!("{}: {error}: its owner must give you permission to read it", self.root.display())
            }
            _ => Ok(()),
        }
    }

    /// Refuses a directory with a symbolic link in place of one of its directories: the crawl would write and cut elsewhere. Links in
    /// place of files are refused when the files are opened ([`fresh`]).
    fn refuse_links(&self) -> anyhow::Result<()> {
        let archive = self.archive();
        let below = [ORPHANED, against::DIR].map(|name| archive.join(name));
        let ours = [archive, self.state(), self.dataset(), self.stream()].into_iter().chain(below);
        let listed =
            |dir: PathBuf| std::fs::read_dir(dir).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
        let tables = listed(self.dataset()).chain(listed(Layout::at(self.dataset()).all_items()));
        for path in ours.into_iter().chain(tables) {
            if std::fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink()) {
                bail!("{}: is a symbolic link, which is not followed within a crawl's directory", path.display());
            }
        }
        Ok(())
    }

    /// Makes the directory if it does not exist. Takes over the remains of a process that was killed before it wrote `crawl.toml`:
    /// it had not crawled anything.
    ///
    /// # Errors
    /// It cannot be made or written to, or it holds other files than a crawl's.
    pub fn create(&self) -> anyhow::Result<()> {
        if self.root.exists() && !self.root.is_dir() {
            bail!("{}: is not a directory", self.root.display());
        }
        std::fs::create_dir_all(&self.root).with_context(|| format!("cannot make {}", self.root.display()))?;
        if self.holds_crawl() {
            return self.refuse_links();
        }
        let entries = self.root.read_dir().with_context(|| format!("cannot read {}", self.root.display()))?;
        let ours = [self.state()].into_iter().chain(self.beside_state()).collect::<Vec<_>>();
        let is_ours = |path: &Path| {
            if *path == self.archive() { self.archive_has_no_record() } else { ours.iter().any(|our| our == path) }
        };
        if entries.map_while(Result::ok).any(|entry| !is_ours(&entry.path())) {
            bail!("{}: is not empty and holds no crawl: choose another directory with -o", self.root.display());
        }
        Ok(())
    }

    /// Whether there is nothing in the archive but what `--against` took in: a run makes that before its settings.
    fn archive_has_no_record(&self) -> bool {
        let entries = self.archive().read_dir();
        entries.is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == against::DIR)))
    }

    /// The files that a run may make before its settings, beside its state.
    fn beside_state(&self) -> [PathBuf; 5] {
        let (secrets, cookies) = (self.secrets_path(), self.cookies_path());
        let temporary = [self.temporary_settings(), secrets_file::temporary(&secrets), CookieFile::temporary(&cookies)];
        let [settings, of_secrets, of_cookies] = temporary;
        [secrets, cookies, settings, of_secrets, of_cookies]
    }

    /// What is missing here now.
    pub(crate) fn traces(&self) -> Traces {
        let others = self.beside_state().into_iter().chain([self.archive()]).collect();
        Traces::of(&self.root, self.settings(), [self.state(), self.mark()], others)
    }

    /// Identifies the directories of a crawl that begins here now, so it notices when they are replaced. If it writes a dataset,
    /// this makes the dataset's directory.
    ///
    /// # Errors
    /// They cannot be read, or made.
    pub fn hold(&self, writes_dataset: bool) -> anyhow::Result<Held> {
        let dataset = self.dataset();
        if writes_dataset {
            fresh::directory(&dataset).with_context(|| dataset.display().to_string())?;
        }
        let held = Held::of([self.root.clone(), self.state(), self.archive(), dataset]);
        held.with_context(|| self.root.display().to_string())
    }

    /// The directory itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> PathBuf {
        self.root.join(SETTINGS)
    }

    /// The secrets, if there are any.
    #[must_use]
    pub fn secrets_path(&self) -> PathBuf {
        self.root.join(SECRETS)
    }

    /// The cookies, if the crawl keeps any.
    #[must_use]
    pub fn cookies_path(&self) -> PathBuf {
        self.root.join(COOKIES)
    }

    /// The secrets of the crawl that is here, or will be.
    ///
    /// # Errors
    /// As [`Secrets::read`].
    pub fn secrets(&self) -> anyhow::Result<Secrets> {
        Secrets::read(&self.secrets_path())
    }

    /// Where the settings are written before they get their name.
    fn temporary_settings(&self) -> PathBuf {
        self.root.join("crawl.toml.tmp")
    }

    /// The changes made to it from outside.
    #[must_use]
    pub fn changes(&self) -> PathBuf {
        self.root.join(CHANGES)
    }

    /// How it went, minute by minute.
    #[must_use]
    pub fn history(&self) -> PathBuf {
        self.root.join(HISTORY)
    }

    /// The views of its table of URLs that somebody saved.
    #[must_use]
    pub fn views(&self) -> PathBuf {
        self.root.join(VIEWS)
    }

    /// The WARC segments and their indexes.
    #[must_use]
    pub fn archive(&self) -> PathBuf {
        self.root.join("archive")
    }

    /// The lines that wait for the stream's reader.
    #[must_use]
    pub fn stream(&self) -> PathBuf {
        self.root.join("stream")
    }

    /// The Parquet tables.
    #[must_use]
    pub fn dataset(&self) -> PathBuf {
        self.root.join(DATASET)
    }

    /// The embedded store, or the mark of a store in a database.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.root.join(STATE)
    }

    /// True if a crawl was begun here.
    #[must_use]
    pub fn holds_crawl(&self) -> bool {
        self.settings().is_file()
    }

    /// The options of the crawl here, without a browser: the directory may come from another person.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn options(&self) -> anyhow::Result<Options> {
        Ok(self.options_and_browser()?.0)
    }

    /// The same, and whether the file names a browser.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn options_and_browser(&self) -> anyhow::Result<(Options, bool)> {
        let path = self.settings();
        let text = read_text_within(&path).with_context(|| path.display().to_string())?;
        Options::of_others(&text).map_err(|error| usage(format!("{}: {error}", path.display())))
    }

    /// The plan of the crawl, to read what it recorded. It has no certificates: those are for fetching.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn plan_to_read(&self) -> anyhow::Result<Plan> {
        Plan::new(&Options { ca_cert: Vec::new(), ..self.options()? })
    }

    /// Writes the options without their secrets, atomically.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_options(&self, options: &Options) -> anyhow::Result<()> {
        self.write_noted_options(options, "")
    }

    /// The same with a note in one line, which the file has until it is written again.
    pub(crate) fn write_noted_options(&self, options: &Options, note: &str) -> anyhow::Result<()> {
        let header = format!(
            "The settings of this crawl, by argiope {}.\nThe file can be given to `argiope crawl --config`.\n{note}",
            env!("CARGO_PKG_VERSION")
        );
        let path = self.settings();
        let temporary = self.temporary_settings();
        let write = || -> std::io::Result<()> {
            use std::io::Write;
            let mut file = fresh::create(&temporary)?;
            file.write_all(options.to_toml(&header).map_err(std::io::Error::other)?.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&temporary, &path)?;
            std::fs::File::open(&self.root)?.sync_all()
        };
        fresh::renamed(&temporary, write).with_context(|| format!("cannot write {}", path.display()))
    }

    /// The mark by which the directory recognises a state in a database.
    fn mark(&self) -> PathBuf {
        self.state().join(CRAWL_ID)
    }
}

#[cfg(test)]
mod tests {
    use weburl::CanonicalRules;

    use super::*;

    #[test]
    fn settings_that_cannot_be_written_leave_no_file() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = CrawlDir::at(root.path());
        // No file can take its place.
        std::fs::create_dir_all(dir.settings().join("below")).expect("directories");
        dir.write_options(&Options::default()).expect_err("not written");
        assert!(!dir.temporary_settings().exists());
    }

    #[test]
    fn a_directory_is_named_after_host_and_port() {
        for (seed, name) in [
            ("http://a.test/x", "crawl-a.test"),
            ("https://a.test:443/", "crawl-a.test"),
            ("http://a.test:8080/", "crawl-a.test-8080"),
            ("https://a.test:80/", "crawl-a.test-80"),
            ("http://[::1]:81/", "crawl---1-81"),
        ] {
            let seed = CanonicalUrl::parse(seed, &CanonicalRules::default()).expect(seed);
            assert_eq!(CrawlDir::default_name(&seed), name);
        }
    }
}
