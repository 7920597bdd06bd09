//! `argiope changes --follow` and `--webhook`: the changes of each round, as soon as it has ended.

use std::time::{Duration, SystemTime};

use ask::changes::{Changed, Counts, Question, Since, changes, last_ended_round};
use crawl::CrawlDir;
use engine::clock::Clock;
use model::Timestamp;
use store::CrawlView;

use super::{ChangesArgs, pages_of};
use crawl::opened::Opened;

/// How often a follower looks whether the crawl has committed something.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// After what time it looks into the state in any case: not every commit adds to the archive.
const LOOK_ANYWAY_AFTER: Duration = Duration::from_secs(30);

/// The changes of a round, for whom they are meant.
pub(super) struct Round<'a> {
    view: &'a dyn CrawlView,
    question: Question,
    /// Its number.
    pub(super) number: u32,
}

impl Round<'_> {
    /// Calls `each` for every change of the round.
    pub(super) fn changes(&self, each: &mut dyn FnMut(Changed) -> std::io::Result<()>) -> anyhow::Result<Counts> {
        Ok(changes(self.view, &self.question, each)?)
    }
}

/// Who receives the changes of one round after the other.
pub(super) trait Receiver {
    /// The next round, if it has begun with one.
    fn next(&self) -> Option<u32>;

    /// Takes the changes of a round, while the state is open. Others cannot change it meanwhile.
    fn take(&mut self, round: &Round<'_>) -> anyhow::Result<()>;

    /// Goes on with what was taken, with the state closed.
    fn deliver(&mut self) -> anyhow::Result<()>;
}

/// Gives a receiver the rounds that have ended, and with `--follow` those that end from then on.
pub(super) fn follow(args: &ChangesArgs, receiver: &mut dyn Receiver) -> anyhow::Result<()> {
    let dir = CrawlDir::existing(&args.dir)?;
    let mut looks = Looks { clock: Clock::start(), last: None };
    // What was taken by a process that was killed.
    receiver.deliver()?;
    loop {
        if looks.is_due(&dir) {
            while next_round(args, receiver)? {
                receiver.deliver()?;
            }
        }
        if !args.follow {
            return Ok(());
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Gives a receiver the next round that has ended. False where there is none.
fn next_round(args: &ChangesArgs, receiver: &mut dyn Receiver) -> anyhow::Result<bool> {
    let opened = Opened::new(&args.dir)?;
    let view = opened.view();
    let ended = last_ended_round(&view.totals()?);
    // The first round only finds new pages.
    let number = receiver.next().unwrap_or(ended.max(2));
    if ended < number {
        return Ok(false);
    }
    let sites = args.sites(view)?;
    let pages = if args.brief { None } else { Some(pages_of(&opened)?) };
    let question = Question { since: Since::Round(number), through: Some(number), sites, pages };
    receiver.take(&Round { view, question, number })?;
    Ok(true)
}

/// When to look into the state: opening it costs more than looking at a file.
struct Looks {
    clock: Clock,
    last: Option<(Timestamp, Option<SystemTime>)>,
}

impl Looks {
    fn is_due(&mut self, dir: &CrawlDir) -> bool {
        let (now, committed_at) = (self.clock.now(), archive::committed_at(&dir.archive()));
        let is_same = |(at, before)| committed_at == before && now.since(at) < LOOK_ANYWAY_AFTER;
        let is_due = !self.last.is_some_and(is_same);
        if is_due {
            self.last = Some((now, committed_at));
        }
        is_due
    }
}
