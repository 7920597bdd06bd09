//! `argiope client row`, `record`, `page-picture` and `copies`: what the crawl has of a page beside its story.

use std::io::{Result, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use api::{
    Answer, CopiesRequest, CopiesResponse, PagePictureRequest, RecordRequest, RecordResponse, Recorded, RowRequest,
    RowResponse,
};
use clap::Subcommand;
use printable::{Printable, counted, write_json_line};
use serde::Serialize;
use serde_json::{Map, Value};
use tonic::Response;

use super::{Client, Text};

/// What is asked of a page.
#[derive(Subcommand, Debug)]
pub enum OfPage {
    /// Show the row of a page in the dataset, and what the page says for machines
    Row {
        /// The page
        url: String,
    },
    /// Show what a visit recorded: the heads of request and answer, the source, the page as a browser showed it
    Record {
        /// The URL
        url: String,
        /// The date of the visit, as an answer tells it [default: the last visit]
        #[arg(long, value_name = "TIME", default_value = "")]
        at: String,
    },
    /// Write a picture that a visit took of a page
    PagePicture {
        /// The page
        url: String,
        /// What it shows: view, full, thumbnail or pdf
        kind: String,
        /// The file; with --json it may be left out
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// The date of the visit, as `record` tells it [default: the last visit]
        #[arg(long, value_name = "TIME", default_value = "")]
        at: String,
    },
    /// List the URLs with exactly the same content
    Copies {
        /// The URL
        url: String,
        /// How many to show
        #[arg(long, value_name = "N", default_value_t = 200)]
        limit: u32,
    },
}

impl OfPage {
    /// Asks, and tells the answer.
    ///
    /// # Errors
    /// The server does not answer, or says no; the answer cannot be written.
    pub async fn ask(self, client: &mut Client, json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
        match self {
            OfPage::Row { url } => tell(client.row(RowRequest { url }).await?, json, out),
            OfPage::Record { url, at } => tell(client.record(RecordRequest { url, at }).await?, json, out),
            OfPage::Copies { url, limit } => tell(client.copies(CopiesRequest { url, limit }).await?, json, out),
            OfPage::PagePicture { url, kind, output, at } => {
                if output.is_none() && !json {
                    return Err(settings::usage("--output FILE: say where to write the picture"));
                }
                let answer = client.page_picture(PagePictureRequest { url, at, kind }).await?.into_inner();
                if let Some(path) = output {
                    write_file(&path, &answer.picture).with_context(|| path.display().to_string())?;
                }
                if json {
                    write_json_line(out, &answer)?;
                }
                Ok(())
            }
        }
    }
}

/// Tells an answer, as JSON or as text.
pub(super) fn tell<T: Serialize + Text>(answer: Response<T>, json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let answer = answer.into_inner();
    if json {
        write_json_line(out, &answer)?;
    } else {
        answer.write_text(out)?;
    }
    Ok(())
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let unfinished = path.with_added_extension("unfinished");
    fresh::renamed(&unfinished, || {
        fresh::write(&unfinished, bytes)?;
        std::fs::rename(&unfinished, path)
    })
}

impl Text for RowResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        match self.row.as_str() {
            "" => writeln!(out, "the dataset has no row of {}", Printable(&self.url))?,
            row => write_row(out, row, &self.cut)?,
        }
        for (row, place) in self.structured.iter().zip(0_u32..) {
            writeln!(out)?;
            write_row(out, row, &[])?;
            if self.structured_cut.contains(&place) {
                writeln!(out, "… longer values are cut")?;
            }
        }
        let more = self.structured_count.saturating_sub(self.structured.len() as u64);
        if more > 0 { writeln!(out, "{} more for machines", counted(more, "row")) } else { Ok(()) }
    }
}

/// The columns of a row that have a value.
fn write_row(out: &mut dyn Write, row: &str, cut: &[String]) -> Result<()> {
    let row: Map<String, Value> = serde_json::from_str(row)?;
    for (column, value) in row.iter().filter(|(_, value)| !value.is_null()) {
        let more = if cut.contains(column) { " …" } else { "" };
        match value {
            Value::String(text) => writeln!(out, "{}: {}{more}", Printable(column), Printable(text))?,
            value => writeln!(out, "{}: {}{more}", Printable(column), Printable(&value.to_string()))?,
        }
    }
    Ok(())
}

impl Text for RecordResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "{}", Printable(&self.url))?;
        for at in &self.visits {
            writeln!(out, "visited {}", Printable(at))?;
        }
        let recorded = match (&self.recorded, self.requests) {
            (Some(recorded), _) => recorded,
            (None, 0) => return writeln!(out, "it waits for its first visit"),
            (None, requests) => {
                let failed = counted(requests.into(), "request");
                return writeln!(out, "no visit has an outcome so far: {failed} failed, and it will be tried again");
            }
        };
        let Recorded { at, outcome, reason, requested, request, answer, seen, pictures, failure } = recorded;
        writeln!(out)?;
        match reason.as_str() {
            "" => writeln!(out, "{}, {}", Printable(at), Printable(outcome))?,
            reason => writeln!(out, "{}, {}: {}", Printable(at), Printable(outcome), Printable(reason))?,
        }
        if !failure.is_empty() {
            writeln!(out, "{}", Printable(failure))?;
        }
        if !pictures.is_empty() {
            writeln!(out, "pictures: {}", Printable(&pictures.join(", ")))?;
        }
        write_part(out, "request", request.as_ref())?;
        match answer {
            None if !failure.is_empty() => {}
            None if !requested => writeln!(out, "it was judged without a request")?,
            None => writeln!(out, "the archive has no answer of this visit")?,
            Some(Answer { head, source, payload_bytes }) => {
                write_part(out, "answer", head.as_ref())?;
                write_part(out, "the page as a browser showed it", seen.as_ref())?;
                write_part(out, "source", source.as_ref())?;
                if source.is_none() {
                    writeln!(out, "{} that are no text", counted(*payload_bytes, "byte"))?;
                }
            }
        }
        Ok(())
    }
}

/// A text below a title. Its lines and tabs stay.
fn write_part(out: &mut dyn Write, title: &str, text: Option<&api::Text>) -> Result<()> {
    let Some(api::Text { text, cut }) = text else { return Ok(()) };
    writeln!(out, "\n--- {title}")?;
    for line in text.lines() {
        let parts: Vec<String> = line.split('\t').map(|part| Printable(part).to_string()).collect();
        writeln!(out, "{}", parts.join("\t"))?;
    }
    if *cut { writeln!(out, "--- the first {} in UTF-8", counted(text.len() as u64, "byte")) } else { Ok(()) }
}

impl Text for CopiesResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        match (self.count, self.in_part) {
            (0, false) => return writeln!(out, "no other URL has exactly the same content"),
            (0, true) => {
                return writeln!(
                    out,
                    "of the URLs looked at, none has the same content any more; others were not looked at"
                );
            }
            _ => {}
        }
        writeln!(out, "found first at {}", Printable(&self.original))?;
        for url in &self.urls {
            writeln!(out, "{}", Printable(url))?;
        }
        let more = if self.in_part { "at least " } else { "" };
        writeln!(out, "{more}{}", counted(self.count, "other URL"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(answer: &impl Text) -> String {
        let mut text = Vec::new();
        answer.write_text(&mut text).expect("written");
        String::from_utf8(text).expect("UTF-8")
    }

    #[test]
    fn what_is_not_there_is_told_as_far_as_it_is_known() {
        let record = |requests| text(&RecordResponse { requests, ..RecordResponse::default() });
        assert_eq!(record(0), "\nit waits for its first visit\n");
        assert_eq!(record(1), "\nno visit has an outcome so far: 1 request failed, and it will be tried again\n");
        let copies = |in_part| text(&CopiesResponse { in_part, ..CopiesResponse::default() });
        assert_eq!(copies(false), "no other URL has exactly the same content\n");
        assert_eq!(
            copies(true),
            "of the URLs looked at, none has the same content any more; others were not looked at\n"
        );
    }

    #[test]
    fn nothing_of_a_page_controls_the_terminal() {
        let hostile = "\u{1b}]0;x\u{7}\ta\u{202e}";
        let cut = |text: &str| Some(api::Text { text: text.to_owned(), cut: true });
        let recorded = Recorded {
            reason: hostile.to_owned(),
            requested: true,
            request: cut(hostile),
            answer: Some(Answer { head: cut(hostile), source: cut(hostile), payload_bytes: 1 }),
            seen: cut(hostile),
            pictures: vec![hostile.to_owned()],
            failure: hostile.to_owned(),
            ..Recorded::default()
        };
        let record = RecordResponse { recorded: Some(recorded), ..RecordResponse::default() };
        let row = serde_json::json!({ hostile: hostile, "list": [hostile] }).to_string();
        let rows =
            RowResponse { row: row.clone(), structured: vec![row], structured_count: 3, ..RowResponse::default() };
        for told in [text(&record), text(&rows)] {
            assert!(!told.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{told}");
        }
        let cut = RowResponse {
            structured_cut: vec![1],
            structured: vec!["{}".to_owned(); 2],
            structured_count: 2,
            row: "{}".to_owned(),
            ..RowResponse::default()
        };
        assert_eq!(text(&cut), "\n\n… longer values are cut\n");
        assert!(text(&record).contains("--- the first 11 bytes in UTF-8"), "{}", text(&record));
        assert!(text(&rows).ends_with("2 rows more for machines\n"), "{}", text(&rows));
    }
}
