//! `--extract`: a file of rules on the command line, and tables `[extract.NAME]` in `crawl.toml`.

use std::fs::File;
use std::io::Read as _;
use std::str::FromStr;

use rules::RuleSet;
use serde::{Deserialize, Serialize};
use toml::Table;

/// Bytes of a file of rules, at most.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Rules by name, as they are written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExtractOption(pub Table);

impl FromStr for ExtractOption {
    type Err = String;

    /// Reads the file of this name.
    fn from_str(path: &str) -> Result<Self, String> {
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_string(&mut text));
        read.map_err(|error| format!("{path}: {error}"))?;
        let (_, rules) = RuleSet::parse(&text).map_err(|error| format!("{path}, {}", error.in_text(&text)))?;
        Ok(ExtractOption(rules))
    }
}
