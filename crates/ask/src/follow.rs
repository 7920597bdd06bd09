//! The changes of each round, as soon as it has ended.

use std::io::{BufWriter, Seek, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};
use crawl::CrawlDir;
use crawl::opened::{Opened, has_ended, is_passing};
use engine::clock::Clock;
use model::Timestamp;
use settings::site_name::SiteName;
use settings::usage;
use store::CrawlView;
use weburl::SiteKey;

use crate::changes::{Changed, Counts, Pages, Question, Since, changes, last_ended_round};
use crate::sites::unknown;

/// How often a follower looks whether the crawl has committed something.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// After what time it looks into the state in any case: not every commit adds to the archive.
const LOOK_ANYWAY_AFTER: Duration = Duration::from_secs(30);
/// The changes of a round that are printed are kept in memory before, up to this many bytes; more of them in a temporary file.
const ROUND_BYTES_IN_MEMORY_MAX: usize = 8 << 20;

/// Which changes of each round.
#[derive(Clone, Debug)]
pub struct Followed {
    /// Only those of these sites; of all where none is given.
    pub sites: Vec<SiteName>,
    /// With the differences in changed pages.
    pub with_pages: bool,
    /// Also of rounds that end from now on; else only of those that have ended.
    pub forever: bool,
}

/// The changes of a round, for whom they are meant.
pub struct Round<'a> {
    view: &'a dyn CrawlView,
    question: Question,
    /// Its number.
    pub number: u32,
}

impl Round<'_> {
    /// Calls `each` for every change of the round.
    ///
    /// # Errors
    /// The state cannot be read, or `each` fails.
    pub fn changes(&self, each: &mut dyn FnMut(Changed) -> std::io::Result<()>) -> anyhow::Result<Counts> {
        Ok(changes(self.view, &self.question, each)?)
    }
}

/// Who receives the changes of one round after the other.
pub trait Receiver {
    /// The next round, if it has begun with one.
    fn next(&self) -> Option<u32>;

    /// Takes the changes of a round, while the state is open. Others cannot change it meanwhile. Where that fails, the same round may come
    /// again: what was taken of it must not count.
    ///
    /// # Errors
    /// They cannot be read, or kept.
    fn take(&mut self, round: &Round<'_>) -> anyhow::Result<()>;

    /// Goes on with what was taken, with the state closed.
    ///
    /// # Errors
    /// They cannot be delivered.
    fn deliver(&mut self) -> anyhow::Result<()>;
}

/// The keys of sites that are asked about.
///
/// # Errors
/// The crawl does not know one.
pub fn keys(sites: &[SiteName], view: &dyn CrawlView) -> anyhow::Result<Vec<SiteKey>> {
    for site in sites {
        if let Some(unknown) = unknown(view, &site.to_string(), site.keys())? {
            bail!(usage(format!("--site: {unknown}")));
        }
    }
    Ok(sites.iter().flat_map(SiteName::keys).collect())
}

/// Gives a receiver the rounds that have ended, and if it is to go on those that end from then on.
///
/// # Errors
/// The directory holds no crawl or cannot be read, or the receiver fails.
pub fn follow(root: &Path, followed: &Followed, receiver: &mut dyn Receiver) -> anyhow::Result<()> {
    let dir = CrawlDir::existing(root)?;
    let mut looks = Looks { clock: Clock::start(), last: None };
    // What was taken by a process that was killed.
    receiver.deliver()?;
    loop {
        if looks.is_due(&dir) {
            while patiently(followed.forever, || next_round(root, followed, receiver))? {
                receiver.deliver()?;
            }
        }
        if !followed.forever {
            return Ok(());
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Does something with a crawl's directory, and again where a follower came between two runs: one ended while it answered, or the next one
/// is just beginning. What is not done for ever is done once more where a run has ended: the crawl rests then.
///
/// # Errors
/// What fails is no passing trouble, or it is not to be done for ever.
pub fn patiently<T>(forever: bool, mut does: impl FnMut() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let mut is_first = true;
    loop {
        match does() {
            Err(error) if forever && is_passing(&error) => std::thread::sleep(LOOK_EVERY),
            Err(error) if is_first && has_ended(&error) => is_first = false,
            done => return done,
        }
    }
}

/// Writes all of something, or nothing of it: what fails is tried again, and must not stand there twice.
///
/// # Errors
/// It cannot be made, kept, or written.
pub fn whole(out: &mut dyn Write, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut kept = tempfile::spooled_tempfile(ROUND_BYTES_IN_MEMORY_MAX);
    let mut to = BufWriter::new(&mut kept);
    write(&mut to)?;
    to.flush().context("keeping the changes of a round")?;
    drop(to);
    kept.rewind()?;
    std::io::copy(&mut kept, out)?;
    Ok(out.flush()?)
}

/// Gives a receiver the next round that has ended. False where there is none.
fn next_round(root: &Path, followed: &Followed, receiver: &mut dyn Receiver) -> anyhow::Result<bool> {
    let opened = Opened::new(root)?;
    let view = opened.view();
    let ended = last_ended_round(&view.totals()?);
    // The first round only finds new pages.
    let number = receiver.next().unwrap_or(ended.max(2));
    if ended < number {
        return Ok(false);
    }
    let sites = keys(&followed.sites, view)?;
    let pages = if followed.with_pages { Some(Pages::of(&opened)?) } else { None };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_that_cannot_be_read_to_its_end_leaves_nothing_behind() {
        let mut out = Vec::new();
        whole(&mut out, |to| {
            to.write_all(b"half")?;
            bail!("it has ended meanwhile")
        })
        .expect_err("an error");
        assert_eq!(out, b"");
        let long = vec![b'x'; ROUND_BYTES_IN_MEMORY_MAX + 1];
        whole(&mut out, |to| Ok(to.write_all(&long)?)).expect("written");
        assert!(out == long);
    }
}
