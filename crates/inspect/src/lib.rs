//! How the crawler reads one input: a robots.txt, a URL, a page, a sitemap, a WARC record. Without a crawl, and without the network.
//!
//! Each answer comes from the code that a crawl runs. `docs/inspect.md` promises the keys of the answers as JSON.

pub mod batch;
pub mod extract;
pub mod html;
pub mod input;
mod product_token;
pub mod reference;
mod request;
pub mod robots;
pub mod sitemap;
pub mod url;
pub mod warc;
