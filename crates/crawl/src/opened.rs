//! A crawl's directory opened, mostly to be read: what `status`, `explain`, `check`, `report`, `export` and `derive` begin with.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use dataset::Layout;
use engine::clock::Clock;
use settings::options::Options;
use settings::plan::Plan;
use store::{CrawlView, Store};

use crate::tables::supersede_unsettled;
use crate::{CrawlDir, LiveView, Unready, live};

pub use crate::unready::{has_ended, is_in_use, is_passing};

/// How long a directory is tried that is in use by a process which cannot be asked: it may just be beginning, or ending.
const BUSY_MAX: Duration = Duration::from_secs(2);
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// A crawl's directory with its state.
pub struct Opened {
    /// The directory.
    pub dir: CrawlDir,
    state: State,
}

enum State {
    /// Nobody else can have it open meanwhile.
    Own(Arc<dyn Store>),
    /// No crawl is running, nor can one begin meanwhile.
    Read(Arc<dyn CrawlView>),
    /// No crawl was running. One can begin meanwhile; this is what it finds.
    Apart(Arc<dyn CrawlView>),
    /// A crawl is running. This is what it had come to when it was asked.
    Running(Box<LiveView>),
}

impl Opened {
    /// Opens the directory of a crawl, which may be running, to read it. Others may do so at the same time, and nothing in it changes.
    ///
    /// # Errors
    /// It holds no crawl, its state is gone or damaged, or another command changes it.
    pub fn new(root: &Path) -> anyhow::Result<Self> {
        Opened::with(root, |dir, options| Ok(State::Read(dir.open_to_read(options)?)))
    }

    /// Opens the directory of a crawl to ask it something, once more if the run that answers ends meanwhile: the crawl rests then.
    ///
    /// # Errors
    /// As [`Opened::new`], or the question fails.
    pub fn ask<T>(root: &Path, question: impl Fn(&Opened) -> anyhow::Result<T>) -> anyhow::Result<T> {
        once_more_if_ended(|| question(&Opened::new(root)?))
    }

    /// The same with the files of the dataset complete, as [`Opened::with_dataset`] has them.
    ///
    /// # Errors
    /// As [`Opened::with_dataset`], or the question fails.
    pub fn ask_with_dataset<T>(root: &Path, question: impl Fn(&Opened) -> anyhow::Result<T>) -> anyhow::Result<T> {
        once_more_if_ended(|| question(&Opened::with_dataset(root)?))
    }

    /// Opens the directory of a crawl to bring its files in line, if none is running.
    ///
    /// # Errors
    /// It holds no crawl, its state is gone or damaged, it may not be written to, or another command has it open.
    pub fn to_change(root: &Path) -> anyhow::Result<Self> {
        Opened::with(root, |dir, options| Ok(State::Own(dir.open_store_to_mend(options)?)))
    }

    fn with(root: &Path, open: impl Fn(&CrawlDir, &Options) -> anyhow::Result<State>) -> anyhow::Result<Self> {
        let dir = CrawlDir::existing(root)?;
        let options = dir.options()?;
        dir.refuse_lost_state(&options)?;
        let clock = Clock::start();
        let began = clock.now();
        loop {
            if let Some(view) = live::view(root)? {
                return Ok(Opened { dir, state: State::Running(Box::new(view)) });
            }
            match open(&dir, &options) {
                Ok(state) => return Ok(Opened { dir, state }),
                Err(error) if !is_in_use(&error) => return Err(error),
                Err(_) if clock.now().since(began) >= BUSY_MAX => bail!(match dir.is_of_workers_in(&options)? {
                    true => Unready::InUseByWorkers { root: root.to_owned() },
                    false => Unready::in_use(root),
                }),
                Err(_) => std::thread::sleep(TRY_AGAIN_AFTER),
            }
        }
    }

    /// The same, without keeping others from crawling meanwhile where that can be.
    pub(crate) fn apart(root: &Path) -> anyhow::Result<Self> {
        Opened::with(root, |dir, options| {
            let apart = dir.open_apart(options)?;
            apart.map_or_else(|| Ok(State::Read(dir.open_to_read(options)?)), |view| Ok(State::Apart(view)))
        })
    }

    /// True where the crawl rests and others can crawl meanwhile.
    pub(crate) fn is_apart(&self) -> bool {
        matches!(self.state, State::Apart(_))
    }

    /// The same, with the files of the dataset complete: those of a running crawl as of a moment before. Where workers run, or a crawl was
    /// killed, it has the rows that are there, and knows which of them count.
    ///
    /// # Errors
    /// As [`Opened::new`], or a running crawl cannot complete its files.
    pub fn with_dataset(root: &Path) -> anyhow::Result<Self> {
        let is_published = live::publish(root)?;
        let opened = Opened::new(root)?;
        if !is_published {
            // A directory that may only be read is read as it is.
            let _ = supersede_unsettled(&Layout::at(opened.dir.dataset()), opened.view());
        }
        Ok(opened)
    }

    /// The state of a directory that was opened to change it.
    ///
    /// # Errors
    /// A crawl is running.
    pub fn own(&self) -> anyhow::Result<&dyn Store> {
        match &self.state {
            State::Own(store) => Ok(&**store),
            State::Read(_) | State::Apart(_) => {
                bail!("internal error: {} is open to be read", self.dir.root().display())
            }
            State::Running(_) => {
                bail!("{}: a crawl is running in it: try again when it has ended", self.dir.root().display())
            }
        }
    }

    /// The state after the last commit. Of a crawl that runs it is the one when the directory was opened.
    #[must_use]
    pub fn view(&self) -> &dyn CrawlView {
        match &self.state {
            State::Own(store) => &**store,
            State::Read(view) | State::Apart(view) => &**view,
            State::Running(view) => &**view,
        }
    }

    /// True where a crawl is running.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.live().is_some()
    }

    /// True where a running crawl completes its dataset, which may reach less far than the state for a moment.
    ///
    /// # Errors
    /// The settings of the crawl cannot be used.
    pub fn completes_dataset(&self) -> anyhow::Result<bool> {
        Ok(self.is_running() && Plan::new(&self.options()?)?.dataset)
    }

    /// The running crawl, where one is.
    #[must_use]
    pub fn live(&self) -> Option<&LiveView> {
        match &self.state {
            State::Running(live) => Some(live),
            State::Own(_) | State::Read(_) | State::Apart(_) => None,
        }
    }

    /// Whether the crawl is one by several workers: its server makes all changes, and whether workers are there is not known here.
    ///
    /// # Errors
    /// The settings or the database cannot be read.
    pub fn is_of_workers(&self) -> anyhow::Result<bool> {
        if self.is_running() {
            return Ok(false);
        }
        self.dir.is_of_workers_in(&self.options()?)
    }

    /// The options of the crawl.
    ///
    /// # Errors
    /// `crawl.toml` cannot be read.
    pub fn options(&self) -> anyhow::Result<Options> {
        self.dir.options().context("the settings of the crawl")
    }
}

/// Asks a question once more if the run that answers it ends meanwhile.
fn once_more_if_ended<T>(ask: impl Fn() -> anyhow::Result<T>) -> anyhow::Result<T> {
    match ask() {
        Err(error) if has_ended(&error) => ask(),
        answer => answer,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use store::{MemoryStore, Store};

    use super::*;
    use crate::live::{Answers, Live};

    #[test]
    fn what_a_run_cannot_answer_since_it_ends_the_crawl_answers_that_rests() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = CrawlDir::at(root.path());
        dir.create().expect("made");
        dir.write_options(&Options::default()).expect("written");
        drop(dir.open_store(&Options::default()).expect("a state"));
        let answers =
            || Answers { view: Box::new(|| MemoryStore::new().view()), publish: None, steer: None, scheduler: None };
        for with_dataset in [false, true] {
            let run = Cell::new(Live::listen(root.path(), answers()));
            let ran = Cell::new(Vec::new());
            let question = |opened: &Opened| {
                ran.set([ran.take(), vec![opened.is_running()]].concat());
                drop(run.take());
                Ok(opened.view().totals()?.urls)
            };
            let urls = match with_dataset {
                false => Opened::ask(root.path(), question),
                true => Opened::ask_with_dataset(root.path(), question),
            };
            assert_eq!((urls.expect("an answer"), ran.take()), (0, vec![true, false]), "{with_dataset}");
        }
        let failed = Opened::ask(root.path(), |_| anyhow::bail!("another error") as anyhow::Result<()>);
        assert_eq!(failed.expect_err("an error").to_string(), "another error");
    }
}
