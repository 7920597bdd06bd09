//! `argiope inspect warc`: the records of a WARC file, or one of them in full.

mod payload;
mod place;
mod record;

use std::io::Write;

use ::warc::Reader;
use anyhow::anyhow;
use clap::Args;

use self::place::{Place, failed};
use super::output::Output;
use super::request::Request;
use settings::usage;

pub(super) use record::RecordAnswer;

/// The arguments of `argiope inspect warc`.
#[derive(Debug, Args)]
pub(super) struct WarcArgs {
    /// A WARC file, plain or gzip; with an offset in bytes, the record that begins there; - reads standard input
    #[arg(value_name = "FILE[:OFFSET]")]
    place: std::path::PathBuf,
    /// Write the payload of the record at the offset, its content coding undone, and nothing else
    #[arg(long, conflicts_with = "json")]
    payload: bool,
}

pub(super) fn run(args: &WarcArgs, output: &mut Output<impl Write>) -> anyhow::Result<()> {
    let place = Place::of(&args.place);
    match (place.offset, args.payload) {
        (None, true) => Err(usage("--payload needs the offset of a record, as in a.warc.gz:1234")),
        (None, false) => list(&place, output),
        (Some(offset), true) => payload::write(&place, offset, output),
        (Some(offset), false) => {
            let answer = record::load(&place, offset)?;
            if output.is_json() {
                output.json(&answer)?;
            } else {
                answer.write_text(output)?;
            }
            Ok(())
        }
    }
}

pub(super) fn answer_request(mut request: Request) -> anyhow::Result<RecordAnswer> {
    let file = request.file()?.ok_or_else(|| anyhow!("\"file\" is missing"))?;
    let offset = request.needed_number("offset")?;
    request.end()?;
    record::load(&Place { file, offset: Some(offset) }, offset)
}

/// Lists the records until the end of the file or the first damage.
fn list(place: &Place, output: &mut Output<impl Write>) -> anyhow::Result<()> {
    let mut reader = Reader::new(place.open(0)?, 0);
    let mut is_first = true;
    while let Some(summary) = record::next(&mut reader).map_err(|error| failed(place, error))? {
        if output.is_json() {
            output.json(&summary)?;
            continue;
        }
        if is_first {
            output.line(format_args!("{}", record::LISTING_HEAD))?;
            is_first = false;
        }
        output.line(format_args!("{summary}"))?;
    }
    Ok(())
}
