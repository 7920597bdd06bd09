//! `argiope testweb`: serve a web to try the crawler on.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use testweb::{Config, Server, Web, files::Files, synthetic};

use settings::usage;

/// The arguments of `argiope testweb`.
#[derive(Args, Debug)]
pub struct TestwebArgs {
    /// The address; port 0 takes a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// Serve the files of a directory as the site NAME
    #[arg(long, value_name = "NAME=DIR")]
    pub root: Vec<String>,
    /// Serve a web computed from page names, under *.synthetic.test: any size, no stored data
    #[arg(long, value_name = "SEED,SITES,PAGES,DEGREE")]
    pub synthetic: Option<String>,
    /// Write each request to this file, as one line of JSON
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Write the certificate of the sites' authority to this file, in PEM
    #[arg(long, value_name = "FILE")]
    pub ca_cert: Option<PathBuf>,
}

/// Runs the command until it is interrupted.
///
/// # Errors
/// The address cannot be listened on, or a directory cannot be read.
pub fn run(args: TestwebArgs) -> anyhow::Result<ExitCode> {
    let mut web = Web::sandboxes();
    let mut sites =
        ["simple.test", "advanced.test", "scripted.test", "honest.test", "hostile.test"].map(str::to_owned).to_vec();
    for root in &args.root {
        let (name, dir) = root.split_once('=').ok_or_else(|| usage(format!("--root `{root}` is not NAME=DIR")))?;
        let files = Files::new(dir.as_ref()).map_err(|error| usage(format!("--root {dir}: {error}")))?;
        web = web.site(name, files);
        sites.push(name.to_owned());
    }
    if let Some(text) = &args.synthetic {
        let settings: synthetic::Settings = text.parse().map_err(|error| usage(format!("--synthetic: {error}")))?;
        let synthetic = synthetic::Synthetic::new(settings).map_err(|error| usage(format!("--synthetic: {error}")))?;
        sites.push(synthetic.root().host());
        web = web.site("*.synthetic.test", synthetic);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let config = Config { listen: vec![args.listen], log_file: args.log, log_entries_max: 0, ..Config::new(web) };
        let server = Server::start(config).await?;
        if let Some(path) = &args.ca_cert {
            std::fs::write(path, server.ca_pem())?;
        }
        let said = format!(
            "listening on {}\nsites: {}\ntry: argiope crawl http://simple.test/ --connect-to {}\n",
            server.address(),
            sites.join(" "),
            server.connect_to()
        );
        // At once, so that who reads the first line only leaves it running.
        std::io::stdout().write_all(said.as_bytes())?;
        tokio::signal::ctrl_c().await?;
        server.shutdown().await;
        Ok(ExitCode::SUCCESS)
    })
}
