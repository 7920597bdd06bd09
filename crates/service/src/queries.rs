//! Questions that the workers of a crawl answer together, each from the segments that it has.
//!
//! ```text
//!  Coordinator ──POST /v1/queries──▶ Endpoint of each worker ──stdin──▶ argiope query-part ◀─┐
//!      ▲                                                                     ▲              │ connections, the one
//!      └──────────────── answer ◀─────────────────────────────── stdout ─────┘              │ with the answer and
//!                                                          argiope query-part of others ◀───┘ the dataflow's
//! ```
//!
//! A query has a fixed list of members. If one of them fails, it is over for all, and the [`Coordinator`] starts again among those that
//! are alive then. The computing is done by child processes ([`part`]), since a dataflow that lost a member ends its process.

mod answers;
mod client;
mod contents;
mod coordinator;
mod endpoint;
pub mod part;
mod peers;
mod request;

pub use coordinator::{Coordinator, Members};
pub use endpoint::{Endpoint, Fetch, fetch_from};
pub use part::State;
pub use query_wire::{Named, PIECE_BYTES_MAX, Piece, Query, QueryError, Vertices};
pub use request::{ContentsRequest, PieceRequest, Request, RowsRequest};

/// The longest that a query may take, in seconds.
const QUERY_SECONDS_MAX: u64 = 600;
/// Bytes of an answer, as JSON.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// The error of a query, made of the error of a member's part.
fn why(error: anyhow::Error) -> QueryError {
    error.downcast().unwrap_or_else(|error| QueryError::Failed(format!("{error:#}")))
}
