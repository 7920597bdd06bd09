//! `argiope ui`: a crawl in the browser.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;
use api::GetWorkersRequest;
use clap::Args;
use console::stopping::Signals;
use crawl::CrawlDir;
use service::access::{ClientAccess, InterfaceAccess, Proof};
use service::changes::Changes;
use service::client::{Client, connect, why_no_answer};
use service::here::serve_here;
use settings::usage;

use crate::exit;

/// The arguments of `argiope ui`.
#[derive(Args, Debug)]
pub struct UiArgs {
    /// The crawl's directory, or several; a crawl may run in each, begin and end meanwhile. Or the address of a server for clients, HOST:PORT
    #[arg(required = true, value_name = "DIR|SERVER")]
    pub crawls: Vec<PathBuf>,
    /// The address; port 0 takes a free port
    #[arg(long, value_name = "ADDR", default_value = ADDRESS)]
    pub listen: String,
    /// How a server lets us ask.
    #[command(flatten)]
    pub access: ClientAccess,
    /// Whom the interface lets in.
    #[command(flatten)]
    pub interface: InterfaceAccess,
}

/// Where the interface is, unless told.
pub const ADDRESS: &str = "127.0.0.1:7880";
/// How long answers under way may take when the command ends.
const ENDS_WITHIN: Duration = Duration::from_secs(1);

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl, the server does not answer, or the address cannot be had.
pub fn run(args: UiArgs) -> anyhow::Result<ExitCode> {
    let (proof, guard) = (args.access.proof()?, args.interface.guard()?);
    let server = server(&args.crawls)?.map(str::to_owned);
    if server.is_none() {
        if proof.token.is_some() || proof.tls.is_some() {
            return Err(usage("--token-file and --tls-ca are for a server, HOST:PORT"));
        }
        args.crawls.iter().try_for_each(|dir| CrawlDir::existing(dir).map(drop))?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let changes = Changes::default();
        let mut signals = Signals::new()?;
        let router = match &server {
            Some(server) => ui::cluster::router(client(server, &proof).await?, server),
            None => ui::router(args.crawls, &changes),
        };
        let served = serve_here(("--listen", &args.listen), "until Ctrl-C", ui::interface(router, guard)).await?;
        tokio::select! {
            () = served => {}
            _ = signals.next() => {}
        }
        changes.end(&mut signals).await;
        Ok(ExitCode::from(exit::DONE))
    });
    // An answer that reads much may take minutes, and nobody waits for it any more.
    runtime.shutdown_timeout(ENDS_WITHIN);
    ended
}

/// The server, if one is given.
///
/// # Errors
/// More than one server is given, or directories beside it, or an address is mistyped.
fn server(given: &[PathBuf]) -> anyhow::Result<Option<&str>> {
    given.iter().try_for_each(|given| mistaken(given).map_or(Ok(()), |mistake| Err(usage(mistake))))?;
    let servers: Vec<&str> = given.iter().filter_map(|given| address(given)).collect();
    match servers[..] {
        [] => Ok(None),
        [server] if given.len() == 1 => Ok(Some(server)),
        _ => Err(usage("give one server, or directories: one interface shows no server beside other crawls")),
    }
}

/// An address with a port; what is there as a file is none.
fn address(given: &Path) -> Option<&str> {
    let text = given.to_str()?;
    let (host, port) = text.rsplit_once(':')?;
    let is_address = !host.is_empty() && !host.contains('/') && port.parse::<u16>().is_ok();
    (is_address && !given.exists()).then_some(text)
}

/// What is wrong with an address that cannot be meant for a directory.
fn mistaken(given: &Path) -> Option<String> {
    let text = given.to_str().filter(|_| !given.exists())?;
    if text.contains("://") {
        return Some(format!("{text}: a server is given as HOST:PORT, without a scheme and a path"));
    }
    let (host, port) = text.rsplit_once(':')?;
    let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_mistaken = !host.contains('/') && is_number && port.parse::<u16>().is_err();
    is_mistaken.then(|| format!("{text}: {port} is no port: the last one is {}", u16::MAX))
}

/// A connection to a server that lets us ask.
async fn client(server: &str, proof: &Proof) -> anyhow::Result<Client> {
    let client = connect(server, proof).await?;
    let asked = client.clone().get_workers(GetWorkersRequest {}).await;
    asked.map_err(|status| anyhow!("{}", why_no_answer(server, &status)))?;
    Ok(client)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_an_address_with_a_port() -> anyhow::Result<()> {
        let of = |given: &[&str]| {
            let given: Vec<PathBuf> = given.iter().map(PathBuf::from).collect();
            server(&given).map(|server| server.map(str::to_owned))
        };
        for (given, expect) in [
            ("127.0.0.1:7871", true),
            ("[::1]:7871", true),
            ("crawler.internal:7871", true),
            ("crawl", false),
            ("crawl:old", false),
            ("./127.0.0.1:7871", false),
            (":7871", false),
            ("crawl:99999x", false),
        ] {
            assert_eq!(of(&[given])?.is_some(), expect, "{given}");
        }
        for (given, expect) in [
            ("127.0.0.1:99999", "127.0.0.1:99999: 99999 is no port: the last one is 65535"),
            ("http://a.test:7871/", "http://a.test:7871/: a server is given as HOST:PORT, without a scheme and a path"),
        ] {
            assert_eq!(of(&[given]).expect_err(given).to_string(), expect);
        }
        assert!(of(&["a:1", "b:1"]).is_err() && of(&["a:1", "crawl"]).is_err());
        Ok(())
    }
}
