//! `argiope inspect extract`: what rules take out of a page.

use std::io::{self, Write};
use std::path::PathBuf;

use ::inspect::extract::{ExtractAnswer, Question, inspect};
use ::inspect::input::Input;
use ::inspect::reference::page_url;
use clap::Args;
use crawl::{OnePage, one_page};
use printable::{Printable, counted};
use weburl::CanonicalUrl;

use settings::usage;

use super::output::Output;

/// The arguments of `argiope inspect extract`.
#[derive(Debug, Args)]
pub(super) struct ExtractArgs {
    /// The page, or a JSON response: a file, - for standard input, or a URL, which is fetched
    #[arg(value_name = "FILE|URL")]
    page: String,
    /// The URL of the page, of a file or standard input
    #[arg(long, value_parser = page_url)]
    url: Option<CanonicalUrl>,
    /// The file of rules
    #[arg(long, value_name = "RULES", required_unless_present = "find")]
    rules: Option<PathBuf>,
    /// Suggest selectors for what has this text
    #[arg(long, value_name = "TEXT")]
    find: Option<String>,
}

pub(super) fn run(args: ExtractArgs, output: &mut Output<impl Write>) -> anyhow::Result<()> {
    let (url, input) = match (is_url(&args.page), args.url) {
        (true, Some(_)) => return Err(usage("--url names the URL of a file: a page that is fetched has its own")),
        (true, None) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let OnePage { url, body } = runtime.block_on(one_page(&args.page))?;
            (url, Input::Inline(body))
        }
        (false, Some(url)) => (url, Input::named(args.page.into())),
        (false, None) => return Err(usage(format!("--url is missing: the URL of {}", Printable(&args.page)))),
    };
    let question = Question { url, rules: args.rules, find: args.find };
    Ok(output.answer(&inspect(&question, input)?, write)?)
}

fn is_url(page: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| page.starts_with(scheme))
}

fn write(answer: &ExtractAnswer, output: &mut Output<impl Write>) -> io::Result<()> {
    output.field("url", Printable(&answer.url))?;
    if answer.is_cut {
        output.field("limit", "the page is longer than what is read of it")?;
    }
    for rule in &answer.elsewhere {
        output.field(rule, "is about other pages: its `url` does not match this one")?;
    }
    for items in &answer.items {
        output.field(
            &items.rule,
            format_args!("{}, {} without a required field", counted(items.rows.len() as u64, "row"), items.incomplete),
        )?;
        for row in &items.rows {
            output.line(format_args!("  {}", Printable(&serde_json::json!(row).to_string())))?;
        }
        output.words("empty", &items.empty)?;
        if items.is_cut {
            output.field("limit", "rows or values were left out: docs/extract.md, Limits")?;
        }
    }
    for found in &answer.suggestions {
        let attr = found.attr.as_ref().map(|attr| format!(", attr = \"{attr}\"")).unwrap_or_default();
        let selector = format!("{{ {} = '{}'{attr} }}", found.language, found.selector);
        output.line(format_args!("{}  ({} places)", Printable(&selector), found.matches))?;
    }
    Ok(())
}
