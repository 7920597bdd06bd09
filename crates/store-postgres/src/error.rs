//! Errors of the database in the words of the trait.

use database::{DatabaseError, in_words};
use postgres::error::SqlState;
use store::StoreError;

/// What the function `commit` says where somebody else has written.
const OTHER_WRITER: &str = "AR001";

/// What it says where a politeness group has another owner.
const FENCED: &str = "AR002";

/// What it says where the worker is called dead.
const DEAD: &str = "AR003";

/// Why a schema cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable {
    /// The server is too old.
    #[error("{database} is PostgreSQL {found}; version {oldest} or newer is needed")]
    Server {
        /// The database.
        database: String,
        /// Its version.
        found: String,
        /// The oldest that will do.
        oldest: i32,
    },
    /// The database does not hold Unicode.
    #[error("{database} has encoding {found}: make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0")]
    Encoding {
        /// The database.
        database: String,
        /// Its encoding.
        found: String,
    },
    /// The schema holds something else.
    #[error("{schema} holds tables that are no crawl's: name another schema")]
    Foreign {
        /// The schema.
        schema: String,
    },
    /// The connection was lost and could not be made again.
    #[error("the connection was lost and not to be had again for {seconds} seconds: {source}")]
    Lost {
        /// How long it was tried.
        seconds: u64,
        /// The last failure.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The database says no.
    #[error("{}", in_words(source))]
    Database {
        /// What it says.
        #[from]
        source: postgres::Error,
    },
    /// A politeness group that the commit is about has another owner by now. Nothing was written.
    #[error("a politeness group has another owner by now")]
    Fenced,
    /// The worker that commits is called dead. Nothing was written.
    #[error("this worker is called dead")]
    Dead,
    /// A commit failed before.
    #[error("an earlier commit failed; the store must be opened again")]
    Failed,
    /// The thread of a connection is gone.
    #[error("the thread of the connection has ended")]
    Ended,
}

pub(crate) fn backend(doing: &'static str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::Backend { doing, source: source.into() }
}

pub(crate) fn damaged(table: &'static str, detail: impl ToString) -> StoreError {
    StoreError::Damaged { table, detail: detail.to_string() }
}

/// An error met while `doing` something in the schema at `place`.
pub(crate) fn query(place: &str, doing: &'static str, error: postgres::Error) -> StoreError {
    let place = place.to_owned();
    match error.code() {
        Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE || code.code() == OTHER_WRITER => {
            StoreError::InUse { place }
        }
        Some(code) if code.code() == FENCED => backend(doing, Unusable::Fenced),
        Some(code) if code.code() == DEAD => backend(doing, Unusable::Dead),
        Some(code) if *code == SqlState::DISK_FULL => StoreError::Full { place },
        _ => backend(doing, Unusable::from(error)),
    }
}

/// Whether a commit was refused because of another owner.
pub(crate) fn is_fenced(error: &StoreError) -> bool {
    let StoreError::Backend { source, .. } = error else { return false };
    matches!(source.downcast_ref(), Some(Unusable::Fenced))
}

/// Whether a commit was refused because the worker is called dead.
pub(crate) fn is_dead(error: &StoreError) -> bool {
    let StoreError::Backend { source, .. } = error else { return false };
    matches!(source.downcast_ref(), Some(Unusable::Dead))
}

/// Whether what was asked may succeed on another connection, or on a second try.
pub(crate) fn is_transient(error: &postgres::Error) -> bool {
    let Some(code) = error.code() else { return error.is_closed() || is_of_the_system(error) };
    let transient = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::T_R_SERIALIZATION_FAILURE,
        // On a new connection: the server has not noticed yet that the old one, which has the lock, is gone.
        SqlState::LOCK_NOT_AVAILABLE,
    ];
    transient.contains(code) || code.code().starts_with("08")
}

/// The same of an attempt to connect.
pub(crate) fn is_transient_refusal(error: &DatabaseError) -> bool {
    match error {
        DatabaseError::Refused { source, .. } => is_transient(source),
        DatabaseError::Silent { .. } => true,
        _ => false,
    }
}

fn is_of_the_system(error: &postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
}
