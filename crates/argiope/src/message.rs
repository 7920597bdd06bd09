//! Messages for people: in one line, harmless for a terminal, of bounded length. Whatever the program says on standard error goes through
//! [`say`](crate::say), and what a port answers to a request that fails through [`message`]: a URL, a path or a database may be named there
//! that somebody else chose.

use std::fmt::{self, Display, Write as _};
use std::io::{self, Write as _};

use crawl::Notice;
use printable::Printable;

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

/// Says it on standard error.
pub fn tell(text: fmt::Arguments<'_>) {
    let mut line = String::from("argiope: ");
    // Writing to a text does not fail.
    let _ = writeln!(line, "{}", message(text));
    show(&line);
}

/// Says on standard error what came up in a crawl.
pub fn tell_all(notices: &[Notice]) {
    for notice in notices {
        tell(format_args!("{notice}"));
    }
}

/// Shows a text on standard error as it is. Where nobody reads it any more (a closed terminal, `2>&1 | head`) nothing comes of it.
pub fn show(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Says something on standard error, as `format!` would write it.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => {
        $crate::message::tell(format_args!($($text)*))
    };
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
}
