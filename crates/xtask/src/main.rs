//! Developer tools: `cargo xtask` alone lists them.

mod bench;
mod dist;
mod interface;
mod needs;
mod pictures;
mod profile;
mod prose;
mod semver;
mod site;
mod svg;
mod test;
mod testweb;
mod tidy;
mod workspace;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND

  test          all checks and all tests, as in CI; installs what they need, or says what is missing
  tidy          the house rules that the compiler does not know
  prose [FILE]  words per sentence of the documents, with a limit; with files: their sentences that are too long
  bench WHAT    whole crawls, some beside other crawlers, with speed and memory; `bench` alone lists them
  site          the documentation as a site in target/site/html; fails where a link is broken
  pictures      the pictures of the README and of the documents, in docs/pictures
  profile       where the processor's time of a crawl goes, as a flame graph
  dist          the packages of a release; `dist --help` lists its options
  semver        whether the library keeps what its last release promised";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["test"] => test::run(),
        ["tidy"] => tidy::run(),
        ["prose", files @ ..] => prose::run(files),
        ["bench", arguments @ ..] => bench::run(arguments),
        ["site", arguments @ ..] => site::run(arguments),
        ["pictures", arguments @ ..] => pictures::run(arguments),
        ["profile", arguments @ ..] => profile::run(arguments),
        ["dist", arguments @ ..] => dist::run(arguments),
        ["semver", arguments @ ..] => semver::run(arguments),
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
