//! Errors of the database in the words of the trait.

use database::{DatabaseError, in_words};
use postgres::error::SqlState;
use store::StoreError;

/// What the function `begin_commit` says where somebody else has written.
const OTHER_WRITER: &str = "AR001";

/// What it says where a politeness group has another owner.
const FENCED: &str = "AR002";

/// What it says where the worker was declared dead.
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
    /// The connection was lost and could not be made again, or the server refused for so long.
    #[error("the database was unreachable for {seconds} seconds: {source}")]
    Lost {
        /// How long it was tried.
        seconds: u64,
        /// The last failure.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server only follows another.
    #[error(
        "{database} is a standby, which may be behind what was committed: name the primary, or several hosts with \
         target_session_attrs=read-write"
    )]
    Standby {
        /// The database.
        database: String,
    },
    /// The database says no.
    #[error("{}", in_words(source))]
    Database {
        /// What it says.
        #[from]
        source: postgres::Error,
    },
    /// A politeness group that the commit is about has another owner by now. Nothing was written.
    #[error("a politeness group now has another owner")]
    Fenced,
    /// The worker that commits is called dead. Nothing was written.
    #[error("this worker was declared dead")]
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
            StoreError::InUse { place, by: String::new() }
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

/// Whether a commit was refused because the worker was declared dead.
pub(crate) fn is_dead(error: &StoreError) -> bool {
    let StoreError::Backend { source, .. } = error else { return false };
    matches!(source.downcast_ref(), Some(Unusable::Dead))
}

/// Whether what was asked may succeed on another connection, or on a second try.
pub(crate) fn is_transient(error: &postgres::Error) -> bool {
    let Some(code) = error.code() else { return error.is_closed() || is_of_the_system(error) };
    is_transient_state(code.code())
}

/// The same by the SQLSTATE (PostgreSQL's appendix A). An error that is not named fails again when the statement is repeated.
fn is_transient_state(state: &str) -> bool {
    match state {
        // The server ends, crashes or starts, or has waited long enough for this session.
        "57P01" | "57P02" | "57P03" | "57P05" | "25P03" | "25P04" => true,
        // By a time limit of the server or by a person; by what a standby replays.
        "57014" => true,
        // After a failover the new connection leads to the new primary at some time.
        "25006" => true,
        // Of two that are in each other's way, one goes first. 40003: what became of it is not known, and it may be repeated.
        "40001" | "40P01" | "40003" => true,
        // Memory or connections that others have at the moment.
        "53200" | "53300" => true,
        // On a new connection: the server has not noticed yet that the old one, which has the lock, is gone.
        "55P03" => true,
        _ => state.starts_with("08"),
    }
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

#[cfg(test)]
mod tests {
    use super::is_transient_state;

    #[test]
    fn what_is_tried_again() {
        for (state, name, expect) in [
            ("08000", "connection_exception", true),
            ("08003", "connection_does_not_exist", true),
            ("08006", "connection_failure", true),
            ("08P01", "protocol_violation, which is what PgBouncer says of a server that is gone", true),
            ("22P02", "invalid_text_representation", false),
            ("23505", "unique_violation", false),
            ("25006", "read_only_sql_transaction", true),
            ("25P02", "in_failed_sql_transaction", false),
            ("25P03", "idle_in_transaction_session_timeout", true),
            ("25P04", "transaction_timeout", true),
            ("26000", "invalid_sql_statement_name, by a pooler that hands sessions around", false),
            ("28P01", "invalid_password", false),
            ("3D000", "invalid_catalog_name", false),
            ("40001", "serialization_failure", true),
            ("40003", "statement_completion_unknown", true),
            ("40P01", "deadlock_detected", true),
            ("42501", "insufficient_privilege", false),
            ("42P01", "undefined_table", false),
            ("53000", "insufficient_resources", false),
            ("53100", "disk_full, which has an error of its own", false),
            ("53200", "out_of_memory", true),
            ("53300", "too_many_connections", true),
            ("53400", "configuration_limit_exceeded: a second try exceeds it too", false),
            ("54001", "statement_too_complex", false),
            ("55000", "object_not_in_prerequisite_state", false),
            ("55006", "object_in_use", false),
            ("55P03", "lock_not_available", true),
            ("57000", "operator_intervention", false),
            ("57014", "query_canceled", true),
            ("57P01", "admin_shutdown", true),
            ("57P02", "crash_shutdown", true),
            ("57P03", "cannot_connect_now", true),
            ("57P04", "database_dropped", false),
            ("57P05", "idle_session_timeout", true),
            ("58000", "system_error", false),
            ("58030", "io_error: people must know at once", false),
            ("58P01", "undefined_file", false),
            ("AR001", "another process has opened the store", false),
            ("AR002", "a politeness group has another owner", false),
            ("AR003", "the worker was declared dead", false),
            ("P0001", "raise_exception", false),
            ("XX000", "internal_error", false),
            ("XX001", "data_corrupted", false),
            ("XX002", "index_corrupted", false),
        ] {
            assert_eq!(is_transient_state(state), expect, "{state} {name}");
        }
    }
}
