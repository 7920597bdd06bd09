//! `argiope man`: the manual pages, as packages install them.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

/// The arguments of `argiope man`.
#[derive(Args, Debug)]
pub struct ManArgs {
    /// Where the pages go: an existing directory
    pub dir: PathBuf,
}

/// Writes one page for the program and one for each of its commands. They are the same for the same program.
///
/// # Errors
/// The directory cannot be written to.
pub fn run(args: &ManArgs, program: clap::Command) -> anyhow::Result<ExitCode> {
    let mut program = program.disable_help_subcommand(true);
    program.build();
    clap_mangen::generate_to(with_usage(program), &args.dir).with_context(|| args.dir.display().to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// The synopsis is the usage of `--help`. That of the library lacks what the commands above take, and what may be repeated.
fn with_usage(command: clap::Command) -> clap::Command {
    let mut command = command.mut_subcommands(with_usage);
    let usage = command.render_usage().to_string();
    command.override_usage(usage.trim_start_matches("Usage: ").to_owned())
}
