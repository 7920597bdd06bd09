//! The settings of a crawl: [`options`] as given, and the checked and completed [`plan`] made of them.
//!
//! The command line, `crawl.toml` and programs that embed a crawl all give the same [`Options`].

pub mod behaviour;
pub mod deny_private;
mod error;
pub mod extract;
pub mod files;
pub mod login;
pub mod of_file;
pub mod options;
mod patterns;
pub mod plan;
mod reading;
pub mod secret;
pub mod secrets_file;
pub mod site_name;
pub mod store_address;
pub mod table;
pub mod text_file;
pub mod units;
mod with_files;

pub use error::{Usage, usage};
pub use options::Options;
pub use plan::Plan;
