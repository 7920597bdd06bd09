//! What a running crawl shows: one line that changes on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use crawl::outlook::waits_in_words;
use crawl::{Outlook, Timestamp};
use engine::Progress;
use engine::clock::Clock;

use crate::message::{Level, change_line, end_line, log, may_change_lines, show_progress};
use printable::counted;
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
    clock: Clock,
    fetches_lost: u64,
    has_told_of_cut: bool,
    has_told_of_network: bool,
    has_told_of_disk: bool,
}

impl Printer {
    /// A printer for standard error as it is.
    #[must_use]
    pub fn new(show: Show) -> Self {
        let changing = show == Show::Auto && may_change_lines() && std::io::stderr().is_terminal();
        let silent = show == Show::None;
        Printer {
            changing,
            silent,
            last: None,
            last_plain: Duration::ZERO,
            last_logged: Duration::ZERO,
            clock: Clock::start(),
            fetches_lost: 0,
            has_told_of_cut: false,
            has_told_of_network: false,
            has_told_of_disk: false,
        }
    }

    /// Shows the progress of the crawl, and what is left of it as far as that is known.
    pub fn show(&mut self, now: Progress, outlook: Option<&Outlook>) {
        self.fetches_lost = now.fetches_lost;
        if let (Some(by), false) = (now.waits_cut, self.has_told_of_cut) {
            self.has_told_of_cut = true;
            let by = by.as_secs();
            crate::warn!(
                "sites were to wait up to {by} s longer than their delay is now, and do not: since the last run the delay was lowered, or the \
                 system's clock was set back"
            );
        }
        if now.is_network_down != self.has_told_of_network {
            self.has_told_of_network = now.is_network_down;
            match now.is_network_down {
                true => crate::warn!(
                    "no site can be reached that answered before: this machine's network seems to be down; it is tried now and then"
                ),
                false => crate::warn!("sites can be reached again; the crawl goes on"),
            }
        }
        if let Some(outlook) = outlook.filter(|outlook| outlook.is_disk_short() && !self.has_told_of_disk) {
            self.has_told_of_disk = true;
            let (left, more) = (outlook.disk_bytes_left, outlook.disk_bytes_expected.unwrap_or_default());
            let (left, more) = (human_bytes(left), human_bytes(more));
            crate::warn!(
                "the disk has {left} left, and the URLs in the queue need about {more}: make room, or stop the crawl in time"
            );
        }
        let more = || outlook.and_then(|outlook| Some(("outlook", serde_json::to_value(outlook).ok()?)));
        let (before, date) = (*self.last.get_or_insert(now), self.clock.date());
        if now.elapsed >= self.last_logged + PLAIN_EVERY {
            self.last_logged = now.elapsed;
            log(Level::Info, line(&before, &now, outlook, date).trim_start(), more());
        }
        let due = self.changing || now.elapsed >= self.last_plain + PLAIN_EVERY;
        if self.silent || !due {
            return;
        }
        let line = line(&before, &now, outlook, date);
        self.last = Some(now);
        self.last_plain = now.elapsed;
        if self.changing {
            change_line(&line);
        } else {
            show_progress(&line, more());
        }
    }

    /// Ends the changing line, so that what follows stands on a line of its own, and reports what the program itself broke.
    pub fn end(&mut self) {
        end_line();
        let lost = std::mem::take(&mut self.fetches_lost);
        if lost > 0 {
            let fetches = if lost == 1 { "fetch" } else { "fetches" };
            crate::warn!("{lost} {fetches} broke off by an error of this program, each counted as a failed attempt");
        }
    }
}

fn line(before: &Progress, now: &Progress, outlook: Option<&Outlook>, date: Timestamp) -> String {
    let (pages, elapsed) = (now.pages - before.pages, now.elapsed.saturating_sub(before.elapsed));
    #[expect(clippy::cast_precision_loss, reason = "a rate is shown")]
    let rate = if elapsed.is_zero() { 0.0 } else { pages as f64 / elapsed.as_secs_f64() };
    let aside = if now.sites_aside == 0 { String::new() } else { format!("  {} in trouble", now.sites_aside) };
    format!(
        "{:>6}s  {}  {rate:.1}/s  {}  {} fetching  {} waiting{aside}{}",
        now.elapsed.as_secs(),
        counted(now.pages, "page"),
        human_bytes(now.bytes),
        now.in_flight,
        counted(now.sites_waiting as u64, "site"),
        outlook.map(|outlook| left(outlook, date)).unwrap_or_default()
    )
}

/// What is left, behind the progress of this moment.
fn left(outlook: &Outlook, date: Timestamp) -> String {
    let Outlook { waiting, failed, kept_out, disk_bytes, .. } = *outlook;
    let waits = waits_in_words(&outlook.waits, date).map(|waits| format!("  waits for {waits}")).unwrap_or_default();
    let expected = outlook.disk_bytes_expected.filter(|_| waiting > 0);
    let expected = expected.map(|bytes| format!(" and {} more", human_bytes(bytes))).unwrap_or_default();
    let ends = outlook.ends_in.filter(|_| waiting > 0).map(|time| Duration::from_secs(time.as_secs()));
    let ends = ends.map(|time| format!("  at least {} left", humantime::format_duration(time))).unwrap_or_default();
    let errors = if failed > 0 { format!("  {failed} failed") } else { String::new() };
    let refused = if kept_out > 0 { format!("  {kept_out} kept out") } else { String::new() };
    let waiting = counted(waiting, "URL");
    format!("  {waiting} waiting{errors}{refused}  {} on disk{expected}{ends}{waits}", human_bytes(disk_bytes))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crawl::{Reason, SiteWaits, Wait};

    use super::*;

    #[test]
    fn one_of_a_kind_is_told_as_one() {
        let now = Progress { pages: 1, sites_waiting: 1, ..Progress::default() };
        let outlook = Outlook { waiting: 1, ..Outlook::default() };
        let line = line(&Progress::default(), &now, Some(&outlook), Timestamp(0));
        for expect in ["  1 page  ", "  1 site waiting  ", "  1 URL waiting  "] {
            assert!(line.contains(expect), "{line}");
        }
    }

    #[test]
    fn what_is_left_is_told_as_far_as_it_is_known() {
        let outlook = Outlook { waiting: 300, disk_bytes: 1_500_000, ..Outlook::default() };
        assert_eq!(left(&outlook, Timestamp(0)), "  300 URLs waiting  1.5 MB on disk");
        let ends_in = Some(Duration::from_millis(150_400));
        let outlook = Outlook { failed: 2, kept_out: 7, disk_bytes_expected: Some(3_000_000), ends_in, ..outlook };
        let all = "  300 URLs waiting  2 failed  7 kept out  1.5 MB on disk and 3.0 MB more  at least 2m 30s left";
        assert_eq!(left(&outlook, Timestamp(0)), all);
        let waits = SiteWaits(BTreeMap::from([(Reason::Hold, Wait { sites: 2, until: None })]));
        assert_eq!(
            left(&Outlook { waits, ..outlook.clone() }, Timestamp(0)),
            format!("{all}  waits for 2 sites on hold")
        );
        // Retry-After of a day.
        let wait = Wait { sites: 1, until: Some(Timestamp::from_millis(86_400_000)) };
        let waits = SiteWaits(BTreeMap::from([(Reason::Aside, wait)]));
        let told = left(&Outlook { waits, ..outlook.clone() }, Timestamp::from_millis(60_000));
        assert_eq!(told, format!("{all}  waits for 1 site in trouble until 1970-01-02 00:00 UTC"));
        assert_eq!(
            left(&Outlook { waiting: 0, ..outlook }, Timestamp(0)),
            "  0 URLs waiting  2 failed  7 kept out  1.5 MB on disk"
        );
    }
}
