//! `--behaviour`: scripts that run in rendered pages, from files on the command line, and as tables `[[behaviour]]` in `crawl.toml`.

use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text_file::read_text;

/// Bytes of a script, at most.
const SCRIPT_BYTES_MAX: usize = 1 << 20;

/// A script as it is written, with the name of its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BehaviourOption {
    /// The name of the file, without directories.
    pub name: String,
    /// The body of an asynchronous function.
    pub script: String,
}

impl FromStr for BehaviourOption {
    type Err = String;

    /// Reads the file of this name.
    fn from_str(path: &str) -> Result<Self, String> {
        let script = read_text(Path::new(path)).map_err(|error| format!("{path}: {error}"))?;
        if script.len() > SCRIPT_BYTES_MAX {
            return Err(format!("{path}: is longer than {SCRIPT_BYTES_MAX} bytes"));
        }
        let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
        // It stands in messages, and in the script's own stack traces.
        let name = name.chars().filter(|c| !c.is_control()).collect();
        Ok(BehaviourOption { name, script })
    }
}
