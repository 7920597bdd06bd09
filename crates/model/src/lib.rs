//! The values that travel between the stages, the outcomes, and the limits.
//!
//! ```text
//!           Candidate            FetchTask              FetchOutcome            Visit
//!  seeds ──▶ frontier ─────────▶ fetch ───────────────▶ extract ──────────────▶ recorder ──▶ archive, store
//! ```
//!
//! A stage knows these values and no other stage. Nothing here is serialised: encodings live where the bytes are.

mod again;
mod announced;
mod candidate;
mod digest;
mod distance;
mod exchange;
mod fetch;
mod limit;
mod limits;
mod made;
mod media;
mod network;
mod outcome;
mod past;
mod picture;
mod rendering;
mod resolved;
mod site;
mod sought;
mod time;
mod visit;

pub use again::{Change, Round, can_be_compared, looks_vanished, says_gone, says_what_is_there};
pub use announced::{Announced, Announcement, Announcer};
pub use candidate::{Candidate, Position, Purpose, Queued, Via, Visited};
pub use digest::{ContentDigest, PayloadDigest};
pub use distance::Distance;
pub use exchange::{Exchange, Method, Redacted, Truncation};
pub use fetch::{
    Condition, Failure, FailureKind, FetchOutcome, FetchTask, Fetched, ForPage, Headers, Response, TaskId,
};
pub use limit::{Limit, LimitSet};
pub use limits::Limits;
pub use made::Made;
pub use media::{MediaRange, essence};
pub use network::{Network, NetworkError};
pub use outcome::Outcome;
pub use past::{Past, Validators};
pub use picture::{Picture, PictureKind, Pictures};
pub use rendering::{LeftOut, Reason, Refusal, Refusals, RenderedDocument, Rendering, Shown, Tally};
pub use resolved::Resolved;
pub use site::{Aside, Renewal, RobotsAnswer, RobotsRecord, SiteRecord};
pub use sought::Sought;
pub use time::Timestamp;
pub use visit::{ArchiveLocation, Payload, Visit};
