//! `argiope server`: what clients and workers of a crawl by several workers talk to.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, Args};
use printable::write_json_line;
use serde_json::json;
use store_postgres::cluster::Control;

use crate::exit;
use console::message::{LogFormat, listen_as};
use console::stopping::Signals;
use service::access::ServerAccess;
use service::joining::{Joining, Placement};
use service::metrics::Metrics;
use service::port::{listen, serve};
use service::server::{Service, clients, count, workers};
use settings::options::Options;
use settings::units::Span;
use settings::usage;

use service::server::setup::{At, Crawl, Given, check, check_archive, is_refused, place, reset, set_up};

/// The arguments of `argiope server`.
#[derive(Args, Debug)]
#[command(mut_args(offered))]
pub struct ServerArgs {
    /// The URL of the archive, on storage that all workers reach; the first server of a crawl decides
    #[arg(long, value_name = "URL")]
    pub archive: Option<String>,
    /// The address for clients; port 0 takes a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7871")]
    pub clients: String,
    /// The address for workers; port 0 takes a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7870")]
    pub workers: String,
    /// How long a worker may work without reaching the database; the first server of a crawl decides [default: 15s]
    #[arg(long, value_name = "D")]
    pub lease: Option<Span>,
    /// Which worker crawls the sites of an address: the nearest, or one chosen by a hash; the first server of a crawl decides [default:
    /// latency]
    #[arg(long, value_enum)]
    pub placement: Option<Placement>,
    /// Delete the state of the crawl with this id from the database, and begin another crawl. The archive stays
    #[arg(long, value_name = "ID")]
    pub reset: Option<String>,
    /// A file of settings, such as the crawl.toml of another crawl
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print its addresses as one JSON object on standard output
    #[arg(long)]
    pub json: bool,
    /// Serve Prometheus metrics of the whole crawl at this address (GET /metrics); port 0 takes a free port
    #[arg(long, value_name = "ADDR")]
    metrics: Option<String>,
    /// The form of the log on standard error
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    log_format: LogFormat,
    #[command(flatten)]
    access: ServerAccess,
    /// The settings of the crawl.
    #[command(flatten)]
    pub options: Options,
}

/// Help offers no option that [`check`] refuses: the refusal says what to do instead.
fn offered(option: Arg) -> Arg {
    if option.get_long().is_some_and(is_refused) { option.hide(true) } else { option }
}

/// Runs the command.
///
/// # Errors
/// Wrong arguments, a database that does not answer, or addresses that cannot be had.
pub fn run(args: ServerArgs) -> anyhow::Result<ExitCode> {
    let given = match &args.config {
        Some(path) => {
            let read = Options::read_with_secrets(path).map_err(|error| usage(format!("--config {error:#}")))?;
            args.options.over(&read)?
        }
        None => args.options.over(&Options::default())?,
    };
    check(&given, args.lease)?;
    args.archive.as_deref().map_or(Ok(()), check_archive)?;
    let guard = args.access.guard()?;
    let (store, schema, given) = place(given)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (to_clients, to_workers) = runtime.block_on(async {
        let clients = listen("--clients", &args.clients, &guard).await?;
        Ok::<_, anyhow::Error>((clients, listen("--workers", &args.workers, &guard).await?))
    })?;
    let at = At { store: &store, schema: &schema };
    if let Some(crawl_id) = &args.reset {
        reset(&at, crawl_id)?;
    }
    let control = Control::open(&store.address()?, &schema)?;
    let given =
        Given { options: &given, archive: args.archive.as_deref(), lease: args.lease, placement: args.placement };
    let Crawl { plan, settings, archive, lease, placement } = set_up(&control, &given, &at)?;
    let joining = Joining {
        store: store.to_string(),
        store_schema: schema.to_string(),
        crawl_id: control.crawl_id().to_owned(),
        settings,
        archive,
        lease_seconds: lease.as_secs_f64(),
        placement,
    };
    listen_as(args.log_format.into());
    let addresses = (to_clients.local_addr()?, to_workers.local_addr()?);
    let service = Service::new(control, plan.settings.canonical, guard.token(), &joining.archive)?;
    let metrics = args.metrics.as_deref().map(Metrics::listen).transpose()?;
    let _within = runtime.enter();
    service.watch_database();
    service.record_history();
    if let Some(metrics) = &metrics {
        metrics.serve(runtime.handle(), count(service.clone()))?;
    }
    let metrics = metrics.map(|metrics| metrics.address()).transpose()?;
    let changes = service.changes_under_way().clone();
    let (client_routes, worker_routes) = (clients(service)?, workers(&joining)?);
    runtime.block_on(async {
        let mut signals = Signals::new()?;
        tell(addresses, metrics, args.json)?;
        tokio::select! {
            () = serve(to_clients, client_routes, guard.clone()) => {}
            () = serve(to_workers, worker_routes, guard) => {}
            signal = signals.next() => console::say!("{signal}: the server ends; the same command starts it again"),
        }
        changes.end(&mut signals).await;
        Ok::<_, anyhow::Error>(())
    })?;
    // At once: nothing is kept here, and a question to a database that does not answer may take its time.
    std::process::exit(i32::from(exit::DONE));
}

fn tell((clients, workers): (SocketAddr, SocketAddr), metrics: Option<SocketAddr>, json: bool) -> anyhow::Result<()> {
    console::say!("clients on {clients}, workers on {workers}");
    if json {
        let mut out = std::io::stdout().lock();
        write_json_line(&mut out, &json!({"clients": clients, "workers": workers, "metrics": metrics}))?;
        out.flush()?;
    }
    Ok(())
}
