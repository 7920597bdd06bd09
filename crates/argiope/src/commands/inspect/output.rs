//! Where answers go: standard output, as text or as JSON.

use std::fmt::{self, Display};
use std::io::{self, BufWriter, Write};

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

    /// Writes bytes as they are.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    /// Hands on what is buffered.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
