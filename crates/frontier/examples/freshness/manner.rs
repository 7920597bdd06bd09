//! In which manner pages change.

/// Seconds of a day.
pub const DAY: f64 = 86_400.0;
/// Changes of a page from the beginning of one burst to that of the next.
pub const BURST_CHANGES: f64 = 5.0;
/// Bursts: a page changes in a tenth of the time.
pub const BURSTS: Windows = Windows { part: 0.1 };
/// Days: a page changes in eight hours of each.
pub const DAILY: Windows = Windows { part: 1.0 / 3.0 };

/// In which manner pages change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Manner {
    /// By themselves, at any time.
    Poisson,
    /// Five times in a tenth of the time, then not for long.
    Bursts,
    /// In eight hours of each day.
    Daily,
    /// By themselves; and now and then all pages of a site change at once. Half of the changes of a middling page are such ones.
    Together,
    /// A quarter of the sites in each of these manners.
    Mixed,
}

impl Manner {
    /// In which of the other manners the pages of a site change.
    pub fn of_site(self, site: u32) -> Manner {
        match (self, site % 4) {
            (Manner::Mixed, 0) => Manner::Poisson,
            (Manner::Mixed, 1) => Manner::Bursts,
            (Manner::Mixed, 2) => Manner::Daily,
            (Manner::Mixed, _) => Manner::Together,
            (manner, _) => manner,
        }
    }
}

/// Time counts in the first part of each period alone, and there so much more.
pub struct Windows {
    pub part: f64,
}

impl Windows {
    /// The end of so much waiting.
    pub fn end(&self, from: f64, period: f64, phase: f64, wait: f64) -> f64 {
        let position = (from / period + phase).rem_euclid(1.0) * period;
        let active = self.part * period;
        // Time that counts, since the period began.
        let mut left = wait * self.part + position.min(active);
        let whole = (left / active).floor();
        left -= whole * active;
        from - position + whole * period + left
    }

    /// Time that counts from the beginning of a period to this time.
    pub fn counted(&self, seconds: f64, period: f64) -> f64 {
        let whole = (seconds / period).floor();
        whole * period + ((seconds - whole * period) / self.part).min(period)
    }
}
