//! Questions that the workers of a crawl answer together, each from the segments that it has.
//!
//! ```text
//!  Coordinator ──POST /v1/queries──▶ Endpoint of each worker ──stdin──▶ argiope query-part ◀─┐
//!      ▲                                                                     ▲              │ connections, the one
//!      └──────────────── answer ◀─────────────────────────────── stdout ─────┘              │ with the answer and
//!                                                          argiope query-part of others ◀───┘ the dataflow's
//! ```
//!
//! A query has a fixed list of members. If one of them fails, it is over for all, and the [`Coordinator`] begins anew among those that
//! are alive then. The computing is done by child processes ([`part`]), since a dataflow that lost a member ends its process.

mod answers;
mod client;
mod coordinator;
mod endpoint;
pub mod part;
mod peers;
mod request;

use serde::{Deserialize, Serialize};

pub use coordinator::{Coordinator, Members};
pub use endpoint::{Endpoint, Fetch, fetch_from};
pub use request::{Named, Query, Request};

/// Members that a query has at most.
const MEMBERS_MAX: usize = 256;
/// The longest that a query may take, in seconds.
const QUERY_SECONDS_MAX: u64 = 600;
/// Bytes of an answer, as JSON.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum QueryError {
    /// The question cannot be answered by anyone; what is wrong with it.
    #[error("{0}")]
    Refused(String),
    /// A URL that the crawl does not know.
    #[error("{0}: the crawl knows no such URL, and no page links to it")]
    Unknown(String),
    /// Another member of the query was lost, which is all that this one can say.
    #[error("{0}")]
    Lost(String),
    /// It might be answered another time.
    #[error("{0}")]
    Failed(String),
}

impl From<anyhow::Error> for QueryError {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast() {
            Ok(error) => error,
            Err(error) => QueryError::Failed(format!("{error:#}")),
        }
    }
}

/// How a member's part of a query ended: with the answer, or without, since that is another's to give.
type Ended = Result<Option<serde_json::Value>, QueryError>;

/// What a member is asked to take part in.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Start {
    /// Names the query, and is its secret: 128 random bits, in hexadecimal.
    id: String,
    /// The place of the member among all.
    index: usize,
    /// How many they are.
    members: usize,
    query: Query,
    /// Segments of workers that are gone which this member reads.
    segments: Vec<String>,
}

/// Where a member's process waits for the others.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Started {
    address: String,
    /// Threads that it would compute with.
    threads: usize,
}

/// What a member needs to begin.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Run {
    /// Of all members, in their order.
    addresses: Vec<String>,
    /// With how many threads each computes.
    threads: usize,
}
