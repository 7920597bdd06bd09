//! The commands, one module each.

pub mod check;
pub mod crawl;
pub mod derive;
pub mod explain;
pub mod export;
pub mod inspect;
mod opened;
pub mod pages;
pub mod report;
pub mod status;
pub mod testweb;
