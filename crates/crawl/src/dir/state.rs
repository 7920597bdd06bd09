//! The state of a crawl, opened: in its directory, or in a database that the directory has the mark of.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use archive::{ArchiveError, ArchiveInState};
use engine::clock::Clock;
use model::Limits;
use settings::options::Options;
use settings::text_file::read_text_within;
use settings::usage;
use store::{CrawlView, Store};
use store_embedded::EmbeddedStore;
use store_postgres::{PostgresStore, Schema};

use super::CrawlDir;
use crate::socket;
use crate::stream;
use crate::unready::is_in_use;

/// How long a state that others have open is tried before it counts as in use.
const OTHERS_TIME_MAX: Duration = Duration::from_secs(3);
/// The time between two tries. It is short: where many read, the state is free for a moment only.
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(10);

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

impl CrawlDir {
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

    /// Refuses a crawl whose state is gone, which opening it to change it would replace by an empty one.
    ///
    /// # Errors
    /// It is gone: the message names the way out.
    pub(crate) fn refuse_lost_state(&self, options: &Options) -> anyhow::Result<()> {
        if self.state().is_dir() {
            return Ok(());
        }
        let root = self.root.display();
        let again = match options.no_archive {
            Some(true) => {
                format!("`argiope crawl -o {root} SEED` begins again, since nothing brings it back without an archive")
            }
            _ => format!("`argiope adopt {root}` makes another from the archive"),
        };
        let way_out = match options.store {
            Some(_) => format!(
                "put back {}, by which the directory knows its state in the database; or name an empty schema in {} (store-schema), and {again}",
                self.mark().display(),
                self.settings().display()
            ),
            None => again,
        };
        bail!("{root}: the state of the crawl is gone (there is no state/): {way_out}")
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
                let schema = schema_of(options)?;
                self.refuse_workers(options, aim)?;
                let store = PostgresStore::open(&address.address()?, &schema)?;
                let place = format!("schema {schema} of {address}");
                // A new schema in place of a lost one is marked when something is taken in: [`CrawlDir::claim`].
                if aim != Aim::Adopt || !store.is_new() {
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

    /// Refuses a crawl by several workers: that of another directory, and its own unless files are brought in line.
    fn refuse_workers(&self, options: &Options, aim: Aim) -> anyhow::Result<()> {
        let Some(address) = &options.store else { return Ok(()) };
        let schema = schema_of(options)?;
        match store_postgres::crawl_of_workers(&address.address()?, &schema)? {
            Some(id) if !self.has_mark_of(&id) => bail!(usage(format!(
                "schema {schema} of {address} holds a crawl by several workers, and {} is not its archive: name another schema with --store-schema",
                self.root.display()
            ))),
            Some(_) if aim == Aim::Adopt => bail!(usage(format!(
                "{}: the archive of a crawl by several workers, which adopts nothing: they fetch again what the database lacks, and what is set \
                 aside can be adopted in a directory of its own (docs/shared-archive.md)",
                self.root.display()
            ))),
            Some(_) if aim == Aim::Crawl => self.refuse_of_workers_in(options),
            _ => Ok(()),
        }
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
        read_text_within(&self.mark()).is_ok_and(|mark| mark.trim_end() == crawl_id)
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
        match read_text_within(mark) {
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

    /// Makes a state that was opened to adopt that of this directory, in place of the state before. The mark of that one is gone then.
    ///
    /// # Errors
    /// The mark cannot be written.
    pub(crate) fn claim(&self, options: &Options, state: &dyn CrawlView) -> anyhow::Result<()> {
        if options.store.is_none() || self.is_mine(state) {
            return Ok(());
        }
        self.write_mark(&self.mark(), &state.crawl_id()?)
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
