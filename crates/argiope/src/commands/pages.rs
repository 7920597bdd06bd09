//! `argiope pages`: save the HTML pages of a site as numbered files, as a course on search engines wants them.

mod arguments;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use console::message::tell_all;
use console::progress::Show;
use crawl::{End, Ended, Session};
use pages::{Line, Request, Resumed, Saved, Saving};
use printable::{Printable, counted};
use service::metrics::Watched;
use settings::options::Options;

use self::arguments::Arguments;
use crate::commands::crawl::{Sandbox, watch};
use crate::exit;
use console::printed;

/// The deepest indentation, in levels.
const LEVELS_MAX: u32 = 40;

/// The arguments of `argiope pages`. The three that must be there are counted by ourselves, so that the error is one
/// line that says what is wrong.
#[derive(Args, Debug)]
#[command(override_usage = "argiope pages [OPTIONS] seedURL pageDirectory maxDepth")]
pub struct PagesArgs {
    /// `seedURL`, `pageDirectory`, `maxDepth`.
    #[arg(hide = true, allow_negative_numbers = true)]
    pub arguments: Vec<OsString>,
    /// The internal URLs: those that begin with PREFIX [default: those of seedURL's host]
    #[arg(long, value_name = "PREFIX")]
    pub internal: Option<String>,
    /// The directory of the crawl's state [default: pageDirectory with .crawl appended]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// The settings of the crawl.
    #[command(flatten)]
    pub options: Options,
}

/// Runs the command.
///
/// # Errors
/// Wrong arguments, a seed that cannot be fetched, a directory that cannot be used, or a disk that fails.
pub fn run(args: PagesArgs) -> anyhow::Result<ExitCode> {
    let Arguments { seed_url, page_directory, max_depth } = Arguments::read(&args.arguments)?;
    let PagesArgs { internal, output, options, .. } = args;
    let pages = page_directory.display().to_string();
    let mut saving = Saving::open(Request { seed_url, page_directory, max_depth, internal, output, options })?;
    tell_all(&saving.notices);
    let root = saving.dir().root().display().to_string();
    match saving.resumed {
        Some(Resumed { left: 0, .. }) => {
            console::say!("this crawl has already ended: to start over, remove {root} and the pages in {pages}");
        }
        Some(Resumed { saved, .. }) => console::say!("going on behind {} in {pages}", counted(saved, "page")),
        None => {}
    }
    let _web = if saving.plan.sandbox { Some(Sandbox::start(&mut saving.plan)?) } else { None };
    let unwatched = Watched { show: Show::None, metrics: None };
    let threads = Session::threads(&saving.plan);
    let (session, run) = saving.session(|lines| print(lines).context("standard output"));
    let Ended { end, left, .. } = watch(session, threads, unwatched)?;
    let saved = match run.finish(&end)? {
        Saved::None(reason) => bail!(reason),
        Saved::Pages(saved) => counted(saved, "page"),
    };
    left.iter().flat_map(|left| left.in_words(&end, &root)).for_each(|line| console::say!("{line}"));
    let code = tell_end(&end);
    printed::print(&format!("{saved} saved in {pages}; the state of the crawl is in {root}\n"))?;
    Ok(ExitCode::from(code))
}

/// Prints lines on standard output at once.
fn print(lines: &[Line]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    lines.iter().try_for_each(|line| writeln!(out, "{}", shown(line)))?;
    out.flush()
}

fn shown(Line { depth, found, word, url, remark }: &Line) -> String {
    let indent = 2 * (*depth.min(&LEVELS_MAX) + u32::from(*found)) as usize;
    format!("{depth:<2} {:indent$}{word}: {url}{}", "", Printable(remark))
}

fn tell_end(end: &End) -> u8 {
    match end {
        End::Done => exit::DONE,
        End::Limit(name, _) => {
            console::say!("--{name} reached; not all pages are there");
            exit::STOPPED
        }
        End::Waiting(_) | End::Held => exit::STOPPED,
        End::Stopped => {
            console::say!("stopped; the same command goes on where this one ended");
            exit::STOPPED
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_indented_by_depth_and_harmless() {
        let check = |depth, found, remark: &str, expect: &str| {
            let line =
                Line { depth, found, word: "Failed", url: "http://a.test/x".to_owned(), remark: remark.to_owned() };
            assert_eq!(shown(&line), expect);
        };
        check(1, false, "", "1    Failed: http://a.test/x");
        check(1, true, "", "1      Failed: http://a.test/x");
        check(0, false, " (\u{1b}[2J)", "0  Failed: http://a.test/x (\\u{1b}[2J)");
    }
}
