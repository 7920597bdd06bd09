//! A view of a crawl's state over a stream: how a running crawl answers other processes.
//!
//! ```text
//!  RemoteView ──▶ frame(Question) ──▶ serve ──▶ CrawlView
//!             ◀── frame(Answer)  ◀──
//! ```
//!
//! A connection has one view, so all of its answers are of one commit. A frame is its length in four bytes, the lowest first, and a value
//! in postcard's format. Both sides run the same program: the greeting refuses another version.

mod frame;
mod remote;

use std::io::{Read, Write};

use model::{Outcome, Position, Queued, SiteRecord, Visit};
use serde::{Deserialize, Serialize};
use store::{CrawlView, Entry, Mark, Outlines, Segment, Slice, StoreError, Totals};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use self::frame::{read, write};

pub use self::frame::WireError;
pub use self::remote::RemoteView;

/// What both sides must agree on: the version of the program, which decides what its values look like.
const GREETING: &str = concat!("argiope ", env!("CARGO_PKG_VERSION"), " view 5");

/// Entries that are requested at once.
const ENTRIES_MAX: usize = 1_024;

/// A question: a method of [`CrawlView`].
#[derive(Debug, Serialize, Deserialize)]
enum Question {
    Pending {
        site: SiteKey,
        after: Option<Position>,
        max: usize,
    },
    Get(UrlKey),
    Earlier(UrlKey),
    Scan {
        after: Option<UrlKey>,
        max: usize,
    },
    Unrecorded {
        after: Option<UrlKey>,
        max: usize,
    },
    InState {
        outcome: Option<Outcome>,
        after: Option<UrlKey>,
        max: usize,
    },
    Outlines {
        slice: Option<Slice>,
        from: Option<Mark>,
        max: usize,
    },
    Site(SiteKey),
    Sites {
        after: Option<SiteKey>,
        max: usize,
    },
    Seeds,
    Segments,
    CrawlId,
    Totals,
    /// A question to the scheduler of the run, which is not about the view.
    Scheduler(String),
}

/// The answer to one.
#[derive(Debug, Serialize, Deserialize)]
enum Response {
    Queue(Vec<Queued>),
    Entry(Option<Box<Entry>>),
    Entries(Vec<Entry>),
    /// None if the store has no index.
    InState(Option<Vec<Entry>>),
    /// None if the store reads them no faster so.
    Outlines(Option<Outlines>),
    Visits(Vec<Visit>),
    Site(Option<Box<SiteRecord>>),
    Sites(Vec<SiteRecord>),
    Seeds(Vec<CanonicalUrl>),
    Segments(Vec<Segment>),
    CrawlId(String),
    Totals(Totals),
    /// None if the scheduler cannot be asked.
    Scheduler(Option<String>),
    /// The store failed, in words.
    Failed(String),
}

/// The scheduler of a run: answers questions in a form of its own; nothing if it cannot.
pub type AskScheduler<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Answers questions about a view, and to a scheduler, until the other side has no more.
///
/// # Errors
/// The stream breaks, or the other side sends no question.
pub fn serve(
    stream: &mut (impl Read + Write),
    view: &dyn CrawlView,
    scheduler: AskScheduler<'_>,
) -> Result<(), WireError> {
    write(stream, &GREETING)?;
    while let Some(question) = read::<Question>(stream)? {
        let answer = answer(view, scheduler, question).unwrap_or_else(|error| Response::Failed(error.to_string()));
        write(stream, &answer)?;
    }
    Ok(())
}

fn answer(view: &dyn CrawlView, scheduler: AskScheduler<'_>, question: Question) -> Result<Response, StoreError> {
    Ok(match question {
        Question::Pending { site, after, max } => Response::Queue(view.pending(site, after, max.min(ENTRIES_MAX))?),
        Question::Get(key) => Response::Entry(view.get(key)?.map(Box::new)),
        Question::Earlier(key) => Response::Visits(view.earlier(key)?),
        Question::Scan { after, max } => Response::Entries(view.scan(after, max.min(ENTRIES_MAX))?),
        Question::Unrecorded { after, max } => Response::Entries(view.unrecorded(after, max.min(ENTRIES_MAX))?),
        Question::InState { outcome, after, max } => {
            Response::InState(view.in_state(outcome, after, max.min(ENTRIES_MAX))?)
        }
        Question::Outlines { slice, from, max } => {
            Response::Outlines(view.outlines(slice, from.as_ref(), max.min(ENTRIES_MAX))?)
        }
        Question::Site(key) => Response::Site(view.site(key)?.map(Box::new)),
        Question::Sites { after, max } => Response::Sites(view.sites(after, max.min(ENTRIES_MAX))?),
        Question::Seeds => Response::Seeds(view.seeds()?),
        Question::Segments => Response::Segments(view.segments()?),
        Question::CrawlId => Response::CrawlId(view.crawl_id()?),
        Question::Totals => Response::Totals(view.totals()?),
        Question::Scheduler(question) => Response::Scheduler(scheduler(&question)),
    })
}
