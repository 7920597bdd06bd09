//! A crawl goes on: with its own options, and what is given on top.

use std::sync::Arc;

use anyhow::bail;
use settings::options::{FIXED, Options};
use settings::plan::{Plan, check_patterns};
use settings::secrets_file::Secrets;
use settings::usage;
use store::Store;

use crate::steer::Changed;
use crate::{CrawlDir, Notice, fixed};

/// The stored settings that a plan is made of.
///
/// Others may change them until the crawl's store is open ([`CrawlDir::open_store`]). A plan that is older would undo their changes, which
/// were confirmed: so it is made again if its basis does not hold.
pub struct Basis(Option<Options>);

impl Basis {
    /// The settings that the directory holds now. It may hold no crawl yet.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn of(dir: &CrawlDir) -> anyhow::Result<Self> {
        dir.refuse_closed()?;
        let stored = dir.holds_crawl().then(|| Ok::<_, anyhow::Error>(dir.secrets()?.put_into(dir.options()?)));
        stored.transpose().map(Basis)
    }

    /// Whether they are still the same.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn holds(&self, dir: &CrawlDir) -> anyhow::Result<bool> {
        Ok(Basis::of(dir)?.0 == self.0)
    }
}

/// Opens the store of a crawl that goes on, with the plan of [`resumed_plan`], which has all changes that were made until then.
///
/// # Errors
/// As [`resumed_plan`] and [`CrawlDir::open_store`].
pub fn resumed(
    dir: &CrawlDir,
    given: &Options,
    unset: &[String],
) -> anyhow::Result<(Plan, Vec<Notice>, Arc<dyn Store>)> {
    let basis = Basis::of(dir)?;
    let (plan, notices) = resumed_plan(dir, given, unset)?;
    dir.refuse_lost_state(&plan.options)?;
    let store = dir.open_store(&plan.options)?;
    Changed::settle(dir)?;
    if basis.holds(dir)? {
        return Ok((plan, notices, store));
    }
    let (plan, notices) = resumed_plan(dir, given, unset)?;
    Ok((plan, notices, store))
}

/// The plan of a run: of a crawl that goes on ([`resumed_plan`]), or of a new one.
///
/// # Errors
/// What is given cannot be used, or as there.
pub fn run_plan(dir: &CrawlDir, given: &Options, unset: &[String]) -> anyhow::Result<(Plan, Vec<Notice>)> {
    if dir.holds_crawl() { resumed_plan(dir, given, unset) } else { Ok((Plan::of_given(given)?, Vec::new())) }
}

/// The plan of a crawl that goes on: its own options, but for those with the keys `unset`, with what is given now on top.
/// Until its store is open, others may change the settings: see [`Basis`] and [`resumed`].
///
/// # Errors
/// What is given cannot be used, or changes what may not change; or `crawl.toml` does.
pub fn resumed_plan(dir: &CrawlDir, given: &Options, unset: &[String]) -> anyhow::Result<(Plan, Vec<Notice>)> {
    check_patterns(given)?;
    let (on_disk, names_browser) = dir.options_and_browser()?;
    fixed::check(dir, &on_disk)?;
    let mut notices = Vec::new();
    let moved = Secrets::of(&on_disk).options();
    if !moved.is_empty() {
        notices.push(Notice::SecretsMoved { options: moved.join(", "), from: dir.settings(), to: dir.secrets_path() });
    }
    let stored = dir.secrets()?.put_into(on_disk);
    let stored_files = stored.unread_files();
    let mut unset = unset.to_vec();
    if given.info_url.is_some() && given.user_agent.is_none() && stored.has_default_user_agent() {
        // The page is named in it.
        unset.push("user-agent".to_owned());
    }
    if given.needs_jar().is_some() && given.cookie_jar.is_none() && stored.cookie_jar.is_some() {
        // It has one from now on.
        unset.push("cookie-jar".to_owned());
    }
    let wanted = given.over(&stored.without(&unset)?)?;
    let of_earlier = wanted.unread_files().into_iter().filter(|file| stored_files.contains(file));
    notices.extend(of_earlier.map(|(key, path)| Notice::FileKept { key, path, settings: dir.settings() }));
    let unusable = |error: anyhow::Error| usage(format!("{}: {error}", dir.settings().display()));
    let plan = Plan::new(&wanted.with_files_of_earlier().map_err(unusable)?)?;
    if names_browser && plan.settings.render.is_some() && given.browser.is_none() {
        notices.push(Notice::BrowserNotUsed(dir.settings()));
    }
    let before = Plan::new(&stored)?;
    let changed: Vec<String> =
        plan.options.differing_keys(&before.options)?.into_iter().filter(|key| FIXED.contains(&key.as_str())).collect();
    if !changed.is_empty() {
        bail!(usage(format!(
            "{} holds a crawl with other settings of {}, which cannot change in mid-crawl: choose another directory with -o",
            dir.root().display(),
            changed.join(", ")
        )));
    }
    if plan.settings.requisites && !before.settings.requisites {
        notices.push(Notice::RequisitesFromNow);
    }
    Ok((plan, notices))
}
