//! `argiope ui`: a crawl in the browser.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use crawl::CrawlDir;
use service::here::serve_here;
use service::port::{Refusal, http};
use tokio::signal::unix::{SignalKind, signal};

use crate::exit;

/// The arguments of `argiope ui`.
#[derive(Args, Debug)]
pub struct UiArgs {
    /// The crawl's directory, or several; a crawl may run in each, begin and end meanwhile
    #[arg(required = true, value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
    /// The address; port 0 takes a free port
    #[arg(long, value_name = "ADDR", default_value = ADDRESS)]
    pub listen: String,
}

/// Where the interface is, unless told.
pub const ADDRESS: &str = "127.0.0.1:7880";
/// How the interface says that a request was refused: by a page.
pub const REFUSAL: Refusal = |status| ui::refusal(http(status), status.message());

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl, or the address cannot be had.
pub fn run(args: UiArgs) -> anyhow::Result<ExitCode> {
    args.dirs.iter().try_for_each(|dir| CrawlDir::existing(dir).map(drop))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let served = serve_here(("--listen", &args.listen), "until Ctrl-C", ui::router(args.dirs), REFUSAL).await?;
        tokio::select! {
            () = served => {}
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        Ok(ExitCode::from(exit::DONE))
    })
}
