//! `argiope search`: the pages that have a text.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use ask::CONTEXT_CHARS;
use ask::follow::keys;
use ask::since::time;
use clap::Args;
use crawl::opened::Opened;
use engine::clock::Clock;
use graph::{Only, Pattern, Search, SearchResult, Within, search};
use printable::{Printable, write_json_line};
use serde_json::json;

use super::asked::{self, Threads};
use printable::counted;
use settings::site_name::SiteName;
use settings::usage;

/// The arguments of `argiope search`.
#[derive(Args, Debug)]
pub struct SearchArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// The text, as it stands on the pages, their tags aside
    pub text: String,
    /// Ignore case
    #[arg(long)]
    ignore_case: bool,
    /// The text is a regular expression
    #[arg(long)]
    regex: bool,
    /// Search the main text: without menus, adverts and notices
    #[arg(long)]
    main_text: bool,
    /// Only pages of this site; may be repeated
    #[arg(long)]
    site: Vec<SiteName>,
    /// Only pages fetched since this time: a date, a time in UTC, or how long ago (7d)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Show the first occurrence in each page, with this many characters on either side
    #[arg(long, value_name = "CHARS", num_args = 0..=1)]
    context: Option<Option<usize>>,
    /// How many pages to show; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    threads: Threads,
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl with a dataset, or the text cannot be searched for.
pub fn run(args: SearchArgs) -> anyhow::Result<ExitCode> {
    let pattern = match args.regex {
        true => Pattern::regex(&args.text, args.ignore_case),
        false => Pattern::text(&args.text, args.ignore_case),
    };
    let pattern = pattern.map_err(|error| usage(error.to_string()))?;
    let asked = asked::open(&args.dir)?;
    let limit = (args.limit > 0).then_some(args.limit);
    let context = args.context.map(|chars| chars.unwrap_or(CONTEXT_CHARS)).or(args.json.then_some(CONTEXT_CHARS));
    let sites = match args.site.as_slice() {
        [] => Vec::new(),
        sites => Opened::ask(&args.dir, |opened| keys(sites, opened.view()))?,
    };
    let since = args.since.as_deref().map(|text| time(text, Clock::start().date())).transpose()?;
    let (within, only) = (Within::main_text(args.main_text), Only { sites, since });
    let wanted = Search { pattern, within, only, limit, context };
    let SearchResult { pages, occurrences, rows } = search([&asked.layout], wanted, args.threads.crew())?;
    let mut out = std::io::stdout().lock();
    if args.json {
        write_json_line(&mut out, &json!({"pages": pages, "occurrences": occurrences, "rows": rows}))?;
        return Ok(ExitCode::SUCCESS);
    }
    for row in &rows {
        writeln!(out, "{:>7}  {}", row.occurrences, Printable(&row.url))?;
        if let Some(context) = &row.context {
            writeln!(out, "         {}", Printable(context))?;
        }
    }
    out.flush()?;
    let shown = if rows.len() as u64 == pages { String::new() } else { format!(", {} of them shown", rows.len()) };
    console::say!("{}, {}{shown}", counted(pages, "page"), counted(occurrences, "occurrence"));
    Ok(ExitCode::SUCCESS)
}
