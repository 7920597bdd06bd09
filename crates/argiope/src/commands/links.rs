//! `argiope links`: where a page leads, and what leads to it.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use dataset::schema::Table;
use dataset::{Column, Layout};
use printable::{Printable, write_json_line};
use serde::Serialize;
use weburl::UrlKey;

use super::asked::QueriedCrawl;
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

/// A link, as JSON.
#[derive(Serialize)]
pub(crate) struct Link<'a> {
    pub(crate) source: &'a str,
    pub(crate) target: &'a str,
    pub(crate) text: Option<&'a str>,
    pub(crate) kind: &'a str,
    pub(crate) rel: Option<&'a str>,
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl with a dataset, or no such URL.
pub fn run(args: LinksArgs) -> anyhow::Result<ExitCode> {
    let asked = QueriedCrawl::new(&args.dir)?;
    let (url, _) = asked.vertex(&asked.graph()?, &args.url)?;
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
        if json { Ok(write_json_line(out, link)?) } else { Ok(link.write_text(is_out, out)?) }
    })?;
    if !json {
        writeln!(out, "{} {}", counted(count, "link"), if is_out { "from the page" } else { "to the page" })?;
    }
    Ok(())
}

/// Calls `each` with the links that have a key in a column, in the order in which the pages were fetched, as they stand on them.
pub(crate) fn each_link(
    layout: &Layout,
    column: &'static str,
    key: UrlKey,
    mut each: impl FnMut(&Link<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let columns = [column, "source", "target", "text", "kind", "rel"];
    for batch in layout.batches(Table::Links, &columns)?.only(column, key) {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            let text = |column| batch.text(column, row);
            let (Some(source), Some(target), Some(kind)) = (text("source"), text("target"), text("kind")) else {
                continue;
            };
            each(&Link { source, target, text: text("text"), kind, rel: text("rel") })?;
        }
    }
    Ok(())
}

impl Link<'_> {
    fn write_text(&self, is_out: bool, out: &mut impl Write) -> std::io::Result<()> {
        let (arrow, end) = if is_out { ("->", self.target) } else { ("<-", self.source) };
        write!(out, "{arrow} {}", Printable(end))?;
        if let Some(text) = self.text {
            write!(out, "  \"{}\"", Printable(text))?;
        }
        match (self.kind, self.rel) {
            ("anchor", None) => writeln!(out),
            (kind, None) => writeln!(out, "  ({kind})"),
            (kind, Some(rel)) => writeln!(out, "  ({kind}, {rel})"),
        }
    }
}
