//! Questions to the link graph of a crawl: PageRank, overlap, search, paths.
//!
//! ```text
//!  dataset: pages, links ──▶ Part, one a segment (cached) ──▶ Graph ──▶ Shard, one a worker ──▶ rounds of a query ──▶ answer
//!                                                               └─▶ Parts, one an owner ─▶ Graph ─▲   (where there are several processes)
//! ```
//!
//! A vertex is a canonical URL that the crawl fetched, failed to fetch, or only saw a link to. An edge is a link from one to
//! another, counted once however often the page repeats it; a redirect is an edge to its target, a page that links to itself
//! has an edge to itself. The graph of *visited* pages ([`Graph::open_visited`]) is a part of it: the URLs that the crawl went to, and the
//! links between them out of pages whose depth allowed to follow links.
//!
//! PageRank, overlap and search are computed in rounds by workers that hold a part each ([`Crew`]): threads of one process, or
//! of several that are connected. Their answers are the same to the last bit, whatever the number of workers. Of several processes each
//! knows the pages of its own segments; the vertices are given to their owners first.
//!
//! For a picture, [`communities`] groups vertices, and [`places`] lays them out.
//!
//! Only `rounds` knows the dataflow library.

mod cache;
mod communities;
mod error;
mod groups;
mod linking;
mod names;
mod overlap;
mod pagerank;
mod part;
mod path;
mod places;
mod rounds;
mod search;
mod shard;
mod sites;
mod vertex;
mod web;

pub use communities::communities;
pub use error::GraphError;
pub use groups::{Grouped, Grouping};
pub use names::names;
pub use overlap::{Edge, Overlap, domain_of, overlap};
pub use pagerank::{DAMPING, Definition, Ranks, pagerank};
pub use path::shortest_path;
pub use places::{Point, places};
pub use rounds::Crew;
pub use search::{FoundPage, Only, Pattern, PatternError, Search, SearchResult, Within, search};
pub use sites::{SiteLinks, site_links};
pub use vertex::{PageKind, Vertex, Visits};
pub use web::{Graph, GraphBuilder};
