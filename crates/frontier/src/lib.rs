//! Which URL next, and when: pure policies over the values of `model`.
//!
//! - [`again`]: how to request a known page, and what does its answer say?
//! - [`filter`]: does a URL belong to the crawl, and which rule says so?
//! - [`traps`]: is the web leading us around in circles?
//! - [`held`]: why is nothing requested of a site now?
//! - [`novelty`]: does a page bring something new?
//! - [`politeness`]: how long to wait, after what.
//! - [`verdict`]: what does an outcome mean: final, or try again?
//! - [`revisit`]: which known page is worth the next visit.
//! - [`budget`]: what must a visit be worth to be made?
//! - [`common_changes`]: when do all pages of a site change at once?
//! - [`signals`], [`announced`], [`dates`]: what sites say of changes, as far as it was right.
//! - [`beliefs`]: what all that tells of the pages of a site.
//! - [`calendar`]: known pages in the order in which they are due.
//! - [`site_state`]: one site in front: its queue's head, its robots rules, its counters.
//! - [`yields`]: does a group of URLs bring only more of itself?
//! - [`workbench`]: all sites in front by the time they are due, under their addresses.
//!
//! Invariants: nothing here fetches, reads a clock, or knows a store. Time comes in as a value; a decision goes out as one.

pub mod again;
pub mod announced;
pub mod beliefs;
pub mod budget;
pub mod calendar;
pub mod common_changes;
pub mod dates;
pub mod filter;
mod hashing;
pub mod held;
pub mod novelty;
pub mod politeness;
pub mod revisit;
pub mod signals;
pub mod site_state;
mod span;
pub mod traps;
pub mod verdict;
pub mod workbench;
pub mod yields;

pub use filter::{Excluded, Filter};
pub use held::{Held, Reason};
pub use novelty::{Features, Novelty, Shows};
pub use politeness::{ASIDE_WAITS, DelayRule, Politeness, Trouble, UNREACHED_IN_A_ROW_MAX};
pub use site_state::{
    Behind, Counts, Failed, Failing, LeftBehind, Next, RobotsState, Settled, SiteRules, SiteState, window_urls,
};
pub use traps::{ShapeRule, TrapRules};
pub use verdict::Verdict;
pub use workbench::{Group, Visitor, Waiting, Workbench};
pub use yields::{Brought, Yield, Yields};
