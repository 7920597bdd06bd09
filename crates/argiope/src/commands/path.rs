//! `argiope path`: the shortest way from page to page by links.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use dataset::schema::Table;
use dataset::{Column, Layout};
use graph::{names, shortest_path};
use printable::{Printable, write_json_line};
use serde_json::json;
use weburl::UrlKey;

use super::asked::QueriedCrawl;
use printable::counted;

/// The arguments of `argiope path`.
#[derive(Args, Debug)]
pub struct PathArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// Where the way begins
    pub url1: String,
    /// Where it ends
    pub url2: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl with a dataset, a URL is not known to it, or no links lead from one to the other.
pub fn run(args: PathArgs) -> anyhow::Result<ExitCode> {
    let asked = QueriedCrawl::new(&args.dir)?;
    let graph = asked.graph()?;
    let (one, from) = asked.vertex(&graph, &args.url1)?;
    let (other, to) = asked.vertex(&graph, &args.url2)?;
    let Some(path) = shortest_path(&graph, from, to) else {
        bail!("no links lead from {one} to {other}, as far as the crawl has seen");
    };
    let keys: Vec<UrlKey> = path.into_iter().map(|vertex| graph.key(vertex)).collect();
    let names = names([&asked.layout], keys.iter().copied())?;
    let name = |key: &UrlKey| names.get(key).cloned().unwrap_or_else(|| key.to_string());
    let steps = keys.windows(2).map(|ends| link_text(&asked.layout, ends[0], ends[1]));
    let texts = steps.collect::<anyhow::Result<Vec<_>>>()?;
    let mut out = std::io::stdout().lock();
    if args.json {
        let urls: Vec<String> = keys.iter().map(name).collect();
        write_json_line(&mut out, &json!({"links": texts.len(), "urls": urls, "texts": texts}))?;
        return Ok(ExitCode::SUCCESS);
    }
    for (at, key) in keys.iter().enumerate() {
        writeln!(out, "{}", Printable(&name(key)))?;
        if let Some(text) = texts.get(at) {
            writeln!(out, "  \"{}\"", Printable(text.as_deref().unwrap_or_default()))?;
        }
    }
    console::say!("{}", counted(texts.len() as u64, "link"));
    Ok(ExitCode::SUCCESS)
}

/// The first text by which a page links to another; `None` where it has none.
fn link_text(layout: &Layout, from: UrlKey, to: UrlKey) -> anyhow::Result<Option<String>> {
    for batch in layout.batches(Table::Links, &["source_key", "target_key", "text"])?.only("source_key", from) {
        let batch = batch?;
        let leads_there = (0..batch.num_rows()).filter(|row| batch.key("target_key", *row) == Some(to));
        if let Some(text) = leads_there.filter_map(|row| batch.text("text", row)).next() {
            return Ok(Some(text.to_owned()));
        }
    }
    Ok(None)
}
