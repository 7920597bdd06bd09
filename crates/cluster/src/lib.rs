//! One of several workers on a crawl: its lease, what it owns, and who should own what.
//!
//! ```text
//!  state ─────▶ Life: renew, reap, place sites, bid, assign, hand over ──▶ Control ──▶ engine (SitesChanged, Release)
//!                 │                                                                     │
//!                 ▼                                                                     ▼
//!               Lease ──▶ Gate of the fetcher             Ownership ──▶ WorkerStore: commits with a fence, own sites only
//! ```
//!
//! [`life::Life`] is the only place that asks the shared state about ownership; [`placement`] decides, without looking at anything but
//! its arguments. Everything the engine does goes on as in a crawl by one process.
//!
//! Invariants: nothing is asked but through the gate of a lease that holds; a group is handed over only when nothing of it is under
//! way; who has lost its lease forgets everything and joins anew.

pub mod lease;
pub mod life;
pub mod ownership;
pub mod placement;
mod placing;
pub mod store;

pub use lease::Lease;
pub use life::{Life, LifeEnd, Times};
pub use ownership::Owned;
pub use placement::Placement;
pub use store::WorkerStore;
