//! All there is besides the crawler: true time, the web, the disk, chance, the judge, and the trace of what happened.

use std::fmt;
use std::time::Duration;

use crate::disk::Disk;
use crate::oracle::Oracle;
use crate::rng::{Rng, mix};
use crate::rounds::Progress;
use crate::server::Servers;
use crate::time::{SkewedClock, TrueTime};
use crate::{Sabotage, Scenario, Troubles};

/// The world of one simulation.
pub(crate) struct World {
    pub(crate) scenario: Scenario,
    pub(crate) now: TrueTime,
    pub(crate) clock: SkewedClock,
    pub(crate) servers: Servers,
    pub(crate) disk: Disk,
    pub(crate) oracle: Oracle,
    pub(crate) trace: Trace,
    /// What the network does.
    pub(crate) network: Rng,
    /// How long things take on this machine.
    pub(crate) machine: Rng,
    /// What goes wrong on it.
    pub(crate) misfortune: Rng,
    pub(crate) crashes: u32,
    /// Crashes and stops.
    pub(crate) interruptions: u32,
    pub(crate) steps: u64,
    pub(crate) requests: u64,
    /// URLs in the store at the end.
    pub(crate) urls: u64,
    pub(crate) rounds: Progress,
}

impl World {
    pub(crate) fn new(scenario: Scenario, print: bool) -> std::io::Result<Self> {
        let mut rng = Rng::new(mix(scenario.seed));
        Ok(World {
            now: TrueTime::default(),
            clock: SkewedClock::new(),
            servers: Servers::new(&scenario.outages, scenario.sabotage == Some(Sabotage::SayUnmodified)),
            disk: Disk::new(scenario.storage, scenario.has_archive)?,
            oracle: Oracle::new(&scenario),
            trace: Trace { hash: 0, print },
            network: rng.fork(),
            machine: rng.fork(),
            misfortune: rng.fork(),
            crashes: 0,
            interruptions: 0,
            steps: 0,
            requests: 0,
            urls: 0,
            rounds: Progress::default(),
            scenario,
        })
    }

    pub(crate) fn troubles(&self) -> &Troubles {
        &self.scenario.troubles
    }

    /// A moment at which the crawler may crash: does it?
    pub(crate) fn strikes(&mut self) -> bool {
        const OF: u64 = 1_000_000;
        self.crashes < self.scenario.troubles.crashes_max
            && self.misfortune.below(OF) < self.scenario.troubles.crash_chance
    }

    /// Sets the machine's clock, by anything from a second to some days. True if forward.
    pub(crate) fn set_clock(&mut self) -> bool {
        let by = Duration::from_secs(self.misfortune.pick(&[1, 60, 3_600, 30_000, 200_000]));
        let forward = self.misfortune.chance(500);
        if forward {
            self.note(format_args!("clock set forward by {by:?}"));
            self.clock.set_forward(by);
        } else {
            self.note(format_args!("clock set back by {by:?}"));
            self.clock.set_back(by);
        }
        forward
    }

    pub(crate) fn note(&mut self, what: fmt::Arguments<'_>) {
        let now = self.now;
        self.trace.note(format_args!("{now} {what}"));
    }
}

/// What happened, as a hash, and printed if wanted.
pub(crate) struct Trace {
    hash: u64,
    print: bool,
}

impl Trace {
    fn note(&mut self, what: fmt::Arguments<'_>) {
        let line = what.to_string();
        if self.print {
            println!("{line}");
        }
        for bytes in line.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            self.hash = mix(self.hash ^ u64::from_le_bytes(word));
        }
    }

    /// The same for the same happenings.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }
}
