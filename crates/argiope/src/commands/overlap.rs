//! `argiope overlap`: how closely two domains are linked.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use ask::overlap::{Overlap, overlap};
use clap::Args;
use printable::{Printable, counted, write_json_line};

use super::asked::{self, Extent, Threads};

/// The arguments of `argiope overlap`.
#[derive(Args, Debug)]
pub struct OverlapArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// A page of one domain
    pub url1: String,
    /// A page of another domain
    pub url2: String,
    /// Show the links
    #[arg(long)]
    list: bool,
    /// Print one JSON object, links included
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    threads: Threads,
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl with a dataset, a URL is not known to it, or both are of one domain.
pub fn run(args: OverlapArgs) -> anyhow::Result<ExitCode> {
    let asked = asked::open(&args.dir)?;
    let graph = args.extent.graph(&asked)?;
    let (one, _) = asked::vertex(&asked, &graph, &args.url1)?;
    let (other, _) = asked::vertex(&asked, &graph, &args.url2)?;
    let pages = [&one, &other];
    let answer = overlap(&asked, graph, pages, args.list || args.json, args.threads.crew())?;
    let mut out = std::io::stdout().lock();
    if args.json {
        write_json_line(&mut out, &answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Overlap { overlap, domains, reachable, edges } = answer;
    writeln!(out, "{overlap}")?;
    for (from, to) in [(0, 1), (1, 0)] {
        let (links, count) = (counted(edges[from].len() as u64, "link"), counted(reachable[from], "page"));
        let (there, here) = (&domains[to], &domains[from]);
        writeln!(out, "  {links} to {there} from {count} of {here} in reach of {}", pages[from])?;
        for edge in edges[from].iter().filter(|_| args.list) {
            writeln!(out, "    {} -> {}", Printable(&edge.source), Printable(&edge.target))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
