//! Changes from outside while the crawl runs.

use std::time::Duration;

use engine::Event;
use weburl::{Site, SiteKey};

use super::{Happening, Process};
use crate::exit::Exit;
use crate::scenario::Sabotage;

/// A change from outside.
#[derive(Clone, Copy, Debug)]
pub(super) enum Steer {
    Pause,
    Resume,
    Hold(SiteKey),
    Release(SiteKey),
}

/// The longest until somebody steers a run, and for how long, in milliseconds.
const STEER_MILLIS_MAX: u64 = 60_000;

impl Process<'_> {
    /// Plans a change and its end.
    pub(super) fn plan_to_steer(&mut self) {
        let sites: Vec<&String> = self.world.scenario.web.sites.keys().collect();
        let (begin, end) = match self.world.misfortune.chance(500) {
            true => (Steer::Pause, Steer::Resume),
            false => {
                let site = self.world.misfortune.pick(&sites);
                let Some(site) = Site::from_text(site) else { return };
                (Steer::Hold(site.key()), Steer::Release(site.key()))
            }
        };
        let at = self.world.now + Duration::from_millis(self.world.misfortune.below(STEER_MILLIS_MAX));
        let until = at + Duration::from_millis(self.world.misfortune.below(STEER_MILLIS_MAX));
        self.schedule(at, Happening::Steer(begin));
        self.schedule(until, Happening::Steer(end));
    }

    pub(super) fn steer(&mut self, steer: Steer) -> Result<(), Exit> {
        match steer {
            Steer::Pause => self.settings.paused = true,
            Steer::Resume => self.settings.paused = false,
            Steer::Hold(site) => drop(self.settings.held_sites.insert(site)),
            Steer::Release(site) => drop(self.settings.held_sites.remove(&site)),
        }
        if self.world.scenario.sabotage == Some(Sabotage::KeepCourse) {
            return Ok(());
        }
        self.step(Event::SettingsChanged(Box::new(self.settings.clone())))
    }
}
