//! Rounds after the first: when one begins, and with which URLs. The rules are those of `crawl --again` and `watch`.

use std::sync::Arc;
use std::time::Duration;

use crawl::importance::Important;
use crawl::{Again, Schedule};
use model::Timestamp;
use store::{CrawlView, Store, StoreError};

use crate::exit::Exit;
use crate::oracle::{Begun, Check};
use crate::watched::{Failing, Watched};
use crate::world::World;

/// The time from the end of a round to the next `--again`, in hours, at most.
const HOURS_BETWEEN_MAX: u64 = 10 * 24;

/// Visits of a round of a watch, at most: more than there are pages.
const VISITS_MAX: usize = 1_000_000;

/// The delay by which a watch limits the visits of a site in a round: none is kept from all its pages.
const DELAY: Duration = Duration::from_micros(1);

/// Of so many rounds one is interrupted while its URLs are chosen, where there are crashes.
const INTERRUPTED_ONE_IN: u64 = 3;

/// How known pages are visited again after the first round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounds {
    /// They are not.
    #[default]
    None,
    /// So many rounds over all of them.
    Again(u32),
    /// Those that are worth a visit, so often.
    Watch {
        /// How often the next round is looked for.
        times: u32,
        /// How long after the one before.
        every: Duration,
    },
}

/// How far the rounds of a simulation are.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Rounds after the first that were looked for.
    pub(crate) looked_for: u32,
    /// The next one must begin before the crawler goes on.
    pub(crate) is_due: bool,
}

impl Rounds {
    fn times(self) -> u32 {
        match self {
            Rounds::None => 0,
            Rounds::Again(times) | Rounds::Watch { times, .. } => times,
        }
    }
}

/// Passes the time to the next round, if there is one. False at the end of all.
pub(crate) fn pass_time(world: &mut World) -> bool {
    let rounds = world.scenario.wishes.rounds;
    if world.rounds.looked_for >= rounds.times() {
        return false;
    }
    let wait = match rounds {
        Rounds::Watch { every, .. } => every,
        Rounds::None | Rounds::Again(_) => Duration::from_secs(3_600 * world.misfortune.between(1, HOURS_BETWEEN_MAX)),
    };
    world.now = world.now + wait;
    world.scenario.web.turn(&mut world.network);
    world.rounds.looked_for += 1;
    world.rounds.is_due = true;
    true
}

/// Begins the round that is due. `Err` if the program is interrupted meanwhile: it is run again then.
pub(crate) fn begin(world: &mut World, store: &Arc<Watched>) -> Result<(), Exit> {
    if !world.rounds.is_due {
        return Ok(());
    }
    let date = world.clock.at(world.now);
    let fails = world.crashes < world.troubles().crashes_max && world.misfortune.chance(1_000 / INTERRUPTED_ONE_IN);
    if fails {
        let failing = world.misfortune.pick(&[Failing::BeforeApplying, Failing::AfterApplying]);
        store.fail_after(world.misfortune.below(2), failing);
        if let Err(error) = world.disk.note_safe() {
            world.oracle.complain(Check::Durable, world.now, format!("the journal: {error}"));
        }
    }
    let chosen = choose(world, store, date);
    for batch in store.take_acknowledged() {
        world.oracle.acknowledged(&batch, &[], world.now);
    }
    match chosen {
        Ok(()) => {}
        Err(error) if fails => {
            world.note(format_args!("crash while a round begins: {error}"));
            return Err(Exit::Crashed { torn: true });
        }
        Err(error) => {
            world.oracle.complain(Check::Ends, world.now, format!("no round begins: {error}"));
            return Err(Exit::Stuck);
        }
    }
    store.succeed();
    world.rounds.is_due = false;
    let begun = Begun { rounds: world.scenario.wishes.rounds, date, now: world.now };
    world.oracle.round_begins(&world.scenario.web, store.beneath(), &begun);
    Ok(())
}

fn choose(world: &World, store: &Arc<Watched>, now: Timestamp) -> Result<(), StoreError> {
    let settings = world.scenario.settings();
    let store: &dyn Store = &**store;
    match world.scenario.wishes.rounds {
        Rounds::Watch { every, .. } => {
            let important = Important::Equal;
            let schedule = Schedule { important, visits: VISITS_MAX, every, delay: DELAY, now };
            if Schedule::goes_on(store)? { Ok(()) } else { schedule.begin(store, &settings).map(drop) }
        }
        Rounds::None | Rounds::Again(_) => {
            Again { older_than: None, only: Vec::new(), now }.begin(store, &settings).map(drop)
        }
    }
}

/// The URLs that wait for another visit.
///
/// # Errors
/// The store cannot be read.
pub(crate) fn waiting_again(store: &dyn CrawlView) -> Result<Vec<model::Queued>, StoreError> {
    let mut waiting = Vec::new();
    for site in store.sites(None, usize::MAX)? {
        let queue = store.pending(site.site.key(), None, usize::MAX)?;
        waiting.extend(queue.into_iter().filter(|queued| queued.again.is_some()));
    }
    Ok(waiting)
}
