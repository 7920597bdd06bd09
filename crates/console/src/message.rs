//! Messages for people: in one line, harmless for a terminal, of bounded length. Whatever the program says on standard error goes through
//! [`say`](crate::say), and what a port answers to a request that fails through [`message`]: a URL, a path or a database may be named there
//! that somebody else chose.

use std::fmt::{self, Display};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crawl::Notice;
use engine::clock::Clock;
use printable::Printable;
use serde_json::{Value, json};
use settings::usage;

/// Characters of a message, at most: so many of its beginning, and of its end, where the reason is as a rule.
const BEGIN_CHARS_MAX: usize = 1_000;
const END_CHARS_MAX: usize = 500;

/// A text as it may be shown.
#[must_use]
pub fn message(text: impl Display) -> String {
    let whole = Printable(&text.to_string()).to_string();
    let cut = |at: usize| whole.char_indices().nth(at).map(|(at, _)| at);
    let left_out = whole.chars().count().saturating_sub(BEGIN_CHARS_MAX + END_CHARS_MAX);
    let (Some(begin), Some(end), true) = (cut(BEGIN_CHARS_MAX), cut(BEGIN_CHARS_MAX + left_out), left_out > 0) else {
        return whole;
    };
    format!("{} [{left_out} characters left out] {}", &whole[..begin], &whole[end..])
}

/// How important a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Why the command failed.
    Error,
    /// What is left out or lost, or what the user must do something about.
    Warning,
    /// What the user should know.
    Info,
    /// What becomes of each URL.
    Detail,
}

impl Level {
    const fn as_str(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Info => "info",
            Level::Detail => "detail",
        }
    }
}

/// What a line on standard error has beside its message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lines {
    /// The name of the program.
    #[default]
    Plain,
    /// Time and level.
    Dated,
    /// Time and level, as a JSON object.
    Json,
}

/// How the log of a server or worker looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// Time, level and message
    #[default]
    Text,
    /// One JSON object a line
    Json,
}

impl From<LogFormat> for Lines {
    fn from(format: LogFormat) -> Self {
        match format {
            LogFormat::Text => Lines::Dated,
            LogFormat::Json => Lines::Json,
        }
    }
}

/// Where messages go in this process.
struct Listeners {
    is_quiet: bool,
    lines: Lines,
    log: Option<Mutex<File>>,
    clock: Clock,
}

static LISTENERS: OnceLock<Listeners> = OnceLock::new();

/// The changing line of the progress is on the terminal, so a message begins on a line of its own.
static IS_LINE_OPEN: AtomicBool = AtomicBool::new(false);

/// Shows the changing line of the progress in place of the one before.
pub(crate) fn change_line(text: &str) {
    IS_LINE_OPEN.store(true, Ordering::Relaxed);
    show(&format!("\r\x1b[K{text}"));
}

/// Ends the changing line, if there is one.
pub(crate) fn end_line() {
    if IS_LINE_OPEN.swap(false, Ordering::Relaxed) {
        show("\n");
    }
}

/// Decides where messages go from now on: to standard error, of a quiet command only errors and warnings; and to a log, one JSON object a line.
///
/// # Errors
/// The log cannot be opened.
pub fn listen(is_quiet: bool, log: Option<&Path>) -> anyhow::Result<()> {
    let log = log.map(|path| {
        let file = OpenOptions::new().append(true).create(true).open(path);
        file.map(Mutex::new).map_err(|error| usage(format!("--log {}: {error}", path.display())))
    });
    // A command decides once.
    let _ = LISTENERS.set(Listeners { is_quiet, lines: Lines::Plain, log: log.transpose()?, clock: Clock::start() });
    Ok(())
}

/// Gives the lines on standard error this form from now on.
pub fn listen_as(lines: Lines) {
    let _ = LISTENERS.set(Listeners { is_quiet: false, lines, log: None, clock: Clock::start() });
}

/// Says it on standard error, and in the log.
pub fn tell(level: Level, text: fmt::Arguments<'_>) {
    let text = message(text);
    let listeners = LISTENERS.get();
    let is_quiet = listeners.is_some_and(|listeners| listeners.is_quiet);
    if matches!(level, Level::Error | Level::Warning) || !is_quiet {
        end_line();
        match listeners {
            None => show(&line_at("", Lines::Plain, level, &text, None)),
            Some(listeners) => listeners.show(level, &text, None),
        }
    }
    log(level, &text, None);
}

/// Says it in the log alone, where there is one. A log that cannot be written, since its disk is full, ends no crawl.
pub fn log(level: Level, text: &str, more: Option<(&str, Value)>) {
    let Some(listeners) = LISTENERS.get() else { return };
    let Some(file) = &listeners.log else { return };
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = file.write_all(listeners.line(Lines::Json, level, text, more).as_bytes());
}

/// Shows the progress, a line by itself.
pub(crate) fn show_progress(text: &str, more: Option<(&str, Value)>) {
    match LISTENERS.get().filter(|listeners| listeners.lines != Lines::Plain) {
        None => show(&format!("{text}\n")),
        Some(listeners) => listeners.show(Level::Info, text.trim_start(), more),
    }
}

/// Whether a line that changes has a place on standard error.
pub(crate) fn may_change_lines() -> bool {
    LISTENERS.get().is_none_or(|listeners| listeners.lines == Lines::Plain)
}

impl Listeners {
    fn show(&self, level: Level, text: &str, more: Option<(&str, Value)>) {
        show(&self.line(self.lines, level, text, more));
    }

    fn line(&self, lines: Lines, level: Level, text: &str, more: Option<(&str, Value)>) -> String {
        line_at(&self.clock.date().to_rfc3339(), lines, level, text, more)
    }
}

fn line_at(at: &str, lines: Lines, level: Level, text: &str, more: Option<(&str, Value)>) -> String {
    let level = level.as_str();
    match lines {
        Lines::Plain => format!("argiope: {text}\n"),
        Lines::Dated => format!("{at} {level} {text}\n"),
        Lines::Json => {
            let mut line = json!({ "at": at, "level": level, "message": text });
            if let (Some((key, value)), Some(line)) = (more, line.as_object_mut()) {
                line.insert(key.to_owned(), value);
            }
            format!("{line}\n")
        }
    }
}

/// Says on standard error what came up in a crawl.
pub fn tell_all(notices: &[Notice]) {
    for notice in notices {
        let level = if notice.is_problem() { Level::Warning } else { Level::Info };
        tell(level, format_args!("{notice}"));
    }
}

/// Shows a text on standard error as it is. Where nobody reads it any more (a closed terminal, `2>&1 | head`) nothing comes of it.
pub fn show(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Says a problem on standard error, also of a quiet command.
#[macro_export]
macro_rules! warn {
    ($($text:tt)*) => {
        $crate::message::tell($crate::message::Level::Warning, format_args!($($text)*))
    };
}

/// Says something on standard error, as `format!` would write it.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => {
        $crate::message::tell($crate::message::Level::Info, format_args!($($text)*))
    };
}

/// An error with its causes on one line. Some errors name their cause themselves: it is not said twice.
#[must_use]
pub fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain() {
        let text = cause.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        match line.is_empty() {
            true => line = text,
            false if line.contains(&text) => {}
            false => line = format!("{line}: {text}"),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_and_nothing_without_end_is_said() {
        assert_eq!(message("seed `a\u{1b}[2J`: no"), "seed `a\\u{1b}[2J`: no");
        let url = format!("http://{}/", "\u{1b}é".repeat(500_000));
        let said = message(format_args!("seed `{url}`: the URL is longer than 2048 bytes"));
        assert!(said.starts_with("seed `http://\\u{1b}é") && said.ends_with("/`: the URL is longer than 2048 bytes"));
        assert!(said.chars().count() < 2 * (BEGIN_CHARS_MAX + END_CHARS_MAX), "{}", said.len());
        let short = "x".repeat(BEGIN_CHARS_MAX + END_CHARS_MAX);
        assert_eq!(message(&short), short);
    }

    #[test]
    fn a_line_has_time_and_level_where_they_are_wanted() {
        let line = |lines, more| line_at("2026-11-26T03:36:24.001Z", lines, Level::Error, "no \"x\"", more);
        assert_eq!(line(Lines::Plain, None), "argiope: no \"x\"\n");
        assert_eq!(line(Lines::Dated, None), "2026-11-26T03:36:24.001Z error no \"x\"\n");
        let json = r#"{"at":"2026-11-26T03:36:24.001Z","level":"error","message":"no \"x\"","more":1}"#;
        assert_eq!(line(Lines::Json, Some(("more", json!(1)))), format!("{json}\n"));
    }

    #[test]
    fn an_error_is_one_line_that_says_nothing_twice() {
        let check = |error: anyhow::Error, expect: &str| assert_eq!(one_line(&error), expect);
        let full = || std::io::Error::other("no space\n  left");
        check(anyhow::Error::new(full()).context("cannot write x"), "cannot write x: no space left");
        check(anyhow::Error::new(full()).context("x: no space left").context("archive"), "archive: x: no space left");
        check(settings::usage("no seeds"), "no seeds");
    }
}
