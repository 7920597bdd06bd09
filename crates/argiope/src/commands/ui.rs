//! `argiope ui`: a crawl in the browser.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use crawl::CrawlDir;
use service::access::Guard;
use service::port::{http, listen, resolve, serve_or};
use settings::usage;
use tokio::signal::unix::{SignalKind, signal};

use crate::exit;

/// The arguments of `argiope ui`.
#[derive(Args, Debug)]
pub struct UiArgs {
    /// The crawl's directory; a crawl may run in it, begin and end meanwhile
    pub dir: PathBuf,
    /// The address; port 0 takes a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7880")]
    pub listen: String,
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl, or the address cannot be had.
pub fn run(args: UiArgs) -> anyhow::Result<ExitCode> {
    CrawlDir::existing(&args.dir)?;
    let address = resolve("--listen", &args.listen)?;
    if !address.ip().is_loopback() {
        return Err(usage(format!(
            "--listen {address}: other machines could steer the crawl: use an address of this machine alone, such as 127.0.0.1:7880, and from \
             elsewhere `ssh -L 7880:127.0.0.1:7880`"
        )));
    }
    let guard = Guard::open();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let listener = listen("--listen", &args.listen, &guard).await?;
        let refusal = |status: &tonic::Status| ui::refusal(http(status), status.message());
        console::say!("http://{} until Ctrl-C", listener.local_addr()?);
        tokio::select! {
            () = serve_or(listener, ui::router(args.dir), guard, refusal) => {}
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        Ok(ExitCode::from(exit::DONE))
    })
}
