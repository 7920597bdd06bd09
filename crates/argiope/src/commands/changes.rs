//! `argiope changes`: what has changed on the web between visits.

mod posted;
mod text;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use ask::changes::{Counts, Feed, HtmlPage, Pages, Question, Since, changes, last_round, sentence, words};
use ask::follow::{Followed, Receiver, Round, follow, keys, whole};
use ask::since::time;
use clap::Args;
use engine::clock::Clock;
use model::Timestamp;
use printable::{counted, write_json_line};
use settings::site_name::SiteName;
use settings::usage;

use crawl::opened::Opened;
use posted::{Poster, WebhookArgs};
use text::write_text;

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
    #[arg(long, conflicts_with_all = ["feed", "html"])]
    pub json: bool,
    /// Print an Atom feed of the newest thousand changes
    #[arg(long, conflicts_with = "html")]
    pub feed: bool,
    /// Print a web page of the changes, with nothing outside of it
    #[arg(long)]
    pub html: bool,
    /// Keep running, and print or post the changes of each round when it has ended
    #[arg(long, conflicts_with_all = ["since", "feed", "html"])]
    pub follow: bool,
    /// Where to post them.
    #[command(flatten)]
    pub webhook: WebhookArgs,
}

impl ChangesArgs {
    fn followed(&self) -> Followed {
        Followed { sites: self.site.clone(), with_pages: !self.brief, forever: self.follow }
    }
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl, a time cannot be read, or there is only one round.
pub fn run(args: ChangesArgs) -> anyhow::Result<ExitCode> {
    if let Some(url) = &args.webhook.webhook {
        follow(&args.dir, &args.followed(), &mut Poster::open(&args.webhook, url, &args.dir, args.follow)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.follow {
        follow(&args.dir, &args.followed(), &mut Printer { is_json: args.json, next: None })?;
        return Ok(ExitCode::SUCCESS);
    }
    let now = Clock::start().date();
    let since = args.since.as_deref().map(|text| time(text, now)).transpose()?;
    Opened::ask(&args.dir, |opened| {
        let out = &mut std::io::stdout().lock();
        match opened.is_running() {
            // The run may end meanwhile, and then the question is put again.
            true => whole(out, |out| tell(&args, opened, (since, now), out)),
            false => tell(&args, opened, (since, now), out),
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Writes what has changed since a time, if not since the last round.
fn tell(
    args: &ChangesArgs,
    opened: &Opened,
    (since, now): (Option<Timestamp>, Timestamp),
    mut out: &mut dyn Write,
) -> anyhow::Result<()> {
    let view = opened.view();
    let sites = keys(&args.site, view)?;
    let (since, time) = match since {
        Some(from) => (Since::Time { from, now }, from),
        None => match last_round(view)? {
            Some(round) => (Since::Round(round.number), round.began_at),
            None => bail!(usage(format!(
                "{0} was crawled once so far: `argiope crawl -o {0} --again` visits its pages again, --since compares with any time",
                args.dir.display()
            ))),
        },
    };
    let pages = if args.brief { None } else { Some(Pages::of(opened)?) };
    let question = Question { since, through: None, sites, pages };
    let title = format!("Changes in {}", args.dir.display());
    if args.feed {
        let mut feed = Feed::default();
        changes(view, &question, &mut |changed| {
            feed.add(changed);
            Ok(())
        })?;
        feed.write(&view.crawl_id()?, &title, now, &mut out)?;
        if feed.left_out() > 0 {
            console::say!("{} left out of the feed, which has the newest", counted(feed.left_out(), "change"));
        }
    } else if args.html {
        let mut page = HtmlPage::begin(&mut out, &title)?;
        let counts = changes(view, &question, &mut |changed| page.add(&changed))?;
        page.end(&counts)?;
    } else if args.json {
        changes(view, &question, &mut |changed| write_json_line(&mut out, &changed))?;
    } else {
        let counts = changes(view, &question, &mut |changed| write_text(&mut out, &changed))?;
        writeln!(out, "{}", summary(&counts, time))?;
    }
    Ok(())
}

/// Prints the changes of each round.
struct Printer {
    is_json: bool,
    next: Option<u32>,
}

impl Receiver for Printer {
    fn next(&self) -> Option<u32> {
        self.next
    }

    fn take(&mut self, round: &Round<'_>) -> anyhow::Result<()> {
        self.next = Some(round.number);
        whole(&mut std::io::stdout().lock(), |mut to| {
            if self.is_json {
                round.changes(&mut |changed| write_json_line(&mut to, &changed))?;
            } else {
                let counts = round.changes(&mut |changed| write_text(&mut to, &changed))?;
                writeln!(to, "round {}: {}", round.number, sentence(&counts))?;
            }
            Ok(())
        })?;
        self.next = Some(round.number + 1);
        Ok(())
    }

    fn deliver(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}

fn summary(counts: &Counts, since: Timestamp) -> String {
    let visited = counted(counts.values().sum(), "URL");
    let told = if counts.is_empty() { "nothing".to_owned() } else { words(counts) };
    format!("{visited} visited since {}: {told}", since.to_rfc3339())
}
