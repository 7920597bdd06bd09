//! `argiope inspect html`: what the crawler takes from a page.

use std::io::{self, Write};
use std::path::PathBuf;

use ::inspect::html::{HtmlAnswer, IgnoredLinks, ImageAnswer, ImagePlace, LinkAnswer, Page, inspect};
use ::inspect::input::Input;
use ::inspect::reference::page_url;
use clap::Args;
use printable::Printable;
use weburl::CanonicalUrl;

use super::canonical_flags::CanonicalFlags;
use super::output::{Output, shown};

/// The arguments of `argiope inspect html`.
#[derive(Debug, Args)]
pub(super) struct HtmlArgs {
    /// The page; - reads standard input
    file: PathBuf,
    /// The URL of the page
    #[arg(long, value_parser = page_url)]
    url: CanonicalUrl,
    /// The Content-Type that came with it
    #[arg(long, value_name = "TYPE")]
    content_type: Option<String>,
    #[command(flatten)]
    flags: CanonicalFlags,
}

pub(super) fn run(args: HtmlArgs, output: &mut Output<impl Write>) -> anyhow::Result<()> {
    let page = Page { url: args.url, content_type: args.content_type, rules: args.flags.rules() };
    Ok(output.answer(&inspect(&page, Input::named(args.file))?, write)?)
}

fn write(answer: &HtmlAnswer, output: &mut Output<impl Write>) -> io::Result<()> {
    write_head(answer, output)?;
    output.field("links", answer.links.len())?;
    for link in &answer.links {
        write_link(link, output)?;
    }
    output.field("images", answer.images.len())?;
    for image in &answer.images {
        write_image(image, output)?;
    }
    Ok(())
}

fn write_head(answer: &HtmlAnswer, output: &mut Output<impl Write>) -> io::Result<()> {
    output.field("url", Printable(&answer.url))?;
    match answer.kind {
        "html" | "xhtml" => output.field("kind", answer.kind)?,
        other => output.field("kind", format_args!("{other}: in a crawl no links are taken from it"))?,
    }
    output.field("encoding", format_args!("{} ({})", answer.encoding, answer.encoding_source))?;
    output.web_field("title", answer.title.as_deref())?;
    output.web_field("lang", answer.lang.as_deref())?;
    if let Some(base) = &answer.base {
        output.field("base", shown(base))?;
    }
    if let Some(canonical) = &answer.canonical {
        output.field("canonical", shown(canonical))?;
    }
    if let Some(refresh) = &answer.refresh {
        match &refresh.target {
            Some(target) => output.field("refresh", format_args!("after {} s: {}", refresh.delay_s, shown(target)))?,
            None => output.field("refresh", format_args!("after {} s: the page itself", refresh.delay_s))?,
        }
    }
    output.words("meta robots", &answer.meta_robots)?;
    output.words("ignored", &counted(&answer.ignored))?;
    output.field("text", format_args!("{} bytes", answer.text_bytes))?;
    output.words("truncated", &answer.truncated)
}

fn write_link(link: &LinkAnswer, output: &mut Output<impl Write>) -> io::Result<()> {
    let rel = if link.rel.is_empty() { String::new() } else { format!("  [{}]", link.rel.join(" ")) };
    output.line(format_args!("  {:<10} {}{}{rel}", link.kind, shown(&link.target), quoted(&link.text)))
}

fn write_image(image: &ImageAnswer, output: &mut Output<impl Write>) -> io::Result<()> {
    let size = match (image.width, image.height) {
        (None, None) => String::new(),
        (width, height) => format!("  {}x{}", or_question_mark(width), or_question_mark(height)),
    };
    let alt = quoted(&image.alt);
    match &image.place {
        ImagePlace::Url(target) => output.line(format_args!("  {:<10} {}{alt}{size}", image.from, shown(target))),
        ImagePlace::Data { media_type, bytes } => {
            output.line(format_args!("  {:<10} {bytes} bytes of {}{alt}{size}", "data", Printable(media_type)))
        }
    }
}

fn quoted(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("  \"{}\"", Printable(text)) }
}

fn or_question_mark(size: Option<u32>) -> String {
    size.map_or_else(|| "?".to_owned(), |pixels| pixels.to_string())
}

/// The counts that are not zero.
fn counted(ignored: &IgnoredLinks) -> Vec<String> {
    let IgnoredLinks { mailto, javascript, tel, data, other, too_long } = ignored;
    let counts = [
        ("mailto", mailto),
        ("javascript", javascript),
        ("tel", tel),
        ("data", data),
        ("other schemes", other),
        ("too long", too_long),
    ];
    counts.iter().filter(|(_, count)| **count > 0).map(|(name, count)| format!("{name} {count}")).collect()
}
