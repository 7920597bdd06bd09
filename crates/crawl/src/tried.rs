//! What a run needs from outside its directory, tried before anything of the crawl changes.
//!
//! A run that is refused has begun no round, stored no settings, and fixed nothing. So all that can be refused comes before
//! the first change: here, without the directory, and in [`Builder::open`](crate::Builder::open) up to the place where the run begins.
//! The directory and the store have to be made before that. They are removed again unless the run begins.

use std::path::PathBuf;
use std::sync::Arc;

use engine::RenderMode;
use fresh::Temporary;
use render::Renderer;
use settings::options::Options;
use settings::plan::Plan;
use store::{CrawlView, Store};

use crate::steer::Changed;
use crate::stream::{OpenTarget, StreamTo};
use crate::traces::Traces;
use crate::{CrawlDir, parts};

/// The targets, programs and earlier archives of a run, which can be used. A socket and a file of the stream are open from here on; a file that
/// was made for it is removed again unless the run begins.
pub struct Tried {
    pub(crate) stream: Option<(StreamTo, OpenTarget)>,
    pub(crate) browser: Option<(RenderMode, Renderer)>,
    against: Vec<PathBuf>,
    options: Options,
    /// What the run makes before it begins.
    traces: Option<Traces>,
}

impl Tried {
    /// Tries them for a run in this directory, which may be missing, by this plan: its browser, its reader of documents, earlier archives
    /// (`against`), and the target of the stream.
    ///
    /// # Errors
    /// One cannot be used.
    pub fn new(dir: &CrawlDir, plan: &Plan, stream: Option<StreamTo>, against: Vec<PathBuf>) -> anyhow::Result<Self> {
        parts::check_against(dir, plan, &against)?;
        // What a run left that was killed, even if this one has no browser and makes no such directory.
        Temporary::sweep(&std::env::temp_dir());
        let browser = programs(plan)?;
        // Last: nothing is left of a target where something else is refused.
        let opened = stream.map(|stream| Ok::<_, anyhow::Error>((OpenTarget::of(&dir.stream(), &stream)?, stream)));
        let stream = opened.transpose()?.map(|(target, stream)| (stream, target));
        Ok(Tried { stream, browser, against, options: plan.options.clone(), traces: None })
    }

    /// The same for a plan that was made again, since others changed the settings meanwhile.
    pub(crate) fn of(mut self, dir: &CrawlDir, plan: &Plan) -> anyhow::Result<Self> {
        if self.options != plan.options {
            parts::check_against(dir, plan, &self.against)?;
            self.browser = programs(plan)?;
        }
        Ok(self)
    }

    /// Makes the directory if it does not exist, and opens its store. What this makes is removed again unless the run begins.
    ///
    /// # Errors
    /// As [`CrawlDir::create`] and [`CrawlDir::open_store`].
    pub fn open_store(&mut self, dir: &CrawlDir, options: &Options) -> anyhow::Result<Arc<dyn Store>> {
        let traces = self.traces.insert(dir.traces());
        dir.create()?;
        let store = dir.open_store(options)?;
        Changed::settle(dir)?;
        traces.hold(store.clone());
        Ok(store)
    }

    /// The run begins. From here on a directory that holds a crawl keeps what the run makes. In another, what was made goes unless the run
    /// gets to its settings.
    pub(crate) fn begun(&mut self, dir: &CrawlDir) {
        if dir.holds_crawl() {
            self.traces.take().into_iter().for_each(Traces::keep);
        }
    }

    /// Makes sure that the target of the stream is at a place where the stream of the crawl can go on. Nothing is written.
    ///
    /// # Errors
    /// It is not.
    pub fn check(&self, dir: &CrawlDir, view: &dyn CrawlView) -> anyhow::Result<()> {
        self.stream.iter().try_for_each(|(stream, _)| stream.check(&dir.stream(), view))
    }

    /// The earlier archives that were given.
    pub(crate) fn against(&self) -> &[PathBuf] {
        &self.against
    }
}

/// The programs that a plan needs.
fn programs(plan: &Plan) -> anyhow::Result<Option<(RenderMode, Renderer)>> {
    // Before anything is fetched: later each document would seem to be at fault.
    if let Some(reader) = &plan.settings.documents {
        reader.probe()?;
    }
    let started = |mode| Ok((mode, Renderer::with_browser(plan.options.browser.as_deref(), plan.rendering.clone())?));
    plan.settings.render.map(started).transpose()
}
