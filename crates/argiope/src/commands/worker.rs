//! `argiope worker`: crawls with others, as a server tells.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use clap::Args;

use crate::exit;
use console::message::{LogFormat, listen_as};
use console::progress::Show;
use console::stopping::stop_signal;
use service::access::ClientAccess;
use service::joining;
use service::metrics::{Metrics, Tally, Watched, of_worker};
use service::worker::{Crew, Scratch, Working};
use settings::units::Span;
use settings::usage;

/// The arguments of `argiope worker`.
#[derive(Args, Debug)]
pub struct WorkerArgs {
    /// The server's address for workers, host:port
    #[arg(value_name = "SERVER")]
    server: String,
    /// The directory for segments until they are sealed, and for the rows that answer questions. The worker empties it when it joins
    /// [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The address for the server and other workers; port 0 takes a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The address under which others reach --listen, host:port, if it differs
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Seal a segment after this time even if it is not full; unsealed pages of a lost worker are fetched again
    #[arg(long, value_name = "TIME", default_value = "5m")]
    seal_after: Span,
    /// The Chromium to render with, if the crawl renders [default: the first of chromium, chromium-browser, google-chrome-stable,
    /// google-chrome in PATH]
    #[arg(long, value_name = "PATH", env = "ARGIOPE_BROWSER", hide_env_values = true)]
    browser: Option<PathBuf>,
    /// How to show progress
    #[arg(long, value_name = "HOW", default_value = "auto")]
    progress: Show,
    /// Serve Prometheus metrics at this address (GET /metrics); port 0 takes a free port
    #[arg(long, value_name = "ADDR")]
    metrics: Option<String>,
    /// The form of the log on standard error
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    log_format: LogFormat,
    #[command(flatten)]
    access: ClientAccess,
}

/// Runs the command.
///
/// # Errors
/// The server or the database cannot be reached, or do not let this worker in; the directory or the archive cannot be used.
pub fn run(args: WorkerArgs) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let proof = args.access.proof()?;
    if !args.listen.ip().is_loopback() && proof.token.is_none() {
        bail!(usage(format!(
            "--listen {}: is open to other machines, so a token is needed: --token-file FILE",
            args.listen
        )));
    }
    let joining = runtime.block_on(joining::ask(&args.server, &proof))?;
    let crew = Crew::new(&joining, args.browser)?;
    let scratch = Scratch::new(args.dir.as_deref())?;
    let listener = std::net::TcpListener::bind(args.listen)
        .map_err(|error| usage(format!("--listen {}: {error}", args.listen)))?;
    let name = match args.name {
        Some(name) => name,
        None => listener.local_addr()?.to_string(),
    };
    let stop = {
        let _guard = runtime.enter();
        stop_signal(exit::STOPPED)?
    };
    listen_as(args.log_format.into());
    let metrics = args.metrics.as_deref().map(Metrics::listen).transpose()?;
    let tally = Arc::<Tally>::default();
    if let Some(metrics) = &metrics {
        let tally = tally.clone();
        metrics.serve(runtime.handle(), move || of_worker(&tally))?;
    }
    let watched = Watched { show: args.progress, metrics };
    let working = Working { crew, scratch, name, seal_after: args.seal_after.0, watched, tally, token: proof.token };
    working.answer_questions(&runtime, listener)?;
    working.run(&runtime, stop)?;
    Ok(ExitCode::from(exit::DONE))
}
