//! A crawl in its directory: [`Session`] assembles it and runs it in the caller's tokio runtime. Its [`Handle`] observes, steers and stops it.
//!
//! Nothing here prints, handles signals or ends the process. What the user should know arrives as [`Notice`]s.

pub mod adopt;
pub mod again;
mod census;
pub mod chosen;
mod covered;
pub mod dir;
pub mod dry_run;
mod events;
pub mod fill;
mod fixed;
pub mod held;
pub mod history;
pub mod importance;
pub mod jar;
pub mod keyring;
mod latest;
pub mod left;
pub mod live;
mod live_view;
pub mod lost;
pub mod made;
pub mod moment;
mod notice;
mod one_page;
pub mod opened;
pub mod outlook;
mod outset;
mod parts;
pub mod passing;
mod queues;
mod ready;
pub mod resume;
pub mod retry;
pub mod schedule;
mod scheduler;
mod seed_list;
mod seeds;
mod session;
mod sign_in;
mod socket;
pub mod standing;
pub mod steer;
pub mod stream;
pub mod summary;
pub mod survey;
pub mod tables;
mod traces;
mod tried;
pub mod trouble;
pub mod unfetched;
mod unready;
pub mod views;
mod waits;
pub mod watch;
pub mod watch_lock;
mod watched;

pub use again::Again;
pub use covered::Covered;
pub use dir::CrawlDir;
pub use engine::{
    Admit, Answer, End, Extra, Hook, OnAddress, Pace, Progress, Prospect, Recorded, Sink, SinkError, SiteWaits, Turn,
    Visited, Wait,
};
pub use events::{Event, Events};
pub use frontier::{Held, Reason};
pub use importance::Importance;
pub use live_view::LiveView;
pub use model::{Candidate, Timestamp};
pub use notice::Notice;
pub use one_page::{OnePage, one_page};
pub use outlook::Outlook;
pub use ready::Begin;
pub use schedule::{Planner, Schedule};
pub use scheduler::{LATEST_MAX, RunningProcess, Scheduler};
pub use seed_list::SeedList;
pub use session::{Builder, Ended, Handle, Member, Running, Session};
pub use settings::{Options, Plan};
pub use sign_in::SignIn;
pub use steer::{Affected, Change, Changed, Steering};
pub use stream::StreamTo;
pub use tried::Tried;
pub use unready::Unready;
pub use waits::Waits;
pub use weburl::CanonicalUrl;
