//! The commands, one module each.

pub mod crawl;
pub mod testweb;
