//! `argiope export`: a crawl in the formats that other tools read.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use ask::sites;
use clap::{Args, ValueEnum};
use dataset::Layout;
use engine::clock::Clock;
use export::{
    Copied, CopySettings, Crawl, Filter, Lost, PendingFile, cdxj, chunks, crawldb, items, jsonl, kvs, markdown,
    page_files, parquet_copy, wacz, warc_copy,
};

use console::message::show;
use crawl::CrawlDir;
use crawl::opened::{Opened, has_ended};
use export::chunks::{SIZE_MIN, Size};
use settings::plan::Plan;
use settings::usage;
use warc::Compression;

/// The arguments of `argiope export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// The format
    pub format: Format,
    /// The target: a file or directory, which appears when it is complete [default: standard output, for formats of one text]
    #[arg(short, long, value_name = "TARGET")]
    pub output: Option<PathBuf>,
    /// Only URLs of this site (https://example.com) or host (example.com); may be repeated
    #[arg(long, value_name = "SITE", help_heading = "Only some rows")]
    pub site: Vec<String>,
    /// Only URLs with this outcome (docs/rows.md); may be repeated
    #[arg(long, value_name = "OUTCOME", help_heading = "Only some rows")]
    pub outcome: Vec<String>,
    /// Only answers declared as this media type (text/html, image/*); may be repeated
    #[arg(long, value_name = "TYPE", help_heading = "Only some rows")]
    pub content_type: Vec<String>,
    /// Only URLs fetched at this date or time (UTC) or later
    #[arg(long, value_name = "TIME", help_heading = "Only some rows")]
    pub since: Option<String>,
    /// jsonl: sitemaps and requisites too; the column `purpose` distinguishes them from pages
    #[arg(long)]
    pub all: bool,
    /// warc, wacz: compress all records like this, `fast` or `small` [default: they are copied as they are]
    #[arg(long, value_name = "HOW")]
    pub compression: Option<Compression>,
    /// items: the rule, if there are several
    #[arg(long, value_name = "NAME")]
    pub items: Option<String>,
    /// chunks: the largest piece, in estimated tokens [default: 512]
    #[arg(long, value_name = "N", conflicts_with = "chunk_chars")]
    pub chunk_tokens: Option<usize>,
    /// chunks: the largest piece, in characters
    #[arg(long, value_name = "N")]
    pub chunk_chars: Option<usize>,
}

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A JSON object a line, one for each URL (docs/rows.md)
    Jsonl,
    /// The sorted index of the archive, in one file
    Cdxj,
    /// A copy of the archive: -o is one NAME.warc.gz, or a directory for several
    Warc,
    /// The archive, its index and its pages in one file for replay tools
    Wacz,
    /// The dataset, or some of its rows; -o is a directory
    Parquet,
    /// Numbered files with URL, depth and HTML, as `argiope pages` saves them; -o is a directory
    Pages,
    /// A file of text for each HTML page, and each document that is read; -o is a directory
    Markdown,
    /// The text of HTML pages and of documents that are read, in pieces for retrieval, as JSON lines, or as Parquet if -o ends with .parquet
    Chunks,
    /// The table `crawl` of the key-value store of CIS 5550
    Kvs,
    /// A row for each thing that a rule took out of pages, as JSON lines, or as CSV if -o ends with .csv
    Items,
    /// The schema `crawldb` in PostgreSQL; -o is postgres://USER@HOST/DATABASE or "host=… dbname=…"
    Crawldb,
    /// The graph of links, compressed as WebGraph reads it; -o is what the names of its files begin with
    Webgraph,
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl, a crawl is running in it, or the target cannot be written.
pub fn run(args: ExportArgs) -> anyhow::Result<ExitCode> {
    let filter = Filter::new(&args.site, &args.outcome, &args.content_type, args.since.as_deref())
        .map_err(|error| usage(error.to_string()))?;
    refuse_options_of_others(&args)?;
    refuse_own_directory(&args)?;
    if args.format == Format::Items && CrawlDir::existing(&args.dir).is_err() && args.dir.join("items").is_dir() {
        return export_tables(&args, &filter);
    }
    let lost = Opened::ask_with_dataset(&args.dir, |opened| export(&args, &filter, opened))?;
    // A copy of the archive says itself what it lacks.
    if lost > 0 && !matches!(args.format, Format::Warc | Format::Wacz) {
        console::say!(
            "{} without content: the payload was lost, or is in an earlier archive (--against) that cannot be read; \
             `argiope check {}` names the records, and `argiope crawl -o {} --again` asks for the URLs again",
            printable::counted(lost, "page"),
            args.dir.display(),
            args.dir.display()
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the target, whole or not at all, and returns how many pages are left without content.
///
/// # Errors
/// As [`run`].
fn export(args: &ExportArgs, filter: &Filter, opened: &Opened) -> anyhow::Result<u64> {
    for name in filter.sites() {
        if let Some(unknown) = sites::unfit(opened.view(), name, |site| export::names(name, site.as_str()))? {
            return Err(usage(format!("--site: {unknown}")));
        }
    }
    let plan = Plan::new(&opened.options()?)?;
    let crawl = Crawl {
        store: opened.view(),
        is_running: opened.is_running() && plan.dataset,
        archive: opened.dir.archive(),
        dataset: Layout::at(opened.dir.dataset()),
        settings: &plan.settings,
        lost: Lost::default(),
    };
    let copying = CopySettings {
        now: Clock::start().date(),
        segment_bytes_max: plan.segment_bytes_max,
        compression: args.compression,
    };
    let mut told = ExportProgress::new(args.format);
    let mut progress = |done| told.show(done);
    match args.format {
        Format::Jsonl => text(args.output.as_deref(), |target, out| {
            jsonl::write(&crawl, filter, args.all, target, out, &mut progress)
        })?,
        Format::Cdxj => {
            text(args.output.as_deref(), |target, out| cdxj::write(&crawl, filter, target, out, &mut progress))?;
        }
        Format::Warc => lacks(warc_copy::write(&crawl, filter, copying, path(args)?, &mut progress)?),
        Format::Wacz => lacks(wacz::write(&crawl, filter, copying, path(args)?, &mut progress)?),
        Format::Parquet => parquet_copy::write(&crawl, filter, path(args)?, &mut progress)?,
        Format::Pages => page_files::write(&crawl, filter, path(args)?, &mut progress)?,
        Format::Markdown => markdown::write(&crawl, filter, path(args)?, &mut progress)?,
        Format::Chunks => export_chunks(args, &crawl, filter, &mut progress)?,
        Format::Kvs => {
            text(args.output.as_deref(), |target, out| kvs::write(&crawl, filter, target, out, &mut progress))?;
        }
        Format::Items => {
            let (name, form) = (args.items.as_deref(), items::Form::of_target(args.output.as_deref()));
            text(args.output.as_deref(), |target, out| {
                items::write(&crawl, filter, name, form, target, out, &mut progress)
            })?;
        }
        Format::Crawldb => {
            let shortened = crawldb::write(&crawl, filter, database(args.output.as_deref())?, &mut progress)?;
            tell_of(shortened);
        }
        Format::Webgraph => export_webgraph::write(&crawl, filter, path(args)?, &mut progress)?,
    }
    told.end();
    Ok(crawl.lost.count())
}

/// Items that belong to no crawl: `argiope derive -o` made their tables.
fn export_tables(args: &ExportArgs, filter: &Filter) -> anyhow::Result<ExitCode> {
    if !filter.is_everything() {
        return Err(usage(format!("{}: holds tables only; the choice of pages needs a crawl", args.dir.display())));
    }
    let (tables, name) = (Layout::at(&args.dir), args.items.as_deref());
    text(args.output.as_deref(), |target, out| {
        items::write_tables(&tables, name, items::Form::of_target(args.output.as_deref()), target, out, &mut |_| {})
    })?;
    Ok(ExitCode::SUCCESS)
}

/// # Errors
/// An option of other formats is given.
fn refuse_options_of_others(args: &ExportArgs) -> anyhow::Result<()> {
    let of_formats: [(&str, bool, &[Format]); 5] = [
        ("all", args.all, &[Format::Jsonl]),
        ("compression", args.compression.is_some(), &[Format::Warc, Format::Wacz]),
        ("items", args.items.is_some(), &[Format::Items]),
        ("chunk-tokens", args.chunk_tokens.is_some(), &[Format::Chunks]),
        ("chunk-chars", args.chunk_chars.is_some(), &[Format::Chunks]),
    ];
    let of_others = |(_, is_given, formats): &&(&str, bool, &[Format])| *is_given && !formats.contains(&args.format);
    match of_formats.iter().find(of_others) {
        Some((option, _, formats)) => {
            let formats: Vec<String> = formats.iter().map(|format| name(*format)).collect();
            Err(usage(format!("--{option} is for {}: {} has no use for it", formats.join(" and "), name(args.format))))
        }
        None => Ok(()),
    }
}

/// Writes pages in pieces, and says how many there are where the text does not go to the same place.
fn export_chunks(
    args: &ExportArgs,
    crawl: &Crawl<'_>,
    filter: &Filter,
    progress: export::Progress<'_>,
) -> anyhow::Result<()> {
    let size = match (args.chunk_tokens, args.chunk_chars) {
        (_, Some(characters)) => Size::Characters(characters),
        (Some(tokens), None) => Size::Tokens(tokens),
        (None, None) => chunks::SIZE,
    };
    let (Size::Characters(max) | Size::Tokens(max)) = size;
    if max < SIZE_MIN {
        return Err(usage(format!("a piece of {max} is too small: give {SIZE_MIN} or more")));
    }
    let mut chunked = chunks::Chunked::default();
    if args.output.as_deref().and_then(Path::extension).is_some_and(|ending| ending == "parquet") {
        chunked = chunks::write_parquet(crawl, filter, size, path(args)?, progress)?;
    } else {
        text(args.output.as_deref(), |target, out| {
            chunked = chunks::write(crawl, filter, size, target, out, progress)?;
            Ok::<(), export::ExportError>(())
        })?;
    }
    if chunked.uncompared > 0 {
        let count = printable::counted(chunked.uncompared, "piece");
        console::say!(
            "chunks: {count} were compared with earlier ones, but later ones not with them: there are too many"
        );
    }
    Ok(())
}

/// Reports what a copy of the archive lacks.
fn lacks(Copied { without_payload, as_recorded, unread }: Copied) {
    if unread > 0 {
        console::say!(
            "{} not read: requisites that only they need are missing; `argiope check` names the records",
            printable::counted(unread, "page or requisite could")
        );
    }
    if as_recorded > 0 {
        console::say!(
            "{} copied as they are, not compressed again: they are larger than {} MB",
            printable::counted(as_recorded, "record"),
            export::RECOMPRESSED_BYTES_MAX / 1_000_000
        );
    }
    if without_payload > 0 {
        console::say!(
            "{} copied without content: the payload was lost, or is in an earlier archive (--against) that cannot be read; \
             `argiope check` names the records",
            printable::counted(without_payload, "revisit record")
        );
    }
}

/// Says what the course's columns did not take.
fn tell_of(shortened: crawldb::Shortened) {
    let crawldb::Shortened { filenames, content_types, data_types } = shortened;
    for (count, what) in [
        (filenames, "names of image files were cut to their last 255 characters"),
        (content_types, "media types of images were cut to 50 characters"),
        (data_types, "documents have the data type OTHER: their media type has more than 20 characters"),
    ] {
        if count > 0 {
            console::say!("crawldb: {count} {what}");
        }
    }
}

/// The file or directory that `-o` names.
fn path(args: &ExportArgs) -> anyhow::Result<&Path> {
    let output = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    output.ok_or_else(|| usage(format!("{} needs a target: -o PATH", name(args.format))))
}

/// Refuses what would be written into the directory of the crawl.
fn refuse_own_directory(args: &ExportArgs) -> anyhow::Result<()> {
    let output = args.output.as_deref().filter(|_| args.format != Format::Crawldb);
    let existing = |path: &Path| path.ancestors().find_map(|above| above.canonicalize().ok());
    let target = output.and_then(|path| existing(&std::path::absolute(path).ok()?));
    let own = args.dir.canonicalize().ok();
    match (output, target, own) {
        (Some(output), Some(target), Some(own)) if target.starts_with(&own) => {
            let (output, own) = (output.display(), args.dir.display());
            Err(usage(format!("-o {output}: is inside the directory of the crawl, {own}: choose another place")))
        }
        _ => Ok(()),
    }
}

/// The database that `-o` names.
fn database(output: Option<&Path>) -> anyhow::Result<&str> {
    let text = output.and_then(Path::to_str);
    text.ok_or_else(|| usage("crawldb needs a database: -o postgres://USER@HOST/DATABASE"))
}

/// Writes a text to a file, whole or not at all, or to standard output.
fn text<E>(output: Option<&Path>, write: impl FnOnce(&Path, &mut dyn Write) -> Result<(), E>) -> anyhow::Result<()>
where
    anyhow::Error: From<E>,
{
    match output.filter(|path| path.as_os_str() != "-") {
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            write(Path::new("standard output"), &mut out).map_err(final_error)?;
            Ok(out.flush()?)
        }
        Some(path) => {
            let mut file = PendingFile::create(path)?;
            let written = write(path, &mut file);
            if file.is_pending() {
                written?;
            } else {
                written.map_err(final_error)?;
            }
            Ok(file.finish()?)
        }
    }
}

/// An error after which nothing is written once more, since what was written stays.
fn final_error<E>(error: E) -> anyhow::Error
where
    anyhow::Error: From<E>,
{
    let error = anyhow::Error::from(error);
    if has_ended(&error) { anyhow!("{error}") } else { error }
}

/// Progress on standard error where somebody looks at it: one line, rewritten.
struct ExportProgress {
    format: Format,
    shows: bool,
    shown: u64,
}

impl ExportProgress {
    /// Rows between two reports.
    const EVERY: u64 = 10_000;

    fn new(format: Format) -> Self {
        ExportProgress { format, shows: io::stderr().is_terminal(), shown: 0 }
    }

    fn show(&mut self, done: u64) {
        if self.shows && done >= self.shown + Self::EVERY {
            self.shown = done;
            show(&format!("\rargiope: {}: {done} rows", name(self.format)));
        }
    }

    fn end(&self) {
        if self.shown > 0 {
            show("\n");
        }
    }
}

fn name(format: Format) -> String {
    format.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
