//! The commands, one module each.

pub mod adopt;
mod asked;
pub mod changes;
pub mod check;
pub mod client;
pub mod crawl;
pub mod derive;
pub mod explain;
pub mod export;
pub mod inspect;
pub mod links;
pub mod login;
pub mod man;
pub mod overlap;
pub mod pages;
pub mod path;
pub mod rank;
pub mod report;
pub mod search;
pub mod server;
pub mod settings;
pub mod status;
pub mod steer;
pub mod testweb;
pub mod ui;
pub mod watch;
pub mod worker;
