//! `argiope server`: what clients ask of a crawl by several workers, answered from the database. It keeps nothing itself: there may be
//! several, and the crawl goes on without any.
//!
//! [`service`] answers, [`crawling`] is its longest answer; [`json`] says the same in JSON, and [`serving`] is the ports.

mod crawling;
mod json;
mod service;
pub(crate) mod serving;

pub use service::Service;
pub use serving::{clients, listen, serve, workers};
