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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    #[test]
    fn a_script_is_kept_with_the_settings() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("open.js");
        let script = "await open();\nconst quoted = `\"'`;\n";
        std::fs::write(&path, script).expect("a file");
        let option: BehaviourOption = path.to_str().expect("UTF-8").parse().expect("a script");
        assert_eq!((option.name.as_str(), option.script.as_str()), ("open.js", script));
        let options = Options { behaviour: vec![option], depth: Some(1), ..Options::default() };
        let text = options.to_toml("").expect("written");
        assert_eq!(toml::from_str::<Options>(&text).expect("read"), options, "{text}");
        let missing = dir.path().join("missing.js").display().to_string();
        assert!(missing.parse::<BehaviourOption>().expect_err("no file").starts_with(&missing));
    }
}
