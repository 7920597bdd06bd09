//! The settings of a crawl: [`options`] as given, and the checked and completed [`plan`] made of them.
//!
//! The command line, `crawl.toml` and programs that embed a crawl all give the same [`Options`].

pub mod deny_private;
pub mod files;
pub mod options;
pub mod plan;
pub mod secret;
pub mod secrets_file;
pub mod site_name;
pub mod store_address;
pub mod table;
pub mod units;

pub use options::Options;
pub use plan::Plan;

/// An unusable argument. The message names it, and says what to do.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// An error of usage as an `anyhow` error.
pub fn usage(message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Usage(message.into()))
}
