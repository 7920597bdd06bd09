//! `argiope ui`: a crawl in the browser.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use crawl::CrawlDir;
use service::access::Guard;
use service::port::{http, listen, resolve, serve_or};
use settings::usage;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::exit;

/// The arguments of `argiope ui`.
#[derive(Args, Debug)]
pub struct UiArgs {
    /// The crawl's directory; a crawl may run in it, begin and end meanwhile
    pub dir: PathBuf,
    /// The address; port 0 takes a free port
    #[arg(long, value_name = "ADDR", default_value = ADDRESS)]
    pub listen: String,
}

/// Where the interface is, unless told.
pub const ADDRESS: &str = "127.0.0.1:7880";

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl, or the address cannot be had.
pub fn run(args: UiArgs) -> anyhow::Result<ExitCode> {
    CrawlDir::existing(&args.dir)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let served = serve("--listen", &args.listen, args.dir, "until Ctrl-C").await?;
        tokio::select! {
            () = served => {}
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        Ok(ExitCode::from(exit::DONE))
    })
}

/// The interface to a crawl beside it, until this is dropped.
pub struct Beside(Option<Runtime>);

impl Beside {
    /// Serves it at an address, which the option `--ui` gives.
    ///
    /// # Errors
    /// The address cannot be had.
    pub fn start(address: &str, root: PathBuf) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let served = runtime.block_on(serve("--ui", address, root, "until the crawl ends"))?;
        runtime.spawn(served);
        Ok(Beside(Some(runtime)))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // An answer under way keeps no crawl from ending.
        self.0.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

/// Listens, says where, and gives what serves.
async fn serve(
    option: &str,
    address: &str,
    root: PathBuf,
    until: &str,
) -> anyhow::Result<impl Future<Output = ()> + use<>> {
    let resolved = resolve(option, address)?;
    if !resolved.ip().is_loopback() {
        return Err(usage(format!(
            "{option} {resolved}: other machines could steer the crawl: use an address of this machine alone, such as {ADDRESS}, and from \
             elsewhere `ssh -L 7880:{ADDRESS}`"
        )));
    }
    let guard = Guard::open();
    let listener = listen(option, address, &guard).await?;
    let refusal = |status: &tonic::Status| ui::refusal(http(status), status.message());
    console::say!("http://{} {until}", listener.local_addr()?);
    Ok(serve_or(listener, ui::router(root), guard, refusal))
}
