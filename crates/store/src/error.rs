//! What can go wrong in a store.

/// An error of a store. Content of the web never causes one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process has the store open, or wrote to it meanwhile.
    #[error("{place} is in use by another process{by}")]
    InUse {
        /// The store: its directory, or its schema and database.
        place: String,
        /// Which process, in parentheses; empty where it is not known.
        by: String,
    },
    /// The disk is full, here or on the database's server. Nothing of the batch counts as applied.
    #[error("no space left for {place}")]
    Full {
        /// The store: its directory, or its schema and database.
        place: String,
    },
    /// The store was written by another version of the format.
    #[error("{place} has format version {found}; this program reads version {expected}")]
    Version {
        /// The store: its directory, or its schema and database.
        place: String,
        /// The version found.
        found: u32,
        /// The version this program reads.
        expected: u32,
    },
    /// A record cannot be read back.
    #[error("damaged record in {table}: {detail}")]
    Damaged {
        /// The table it is in.
        table: &'static str,
        /// A description of the damage.
        detail: String,
    },
    /// Files of the store are damaged or missing, or do not fit each other.
    #[error("{place} is damaged: {detail}; {way_out}")]
    DamagedFiles {
        /// The store: its directory.
        place: String,
        /// A description of the damage.
        detail: String,
        /// What can be done about it.
        way_out: String,
    },
    /// The process that read the store for this one has ended.
    #[error("asking the running crawl: it has ended meanwhile: run the command again{detail}")]
    Ended {
        /// How the connection broke, in parentheses; empty where it was closed.
        detail: String,
    },
    /// The engine below failed.
    #[error("{doing}: {source}")]
    Backend {
        /// The operation that failed.
        doing: &'static str,
        /// The engine's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
