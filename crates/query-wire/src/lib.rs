//! What workers say to each other when they answer a query: messages in JSON ([`messages`]), and the connections between the processes that
//! compute it ([`frames`]). Anybody who reaches a worker's port may send such a message, so nothing here trusts its input.

mod frames;
mod messages;

pub use frames::{HELLO_BYTES, Hello, MESSAGE_BYTES_MAX, Purpose, WireError, receive, send};
pub use messages::{
    MEMBERS_MAX, Named, PIECE_BYTES_MAX, PartResult, Piece, Query, QueryError, Run, Secret, Start, Started, Vertices,
};
