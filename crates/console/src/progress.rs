//! What a running crawl shows: one line that changes on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use engine::Progress;

use crate::message::{Level, log, show};
use settings::units::human_bytes;

/// How often a plain line is printed.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Show {
    /// A changing line on a terminal, plain lines elsewhere
    #[default]
    Auto,
    /// Plain lines
    Plain,
    /// Nothing
    None,
}

/// Prints progress on standard error.
pub struct Printer {
    changing: bool,
    silent: bool,
    last: Option<Progress>,
    last_plain: Duration,
    last_logged: Duration,
    line_open: bool,
    fetches_lost: u64,
    has_told_of_clock: bool,
    has_told_of_network: bool,
}

impl Printer {
    /// A printer for standard error as it is.
    #[must_use]
    pub fn new(show: Show) -> Self {
        let changing = show == Show::Auto && std::io::stderr().is_terminal();
        let silent = show == Show::None;
        Printer {
            changing,
            silent,
            last: None,
            last_plain: Duration::ZERO,
            last_logged: Duration::ZERO,
            line_open: false,
            fetches_lost: 0,
            has_told_of_clock: false,
            has_told_of_network: false,
        }
    }

    /// Shows where the crawl stands.
    pub fn show(&mut self, now: Progress) {
        self.fetches_lost = now.fetches_lost;
        if let (Some(by), false) = (now.clock_set_back, self.has_told_of_clock) {
            self.has_told_of_clock = true;
            let by = by.as_secs();
            crate::say!("the system's clock was set back by {by} s or more since the last run; no site waits for that");
        }
        if now.is_network_down != self.has_told_of_network {
            self.has_told_of_network = now.is_network_down;
            self.end_line();
            crate::say!(
                "{}",
                if now.is_network_down {
                    "no site can be reached that answered before: this machine's network seems to be down; it is tried now and then"
                } else {
                    "sites can be reached again; the crawl goes on"
                }
            );
        }
        let before = *self.last.get_or_insert(now);
        if now.elapsed >= self.last_logged + PLAIN_EVERY {
            self.last_logged = now.elapsed;
            log(Level::Info, line(&before, &now).trim_start(), None);
        }
        let due = self.changing || now.elapsed >= self.last_plain + PLAIN_EVERY;
        if self.silent || !due {
            return;
        }
        let line = line(&before, &now);
        self.last = Some(now);
        self.last_plain = now.elapsed;
        let mut out = std::io::stderr().lock();
        // Progress that nobody can see is not worth an error.
        let _ = if self.changing { write!(out, "\r\x1b[K{line}") } else { writeln!(out, "{line}") };
        let _ = out.flush();
        self.line_open = self.changing;
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.line_open) {
            show("\n");
        }
    }

    /// Ends the changing line, so that what follows stands on a line of its own, and reports what the program itself broke.
    pub fn end(&mut self) {
        self.end_line();
        let lost = std::mem::take(&mut self.fetches_lost);
        if lost > 0 {
            crate::say!("{lost} fetches broke off by an error of this program, each counted as a failed attempt");
        }
    }
}

fn line(before: &Progress, now: &Progress) -> String {
    let (pages, elapsed) = (now.pages - before.pages, now.elapsed.saturating_sub(before.elapsed));
    #[expect(clippy::cast_precision_loss, reason = "a rate is shown")]
    let rate = if elapsed.is_zero() { 0.0 } else { pages as f64 / elapsed.as_secs_f64() };
    let aside = if now.sites_aside == 0 { String::new() } else { format!("  {} in trouble", now.sites_aside) };
    format!(
        "{:>6}s  {} pages  {rate:.1}/s  {}  {} fetching  {} sites waiting{aside}",
        now.elapsed.as_secs(),
        now.pages,
        human_bytes(now.bytes),
        now.in_flight,
        now.sites_waiting
    )
}
