//! Developer tools: `cargo xtask test`, `cargo xtask tidy`, `cargo xtask bench`.

mod bench;
mod needs;
mod test;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND

  test           all checks and all tests, as in CI; installs what they need, or says what is missing
  tidy           the house rules that the compiler does not know
  bench [PAGES]  crawl a synthetic web of that many pages (default 100000 and 1000000), with speed and memory";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["test"] => test::run(),
        ["tidy"] => tidy::run(),
        ["bench", sizes @ ..] => bench::run(sizes),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace's directory.
fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}
