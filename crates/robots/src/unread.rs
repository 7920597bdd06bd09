//! Lines of a robots.txt that would have told us something, and could not be read.

use std::fmt;

use crate::line_frames::shown;

/// Unread lines of a file that are kept; the others are counted.
pub const UNREAD_LINES_MAX: usize = 20;

/// What could not be read of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unread {
    /// The first of them, in the order of the file, at most [`UNREAD_LINES_MAX`].
    pub lines: Vec<UnreadLine>,
    /// How many more there are.
    pub more: usize,
}

/// A line that could not be read, or not as it is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadLine {
    /// Counted from 1.
    pub line_number: u32,
    /// The line, as [`DecidingLine::text`](crate::DecidingLine) has it.
    pub text: String,
    /// Why.
    pub why: Misread,
}

/// Why a line could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misread {
    /// The value of a Crawl-delay is no number of seconds, and has no unit that is known.
    Delay,
    /// A rule or a Crawl-delay stands before the first User-agent line, so it is for nobody.
    Nobody,
    /// A pattern begins with neither `/` nor `*`, so it matches no path.
    Pattern,
    /// There are several patterns in a rule. They are read as one.
    Patterns,
    /// A User-agent line names us or `*`, but not first: it is read as a line for the one that is named first.
    Agents,
    /// A User-agent line names nobody.
    Nameless,
    /// The field is unknown, or there is none.
    Field,
    /// A Sitemap line has no URL that can be fetched, or a very long one.
    Sitemap,
    /// There are more Sitemap lines than are read.
    Sitemaps,
    /// The file is in UTF-16, so nothing of it is read.
    Utf16,
}

impl Unread {
    /// A text for each line, and one for those that were not kept.
    pub fn told(&self) -> impl Iterator<Item = String> {
        let more = (self.more > 0).then(|| format!("not read: {} more", self.more));
        self.lines.iter().map(|line| format!("not read: {line}")).chain(more)
    }
}

/// Unread lines while the file is read.
#[derive(Debug, Default)]
pub(crate) struct UnreadLines<'b> {
    lines: Vec<(u32, &'b [u8], Misread)>,
    more: usize,
}

impl<'b> UnreadLines<'b> {
    pub(crate) fn push(&mut self, line_number: u32, line: &'b [u8], why: Misread) {
        if self.lines.len() < UNREAD_LINES_MAX {
            self.lines.push((line_number, line, why));
        } else {
            self.more += 1;
        }
    }

    /// Both, in the order of the file.
    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.lines.extend(other.lines);
        self.lines.sort_by_key(|(line_number, ..)| *line_number);
        self.more += other.more + self.lines.len().saturating_sub(UNREAD_LINES_MAX);
        self.lines.truncate(UNREAD_LINES_MAX);
        self
    }
}

impl From<UnreadLines<'_>> for Unread {
    fn from(UnreadLines { lines, more }: UnreadLines<'_>) -> Self {
        let lines = lines.into_iter();
        let lines =
            lines.map(|(line_number, line, why)| UnreadLine { line_number, text: shown(line.trim_ascii()), why });
        Unread { lines: lines.collect(), more }
    }
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Misread::Delay => "no number of seconds, and no unit that is known",
            Misread::Nobody => "before the first User-agent line, so it is for nobody",
            Misread::Pattern => "begins with neither / nor *, so it matches no path",
            Misread::Patterns => "several patterns, read as one",
            Misread::Agents => "only the name that comes first counts",
            Misread::Nameless => "names nobody",
            Misread::Field => "no field that is known",
            Misread::Sitemap => "no URL that can be fetched",
            Misread::Sitemaps => "more sitemaps than are read",
            Misread::Utf16 => "the file is in UTF-16, not UTF-8, so nothing of it is read",
        })
    }
}

impl fmt::Display for UnreadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {} ({})", self.line_number, self.text, self.why)
    }
}
