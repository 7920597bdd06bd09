//! `argiope inspect warc`: the records of a WARC file, or one of them in full.

use std::io::{self, Write};
use std::path::PathBuf;

use ::inspect::warc::{Place, RecordAnswer, Summary, list, load, write_payload};
use clap::Args;
use printable::Printable;
use settings::usage;

use super::output::Output;

/// The line above the listing.
const LISTING_HEAD: &str = "      offset     length type         status mime                     date                     \
     digest                                target";

/// The arguments of `argiope inspect warc`.
#[derive(Debug, Args)]
pub(super) struct WarcArgs {
    /// A WARC file, plain or gzip; with an offset in bytes, the record that begins there; - reads standard input
    #[arg(value_name = "FILE[:OFFSET]")]
    place: PathBuf,
    /// Write the payload of the record at the offset, its content coding undone, and nothing else
    #[arg(long, conflicts_with = "json")]
    payload: bool,
}

pub(super) fn run(args: &WarcArgs, output: &mut Output<impl Write>) -> anyhow::Result<()> {
    let place = Place::of(&args.place);
    match (place.offset, args.payload) {
        (None, true) => Err(usage("--payload needs the offset of a record, as in a.warc.gz:1234")),
        (None, false) => write_list(&place, output),
        (Some(offset), true) => write_payload(&place, offset, output.out(), |coding| {
            console::say!("content coding \"{}\" is not known, not decoded", coding.escape_default());
        }),
        (Some(offset), false) => Ok(output.answer(&load(&place, offset)?, write)?),
    }
}

fn write_list(place: &Place, output: &mut Output<impl Write>) -> anyhow::Result<()> {
    let mut head = Some(LISTING_HEAD);
    for summary in list(place)? {
        output.answer(&summary?, |summary, output| {
            if let Some(head) = head.take() {
                output.line(format_args!("{head}"))?;
            }
            output.line(format_args!("{}", in_a_line(summary)))
        })?;
    }
    Ok(())
}

/// The line of the listing. The columns are as wide as what is usual in them; a longer value moves the rest.
fn in_a_line(summary: &Summary) -> String {
    let shown =
        |text: &Option<String>| text.as_deref().map_or_else(|| "-".to_owned(), |text| Printable(text).to_string());
    let Summary { offset, length, .. } = summary;
    let (kind, mime, date) = (shown(&summary.kind), shown(&summary.mime), shown(&summary.date));
    let status = summary.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
    let digest = shown(if summary.payload_digest.is_some() { &summary.payload_digest } else { &summary.block_digest });
    let target = shown(&summary.target_uri);
    format!("{offset:>12} {length:>10} {kind:<12} {status:<6} {mime:<24} {date:<24} {digest:<37} {target}")
}

fn write(answer: &RecordAnswer, output: &mut Output<impl Write>) -> io::Result<()> {
    output.field("offset", answer.summary.offset)?;
    output.field("length", answer.summary.length)?;
    output.field("payload", format_args!("{} bytes", answer.payload_bytes))?;
    output.line(format_args!(""))?;
    output.line(format_args!("WARC/{}", Printable(&answer.version)))?;
    for (name, value) in &answer.header {
        output.line(format_args!("{}: {}", Printable(name), Printable(value)))?;
    }
    for text in [&answer.http_head, &answer.fields].into_iter().flatten() {
        output.line(format_args!(""))?;
        for line in text.trim_end().lines() {
            output.line(format_args!("{}", Printable(line)))?;
        }
    }
    Ok(())
}
