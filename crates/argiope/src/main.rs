//! The `argiope` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    argiope::cli::main()
}
