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
    clap_mangen::generate_to(program, &args.dir).with_context(|| args.dir.display().to_string())?;
    Ok(ExitCode::SUCCESS)
}
