//! `argiope inspect extract`: what rules take out of a page.

use std::io::{self, Write};
use std::path::PathBuf;

use ::inspect::extract::{ExtractAnswer, Question, inspect};
use ::inspect::input::Input;
use ::inspect::reference::page_url;
use clap::Args;
use printable::Printable;
use weburl::CanonicalUrl;

use super::output::Output;

/// The arguments of `argiope inspect extract`.
#[derive(Debug, Args)]
pub(super) struct ExtractArgs {
    /// The page, or a JSON response; - reads standard input
    file: PathBuf,
    /// The URL of the page
    #[arg(long, value_parser = page_url)]
    url: CanonicalUrl,
    /// The file of rules
    #[arg(long, value_name = "RULES", required_unless_present = "find")]
    rules: Option<PathBuf>,
    /// Suggest selectors for what has this text
    #[arg(long, value_name = "TEXT")]
    find: Option<String>,
}

pub(super) fn run(args: ExtractArgs, output: &mut Output<impl Write>) -> anyhow::Result<()> {
    let question = Question { url: args.url, rules: args.rules, find: args.find };
    Ok(output.answer(&inspect(&question, Input::named(args.file))?, write)?)
}

fn write(answer: &ExtractAnswer, output: &mut Output<impl Write>) -> io::Result<()> {
    output.field("url", Printable(&answer.url))?;
    for items in &answer.items {
        output.field(
            &items.rule,
            format_args!("{} rows, {} without a required field", items.rows.len(), items.incomplete),
        )?;
        for row in &items.rows {
            output.line(format_args!("  {}", Printable(&serde_json::json!(row).to_string())))?;
        }
        output.words("empty", &items.empty)?;
    }
    for found in &answer.suggestions {
        let attr = found.attr.as_ref().map(|attr| format!(", attr = \"{attr}\"")).unwrap_or_default();
        let selector = format!("{{ {} = '{}'{attr} }}", found.language, found.selector);
        output.line(format_args!("{}  ({} places)", Printable(&selector), found.matches))?;
    }
    Ok(())
}
