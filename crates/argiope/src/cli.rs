//! The command line: commands, errors as one line, exit codes.

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use console::message::{Level, message, one_line, tell};
use console::threads::guarded;
use settings::table::with_defaults;
use settings::{Options, Usage, files};

use service::queries;

use crate::{commands, exit};

/// The version with the commit and the profile it was built from (`build.rs`), on one line.
const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("ARGIOPE_COMMIT"), " ", env!("ARGIOPE_PROFILE"), ")");

/// The same, a line each.
const LONG_VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), "\ncommit: ", env!("ARGIOPE_COMMIT"), "\nprofile: ", env!("ARGIOPE_PROFILE"));

/// A polite, fast, crash-safe web crawler.
#[derive(Parser, Debug)]
#[command(name = "argiope", version = VERSION, long_version = LONG_VERSION, max_term_width = 120)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Crawl, or resume the crawl in the directory
    #[command(allow_negative_numbers = true)]
    Crawl(Box<commands::crawl::CrawlArgs>),
    #[command(verbatim_doc_comment)]
    /// Save the HTML pages of a site as numbered files
    ///
    /// seedURL        the start: a complete http or https URL
    /// pageDirectory  the directory for the pages, as files named 0, 1, 2, ...: it must exist and be empty
    /// maxDepth       the largest number of links from the seed: 0 is the seed alone
    ///
    /// The first line of a file is the URL of the page, the second its depth, the rest the HTML.
    Pages(Box<commands::pages::PagesArgs>),
    /// Log in in a browser window, and keep its cookies for a crawl
    Login(commands::login::LoginArgs),
    /// Change a crawl while it runs: pause it, add seeds, exclude URLs, put sites on hold, change delays and budgets
    Steer(commands::steer::SteerArgs),
    /// Visit the pages of a crawl again and again within a budget, the most valuable visits first
    Watch(commands::watch::WatchArgs),
    /// Show the progress of a crawl
    Status(commands::status::StatusArgs),
    /// Explain the history of a URL, or why a site is slow or stopped
    Explain(commands::explain::ExplainArgs),
    /// Verify a crawl's archive and the state's pointers into it
    Check(commands::check::CheckArgs),
    /// Take pages that were set aside back into a crawl, instead of fetching them again
    Adopt(commands::adopt::AdoptArgs),
    /// Make a crawl's Parquet tables, or missing parts of them, from its archive
    Derive(commands::derive::DeriveArgs),
    /// Write a crawl in another format
    Export(commands::export::ExportArgs),
    /// Report the results of a crawl: pages, errors, images, links, duplicates, speed
    Report(commands::report::ReportArgs),
    /// Show changes between visits: pages that are new, changed, gone, moved or back
    Changes(commands::changes::ChangesArgs),
    /// Show the PageRank of a page, or the pages, sites or domains with the highest ranks
    Rank(commands::rank::RankArgs),
    /// Count the links between two domains, among the pages reachable from a page of each
    Overlap(commands::overlap::OverlapArgs),
    /// Find the pages that contain a text
    Search(commands::search::SearchArgs),
    /// Show the links from and to a page, with their texts
    Links(commands::links::LinksArgs),
    /// Show the shortest path of links from one page to another
    Path(commands::path::PathArgs),
    /// Show how the crawler reads one input
    Inspect(commands::inspect::InspectArgs),
    /// Crawl as one of several workers of a server
    Worker(commands::worker::WorkerArgs),
    /// Serve a test web for the crawler
    Testweb(commands::testweb::TestwebArgs),
    /// Serve the clients and workers of a crawl by several workers
    Server(Box<commands::server::ServerArgs>),
    /// Use a server: crawl, add seeds, query the crawl, pause it
    Client(commands::client::ClientArgs),
    /// Take part in a query of several workers (started by a worker)
    #[command(hide = true)]
    QueryPart,
    /// Read the document on standard input (started by a crawl)
    #[command(hide = true, name = documents::ARGUMENT)]
    DocumentText {
        /// The kind of document
        kind: String,
    },
    /// Show a crawl, or that of a server, in the browser: its numbers, sites, URLs, search and report, and steer it
    Ui(commands::ui::UiArgs),
    /// List all settings: key, form, default, what it does, and whether it can change while a crawl runs
    Settings(commands::settings::SettingsArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    Man(commands::man::ManArgs),
}

/// Reads the command line, runs the command, and says how it went.
#[must_use]
pub fn main() -> ExitCode {
    let read = parser().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match read {
        Ok(cli) => cli,
        Err(error) => return refused(&without_bad_advice(error)),
    };
    files::allow_many();
    match guarded(|| run(cli.command), ExitCode::from(exit::FAILED)) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            tell(Level::Error, format_args!("{}", one_line(&error)));
            ExitCode::from(if error.is::<Usage>() { exit::USAGE } else { exit::FAILED })
        }
    }
}

/// The command line, with the defaults of the settings in its help.
#[must_use]
pub fn parser() -> clap::Command {
    let crawl = Options::default();
    let server = service::server::setup::defaults(&crawl);
    let below = [("crawl", &crawl), ("pages", &crawl), ("server", &server)];
    below.into_iter().fold(Cli::command(), |command, (name, below)| {
        command.mut_subcommand(name, |command| with_defaults(command, below))
    })
}

/// The parser's advice on an unknown option is to give it as a value, behind `--`: as a seed it would be one more mistake.
fn without_bad_advice(mut error: clap::Error) -> clap::Error {
    if error.kind() == clap::error::ErrorKind::UnknownArgument {
        error.remove(clap::error::ContextKind::Suggested);
    }
    error
}

/// Says what is wrong with the command line, or the help that was asked for. What was given may hold anything.
fn refused(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    let said = text.lines().map(message).collect::<Vec<_>>().join("\n");
    if !error.use_stderr() || said == text.trim_end_matches('\n') {
        error.exit();
    }
    console::message::show(&format!("{said}\n"));
    ExitCode::from(exit::USAGE)
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Crawl(args) => commands::crawl::run(*args),
        Command::Pages(args) => commands::pages::run(*args),
        Command::Login(args) => commands::login::run(&args),
        Command::Steer(args) => commands::steer::run(args),
        Command::Watch(args) => commands::watch::run(args),
        Command::Status(args) => commands::status::run(args),
        Command::Explain(args) => commands::explain::run(args),
        Command::Check(args) => commands::check::run(args),
        Command::Adopt(args) => commands::adopt::run(args),
        Command::Derive(args) => commands::derive::run(args),
        Command::Export(args) => commands::export::run(args),
        Command::Report(args) => commands::report::run(args),
        Command::Changes(args) => commands::changes::run(args),
        Command::Rank(args) => commands::rank::run(args),
        Command::Overlap(args) => commands::overlap::run(args),
        Command::Search(args) => commands::search::run(args),
        Command::Links(args) => commands::links::run(args),
        Command::Path(args) => commands::path::run(args),
        Command::Inspect(args) => commands::inspect::run(args),
        Command::Worker(args) => commands::worker::run(args),
        Command::Testweb(args) => commands::testweb::run(args),
        Command::Server(args) => commands::server::run(*args),
        Command::Client(args) => commands::client::run(args),
        Command::Ui(args) => commands::ui::run(args),
        Command::Settings(args) => commands::settings::run(args),
        Command::QueryPart => Ok(queries::part::run()),
        Command::DocumentText { kind } => Ok(documents::serve(&kind)),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut parser(), "argiope", &mut script);
            std::io::stdout().write_all(&script)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Man(args) => commands::man::run(&args, parser()),
    }
}

/// Who reads our output may stop reading at any time, as in `| head`: that is no failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_names_commit_and_profile() {
        let command = parser();
        let commit = env!("ARGIOPE_COMMIT");
        assert!(commit == "unknown" || commit.len() >= 40, "{commit}");
        let said = command.render_long_version();
        assert_eq!(
            said,
            format!("argiope {}\ncommit: {commit}\nprofile: {}\n", env!("CARGO_PKG_VERSION"), env!("ARGIOPE_PROFILE"))
        );
        assert!(command.render_version().contains(commit));
    }

    #[test]
    fn each_command_has_a_manual_page() -> anyhow::Result<()> {
        let dir = tempfile::tempdir()?;
        commands::man::run(&commands::man::ManArgs { dir: dir.path().to_owned() }, parser())?;
        for name in ["argiope.1", "argiope-crawl.1", "argiope-inspect-warc.1", "argiope-man.1"] {
            let page = std::fs::read_to_string(dir.path().join(name))?;
            assert!(page.contains(".SH SYNOPSIS"), "{name}");
        }
        assert!(!dir.path().join("argiope-query-part.1").exists(), "hidden");
        Ok(())
    }
}
