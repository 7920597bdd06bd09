//! `argiope links`: where a page leads, and what leads to it.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use ask::links::{Link, each_link};
use clap::Args;
use dataset::Layout;
use printable::{Printable, write_json_line};
use weburl::UrlKey;

use super::asked;
use printable::counted;

/// The arguments of `argiope links`.
#[derive(Args, Debug)]
pub struct LinksArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// The page
    pub url: String,
    /// Only links to the page
    #[arg(long = "in", conflicts_with = "out")]
    inward: bool,
    /// Only links from the page
    #[arg(long)]
    out: bool,
    /// Print one JSON object per line, one for each link
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl with a dataset, or no such URL.
pub fn run(args: LinksArgs) -> anyhow::Result<ExitCode> {
    let asked = asked::open(&args.dir)?;
    let (url, _) = asked::vertex(&asked, &asked.graph()?, &args.url)?;
    let mut out = std::io::stdout().lock();
    if !args.inward {
        write_links(&asked.layout, "source_key", url.key(), args.json, &mut out)?;
    }
    if !args.out {
        write_links(&asked.layout, "target_key", url.key(), args.json, &mut out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the links that have a key in a column.
fn write_links(
    layout: &Layout,
    column: &'static str,
    key: UrlKey,
    json: bool,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let is_out = column == "source_key";
    let mut count = 0;
    each_link(layout, column, key, |link| {
        count += 1;
        if json { Ok(write_json_line(out, link)?) } else { Ok(write_text(link, is_out, out)?) }
    })?;
    if !json {
        writeln!(out, "{} {}", counted(count, "link"), if is_out { "from the page" } else { "to the page" })?;
    }
    Ok(())
}

fn write_text(link: &Link<'_>, is_out: bool, out: &mut impl Write) -> std::io::Result<()> {
    let (arrow, end) = if is_out { ("->", link.target) } else { ("<-", link.source) };
    write!(out, "{arrow} {}", Printable(end))?;
    if let Some(text) = link.text {
        write!(out, "  \"{}\"", Printable(text))?;
    }
    match (link.kind, link.rel) {
        ("anchor", None) => writeln!(out),
        (kind, None) => writeln!(out, "  ({kind})"),
        (kind, Some(rel)) => writeln!(out, "  ({kind}, {rel})"),
    }
}
