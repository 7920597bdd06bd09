//! `argiope rank`: the PageRank of a page, or of all.

mod table;

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use graph::{DAMPING, Definition, Graph, Grouping, Ranks, names, pagerank};
use printable::{Printable, write_json_line};
use serde::Serialize;
use weburl::UrlKey;

use super::asked::{Extent, QueriedCrawl, Threads};
use printable::counted;
use settings::usage;
use table::Table;

/// The arguments of `argiope rank`.
#[derive(Args, Debug)]
pub struct RankArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// The URL whose rank is asked for; without it the highest ranks are told
    pub url: Option<String>,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "url")]
    top: usize,
    /// What to rank: pages, or sites or domains by the links between them
    #[arg(long, value_enum, default_value_t = By::Page, conflicts_with = "url")]
    by: By,
    /// Ranks that sum to 1. The rank of pages without links is spread over all pages, and uncrawled URLs have a rank too
    #[arg(long)]
    normalized: bool,
    /// Write all ranks to a file, the highest first: .csv or .parquet
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    threads: Threads,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    Page,
    Site,
    Domain,
}

/// The answer, as JSON.
#[derive(Serialize)]
struct RankOutput {
    definition: &'static str,
    damping: f64,
    rounds: u32,
    settled: bool,
    vertices: usize,
    edges: usize,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    place: usize,
    rank: f64,
    name: String,
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl with a dataset, or a file cannot be written.
pub fn run(args: RankArgs) -> anyhow::Result<ExitCode> {
    let table = args.out.as_deref().map(Table::at).transpose()?;
    let asked = QueriedCrawl::new(&args.dir)?;
    let graph = asked.graph_of(args.extent)?;
    let (graph, group_names) = match args.by {
        By::Page => (graph, None),
        By::Site => named(graph.grouped(Grouping::Site, &asked.layout)?),
        By::Domain => named(graph.grouped(Grouping::Domain, &asked.layout)?),
    };
    let graph = Arc::new(graph);
    let definition = if args.normalized { Definition::Normalized } else { Definition::Original };
    let mut ranks = pagerank(&graph, definition, args.threads.crew())?;
    // Of equal ranks the order is that of the keys, so that it is always the same.
    ranks.values.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    if let Some(table) = table {
        table.write(&asked.layout, &graph, &ranks, group_names.as_ref())?;
    }
    let mut out = std::io::stdout().lock();
    if let Some(given) = &args.url {
        return one(&asked, given, &graph, &ranks, args.json, &mut out);
    }
    let top = &ranks.values[..args.top.min(ranks.values.len())];
    let names = match group_names {
        Some(names) => names,
        None => names([&asked.layout], top.iter().map(|(key, _)| *key))?,
    };
    let name = |key: &UrlKey| names.get(key).cloned().unwrap_or_else(|| key.to_string());
    let rows = (1..).zip(top).map(|(place, (key, rank))| Row { place, rank: *rank, name: name(key) });
    let answer = RankOutput::new(definition, &graph, &ranks, rows.collect());
    if args.json {
        write_json_line(&mut out, &answer)?;
    } else {
        answer.write_text(args.by, &mut out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn named(grouped: graph::Grouped) -> (Graph, Option<HashMap<UrlKey, String>>) {
    (grouped.graph, Some(grouped.names))
}

/// The rank of one URL: what the crawl does not know has none.
fn one(
    asked: &QueriedCrawl,
    given: &str,
    graph: &Graph,
    ranks: &Ranks,
    json: bool,
    out: &mut impl Write,
) -> anyhow::Result<ExitCode> {
    let (url, key) = match asked.vertex(graph, given) {
        Ok((url, vertex)) => (url, Some(graph.key(vertex))),
        Err(error) if error.is::<settings::Usage>() => return Err(error),
        Err(error) => {
            console::say!("{error:#}");
            (asked.url(given)?, None)
        }
    };
    let place = ranks.values.iter().position(|(ranked, _)| Some(*ranked) == key);
    let rank = place.map_or(0.0, |place| ranks.values[place].1);
    // What has the same rank has the same place.
    let place = place.map(|_| ranks.values.partition_point(|(_, other)| *other > rank) + 1);
    if json {
        write_json_line(
            out,
            &serde_json::json!({"url": url.as_str(), "rank": rank, "place": place, "of": graph.len()}),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    match place {
        Some(place) if rank > 0.0 => {
            writeln!(out, "{} {url}  (place {place} of {})", shown(rank), counted(graph.len() as u64, "URL"))?;
        }
        _ => writeln!(out, "0 {url}  (not crawled)")?,
    }
    Ok(ExitCode::SUCCESS)
}

impl RankOutput {
    fn new(definition: Definition, graph: &Graph, ranks: &Ranks, rows: Vec<Row>) -> Self {
        RankOutput {
            definition: if definition == Definition::Normalized { "normalized" } else { "original" },
            damping: DAMPING,
            rounds: ranks.rounds,
            settled: ranks.is_settled,
            vertices: graph.len(),
            edges: graph.edges(),
            rows,
        }
    }

    fn write_text(&self, by: By, out: &mut impl Write) -> anyhow::Result<()> {
        let noun = match by {
            By::Page => "URL",
            By::Site => "site",
            By::Domain => "domain",
        };
        let (vertices, edges) = (counted(self.vertices as u64, noun), counted(self.edges as u64, "link"));
        writeln!(out, "PageRank of {vertices} by {edges}, {}", counted(u64::from(self.rounds), "round"))?;
        for row in &self.rows {
            writeln!(out, "{:>5}  {:>14}  {}", row.place, shown(row.rank), Printable(&row.name))?;
        }
        if !self.settled {
            writeln!(out, "The ranks did not settle: they are as after the last round.")?;
        }
        Ok(())
    }
}

/// A rank in six digits.
pub(super) fn shown(rank: f64) -> String {
    if rank == 0.0 || rank >= 0.01 { format!("{rank:.6}") } else { format!("{rank:.5e}") }
}
