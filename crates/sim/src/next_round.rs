//! The next round: when it begins, and with which URLs. The rules are those of `crawl --again` and `watch`.

use std::sync::Arc;
use std::time::Duration;

use crawl::importance::Important;
use crawl::{Again, Schedule};
use model::Timestamp;
use store::{Store, StoreError};

use crate::exit::Exit;
use crate::oracle::{Begun, Check};
use crate::rounds::Rounds;
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
        Rounds::Watch { every, by_depth, .. } => {
            let important = if by_depth { Important::Depth } else { Important::Equal };
            let schedule = Schedule { important, visits: VISITS_MAX, every, delay: DELAY, now };
            if Schedule::goes_on(store)? { Ok(()) } else { schedule.begin(store, &settings).map(drop) }
        }
        Rounds::None | Rounds::Again(_) => {
            Again { older_than: None, only: Vec::new(), now }.begin(store, &settings).map(drop)
        }
    }
}
