//! What can go wrong with a question.

use dataset::DatasetError;

/// An error of a question to the graph; it says where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The dataset cannot be read.
    #[error("dataset: {0}")]
    Dataset(#[from] DatasetError),
    /// There are more URLs than a graph can number.
    #[error("the crawl knows more than {} URLs", u32::MAX)]
    TooLarge,
    /// A worker ended without an answer.
    #[error("a worker failed: {0}")]
    Worker(String),
}
