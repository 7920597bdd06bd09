//! Posts JSON to a URL, signed, until the receiver accepts it.
//!
//! [`Webhook`] sends one body. [`Outbox`] has the lines of a round, and remembers over restarts how many were accepted. A process that is
//! killed after a post, before that is noted, posts the same lines again: each is posted at least once.

mod outbox;
mod post;
mod secret;

pub use outbox::{Lines, Outbox};
pub use post::{Refused, Webhook, wait_after};
pub use secret::Secret;

/// Why a webhook cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookError {
    /// The URL is no http or https URL.
    #[error("the URL of the webhook is wrong: {0}")]
    Url(String),
    /// The secret cannot be used.
    #[error("the secret of the webhook: {0}")]
    Secret(String),
    /// A file of the outbox cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// What failed.
        source: std::io::Error,
    },
    /// A file of the outbox is damaged.
    #[error("{path}, line {line}: {problem}: the file is damaged. Remove it: {then}")]
    Damaged {
        /// The file.
        path: std::path::PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
        /// What comes of it if the file is removed.
        then: String,
    },
    /// Another process posts to the same URL.
    #[error("{0}: another process posts the changes of this crawl to this URL")]
    InUse(std::path::PathBuf),
    /// The HTTP client cannot be made.
    #[error("the HTTP client: {0}")]
    Client(reqwest::Error),
}
