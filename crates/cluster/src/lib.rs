//! One of several workers on a crawl: its lease, its groups, and the placement of groups.
//!
//! ```text
//!  state ─────▶ Life: renew, reap, place sites, bid, assign, hand over ──▶ Control ──▶ engine (SitesChanged, Release)
//!                 │                                                                     │
//!                 ▼                                                                     ▼
//!               Lease ──▶ Gate of the fetcher             Ownership ──▶ WorkerStore: commits with a fence, own sites only
//! ```
//!
//! Only [`life::Life`] asks the shared state about ownership. [`placement`] decides, as a pure function of
//! its arguments. The engine works as in a crawl by one process.
//!
//! Invariants: a worker sends requests only while its lease is valid. A group is handed over only when nothing of it is under
//! way, and its robots.txt files are sealed, if they can be soon. A worker that lost its lease drops all its state and joins again.

pub mod happening;
pub mod lease;
pub mod life;
pub mod ownership;
pub mod placement;
mod placing;
mod sealing;
pub mod store;

pub use lease::Lease;
pub use life::{Life, LifeEnd, Times};
pub use ownership::Owned;
pub use placement::Placement;
pub use store::{WorkerStore, spent};
