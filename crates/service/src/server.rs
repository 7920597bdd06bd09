//! `argiope server`: what clients ask of a crawl by several workers, answered from the database. It keeps nothing itself: there may be
//! several, and the crawl goes on without any.
//!
//! [`methods`] answers, [`service`] is what the answers have in common, [`crawling`] is its longest answer, [`rounds`] begins a round, [`steering`] changes the crawl, and [`undoing`] takes changes back; [`reporting`] counts what it came to; [`recorded`] is how it went, minute by minute; [`pages`] tells what there is of a page, with the archive that [`remote`] reads; [`json`] says the same in JSON, and [`serving`] has the routes of its two [ports](crate::port).

mod changing;
mod counting;
mod crawling;
mod explaining;
mod freshness;
mod json;
mod listing;
mod methods;
mod pages;
mod published;
mod pulse;
mod recorded;
mod recording;
mod remote;
mod reporting;
mod rounds;
mod service;
mod serving;
pub mod setup;
mod steering;
mod unchangeable;
mod undoing;

pub use counting::count;
pub use service::Service;
pub use serving::{clients, workers};
