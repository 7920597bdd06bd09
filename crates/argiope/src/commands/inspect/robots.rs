//! `argiope inspect robots`: what a robots.txt says about URLs, and which line says it.

use std::io::{self, Write};
use std::path::PathBuf;

use ::inspect::input::Input;
use ::inspect::robots::{Answered, MatchRule, Question, RobotsAnswer, USER_AGENT_DEFAULT, inspect};
use clap::Args;
use printable::Printable;

use super::output::Output;

/// The arguments of `argiope inspect robots`.
#[derive(Debug, Args)]
pub(super) struct RobotsArgs {
    /// The robots.txt; - reads standard input
    file: PathBuf,
    /// URLs to judge, absolute or from the path on; without any, delay and sitemaps are shown
    #[arg(value_name = "URL")]
    urls: Vec<String>,
    /// The User-Agent of the crawler, or its product token. The token is what stands before the first / or white space;
    /// of `Mozilla/5.0 (compatible; Foo/1.0; ...)` it is Foo
    #[arg(long, value_name = "UA", default_value = USER_AGENT_DEFAULT)]
    user_agent: String,
    /// How rules are weighed: the longest that matches, with * and $, or the first that matches, as plain prefixes
    #[arg(long = "match", value_name = "RULE", value_enum, default_value = "rfc9309")]
    matching: MatchRule,
    /// How the server answered the request for robots.txt: a status code, `unreachable` or `too-many-redirects`
    #[arg(long, value_name = "N", default_value = "200")]
    status: Answered,
}

pub(super) fn run(args: RobotsArgs, output: &mut Output<impl Write>) -> anyhow::Result<()> {
    let RobotsArgs { file, urls, user_agent, matching, status } = args;
    let (about, answers) = inspect(&Question { user_agent, matching, status }, Input::named(file), &urls)?;
    if !output.is_json() || answers.is_empty() {
        output.answer(&about, write_head)?;
    }
    for answer in &answers {
        output.answer(answer, write_line)?;
    }
    Ok(())
}

fn write_head(about: &RobotsAnswer, output: &mut Output<impl Write>) -> io::Result<()> {
    output.field("agent", Printable(&about.product_token))?;
    output.field("match", about.matching)?;
    output.field("access", format_args!("{}, {} (status {})", about.access, about.lifetime, about.status))?;
    match about.crawl_delay_s {
        Some(delay) => output.field("crawl delay", format_args!("{delay} s"))?,
        None => output.field("crawl delay", "none")?,
    }
    output.field("sitemaps", about.sitemaps.len())?;
    for sitemap in &about.sitemaps {
        output.line(format_args!("  {}", Printable(sitemap)))?;
    }
    for line in about.unread_told() {
        output.field("not read", Printable(&line))?;
    }
    if about.truncated {
        output.field("truncated", format_args!("only the first {} bytes count", robots::ROBOTS_BYTES_MAX))?;
    }
    Ok(())
}

fn write_line(answer: &RobotsAnswer, output: &mut Output<impl Write>) -> io::Result<()> {
    let verdict = if answer.allowed == Some(true) { "allowed" } else { "disallowed" };
    let url = Printable(answer.url.as_deref().unwrap_or_default());
    match (answer.line_number, &answer.line, &answer.reason) {
        (Some(number), Some(line), _) => {
            output.field(verdict, format_args!("{url}  (line {number}: {})", Printable(line)))
        }
        (_, _, reason) => {
            output.field(verdict, format_args!("{url}  ({})", Printable(reason.as_deref().unwrap_or_default())))
        }
    }
}
