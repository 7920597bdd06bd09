//! A crawl's directory: `crawl.toml`, `changes.jsonl`, `history.jsonl`, `views.json`, `secrets.toml`, `cookies.jsonl`, `archive/`, `state/`,
//! `dataset/`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use archive::{ArchiveError, ArchiveInState, ORPHANED};
use cookies::CookieFile;
use engine::clock::Clock;
use model::Limits;
use store::{CrawlView, Store};
use store_embedded::EmbeddedStore;
use store_postgres::{PostgresStore, Schema};

use crate::held::Held;
use crate::socket::{self, STATE};
use crate::stream;
use crate::tables::UNSETTLED;
use crate::traces::Traces;
use crate::unready::is_in_use;
use settings::options::Options;
use settings::plan::Plan;
use settings::secrets_file::{self, SECRETS, Secrets};
use settings::text_file::read_text;
use settings::usage;
use weburl::CanonicalUrl;

/// The file in `state/` by which a directory whose state is in a database recognises it.
const CRAWL_ID: &str = "crawl-id";

/// How long a state that others have open is tried before it counts as in use.
const OTHERS_TIME_MAX: Duration = Duration::from_secs(3);
/// The time between two tries. It is short: where many read, the state is free for a moment only.
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(10);

/// The name of the file with the settings.
pub const SETTINGS: &str = "crawl.toml";
/// The name of the file with the changes.
pub const CHANGES: &str = "changes.jsonl";
const HISTORY: &str = "history.jsonl";
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

/// What a command opens a state for. Of a crawl by several workers, its server alone decides what is crawled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// To decide what is crawled: by a run, a round, seeds, settings, the queue.
    Crawl,
    /// To bring archive, dataset and state in line, when no crawl runs: `derive`, `check --repair`.
    Mend,
    /// To take pages of the archive into it. A new schema of a database replaces a lost state.
    Adopt,
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
        match std::fs::metadata(dir.settings()) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                bail!("{}: {error}: its owner must give you permission to read it", root.display())
            }
            Ok(found) if found.is_file() => dir.refuse_links()?,
            _ => bail!("{}: holds no crawl (there is no crawl.toml)", root.display()),
        }
        Ok(dir)
    }

    /// Refuses a directory with a symbolic link in place of one of its directories: the crawl would write and cut elsewhere. Links in
    /// place of files are refused when the files are opened ([`fresh`]).
    fn refuse_links(&self) -> anyhow::Result<()> {
        let archive = self.archive();
        let below = [ORPHANED, against::DIR].map(|name| archive.join(name));
        let ours = [archive, self.state(), self.dataset(), self.stream()].into_iter().chain(below);
        let tables =
            std::fs::read_dir(self.dataset()).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
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
        if entries.map_while(Result::ok).any(|entry| !ours.contains(&entry.path())) {
            bail!("{}: is not empty and holds no crawl: choose another directory with -o", self.root.display());
        }
        Ok(())
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
        Traces::of(&self.root, self.settings(), self.state(), self.beside_state().to_vec())
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
        let text = read_text(&path).with_context(|| path.display().to_string())?;
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
        let header = format!(
            "The settings of this crawl, by argiope {}.\nThe file can be given to `argiope crawl --config`.",
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

    /// Opens the store that the options name, which one process can do at a time: in the directory, or in a database. It waits some seconds
    /// for others that have it open, unless a crawl runs. Only the process that has it may change the settings: what was read of them
    /// before may have changed until this returns ([`crate::resume::Basis`]).
    ///
    /// # Errors
    /// It is in use, of another version, or damaged; the database cannot be reached, or holds another crawl, or one by several workers. Or the
    /// archive is not of this state, or the state is empty beside an archive. Going on would report an empty crawl.
    pub fn open_store(&self, options: &Options) -> anyhow::Result<Arc<dyn Store>> {
        self.open_for(options, Aim::Crawl)
    }

    /// The same to bring the files in line with what was crawled. This may be done for a crawl by several workers, too, when they have ended.
    ///
    /// # Errors
    /// As [`CrawlDir::open_store`].
    pub fn open_store_to_mend(&self, options: &Options) -> anyhow::Result<Arc<dyn Store>> {
        self.open_for(options, Aim::Mend)
    }

    fn open_for(&self, options: &Options, aim: Aim) -> anyhow::Result<Arc<dyn Store>> {
        // An empty state beside an archive is refused, and was perhaps made just now.
        let mut traces = self.traces();
        let store = self.open_state(options, aim)?;
        traces.hold(store.clone());
        self.check_archive(store.as_ref())?;
        // Before a round begins, or anything else that the run would leave behind.
        if aim == Aim::Crawl && options.no_archive != Some(true) {
            archive::is_whole(&self.archive(), &ArchiveInState::of(store.as_ref(), &Limits::default())?)?;
        }
        // Before anything changes what was committed last.
        stream::settle(&self.stream(), store.as_ref())?;
        traces.keep();
        Ok(store)
    }

    /// Opens it read-only. Several processes may do so at once with a directory, and nothing in it changes. In a database others may commit
    /// meanwhile; of several workers only what they have sealed is shown.
    ///
    /// # Errors
    /// As [`CrawlDir::open_store`].
    pub fn open_to_read(&self, options: &Options) -> anyhow::Result<Arc<dyn CrawlView>> {
        let view: Arc<dyn CrawlView> = match &options.store {
            Some(address) => {
                let schema = schema_of(options)?;
                match store_postgres::read(&address.address()?, &schema)?.filter(|view| self.is_mine(view.as_ref())) {
                    Some(view) => view.into(),
                    // It makes a schema of an earlier format readable, or says what is wrong.
                    None => self.open_state(options, Aim::Mend)?,
                }
            }
            None => {
                self.refuse_mark()?;
                Arc::new(EmbeddedStore::open_to_read(&self.state(), &store_embedded::Options::default())?)
            }
        };
        self.check_archive(view.as_ref())?;
        Ok(view)
    }

    /// The same, but a crawl may begin as soon as this returns. The view keeps the state that it found. `None` where that cannot be: of a
    /// state in a database, or with very many tables.
    ///
    /// # Errors
    /// As [`CrawlDir::open_store`].
    pub fn open_apart(&self, options: &Options) -> anyhow::Result<Option<Arc<dyn CrawlView>>> {
        if options.store.is_some() {
            return Ok(None);
        }
        self.refuse_mark()?;
        let Some(view) = EmbeddedStore::open_apart(&self.state(), &store_embedded::Options::default())? else {
            return Ok(None);
        };
        self.check_archive(&view)?;
        Ok(Some(Arc::new(view)))
    }

    fn check_archive(&self, state: &dyn CrawlView) -> anyhow::Result<()> {
        let in_state = ArchiveInState::of(state, &Limits::default())?;
        archive::belongs_together(&self.archive(), &in_state).map_err(|error| self.with_way_out(error))
    }

    /// The error of an archive that does not fit the state, with a way that works whatever the state is of.
    pub(crate) fn with_way_out(&self, error: ArchiveError) -> anyhow::Error {
        let root = self.root.display();
        let new = "-o with another directory starts a new crawl";
        match error {
            ArchiveError::StateLost { .. } => {
                anyhow!("{error}; `argiope adopt {root}` takes the archive's pages into it; {new}")
            }
            ArchiveError::OfAnotherCrawl { .. } if self.mark().exists() => anyhow!(
                "{error}: put back the archive that belongs to the state in the database; or move {} away, name an empty schema in {} \
                 (store-schema), and `argiope adopt {root}` makes another state from this archive; {new}",
                self.state().display(),
                self.settings().display()
            ),
            ArchiveError::OfAnotherCrawl { .. } => anyhow!(
                "{error}: put back what belongs together; or move {} away, and `argiope adopt {root}` makes another state from this archive; \
                 {new}",
                self.state().display()
            ),
            error => error.into(),
        }
    }

    /// The same for adopting the archive: a new schema of a database replaces a lost state.
    ///
    /// # Errors
    /// As [`CrawlDir::open_store`], except an archive of another state, and another crawl's mark. Or the crawl keeps no archive.
    pub(crate) fn open_store_to_adopt(&self, options: &Options) -> anyhow::Result<Arc<dyn Store>> {
        if options.no_archive == Some(true) {
            bail!(
                "{0}: the crawl keeps no archive (--no-archive), so there is nothing to adopt: where its state is lost, move what is left of \
                 {1} away, and `argiope crawl -o {0} SEED` begins again",
                self.root.display(),
                self.state().display()
            );
        }
        self.open_state(options, Aim::Adopt)
    }

    /// Opens the state to change it, which is decided here alone. Others that have it, to read it or for a change, mostly have it for a moment.
    fn open_state(&self, options: &Options, aim: Aim) -> anyhow::Result<Arc<dyn Store>> {
        let clock = Clock::start();
        let began = clock.now();
        loop {
            match self.open_state_at_once(options, aim) {
                // A crawl that runs has it for longer.
                Err(error)
                    if is_in_use(&error) && clock.now().since(began) < OTHERS_TIME_MAX && !socket::runs(&self.root) =>
                {
                    std::thread::sleep(TRY_AGAIN_AFTER);
                }
                opened => return opened,
            }
        }
    }

    fn open_state_at_once(&self, options: &Options, aim: Aim) -> anyhow::Result<Arc<dyn Store>> {
        let mark = self.mark();
        match &options.store {
            Some(address) => {
                if self.state().join("engine").exists() {
                    bail!("{}: the state of this crawl is in its directory, not in a database", self.root.display());
                }
                if aim != Aim::Mend {
                    self.refuse_of_workers_in(options)?;
                }
                let schema = schema_of(options)?;
                let store = PostgresStore::open(&address.address()?, &schema)?;
                let place = format!("schema {schema} of {address}");
                if aim == Aim::Adopt && store.is_new() {
                    self.write_mark(&mark, &store.crawl_id()?)?;
                } else {
                    self.recognise(&mark, &store, &place)?;
                }
                Ok(Arc::new(store))
            }
            None => {
                self.refuse_mark()?;
                Ok(Arc::new(EmbeddedStore::open(&self.state(), store_embedded::Options::default())?))
            }
        }
    }

    /// Refuses to change a crawl by several workers in its directory. Its settings and changes are in the database. The files here are
    /// copies that its server writes, so a change of theirs would count for nobody.
    ///
    /// # Errors
    /// It is one; or `crawl.toml` or the database cannot be read.
    pub fn refuse_of_workers(&self) -> anyhow::Result<()> {
        self.refuse_of_workers_in(&self.options()?)
    }

    fn refuse_of_workers_in(&self, options: &Options) -> anyhow::Result<()> {
        if self.is_of_workers_in(options)? {
            bail!(usage(format!(
                "{}: the archive of a crawl by several workers, whose server makes all changes: start it, and use `argiope client steer`, \
                 `argiope client crawl` for more seeds, `argiope client again` or `watch` for rounds, or `argiope ui HOST:PORT` with its port \
                 for clients",
                self.root.display()
            )));
        }
        Ok(())
    }

    /// Whether the crawl is one by several workers, by what the database says.
    pub(crate) fn is_of_workers_in(&self, options: &Options) -> anyhow::Result<bool> {
        let Some(address) = &options.store else { return Ok(false) };
        let id = store_postgres::crawl_of_workers(&address.address()?, &schema_of(options)?)?;
        Ok(id.is_some_and(|id| self.has_mark_of(&id)))
    }

    /// Whether a view in a database is that of this directory.
    fn is_mine(&self, view: &dyn CrawlView) -> bool {
        view.crawl_id().is_ok_and(|id| self.has_mark_of(&id))
    }

    fn has_mark_of(&self, crawl_id: &str) -> bool {
        read_text(&self.mark()).is_ok_and(|mark| mark.trim_end() == crawl_id)
    }

    fn mark(&self) -> PathBuf {
        self.state().join(CRAWL_ID)
    }

    /// Refuses to use the directory's state if the state is in a database.
    fn refuse_mark(&self) -> anyhow::Result<()> {
        if self.mark().exists() {
            bail!(
                "{0}: the state of this crawl is in a database: name it by store in {1}, or by `argiope crawl -o {0} --store URL`",
                self.root.display(),
                self.settings().display()
            );
        }
        Ok(())
    }

    /// Checks that a database holds the state of this crawl. Otherwise two directories could share a schema, and each would mistake the
    /// other's archive for its own.
    fn recognise(&self, mark: &Path, store: &PostgresStore, place: &str) -> anyhow::Result<()> {
        match read_text(mark) {
            Ok(id) if id.trim_end() == store.crawl_id()? => Ok(()),
            Ok(_) if store.is_new() => bail!(
                "{place} is new, and the state of the crawl in {0} was lost: `argiope adopt {0}` takes its archive into a new state",
                self.root.display()
            ),
            Ok(_) => bail!("{place} is not the state of the crawl in {}", self.root.display()),
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot read {}", mark.display()))
            }
            Err(_) if store.is_new() => self.write_mark(mark, &store.crawl_id()?),
            Err(_) => bail!(
                "{place} holds the crawl of another directory: name another schema with --store-schema; if it is this crawl, put back {}",
                mark.display()
            ),
        }
    }

    fn write_mark(&self, mark: &Path, crawl_id: &str) -> anyhow::Result<()> {
        let temporary = mark.with_extension("tmp");
        let write = || -> std::io::Result<()> {
            std::fs::create_dir_all(self.state())?;
            fresh::write(&temporary, format!("{crawl_id}\n").as_bytes())?;
            std::fs::File::open(&temporary)?.sync_all()?;
            std::fs::rename(&temporary, mark)?;
            std::fs::File::open(self.state())?.sync_all()?;
            std::fs::File::open(&self.root)?.sync_all()
        };
        fresh::renamed(&temporary, write).with_context(|| format!("cannot write {}", mark.display()))
    }
}

fn schema_of(options: &Options) -> anyhow::Result<Schema> {
    Ok(options.store_schema.as_deref().map_or(Ok(Schema::default()), str::parse)?)
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
