//! `argiope changes`: what has changed on the web between visits.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use ask::changes::{Block, Changed, Counts, Difference, Feed, Pages, Question, changes, last_round};
use clap::Args;
use engine::clock::Clock;
use model::{Change, Timestamp};
use printable::{Printable, counted, write_json_line};
use settings::plan::Plan;
use settings::site_name::SiteName;
use settings::units::Span;
use settings::usage;

use super::opened::Opened;

/// Characters of a block that are shown as text.
const BLOCK_CHARS_MAX: usize = 300;

/// The arguments of `argiope changes`.
#[derive(Args, Debug)]
pub struct ChangesArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// Compare with this time: a date, a time in UTC (2026-11-21T08:30:00Z), or how long ago (7d) [default: the begin of the last round]
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only this site; may be repeated
    #[arg(long, value_name = "SITE")]
    pub site: Vec<SiteName>,
    /// Leave out the differences in changed pages
    #[arg(long)]
    pub brief: bool,
    /// Print one JSON object per line, one for each change (docs/again.md)
    #[arg(long, conflicts_with = "feed")]
    pub json: bool,
    /// Print an Atom feed of the newest thousand changes
    #[arg(long)]
    pub feed: bool,
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl, a time cannot be read, or there is only one round.
pub fn run(args: ChangesArgs) -> anyhow::Result<ExitCode> {
    let now = Clock::start().date();
    let since = args.since.as_deref().map(|text| time(text, now)).transpose()?;
    let opened = Opened::new(&args.dir)?;
    let view = opened.view();
    let since = match since {
        Some(since) => since,
        None => match last_round(view)? {
            Some(since) => since,
            None => bail!(usage(format!(
                "{0} was crawled once so far: `argiope crawl -o {0} --again` visits its pages again, --since compares with any time",
                args.dir.display()
            ))),
        },
    };
    let settings = Plan::new(&opened.options()?)?.settings;
    let pages = Pages {
        archive: opened.dir.archive(),
        body_bytes_max: settings.limits.body_bytes_max,
        canonical: settings.canonical,
    };
    let sites = args.site.iter().flat_map(SiteName::keys).collect();
    let question = Question { since, sites, pages: (!args.brief).then_some(pages) };
    let mut out = std::io::stdout().lock();
    if args.feed {
        let mut feed = Feed::default();
        changes(view, &question, &mut |changed| {
            feed.add(changed);
            Ok(())
        })?;
        let title = format!("Changes in {}", args.dir.display());
        feed.write(&view.crawl_id()?, &title, now, &mut out)?;
        if feed.left_out() > 0 {
            console::say!("{} left out of the feed, which has the newest", counted(feed.left_out(), "change"));
        }
    } else if args.json {
        changes(view, &question, &mut |changed| write_json_line(&mut out, &changed))?;
    } else {
        let counts = changes(view, &question, &mut |changed| write_text(&mut out, &changed))?;
        writeln!(out, "{}", summary(&counts, since))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A time as it is given.
fn time(text: &str, now: Timestamp) -> anyhow::Result<Timestamp> {
    if let Some(time) = Timestamp::from_rfc3339(text) {
        return Ok(time);
    }
    match text.parse::<Span>() {
        Ok(Span(ago)) => Ok(Timestamp(now.0.saturating_sub(u64::try_from(ago.as_micros()).unwrap_or(u64::MAX)))),
        Err(_) => bail!(usage(format!(
            "--since `{text}` is no date (2026-11-21), no time in UTC (2026-11-21T08:30:00Z), and no time ago (7d, 12h)"
        ))),
    }
}

fn write_text(out: &mut impl Write, changed: &Changed) -> std::io::Result<()> {
    write!(out, "{:<8} {}", changed.change.as_str(), changed.url)?;
    match (&changed.target, changed.status) {
        (Some(target), _) => writeln!(out, " to {}", Printable(target))?,
        (None, Some(status)) if changed.change == Change::Gone => writeln!(out, " ({status})")?,
        _ => writeln!(out)?,
    }
    match (&changed.title_before, &changed.title) {
        (Some(before), Some(now)) => writeln!(out, "  title: {} -> {}", Printable(before), Printable(now))?,
        (Some(before), None) => writeln!(out, "  title before: {}", Printable(before))?,
        (None, _) => {}
    }
    let Some(Difference { text, links_added, links_removed }) = &changed.difference else { return Ok(()) };
    for block in text {
        let (sign, block) = match block {
            Block::Removed(block) => ('-', block),
            Block::Added(block) => ('+', block),
        };
        let shown: String = block.chars().take(BLOCK_CHARS_MAX).collect();
        let more = if shown.len() < block.len() { "…" } else { "" };
        writeln!(out, "  {sign} {}{more}", Printable(&shown.replace('\n', " ")))?;
    }
    links_removed.iter().try_for_each(|link| writeln!(out, "  - link {}", Printable(link)))?;
    links_added.iter().try_for_each(|link| writeln!(out, "  + link {}", Printable(link)))
}

fn summary(counts: &Counts, since: Timestamp) -> String {
    let count = |change: &Change| counts.get(change).copied().unwrap_or(0);
    let asked: u64 = counts.values().sum();
    let told: Vec<String> = Change::ALL
        .iter()
        .filter(|change| count(change) > 0)
        .map(|change| format!("{} {change}", count(change)))
        .collect();
    let told = if told.is_empty() { "nothing".to_owned() } else { told.join(", ") };
    format!("{} visited since {}: {told}", counted(asked, "URL"), since.to_rfc3339())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_or_durations_from_now() {
        let now = Timestamp::from_rfc3339("2026-11-25T12:00:00Z").expect("a time");
        for (text, expect) in [
            ("2026-11-21", "2026-11-21T00:00:00.000Z"),
            ("2026-11-21T08:30:00Z", "2026-11-21T08:30:00.000Z"),
            ("1d", "2026-11-24T12:00:00.000Z"),
            ("1h 30m", "2026-11-25T10:30:00.000Z"),
            ("100000000d", "1970-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(time(text, now).expect("a time").to_rfc3339(), expect, "{text}");
        }
        for text in ["yesterday", "", "-1d", "2026-13-01"] {
            let error = time(text, now).expect_err("no time").to_string();
            assert!(error.contains(&format!("--since `{text}`")), "{error}");
        }
    }
}
