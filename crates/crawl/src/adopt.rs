//! Taking in what was set aside: the pages of `archive/orphaned/` come back into a crawl without being fetched again.
//!
//! The crawl goes on as it would with the network, but is given only URLs of which there is an answer, and the answers as they
//! were recorded ([`driver`] runs the engine's step on [`waiting`]'s view of the state). So depths, duplicates, redirects and
//! links come out as if the pages were fetched now, and every answer is recorded once more, with its own date. Each commit is
//! whole: who is killed goes on where that ended.
//!
//! robots.txt is not asked, since these pages were fetched under it. What recorded answers there are of it are taken in first,
//! with the sitemaps they name.
//!
//! Pages that nothing leads to come in last, at the depth limit (else at depth 0), if the filters admit them.

mod answers;
mod driver;
mod told;
mod versions;
mod waiting;

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, bail};
use archive::ORPHANED;
use dataset::schema::Table;
use dataset::{Column, Layout};
use engine::clock::Clock;
use engine::{Recorder, Settings};
use model::{Candidate, Purpose, Via};
use serde::Serialize;
use settings::plan::Plan;
use settings::usage;
use store::{Batch, Store};
use weburl::CanonicalUrl;

use self::answers::Answers;
use self::waiting::Waiting;
use crate::parts::open_archive;
use crate::tables::Deriver;
use crate::{CrawlDir, fixed};

/// The directory in `archive/orphaned/` for files of which every version of every page is in the crawl.
const ADOPTED: &str = "adopted";

/// Candidates in one commit.
const FOUND_AT_ONCE: usize = 1_000;

/// Answers for robots.txt in one commit; each may have some hundred kilobytes.
const ROBOTS_AT_ONCE: usize = 64;

/// What was taken in.
#[derive(Debug, Default, Serialize)]
pub struct Adopted {
    /// Files that had been set aside.
    pub files: usize,
    /// Those of them of which every version of every page is in the crawl now. They lie in `archive/orphaned/adopted/`, and can be removed.
    pub done: usize,
    /// Pages and documents that have an outcome now and had none.
    pub pages: u64,
    /// Those among them that nothing leads to.
    pub unlinked: u64,
    /// Answers that stay set aside: the crawl's filters refuse them, or what they repeat is lost.
    pub left: u64,
    /// Those of them whose original is lost.
    pub without_original: u64,
    /// Files that hold the only copy of something: a version of a page that the crawl does not have. They stay, and must be kept.
    pub files_to_keep: usize,
    /// How many versions these files hold that are nowhere else: answers that differ in their URL or in the digest of their payload.
    pub versions_only_there: u64,
    /// Of how many URLs.
    pub urls_only_there: u64,
    /// What is damaged, and stays as it is: the first of them, with file and offset.
    pub damaged: Vec<String>,
    /// How many records are damaged. What was in them is lost, unless another record has it.
    pub damaged_records: u64,
    /// In how many files.
    pub damaged_files: usize,
}

/// Takes in what was set aside of the archive of a crawl, and everything of an archive whose state is empty or another's.
///
/// # Errors
/// No seed is known, the archive or the state cannot be used, or the disk fails. What was committed stays.
pub fn adopt(dir: &CrawlDir, plan: &Plan, seeds: Vec<CanonicalUrl>) -> anyhow::Result<Adopted> {
    fixed::check(dir, &dir.options()?)?;
    let mut traces = dir.traces();
    let store = dir.open_store_to_adopt(&plan.options)?;
    traces.hold(store.clone());
    let layout = Layout::at(dir.dataset());
    let known: Vec<CanonicalUrl> = store.seeds()?;
    let mut fresh: Vec<CanonicalUrl> = seeds.into_iter().filter(|seed| !known.contains(seed)).collect();
    if known.is_empty() && fresh.is_empty() {
        fresh = seeds_of(&layout)?;
    }
    if known.is_empty() && fresh.is_empty() {
        bail!(usage(format!(
            "the state knows no seeds, and there is no dataset that names them: give the seeds of the crawl, as in `argiope adopt {} SEED`",
            dir.root().display()
        )));
    }
    dir.claim(&plan.options, store.as_ref())?;
    add_seeds(store.as_ref(), fresh, &plan.settings)?;
    traces.keep();
    let in_state = archive::ArchiveInState::of(store.as_ref(), &plan.settings.limits)?;
    archive::set_aside(&dir.archive(), &in_state).map_err(|error| dir.with_way_out(error))?;
    let deriver = Deriver::new(&layout, store.as_ref(), dir.archive(), &plan.settings);
    // Segments that begin now may have the names of those that were set aside.
    deriver.remove_stale()?;
    let aside = dir.archive().join(ORPHANED);
    let orphans = archive::orphans(&dir.archive())?;
    let answers = Answers::of(&aside, &orphans, store.as_ref(), &dir.archive(), &plan.settings)?;
    let before = store.totals()?;
    let settings = settings_to_adopt(&plan.settings);

    let mut notices = Vec::new();
    let archive =
        open_archive(dir, plan, store.as_ref(), &mut notices)?.map(|archive| archive.named_from(Clock::start().date()));
    let held = dir.hold(false)?;
    let waiting = Arc::new(Waiting::new(store.clone(), answers.keys()));
    let recorder = Recorder::new(waiting, archive);
    let mut recorder = recorder.guarded_by(Box::new(move || Ok(held.check()?)));
    let mut robots = Vec::new();
    for index in 0..answers.robots_len() {
        robots.extend(answers.robots(index, store.as_ref(), &settings)?);
        if robots.len() >= ROBOTS_AT_ONCE {
            recorder.commit(std::mem::take(&mut robots))?;
        }
    }
    recorder.commit(robots)?;
    driver::run(&settings, &mut recorder, &answers)?;
    let reached = store.totals()?;
    find_unlinked(store.as_ref(), &answers, &settings)?;
    driver::run(&settings, &mut recorder, &answers)?;
    recorder.close(store.totals()?.pending == 0)?;

    let after = store.totals()?;
    let mut adopted = Adopted {
        files: orphans.len(),
        pages: after.fetched().saturating_sub(before.fetched()),
        unlinked: after.fetched().saturating_sub(reached.fetched()),
        damaged: answers.damaged().to_vec(),
        without_original: answers.without_original(),
        ..Adopted::default()
    };
    (adopted.damaged_records, adopted.damaged_files) = answers.damage();
    let left = answers.left(store.as_ref())?;
    adopted.left = left.values().sum();
    let only = answers.only_here(store.as_ref(), &dir.archive())?;
    adopted.files_to_keep = only.files.len();
    (adopted.versions_only_there, adopted.urls_only_there) = (only.versions(), only.urls());
    for orphan in &orphans {
        let is_needed = left.contains_key(orphan.name.as_str()) || only.files.contains(&orphan.name);
        if !is_needed && answers.is_whole(&orphan.name) {
            move_to_adopted(dir, &orphan.name)?;
            archive::no_longer_keep(&dir.archive(), &orphan.name)?;
            adopted.done += 1;
        } else {
            archive::keep(&dir.archive(), orphan)?;
        }
    }
    if plan.dataset {
        deriver.derive(&|_| ())?;
    }
    Ok(adopted)
}

/// Puts seeds into the state. From then on the dataset is not needed for them.
fn add_seeds(store: &dyn Store, seeds: Vec<CanonicalUrl>, settings: &Settings) -> anyhow::Result<()> {
    let admitted = seeds.iter().filter(|seed| settings.filter.judge_seed(seed).is_ok());
    let found = admitted.cloned().map(Candidate::seed).collect();
    store.commit(&Batch { found, seeds, ..Batch::default() })?;
    Ok(())
}

/// The seeds by the dataset, where the state has none.
fn seeds_of(layout: &Layout) -> anyhow::Result<Vec<CanonicalUrl>> {
    let mut seeds = BTreeSet::new();
    for batch in layout.batches(Table::Pages, &["url", "via"])? {
        let batch = batch?;
        for row in (0..batch.num_rows()).filter(|row| batch.text("via", *row) == Some("seed")) {
            seeds.extend(batch.text("url", row).and_then(CanonicalUrl::from_canonical));
        }
    }
    Ok(seeds.into_iter().collect())
}

/// No network, and so no waiting, no asking for robots.txt, no limit on what a run may fetch. What is in the archive has an end: no rule against traps
/// counts it.
fn settings_to_adopt(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    let rules = &mut settings.site_rules;
    rules.matching = None;
    rules.politeness.delay = std::time::Duration::ZERO;
    rules.politeness.ip_delay = std::time::Duration::ZERO;
    rules.politeness.delay_factor = 0.0;
    rules.traps = rules.traps.without_counts();
    settings.concurrency = driver::ANSWERS_AT_ONCE;
    (settings.pages_max, settings.bytes_max, settings.time_max) = (None, None, None);
    (settings.head_first, settings.render, settings.details) = (false, None, false);
    settings
}

/// Puts the pages into the queue that nothing leads to.
fn find_unlinked(store: &dyn Store, answers: &Answers, settings: &Settings) -> anyhow::Result<()> {
    let depth = settings.depth_max.unwrap_or(0);
    let mut filter = settings.filter.clone();
    for seed in store.seeds()? {
        filter.scope.add_seed(&seed);
    }
    let mut found = Vec::new();
    for url in answers.urls() {
        if store.get(url.key())?.is_none() && filter.judge(url).is_ok() {
            let (url, purpose) = (url.clone(), Purpose::Page);
            found.push(Candidate { url, depth, redirects: 0, via: Via::Link, purpose, found_on: None });
        }
        if found.len() >= FOUND_AT_ONCE {
            store.commit(&Batch { found: std::mem::take(&mut found), ..Batch::default() })?;
        }
    }
    store.commit(&Batch { found, ..Batch::default() })?;
    Ok(())
}

fn move_to_adopted(dir: &CrawlDir, name: &str) -> anyhow::Result<()> {
    let aside = dir.archive().join(ORPHANED);
    let adopted = aside.join(ADOPTED);
    let moved = || -> std::io::Result<()> {
        fresh::directory(&adopted)?;
        let index = archive::index_path(&aside.join(name));
        if index.is_file() {
            std::fs::rename(&index, archive::index_path(&adopted.join(name)))?;
        }
        std::fs::rename(aside.join(name), adopted.join(name))?;
        std::fs::File::open(&adopted)?.sync_all()?;
        std::fs::File::open(&aside)?.sync_all()
    };
    moved().with_context(|| aside.join(name).display().to_string())
}
