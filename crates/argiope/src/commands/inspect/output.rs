//! Where answers go: standard output, as text or as JSON.

use std::fmt::{self, Display};
use std::io::{self, BufWriter, Write};

use ::inspect::reference::Reference;
use serde::Serialize;

use printable::{Printable, write_json_line};

/// The width of the labels in text, in characters.
const LABEL_WIDTH: usize = 12;

/// Standard output with the form that was asked for.
pub(super) struct Output<W: Write> {
    out: BufWriter<W>,
    json: bool,
}

impl<W: Write> Output<W> {
    pub(super) fn new(out: W, json: bool) -> Self {
        Output { out: BufWriter::new(out), json }
    }

    /// True where JSON was asked for.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// Writes an answer: as one object, or as the text that `write` makes of it.
    pub(super) fn answer<A: Serialize>(
        &mut self,
        answer: &A,
        write: impl FnOnce(&A, &mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.json { self.json(answer) } else { write(answer, self) }
    }

    /// Writes one object on a line of its own.
    pub(super) fn json(&mut self, answer: &impl Serialize) -> io::Result<()> {
        write_json_line(&mut self.out, answer)
    }

    /// Writes a label and a value that came from us.
    pub(super) fn field(&mut self, label: &str, value: impl Display) -> io::Result<()> {
        writeln!(self.out, "{label:<LABEL_WIDTH$} {value}")
    }

    /// Writes a label and a text that came from the web; nothing where there is none.
    pub(super) fn web_field(&mut self, label: &str, value: Option<&str>) -> io::Result<()> {
        value.map_or(Ok(()), |value| self.field(label, Printable(value)))
    }

    /// Writes a label and words; nothing where there are none.
    pub(super) fn words(&mut self, label: &str, words: &[impl AsRef<str>]) -> io::Result<()> {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        if words.is_empty() { Ok(()) } else { self.field(label, words.join(", ")) }
    }

    /// Writes a line of text.
    pub(super) fn line(&mut self, line: fmt::Arguments<'_>) -> io::Result<()> {
        writeln!(self.out, "{line}")
    }

    /// Where bytes go as they are.
    pub(super) fn out(&mut self) -> &mut impl Write {
        &mut self.out
    }

    /// Hands on what is buffered.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Where a reference leads, in one line.
pub(super) fn shown(reference: &Reference) -> String {
    match reference {
        Reference { url: Some(url), .. } => Printable(url).to_string(),
        Reference { href, reason: Some(reason), .. } => format!("\"{}\": {}", Printable(href), Printable(reason)),
        Reference { href, .. } => Printable(href).to_string(),
    }
}
