//! How a crawl by several workers is set up: the first server says how for all, and commits nothing before everything was tried.

use std::time::Duration;

use anyhow::{Context, bail};
use clap::ValueEnum;
use fetch::DenyPrivate;
use shared_archive::{ARCHIVE, DATASET, SharedArchive, SharedArchiveError};
use store::{CrawlView, Segment};
use store_postgres::Schema;
use store_postgres::cluster::{Control, Setup, Shared};

use super::published::{self, publish, stored};
use super::unchangeable;
use crate::in_line;
use crate::joining::{LEASE_MIN, Placement};
use crawl::dir;
use settings::deny_private::DenyPrivateOption;
use settings::login::LoginOption;
use settings::of_file::OfFile;
use settings::options::Options;
use settings::plan::{Plan, check_patterns};
use settings::secrets_file::Secrets;
use settings::store_address::StoreAddress;
use settings::units::Span;
use settings::usage;

/// How deep a crawl goes unless told otherwise. It must have a bottom: depths are counted from there.
const DEPTH_DEFAULT: u32 = 100;
/// How long a lease lasts, and by what groups are placed, unless told otherwise.
const LEASE_DEFAULT: Duration = Duration::from_secs(15);
const PLACEMENT_DEFAULT: Placement = Placement::Latency;
/// The longest lease that makes sense: a longer one keeps sites of a lost worker idle.
const LEASE_MAX: Duration = Duration::from_secs(3_600);

/// The defaults of a server that differ from those of a crawl by one process, where these options are given.
#[must_use]
pub fn defaults(given: &Options) -> Options {
    Options {
        depth: Some(DEPTH_DEFAULT),
        // A default is not a depth that was given.
        sitemaps: Some(given.depth.is_none()),
        deny_private: Some(DenyPrivateOption(DenyPrivate::Always)),
        ..Options::default()
    }
}

/// What a server was given of what all of them must agree on.
pub struct Given<'a> {
    /// The settings, secrets in them.
    pub options: &'a Options,
    /// The URL of the archive.
    pub archive: Option<&'a str>,
    /// How long a lease lasts.
    pub lease: Option<Span>,
    /// By what politeness groups are placed.
    pub placement: Option<Placement>,
}

/// Where the state is.
pub struct At<'a> {
    /// The database.
    pub store: &'a StoreAddress,
    /// The schema in it.
    pub schema: &'a Schema,
}

impl std::fmt::Display for At<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "schema {} of {}", self.schema, self.store)
    }
}

/// A crawl that is set up.
pub struct Crawl {
    /// The checked settings.
    pub plan: Plan,
    /// As stored, a `crawl.toml`.
    pub settings: String,
    /// The URL of the archive.
    pub archive: String,
    /// How long a lease lasts.
    pub lease: Duration,
    /// By what politeness groups are placed.
    pub placement: Placement,
}

/// Sets the crawl up, or joins one that was set up before: what is not given is as it was then, and what is given must be.
pub fn set_up(control: &Control, given: &Given<'_>, at: &At<'_>) -> anyhow::Result<Crawl> {
    let setup = match control.shared()? {
        Some(shared) => given.join(without_secrets(control, shared)?)?,
        None => {
            refuse_of_one_process(control, at)?;
            given.first()?
        }
    };
    let kept = control.secrets()?.as_deref().map(Secrets::from_text).transpose()?.unwrap_or_default();
    let agreed = |setup: &Setup| given.agrees(setup, at, control.crawl_id(), &kept);
    agreed(&setup)?;
    let view = store_postgres::read(&at.store.address()?, at.schema)?;
    let sealed = view.map_or_else(|| Ok(Vec::new()), |view| view.segments())?;
    let archive = claim(&setup.archive, control.crawl_id(), &sealed)?;
    // Another server may have been faster.
    let setup = given.join(control.set_up(&setup)?)?;
    let (plan, placement) = agreed(&setup)?;
    let secrets = Secrets::of(&plan.options);
    if secrets != kept {
        control.keep_secrets(&secrets.to_text()?)?;
    }
    lay_out(&archive, &plan, at)?;
    in_line::set_aside_unknown(&archive, control)?;
    publish(control)?;
    Ok(Crawl { plan, settings: setup.settings, archive: setup.archive, lease: setup.lease, placement })
}

/// Refuses options that make no sense where several processes crawl.
///
/// # Errors
/// There are some.
pub fn check(given: &Options, lease: Option<Span>) -> anyhow::Result<()> {
    if let Some(lease) = lease.filter(|lease| !(LEASE_MIN..=LEASE_MAX).contains(&lease.0)) {
        bail!(usage(format!("--lease {lease}: is not between {} and {}", Span(LEASE_MIN), Span(LEASE_MAX))));
    }
    unchangeable::check_options(given)
}

/// True for a setting that [`check`] refuses.
#[must_use]
pub fn is_refused(key: &str) -> bool {
    unchangeable::lacking(key).is_some()
}

/// Refuses an address of an archive that every worker would show with a secret in it.
///
/// # Errors
/// It is one, or no URL. The message shows no secret.
pub fn check_archive(archive: &str) -> anyhow::Result<()> {
    let shown = SharedArchive::shown(archive);
    if shown != archive {
        bail!(usage(format!(
            "--archive {shown}: has a user, a key or a query, which every worker would show: keys belong in the environment \
             (docs/shared-archive.md); an @ in a path is %40"
        )));
    }
    if !archive.contains("://") {
        bail!(usage(format!("--archive {archive}: is not a URL such as file:///srv/crawl")));
    }
    Ok(())
}

/// Where the state is, and the options without that: they are those of any crawl.
///
/// # Errors
/// It is not given, or is no place; a file of patterns cannot be read.
pub fn place(mut given: Options) -> anyhow::Result<(StoreAddress, Schema, Options)> {
    let store = given.store.take().ok_or_else(|| {
        usage("--store is missing: where the state is, a PostgreSQL database such as postgres://user@host/name")
    })?;
    store.address().map_err(|error| usage(format!("--store {error}")))?;
    let schema = match given.store_schema.take() {
        Some(name) => name.parse().map_err(|error| usage(format!("--store-schema `{name}`: {error}")))?,
        None => Schema::default(),
    };
    // A program of this machine is none of theirs.
    if given.browser.take().is_some() {
        console::say!("--browser: not used by a server, each worker has its own: give it to `argiope worker`");
    }
    let needs_jar = given.login.as_ref().is_some_and(LoginOption::needs_jar);
    if !given.cookies.is_empty() || given.cookie_jar == Some(true) || needs_jar {
        return Err(usage(
            "--cookies, --cookie-jar and --login by a form are for a crawl by one process: workers share no jar of cookies",
        ));
    }
    given = given.with_files()?;
    // In a cluster only `exclude` can change.
    if let Some(OfFile::Kept(of_file)) = given.exclude_file.take() {
        given.exclude.extend(of_file.patterns);
    }
    Ok((store, schema, given))
}

impl Given<'_> {
    /// What the first server says.
    fn first(&self) -> anyhow::Result<Setup> {
        let Some(archive) = self.archive else {
            bail!(usage("--archive is missing: where the archive goes, a URL on storage that all workers share"));
        };
        let plan = Plan::of_given(&self.options.over(&defaults(self.options))?)?;
        self.setup(stored(&plan.options)?, archive.to_owned(), &plan)
    }

    /// What was said before. The lease and the placement of a crawl that an earlier program set up are this server's.
    fn join(&self, shared: Shared) -> anyhow::Result<Setup> {
        let plan = Plan::new(&Options::parse(&shared.settings)?)?;
        let setup = self.setup(shared.settings, shared.archive, &plan)?;
        Ok(Setup {
            lease: shared.lease.unwrap_or(setup.lease),
            placement: shared.placement.unwrap_or(setup.placement),
            ..setup
        })
    }

    fn setup(&self, settings: String, archive: String, plan: &Plan) -> anyhow::Result<Setup> {
        Ok(Setup {
            settings,
            archive,
            lease: self.lease.map_or(LEASE_DEFAULT, |lease| lease.0),
            placement: self.placement.unwrap_or(PLACEMENT_DEFAULT).as_str().to_owned(),
            bottom: plan.settings.depth_max.unwrap_or(u32::MAX),
        })
    }

    /// Refuses what was given and is not as the crawl was set up.
    fn agrees(&self, setup: &Setup, at: &At<'_>, crawl_id: &str, kept: &Secrets) -> anyhow::Result<(Plan, Placement)> {
        check_patterns(self.options)?;
        let stored = Options::parse(&setup.settings)?;
        let plan = Plan::new(&self.options.over(&kept.put_into(stored.clone()))?)?;
        let missing = plan.options.missing_secrets();
        if !missing.is_empty() {
            bail!(usage(format!("{at} has no values for {}: give them again", missing.join(", "))));
        }
        // Completed: what an earlier version did not know has its default.
        let mut changed = plan.options.differing_keys(&Plan::new(&stored)?.options)?;
        if self.lease.is_some_and(|lease| lease.0 != setup.lease) {
            changed.insert(format!("lease ({})", Span(setup.lease)));
        }
        if self.placement.is_some_and(|placement| placement.as_str() != setup.placement) {
            changed.insert(format!("placement ({})", setup.placement));
        }
        let way_out =
            format!("--reset {crawl_id} forgets that crawl, with all that is known of its URLs, and begins another");
        if !changed.is_empty() {
            let changed = changed.into_iter().collect::<Vec<_>>().join(", ");
            bail!(usage(format!(
                "{at} holds a crawl with other settings of {changed}: give the original ones, or none; {way_out}"
            )));
        }
        if let Some(archive) = self.archive.filter(|archive| *archive != setup.archive) {
            bail!(usage(format!(
                "--archive {archive}: the archive of the crawl in {at} is {}; {way_out}",
                SharedArchive::shown(&setup.archive)
            )));
        }
        let placement = Placement::from_str(&setup.placement, false)
            .map_err(|_| anyhow::anyhow!("{at}: the placement `{}` is of another program", setup.placement))?;
        Ok((plan, placement))
    }
}

/// What is shared, without the secrets that earlier versions kept in its settings: these get a place of their own.
fn without_secrets(control: &Control, shared: Shared) -> anyhow::Result<Shared> {
    let stored = Options::parse(&shared.settings).context("the settings in the database")?;
    let secrets = Secrets::of(&stored);
    if secrets.is_empty() {
        return Ok(shared);
    }
    let settings = published::stored(&stored)?;
    control.keep_secrets(&secrets.to_text()?)?;
    control.replace_settings(&settings)?;
    SharedArchive::open(&shared.archive)?.put_text(dir::SETTINGS, &settings)?;
    console::say!(
        "the secrets of {} are in the table `secret` from now on, no longer in the settings; segments that earlier versions wrote \
         still have them in their warcinfo and request records",
        secrets.options().join(", ")
    );
    Ok(Shared { settings, ..shared })
}

/// Refuses a state whose segments are in the directory of a crawl by one process: the workers' archive would lack them.
fn refuse_of_one_process(control: &Control, at: &At<'_>) -> anyhow::Result<()> {
    if control.seeds()?.is_empty() && control.segments()?.is_empty() {
        return Ok(());
    }
    bail!(usage(format!(
        "{at} holds the state of a crawl by one process, whose archive is in its own directory: name another schema with --store-schema; \
         `argiope crawl -o DIR` continues that crawl"
    )))
}

/// Opens the archive, makes sure that it can be written to, and marks it as that of this crawl. One of another crawl is refused, and one that
/// lacks what the state has sealed. Nothing is written before.
fn claim(url: &str, crawl_id: &str, sealed: &[Segment]) -> anyhow::Result<SharedArchive> {
    let archive = SharedArchive::open(url)?;
    let (name, mark) = dir::mark_of_shared(crawl_id);
    let has_mark = || -> anyhow::Result<bool> {
        match archive.text(&name)? {
            Some(other) if other != mark => {
                let other = other.trim_end().escape_debug().to_string();
                bail!(usage(format!(
                    "--archive {}: is the archive of another crawl ({other}): name another place, or remove what lies there",
                    archive.url()
                )))
            }
            found => Ok(found.is_some()),
        }
    };
    let is_marked = has_mark()?;
    in_line::refuse_lost(&archive, sealed, crawl_id)?;
    // Where all that was sealed is there, only the mark was lost.
    if !is_marked && sealed.is_empty() && holds_crawl(&archive)? {
        bail!(usage(format!(
            "--archive {}: is the directory of a crawl by one process: name another place; `argiope crawl -o DIR` continues that crawl",
            archive.url()
        )));
    }
    archive.check()?;
    // Another server may have been faster.
    if !archive.put_text_if_absent(&name, &mark)? {
        has_mark()?;
    }
    Ok(archive)
}

/// Whether there is anything of a crawl: also of one that has begun just now, and has no settings yet.
fn holds_crawl(archive: &SharedArchive) -> Result<bool, SharedArchiveError> {
    for directory in [dir::STATE, ARCHIVE, DATASET] {
        if archive.has_any_in(directory)? {
            return Ok(true);
        }
    }
    Ok(archive.text(dir::SETTINGS)?.is_some())
}

/// Lays the archive out as a crawl's directory, so that whatever reads those reads it too: its state is in the database.
fn lay_out(archive: &SharedArchive, plan: &Plan, at: &At<'_>) -> anyhow::Result<()> {
    let options =
        Options { store: Some(at.store.clone()), store_schema: Some(at.schema.to_string()), ..plan.options.clone() };
    for (name, text) in dir::files_of_shared(&options)? {
        archive.put_text_if_absent(&name, &text)?;
    }
    Ok(())
}

/// Deletes the state of the crawl with this id, so another can be set up in its place. No process may have it open.
///
/// # Errors
/// The schema holds another crawl; servers or workers run; the database failed.
pub fn reset(at: &At<'_>, crawl_id: &str) -> anyhow::Result<()> {
    let address = at.store.address()?;
    let control = Control::open(&address, at.schema)?;
    let (found, shared) = (control.crawl_id().to_owned(), control.shared()?);
    drop(control);
    if found != crawl_id || !Control::forget(&address, at.schema, crawl_id)? {
        bail!(usage(format!("--reset {crawl_id}: {at} holds the crawl {found}: nothing was deleted")));
    }
    console::say!("{at}: the crawl {crawl_id} is forgotten");
    if let Some(Shared { archive, .. }) = shared
        && let Err(error) = free(&archive, crawl_id)
    {
        console::say!("what that crawl left in its archive stays there: {error:#}");
    }
    Ok(())
}

/// Removes the files by which an archive is that of a crawl, so that another may have it, unless there are pages in it.
fn free(url: &str, crawl_id: &str) -> anyhow::Result<()> {
    let archive = SharedArchive::open(url)?;
    let (mark_name, mark) = dir::mark_of_shared(crawl_id);
    if archive.text(&mark_name)?.is_none_or(|found| found != mark) {
        return Ok(());
    }
    if archive.has_any_in(ARCHIVE)? {
        bail!("{} has segments of it: another crawl needs another archive", archive.url());
    }
    for name in dir::NAMES_OF_SHARED {
        archive.remove(&name.join("/"))?;
    }
    // Its changes are none of the next crawl.
    archive.remove(dir::CHANGES)?;
    // Last: without it the others would be nobody's.
    Ok(archive.remove(&mark_name)?)
}
