//! `argiope overlap`: how closely two domains are linked.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use ask::target::domain_name;
use clap::Args;
use graph::{Overlap, domain_of, names, overlap};
use printable::{Printable, write_json_line};
use serde_json::json;

use super::asked::{Extent, QueriedCrawl, Threads};
use printable::counted;

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
    let asked = QueriedCrawl::new(&args.dir)?;
    let graph = asked.graph_of(args.extent)?;
    let (one, _) = asked.vertex(&graph, &args.url1)?;
    let (other, _) = asked.vertex(&graph, &args.url2)?;
    let domains = [&one, &other].map(domain_name);
    if domain_of(&one) == domain_of(&other) {
        bail!("both URLs are in {}: an overlap needs two domains (host and port)", domains[0]);
    }
    let Overlap { reachable, edges } = overlap(&Arc::new(graph), [&one, &other], args.threads.crew())?;
    let counts = edges.each_ref().map(|edges| edges.len() as u64);
    let sum = counts[0] + counts[1];
    let ends = || edges.iter().flatten().flat_map(|edge| [edge.source, edge.target]);
    let names = if args.list || args.json { names([&asked.layout], ends())? } else { Default::default() };
    let name = |key| names.get(&key).cloned().unwrap_or_else(|| key.to_string());
    let mut out = std::io::stdout().lock();
    if args.json {
        let edges = edges.map(|edges| {
            edges
                .iter()
                .map(|edge| json!({"source": name(edge.source), "target": name(edge.target)}))
                .collect::<Vec<_>>()
        });
        let answer = json!({"overlap": sum, "domains": domains, "reachable": reachable, "edges": edges});
        write_json_line(&mut out, &answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "{sum}")?;
    for (from, to) in [(0, 1), (1, 0)] {
        let (links, pages) = (counted(counts[from], "link"), counted(reachable[from], "page"));
        writeln!(
            out,
            "  {links} to {} from {pages} of {} in reach of {}",
            domains[to],
            domains[from],
            [&one, &other][from]
        )?;
        for edge in edges[from].iter().filter(|_| args.list) {
            writeln!(out, "    {} -> {}", Printable(&name(edge.source)), Printable(&name(edge.target)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
