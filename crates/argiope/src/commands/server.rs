//! `argiope server`: what clients and workers of a crawl by several workers talk to.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use printable::write_json_line;
use serde_json::json;
use shared_archive::SharedArchive;
use store_postgres::Schema;
use store_postgres::cluster::{Control, Shared};
use tokio::signal::unix::{SignalKind, signal};

use crate::access::ServerAccess;
use crate::cli::usage;
use crate::crawl_dir;
use crate::exit;
use crate::joining::{Joining, Placement};
use crate::options::Options;
use crate::plan::{Plan, excluded_in};
use crate::server::{Service, clients, listen, serve, workers};
use crate::store_address::StoreAddress;
use crate::units::Span;

/// How deep a crawl goes unless told otherwise. It must have a bottom: depths are counted from there.
const DEPTH_DEFAULT: u32 = 100;
/// Leases that make sense: a shorter one ends while a worker waits for the database, a longer one keeps sites of a lost worker idle.
const LEASE_MIN: Duration = Duration::from_secs(1);
const LEASE_MAX: Duration = Duration::from_secs(3_600);

/// The arguments of `argiope server`.
#[derive(Args, Debug)]
pub struct ServerArgs {
    /// Where the archive is, a URL on storage that all workers share; the first server of a crawl says so for all
    #[arg(long, value_name = "URL")]
    pub archive: Option<String>,
    /// Where clients are listened to; port 0 is any that is free
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7871")]
    pub clients: String,
    /// Where workers are listened to; port 0 is any that is free
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7870")]
    pub workers: String,
    /// How long a worker may go on without a word to the database
    #[arg(long, value_name = "D", default_value = "15s")]
    pub lease: Span,
    /// Who crawls the sites of an address: the worker that reaches it fastest, or the one that a hash chooses
    #[arg(long, value_enum, default_value_t = Placement::Latency)]
    pub placement: Placement,
    /// A file of settings, such as the crawl.toml of another crawl
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print where it listens as one JSON object on standard output
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    access: ServerAccess,
    /// The settings of the crawl.
    #[command(flatten)]
    pub options: Options,
}

/// Runs the command.
///
/// # Errors
/// Wrong arguments, a database that does not answer, or addresses that cannot be had.
pub fn run(args: ServerArgs) -> anyhow::Result<ExitCode> {
    let given = match &args.config {
        Some(path) => args.options.over(&Options::read(path).map_err(|error| usage(format!("--config {error:#}")))?)?,
        None => args.options.over(&Options::default())?,
    };
    check(&given)?;
    if !(LEASE_MIN..=LEASE_MAX).contains(&args.lease.0) {
        bail!(usage(format!("--lease {}: is not between {} and {}", args.lease, Span(LEASE_MIN), Span(LEASE_MAX))));
    }
    let guard = args.access.guard()?;
    let (store, schema, given) = place(given)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (to_clients, to_workers) = runtime.block_on(async {
        let clients = listen("--clients", &args.clients, &guard).await?;
        Ok::<_, anyhow::Error>((clients, listen("--workers", &args.workers, &guard).await?))
    })?;
    let control = Control::open(&store.address()?, &schema)?;
    let (plan, shared) = crawl(&control, &given, args.archive.as_deref(), &format!("schema {schema} of {store}"))?;
    begin_archive(&shared.archive, &plan, &store, &schema, control.crawl_id())?;
    let joining = Joining {
        store: store.to_string(),
        store_schema: schema.to_string(),
        crawl_id: control.crawl_id().to_owned(),
        settings: shared.settings,
        archive: shared.archive,
        lease_seconds: args.lease.0.as_secs_f64(),
        placement: args.placement,
    };
    let addresses = (to_clients.local_addr()?, to_workers.local_addr()?);
    let service = Service::new(control, plan, guard.token());
    let (client_routes, worker_routes) = (clients(service, guard.clone())?, workers(&joining, guard.clone())?);
    runtime.block_on(async {
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        tell(addresses, args.json)?;
        tokio::select! {
            () = serve(to_clients, client_routes, guard.clone()) => {}
            () = serve(to_workers, worker_routes, guard) => {}
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        Ok::<_, anyhow::Error>(())
    })?;
    // At once: nothing is kept here, and a question to a database that does not answer may take its time.
    std::process::exit(i32::from(exit::DONE));
}

/// Lays the archive out as a crawl's directory, so that whatever reads those reads it too: its state is in the database.
fn begin_archive(
    archive: &str,
    plan: &Plan,
    store: &StoreAddress,
    schema: &Schema,
    crawl_id: &str,
) -> anyhow::Result<()> {
    let archive = SharedArchive::open(archive)?;
    archive.check()?;
    let options =
        Options { store: Some(store.clone()), store_schema: Some(schema.to_string()), ..plan.options.clone() };
    for (name, text) in crawl_dir::files_of_shared(&options, crawl_id)? {
        archive.put_text_if_absent(&name, &text)?;
    }
    Ok(())
}

fn tell((clients, workers): (std::net::SocketAddr, std::net::SocketAddr), json: bool) -> anyhow::Result<()> {
    eprintln!("argiope: clients on {clients}, workers on {workers}");
    if json {
        let mut out = std::io::stdout().lock();
        write_json_line(&mut out, &json!({"clients": clients.to_string(), "workers": workers.to_string()}))?;
        out.flush()?;
    }
    Ok(())
}

/// Refuses what makes no sense where several processes crawl.
fn check(given: &Options) -> anyhow::Result<()> {
    let limits = [
        ("max-pages", given.max_pages.is_some()),
        ("max-bytes", given.max_bytes.is_some()),
        ("max-time", given.max_time.is_some()),
    ];
    if let Some((flag, _)) = limits.into_iter().find(|(_, is_given)| *is_given) {
        bail!(usage(format!("--{flag}: nobody counts for all workers; `argiope client pause` stops them")));
    }
    let without = [("no-archive", given.no_archive == Some(true)), ("no-dataset", given.no_dataset == Some(true))];
    if let Some((flag, _)) = without.into_iter().find(|(_, is_given)| *is_given) {
        bail!(usage(format!("--{flag}: a crawl by several workers needs both, to answer questions about its pages")));
    }
    Ok(())
}

/// Where the state is, and the options without that: they are those of any crawl.
fn place(mut given: Options) -> anyhow::Result<(StoreAddress, Schema, Options)> {
    let store = given.store.take().ok_or_else(|| {
        usage("--store is missing: where the state is, a PostgreSQL database such as postgres://user@host/name")
    })?;
    store.address().map_err(|error| usage(format!("--store {error}")))?;
    let schema = match given.store_schema.take() {
        Some(name) => name.parse().map_err(|error| usage(format!("--store-schema `{name}`: {error}")))?,
        None => Schema::default(),
    };
    // Workers have no such file.
    if let Some(path) = given.exclude_file.take() {
        given.exclude.extend(excluded_in(&path)?);
    }
    Ok((store, schema, given))
}

/// Sets the crawl up, or joins one that was set up before: what is not given is as it was then, and what is given must be.
fn crawl(control: &Control, given: &Options, archive: Option<&str>, place: &str) -> anyhow::Result<(Plan, Shared)> {
    let shared = match control.shared()? {
        Some(shared) => shared,
        None => {
            let Some(archive) = archive else {
                bail!(usage("--archive is missing: where the archive goes, a URL on storage that all workers share"));
            };
            if !archive.contains("://") {
                bail!(usage(format!("--archive {archive}: is no URL such as file:///srv/crawl")));
            }
            let defaults = Options { depth: Some(DEPTH_DEFAULT), deny_private: Some(true), ..Options::default() };
            let plan = Plan::new(&given.over(&defaults)?)?;
            control.set_up(&plan.options.to_toml("The settings of a crawl by several workers.")?, archive)?
        }
    };
    let stored: Options = toml::from_str(&shared.settings)?;
    let plan = Plan::new(&given.over(&stored)?)?;
    let changed = plan.options.differing_keys(&stored)?;
    if !changed.is_empty() {
        let changed = changed.into_iter().collect::<Vec<_>>().join(", ");
        bail!(usage(format!(
            "{place} holds a crawl with other settings of {changed}: give those it began with, or none"
        )));
    }
    if let Some(archive) = archive.filter(|archive| *archive != shared.archive) {
        bail!(usage(format!("--archive {archive}: the archive of the crawl in {place} is {}", shared.archive)));
    }
    Ok((plan, shared))
}
