//! Changes of a crawl from outside, while it runs or between two runs.
//!
//! A change is written into `crawl.toml` or committed to the state; then it is in force; then `changes.jsonl` has it with its date; then
//! it is confirmed. So a confirmed change survives any kill. An unconfirmed one may count or not.
//!
//! An order that a run does not confirm, since it was killed or ended, is carried out on the crawl that rests. Its [`OrderId`] in
//! `changes.jsonl` says what of it was done before.

mod affected;
mod criterion;
mod estimate;
mod foreseen;
mod order;
mod queue;
mod tally;
mod undo;

use std::fmt;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use anyhow::{Context, bail};
use engine::clock::Clock;
use engine::{End, Recorder, Steered, Work};
use model::Timestamp;
use serde::{Deserialize, Serialize};
use settings::options::{CHANGEABLE, FIXED, Options};
use settings::plan::Plan;
use settings::site_name::{SiteDelay, SiteName};
use settings::{table, usage};
use store::Store;
use tokio::sync::{mpsc, oneshot, watch};
use weburl::CanonicalUrl;

use crate::census::Census;
use crate::held::Held;
use crate::seeds::fresh_seeds;
use crate::{CrawlDir, Notice, Unready, fixed};

pub use affected::Counting;
pub use estimate::{Estimate, Estimated};
pub use foreseen::foreseen;
pub use order::OrderId;
pub use queue::{Removed, Retried};
pub use tally::Affected;
pub use undo::{Replaced, TakeBack, Undo};

/// Only the changes in this many last bytes of their file are read.
const JOURNAL_BYTES_MAX: u64 = 1 << 20;

/// A change to a crawl.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Nothing new is fetched.
    Pause,
    /// The crawl goes on after a pause.
    Resume,
    /// The run ends, as by a signal.
    Stop,
    /// URLs that match one of these patterns are no longer fetched, those in the queue included.
    Exclude(Vec<String>),
    /// Admits URLs that match one of these patterns too, if the crawl has include patterns.
    Include(Vec<String>),
    /// These sites get no requests. Their URLs stay in the queue.
    Hold(Vec<SiteName>),
    /// These sites are no longer on hold.
    Release(Vec<SiteName>),
    /// The delays between visits to these sites.
    DelayFor(Vec<SiteDelay>),
    /// More seeds.
    Seeds(Vec<String>),
    /// URLs with these outcomes that match these patterns are visited again, in a round: failures and refusals.
    Retry(Vec<String>),
    /// URLs in the queue that match one of these patterns are taken out of it. Others that are found later are followed.
    Remove(Vec<String>),
    /// Other values of settings, in the form of `crawl.toml`. They replace the values in force.
    Set(String),
    /// Settings that count as not given any more, by their keys: their defaults hold again.
    Unset(Vec<String>),
}

impl Change {
    /// The change to the given settings, with the content of the files that they name.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn set(given: &Options) -> anyhow::Result<Self> {
        let mut lines = String::new();
        for (key, value) in toml::Table::try_from(given.clone().with_files()?)? {
            lines.push_str(&format!("{key} = {value}\n"));
        }
        Ok(Change::Set(lines))
    }

    /// The change in words: what is done, and what to. Patterns, sites, `SITE=DELAY`, URLs, or lines of settings.
    #[must_use]
    pub fn words(&self) -> (&'static str, Vec<String>) {
        let sites = |sites: &[SiteName]| sites.iter().map(ToString::to_string).collect();
        match self {
            Change::Pause => ("pause", Vec::new()),
            Change::Resume => ("resume", Vec::new()),
            Change::Stop => ("stop", Vec::new()),
            Change::Exclude(patterns) => ("exclude", patterns.clone()),
            Change::Include(patterns) => ("include", patterns.clone()),
            Change::Hold(names) => ("hold", sites(names)),
            Change::Release(names) => ("release", sites(names)),
            Change::DelayFor(delays) => ("delay", delays.iter().map(ToString::to_string).collect()),
            Change::Seeds(seeds) => ("seeds", seeds.clone()),
            Change::Retry(words) => ("retry", words.clone()),
            Change::Remove(patterns) => ("remove", patterns.clone()),
            Change::Set(given) => ("set", given.lines().map(str::to_owned).collect()),
            Change::Unset(keys) => ("unset", keys.clone()),
        }
    }

    /// The change that [`Change::words`] says.
    ///
    /// # Errors
    /// They say none.
    pub fn from_words(what: &str, to: &[String]) -> anyhow::Result<Self> {
        fn each<T: FromStr<Err = String>>(texts: &[String]) -> anyhow::Result<Vec<T>> {
            texts.iter().map(|text| text.parse().map_err(usage)).collect()
        }
        let takes_none = matches!(what, "pause" | "resume" | "stop");
        // A retry of all failures names none.
        let is_whole = takes_none || what == "retry";
        if takes_none && !to.is_empty() || !is_whole && to.is_empty() {
            bail!(usage(format!("{what}: {}", if takes_none { "takes no values" } else { "values are missing" })));
        }
        Ok(match what {
            "pause" => Change::Pause,
            "resume" => Change::Resume,
            "stop" => Change::Stop,
            "exclude" => Change::Exclude(to.to_vec()),
            "include" => Change::Include(to.to_vec()),
            "hold" => Change::Hold(each(to)?),
            "release" => Change::Release(each(to)?),
            "delay" => Change::DelayFor(each(to)?),
            "seeds" => Change::Seeds(to.to_vec()),
            "retry" => Change::Retry(to.to_vec()),
            "remove" => Change::Remove(to.to_vec()),
            "set" => Change::Set(to.iter().map(|line| format!("{line}\n")).collect()),
            "unset" => Change::Unset(to.iter().map(|key| table::key(key).map_err(usage)).collect::<Result<_, _>>()?),
            other => bail!(usage(format!(
                "`{other}` is no change; possible are pause, resume, stop, exclude, include, hold, release, delay, seeds, retry, remove, set, unset"
            ))),
        })
    }

    /// The keys of the settings that it names. What cannot be read names none: it is refused where it is read.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        match self {
            Change::Set(given) => {
                given.parse::<toml::Table>().map(|table| table.into_iter().map(|(key, _)| key).collect())
            }
            Change::Unset(keys) => Ok(keys.clone()),
            _ => Ok(Vec::new()),
        }
        .unwrap_or_default()
    }

    /// Why it is not made where no crawl runs, if it is for a run.
    pub(crate) fn unready_without_run(&self, dir: &CrawlDir) -> Option<Unready> {
        let root = dir.root().to_owned();
        match self {
            Change::Seeds(_) => Some(Unready::NoRunForSeeds { root }),
            Change::Stop => Some(Unready::NothingToStop { root }),
            _ => None,
        }
    }

    /// The options after the change; `None` if it does not change options.
    ///
    /// # Errors
    /// Its settings cannot be read.
    pub fn of(&self, options: &Options) -> anyhow::Result<Option<Options>> {
        let mut changed = options.clone();
        match self {
            Change::Pause => changed.paused = Some(true),
            Change::Resume => changed.paused = Some(false),
            Change::Exclude(patterns) => extend(&mut changed.exclude, patterns),
            // The first pattern would leave out all others.
            Change::Include(_) if changed.include.is_empty() => {
                bail!(usage("the crawl has no include pattern, so all URLs count already: `set --include` narrows it"))
            }
            Change::Include(patterns) => extend(&mut changed.include, patterns),
            Change::Hold(sites) => extend(&mut changed.hold, sites),
            Change::Release(sites) => {
                if let Some(other) = sites.iter().find(|site| !changed.hold.contains(site)) {
                    bail!(usage(format!("{other} is not on hold")));
                }
                changed.hold.retain(|site| !sites.contains(site));
            }
            Change::DelayFor(delays) => {
                changed.delay_for.retain(|before| delays.iter().all(|delay| delay.site != before.site));
                changed.delay_for.extend_from_slice(delays);
            }
            Change::Unset(keys) => changed = options.without(keys)?,
            Change::Set(given) => {
                refuse_without_effect(given)?;
                let given = Options::parse(given)?;
                // Another user may send the request, and the file may be for its owner alone.
                if let Some((key, _)) = given.unread_files().first() {
                    bail!(usage(format!("{key}: files are for `argiope steer`, which reads them once")));
                }
                changed = given.over(options)?;
            }
            Change::Retry(words) => return Retried::read(words).map(|_| None),
            Change::Remove(words) => return Removed::read(words).map(|_| None),
            Change::Seeds(_) | Change::Stop => return Ok(None),
        }
        Ok(Some(changed))
    }

    /// The plan after the change; `None` if it does not change options.
    ///
    /// # Errors
    /// It cannot be used, or not while the crawl runs.
    pub fn plan(&self, options: &Options) -> anyhow::Result<Option<Plan>> {
        let Some(changed) = self.of(options)? else { return Ok(None) };
        // Before files are read that it names.
        let fixed: Vec<String> = changed.differing_keys(options)?.into_iter().collect();
        let fixed: Vec<&str> = fixed.iter().map(String::as_str).filter(|key| !CHANGEABLE.contains(key)).collect();
        if !fixed.is_empty() {
            let named = fixed.join(", ");
            bail!(usage(match fixed.iter().find(|key| FIXED.contains(key)) {
                Some(_) => format!("{named} cannot change within a crawl: begin another one, in another directory"),
                None =>
                    format!("{named} cannot change while a crawl runs: stop it, and give the flag to `argiope crawl`"),
            }));
        }
        Ok(Some(Plan::new(&changed)?))
    }
}

/// Refuses lines that set nothing: none, or a list without values, which counts as not given.
fn refuse_without_effect(given: &str) -> anyhow::Result<()> {
    // What is no TOML is refused where it is read.
    let Ok(table) = given.parse::<toml::Table>() else { return Ok(()) };
    if table.is_empty() {
        bail!(usage("set: no setting is given"));
    }
    match table.iter().find(|(_, value)| value.as_array().is_some_and(Vec::is_empty)) {
        Some((key, _)) => bail!(usage(format!("{key} = []: an empty list changes nothing; `unset {key}` empties it"))),
        None => Ok(()),
    }
}

fn extend<T: Clone + PartialEq>(all: &mut Vec<T>, more: &[T]) {
    for one in more {
        if !all.contains(one) {
            all.push(one.clone());
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, to) = self.words();
        let between = if matches!(self, Change::Set(_)) { ", " } else { " " };
        match to.is_empty() {
            true => f.write_str(what),
            false => write!(f, "{what} {}", to.join(between)),
        }
    }
}

/// A change that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// When, as a date.
    pub at: String,
    /// What.
    pub change: Change,
    /// The values that it replaced, if it changed settings by their keys. Earlier versions did not write them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<Replaced>,
    /// Of the order that it was made by. Earlier versions did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderId>,
}

impl Changed {
    /// The changes to a crawl, the oldest first; only the last ones if there are very many.
    ///
    /// # Errors
    /// Their file cannot be read.
    pub fn all_of(dir: &CrawlDir) -> anyhow::Result<Vec<Self>> {
        let path = dir.changes();
        let named = || path.display().to_string();
        let mut file = match fresh::open_to_read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            file => file.with_context(named)?,
        };
        let length = file.metadata().with_context(named)?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(JOURNAL_BYTES_MAX))).with_context(named)?;
        let mut bytes = Vec::new();
        file.take(JOURNAL_BYTES_MAX).read_to_end(&mut bytes).with_context(named)?;
        // The first line may be cut by us, the last one by a crash. A later version may know more changes.
        let lines = bytes.split(|byte| *byte == b'\n');
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// How many changes were made by an order. Nobody else may make changes meanwhile.
    fn made_by(dir: &CrawlDir, order: &OrderId) -> anyhow::Result<usize> {
        Ok(Changed::all_of(dir)?.iter().filter(|changed| changed.order.as_ref() == Some(order)).count())
    }

    /// Writes a change durably.
    fn write(
        dir: &CrawlDir,
        (order, change): (&OrderId, &Change),
        replaced: Option<Replaced>,
        date: Timestamp,
    ) -> anyhow::Result<()> {
        let path = dir.changes();
        let changed = Changed { at: date.to_rfc3339(), change: change.clone(), replaced, order: Some(order.clone()) };
        let write = || -> std::io::Result<()> {
            let is_new = !path.exists();
            let mut file = fresh::open(std::fs::OpenOptions::new().read(true).append(true).create(true), &path)?;
            let mut last = [b'\n'];
            if file.seek(SeekFrom::End(-1)).is_ok() {
                file.read_exact(&mut last)?;
            }
            // A line that a crash cut ends here.
            let end = if last == [b'\n'] { "" } else { "\n" };
            file.write_all(format!("{end}{}\n", serde_json::to_string(&changed)?).as_bytes())?;
            file.sync_data()?;
            if is_new { std::fs::File::open(dir.root())?.sync_all() } else { Ok(()) }
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Makes changes of a running crawl, one after the other.
pub struct Steering {
    dir: CrawlDir,
    held: Held,
    store: Weak<dyn Store>,
    engine: mpsc::Sender<Steered>,
    stopping: watch::Sender<bool>,
    /// The options in force.
    options: Mutex<Options>,
    clock: Clock,
    /// Of a state in a database.
    census: Option<Census>,
}

impl Steering {
    /// What counts a state in a database; `None` of a state that knows its totals.
    pub(crate) fn census(&self) -> Option<&Census> {
        self.census.as_ref()
    }

    /// The directory of the crawl.
    pub(crate) fn root(&self) -> &Path {
        self.dir.root()
    }

    pub(crate) fn new(
        dir: CrawlDir,
        held: Held,
        store: Weak<dyn Store>,
        options: Options,
        stopping: watch::Sender<bool>,
        clock: Clock,
    ) -> (Self, mpsc::Receiver<Steered>) {
        let (engine, inbox) = mpsc::channel(1);
        let census = options.store.is_some().then(|| Census::new(clock));
        (Steering { dir, held, store, engine, stopping, options: Mutex::new(options), clock, census }, inbox)
    }

    /// Makes a change. When this returns, it is in force and survives any kill. Of a change of the queue it returns the number of URLs. It
    /// blocks the thread, which must not be one that drives tasks.
    ///
    /// # Errors
    /// The change cannot be used, the crawl is ending, or the disk fails.
    pub fn steer(&self, order: &OrderId, change: &Change) -> anyhow::Result<Option<u64>> {
        self.make(&mut self.options.lock().unwrap_or_else(PoisonError::into_inner), order, change)
    }

    /// Takes a change back, as [`Steering::steer`] makes one.
    ///
    /// # Errors
    /// The same; or [`Unready::Outdated`].
    pub fn take_back(&self, order: &OrderId, back: &TakeBack) -> anyhow::Result<()> {
        let mut options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        back.check(&self.dir)?;
        back.by.iter().try_for_each(|change| self.make(&mut options, order, change).map(drop))
    }

    fn make(&self, options: &mut Options, order: &OrderId, change: &Change) -> anyhow::Result<Option<u64>> {
        self.held.check()?;
        let (mut replaced, mut urls) = (None, None);
        match change {
            Change::Stop => {
                Changed::write(&self.dir, (order, change), None, self.clock.date())?;
                self.stopping.send_replace(true);
                return Ok(None);
            }
            Change::Seeds(texts) => self.add_seeds(options, texts)?,
            Change::Retry(words) => {
                let (retried, settings) = (Retried::read(words)?, Plan::new(options)?.settings);
                let (count, counted) = counter();
                let begin = move |recorder: &mut Recorder| {
                    let (controls, urls) = retried.begin(recorder.store().as_ref(), &settings)?;
                    count.store(urls, Ordering::Relaxed);
                    Ok(controls)
                };
                self.tell_engine(engine::Change::Work(Work(Box::new(begin))))?;
                urls = Some(counted.load(Ordering::Relaxed));
            }
            Change::Remove(words) => {
                let (removed, now) = (Removed::read(words)?, self.clock.date());
                let (count, counted) = counter();
                let record = move |recorder: &mut Recorder| {
                    let (controls, urls) = removed.record(recorder, now)?;
                    count.store(urls, Ordering::Relaxed);
                    Ok(controls)
                };
                self.tell_engine(engine::Change::Work(Work(Box::new(record))))?;
                urls = Some(counted.load(Ordering::Relaxed));
            }
            _ => {
                if let Some(plan) = change.plan(options)? {
                    // Only a process that has the state may write the settings: a run that has ended has it no more.
                    let _store = self.store.upgrade().ok_or(Unready::Ending)?;
                    self.dir.write_options(&plan.options)?;
                    let told = self.tell_engine(engine::Change::Settings(Box::new(plan.settings)));
                    if told.is_err() {
                        // The change is made again of the crawl that rests.
                        self.dir.write_options(options)?;
                    }
                    told?;
                    replaced = Replaced::by(change, options, &plan.options)?;
                    *options = plan.options;
                }
            }
        }
        Changed::write(&self.dir, (order, change), replaced, self.clock.date())?;
        Ok(urls)
    }

    /// Why URLs may be left of a crawl that has nothing to do: sites are on hold, or what a site may have is spent.
    pub(crate) fn leaves(&self) -> Option<End> {
        let options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        let is_limited = options.max_pages_per_site.is_some();
        match options.hold.is_empty() {
            false => Some(End::Held),
            true => is_limited.then_some(End::Limit("max-pages-per-site")),
        }
    }

    fn add_seeds(&self, options: &Options, texts: &[String]) -> anyhow::Result<()> {
        let seeds = seeds_of(options, texts)?;
        let store = self.store.upgrade().ok_or(Unready::Ending)?;
        let known = store.seeds()?.into_iter().collect();
        let fresh = fresh_seeds(seeds, &known, store.as_ref())?;
        drop(store);
        if fresh.is_empty() { Ok(()) } else { Ok(self.tell_engine(engine::Change::Seeds(fresh))?) }
    }

    fn tell_engine(&self, change: engine::Change) -> Result<(), Unready> {
        let (done, is_done) = oneshot::channel();
        self.engine.blocking_send(Steered { change, done }).map_err(|_| Unready::Ending)?;
        is_done.blocking_recv().map_err(|_| Unready::Ending)
    }
}

/// A number that work of the engine tells, and where it is read when that is done.
fn counter() -> (Arc<AtomicU64>, Arc<AtomicU64>) {
    let counted = Arc::new(AtomicU64::new(0));
    (counted.clone(), counted)
}

/// The seeds in texts.
///
/// # Errors
/// One is no URL, or has a secret.
fn seeds_of(options: &Options, texts: &[String]) -> anyhow::Result<Vec<CanonicalUrl>> {
    let mut plan = Plan::new(options)?;
    let seeds = plan.take_seeds(texts)?;
    if !plan.credentials.is_empty() {
        bail!(usage("a seed with a user name or password is for `argiope crawl`, which keeps the secret"));
    }
    Ok(seeds)
}

/// What came of an order for a crawl that rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtRest {
    /// A change of settings counts from the next run on.
    Noted,
    /// So many URLs were changed in the queue.
    Changed(u64),
    /// A run had carried it out before it ended without an answer.
    DoneBefore,
}

/// Changes a crawl that does not run. A change of the queue is made at once, and its URLs are counted; others count from the next run on.
///
/// # Errors
/// The change cannot be used or needs a running crawl, the directory is in use, or the disk fails.
pub fn steer_stopped(dir: &CrawlDir, order: &OrderId, change: &Change) -> anyhow::Result<AtRest> {
    // What cannot be used is refused before the state is touched.
    let before = planned(dir, change).map(|(before, _)| before.options);
    let options = match before {
        Ok(options) => options,
        // In force already, it may be refused a second time.
        Err(error) if Changed::made_by(dir, order)? == 0 => return Err(error),
        Err(_) => dir.secrets()?.put_into(dir.options()?),
    };
    let store = dir.open_store(&options)?;
    // Nobody else can begin or change anything from here on. Until here, others may have.
    if Changed::made_by(dir, order)? > 0 {
        return Ok(AtRest::DoneBefore);
    }
    Ok(make_in(dir, store.as_ref(), (order, change))?.map_or(AtRest::Noted, AtRest::Changed))
}

/// Takes a change of a crawl back that does not run.
///
/// # Errors
/// As [`steer_stopped`]; or [`Unready::Outdated`].
pub fn take_back_stopped(dir: &CrawlDir, order: &OrderId, back: &TakeBack) -> anyhow::Result<()> {
    let store = dir.open_store(&dir.secrets()?.put_into(dir.options()?))?;
    let done = Changed::made_by(dir, order)?;
    if done == 0 {
        back.check(dir)?;
    }
    back.by.iter().skip(done).try_for_each(|change| make_in(dir, store.as_ref(), (order, change)).map(drop))
}

/// Changes a crawl whose state is open.
fn make_in(dir: &CrawlDir, store: &dyn Store, (order, change): (&OrderId, &Change)) -> anyhow::Result<Option<u64>> {
    let (plan, changed) = planned(dir, change)?;
    let now = Clock::start().date();
    let mut replaced = None;
    let urls = match (change, changed) {
        (Change::Retry(words), _) => Some(Retried::read(words)?.commit(store, &plan.settings)?),
        (Change::Remove(words), _) => {
            let (_, urls) = Removed::read(words)?.commit(store, now)?;
            Some(urls)
        }
        (_, changed) => {
            if let Some(after) = changed {
                dir.write_options(&after.options)?;
                replaced = Replaced::by(change, &plan.options, &after.options)?;
            }
            None
        }
    };
    Changed::write(dir, (order, change), replaced, now)?;
    Ok(urls)
}

/// The plan of a crawl that rests, as complete as that of a running one, and the plan after the change, if it changes options.
fn planned(dir: &CrawlDir, change: &Change) -> anyhow::Result<(Plan, Option<Plan>)> {
    let on_disk = dir.options()?;
    fixed::check(dir, &on_disk)?;
    let plan = Plan::new(&dir.secrets()?.put_into(on_disk))?;
    let changed = change.plan(&plan.options)?;
    match change.unready_without_run(dir) {
        Some(unready) => bail!(unready),
        None => Ok((plan, changed)),
    }
}

/// The notice for a crawl that begins while it is paused.
pub(crate) fn paused(dir: &CrawlDir, options: &Options) -> Option<Notice> {
    (options.paused == Some(true)).then(|| Notice::Paused(dir.root().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_every_change() {
        let site = |text: &str| text.parse::<SiteName>().expect("a site");
        let delay = SiteDelay { site: site("a.test"), delay: "5s".parse().expect("a delay") };
        for (change, shown) in [
            (Change::Pause, "pause"),
            (Change::Resume, "resume"),
            (Change::Stop, "stop"),
            (Change::Exclude(vec!["*.pdf".to_owned(), "*/x/*".to_owned()]), "exclude *.pdf */x/*"),
            (Change::Include(vec!["*/docs/*".to_owned()]), "include */docs/*"),
            (Change::Hold(vec![site("a.test"), site("https://b.test:81")]), "hold a.test https://b.test:81"),
            (Change::Release(vec![site("a.test")]), "release a.test"),
            (Change::DelayFor(vec![delay]), "delay a.test=5s"),
            (Change::Seeds(vec!["http://a.test/".to_owned()]), "seeds http://a.test/"),
            (Change::Retry(vec!["http_error".to_owned(), "*/docs/*".to_owned()]), "retry http_error */docs/*"),
            (Change::Retry(Vec::new()), "retry"),
            (Change::Remove(vec!["*/docs/*".to_owned()]), "remove */docs/*"),
            (Change::Unset(vec!["max-pages".to_owned(), "include".to_owned()]), "unset max-pages include"),
            (Change::Set("delay = \"5s\"\npatience = \"1h\"\n".to_owned()), "set delay = \"5s\", patience = \"1h\""),
        ] {
            let (what, to) = change.words();
            assert_eq!(Change::from_words(what, &to).expect("a change"), change);
            assert_eq!(change.to_string(), shown);
        }
    }

    #[test]
    fn settings_that_change_nothing_are_refused() {
        for (given, why) in [("exclude = []\n", "exclude = []: an empty list"), ("# nothing\n", "no setting is given")]
        {
            let error = Change::Set(given.to_owned()).of(&Options::default()).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn words_that_say_no_change_are_refused() {
        for (what, to, why) in [
            ("paus", &["x"][..], "`paus` is no change"),
            ("pause", &["x"], "pause: takes no values"),
            ("hold", &[], "hold: values are missing"),
            ("hold", &["a.test/x"], "`a.test/x` is no site"),
            ("delay", &["5s"], "`5s` is not like example.org=5s"),
            ("unset", &["max-page"], "`max-page` is no setting"),
        ] {
            let to: Vec<String> = to.iter().map(ToString::to_string).collect();
            let error = Change::from_words(what, &to).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
