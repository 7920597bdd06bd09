//! `argiope rank`: the PageRank of a page, or of all.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use ask::rank::{RankOf, Ranked, Ranking, Table, digits};
use clap::{Args, ValueEnum};
use graph::{Definition, Grouping};
use printable::{Printable, counted, write_json_line};

use super::asked::{self, Extent, Threads, say_canonical};

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
pub(super) enum By {
    Page,
    Site,
    Domain,
}

impl By {
    /// As the API names it.
    pub(super) fn plural(self) -> &'static str {
        match self {
            By::Page => "pages",
            By::Site => "sites",
            By::Domain => "domains",
        }
    }

    fn grouping(self) -> Option<Grouping> {
        match self {
            By::Page => None,
            By::Site => Some(Grouping::Site),
            By::Domain => Some(Grouping::Domain),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl with a dataset, or a file cannot be written.
pub fn run(args: RankArgs) -> anyhow::Result<ExitCode> {
    let table = args.out.as_deref().map(Table::at).transpose()?;
    let asked = asked::open(&args.dir)?;
    let definition = if args.normalized { Definition::Normalized } else { Definition::Original };
    let graph = args.extent.graph(&asked)?;
    let ranked = Ranked::of(&asked, graph, args.by.grouping(), definition, args.threads.crew())?;
    if let Some(table) = table {
        ranked.write(&table)?;
    }
    let mut out = io::stdout().lock();
    if let Some(given) = &args.url {
        let rank = ranked.rank_of(given)?;
        say_canonical(given, &rank.url);
        rank.why_none.iter().for_each(|why| console::say!("{why}"));
        if args.json {
            write_json_line(&mut out, &rank)?;
        } else {
            write_rank(&rank, &mut out)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let ranking = ranked.top(args.top)?;
    if args.json {
        write_json_line(&mut out, &ranking)?;
    } else {
        write_ranking(&ranking, args.by, &mut out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write_rank(RankOf { url, rank, place, of, .. }: &RankOf, out: &mut impl Write) -> io::Result<()> {
    match place {
        Some(place) if *rank > 0.0 => {
            writeln!(out, "{} {url}  (place {place} of {})", digits(*rank), counted(*of as u64, "URL"))
        }
        _ => writeln!(out, "0 {url}  (not crawled)"),
    }
}

fn write_ranking(ranking: &Ranking, by: By, out: &mut impl Write) -> io::Result<()> {
    let noun = match by {
        By::Page => "URL",
        By::Site => "site",
        By::Domain => "domain",
    };
    let (vertices, edges) = (counted(ranking.vertices as u64, noun), counted(ranking.edges as u64, "link"));
    writeln!(out, "PageRank of {vertices} by {edges}, {}", counted(u64::from(ranking.rounds), "round"))?;
    for row in &ranking.rows {
        writeln!(out, "{:>5}  {:>14}  {}", row.place, digits(row.rank), Printable(&row.name))?;
    }
    if !ranking.settled {
        writeln!(out, "The ranks did not settle: they are as after the last round.")?;
    }
    Ok(())
}
