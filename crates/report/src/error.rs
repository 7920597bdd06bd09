//! What can go wrong with a report.

use dataset::DatasetError;
use graph::GraphError;
use store::StoreError;

/// An error of a report. The crawl is never changed by one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The state cannot be read.
    #[error("state: {0}")]
    Store(#[from] StoreError),
    /// The dataset cannot be read.
    #[error("dataset: {0}")]
    Dataset(#[from] DatasetError),
    /// The link graph cannot be read.
    #[error("links: {0}")]
    Graph(#[from] GraphError),
    /// The page cannot be made of the statistics.
    #[error("the page: {0}")]
    Page(#[from] serde_json::Error),
}
