//! The loop: a pure `step` from events to commands, and the shell that carries the commands out.
//!
//! ```text
//!            Command::Fetch ──▶ fetch ──▶ content::look_into ──▶ Event::Fetched
//!                             │ browsing (if the crawl has a browser), document (if it reads them)
//!  step ───▶ Command::Record ─▶ recorder: archive, then store ─▶ Event::Committed ──▶ step
//!            Command::Load ───▶ store ──────────────────────────▶ Event::Loaded
//! ```
//!
//! Invariants: [`State::step`] reads no clock, does no I/O and starts no task; this crate alone joins the stages; it names
//! no store, only the trait. The [`shell`] is thin: it decides nothing. The simulator is another shell.

mod announced;
mod browsing;
pub mod clock;
pub mod content;
mod cut;
pub mod details;
mod document;
pub mod event;
mod features;
pub mod hook;
mod import_map;
pub mod keep;
mod named;
mod part;
pub mod pin;
pub mod recorder;
mod redactions;
mod references;
pub mod requisites;
pub mod settings;
pub mod shell;
mod step;

pub use browsing::Browsing;
pub use content::{Content, Finding};
pub use cut::limits_of;
pub use details::{Details, HtmlDetails, ImageDetails, LinkDetails};
pub use document::look_into;
pub use event::{Command, End, Event, Fetch, Record, Unreached, Waiting};
pub use hook::{Admit, Answer, Extra, Hook, Hooks};
pub use import_map::ImportMap;
pub use keep::Keep;
pub use named::name_sites;
pub use pin::Pin;
pub use recorder::{Guard, RecordError, Recorded, Recorder, Sink, SinkError, Visited};
pub use redactions::{Redacting, Redactions};
pub use requisites::{Needs, Reading};
pub use settings::{PATIENCE, RenderMode, Settings, Spent};
pub use shell::{Change, Control, CrawlError, Ownership, Progress, Question, Shell, Steered, Work, Worked};
pub use step::{
    LOADED_WITH_PAGE, OnAddress, Pace, Prospect, SiteWaits, Start, State, Turn, Wait, read_rules, robots_state,
    robots_unread, sitemaps_of,
};
