//! The commands over a crawl directory, run as people run them: `status`, `explain`, `check`, `export`.

mod check;
mod crawled;
mod explain;
mod export;
mod repair;
mod status;
