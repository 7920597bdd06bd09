//! `--deny-private` as people write it, on the command line and in `crawl.toml`.

use std::fmt;
use std::str::FromStr;

use fetch::DenyPrivate;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// `auto`, `always` or `never`; `true` and `false`, which earlier versions wrote, are `always` and `never`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DenyPrivateOption(pub DenyPrivate);

impl FromStr for DenyPrivateOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(DenyPrivateOption(DenyPrivate::Auto)),
            "always" | "true" => Ok(DenyPrivateOption(DenyPrivate::Always)),
            "never" | "false" => Ok(DenyPrivateOption(DenyPrivate::Never)),
            other => Err(format!("`{other}` is not auto, always or never")),
        }
    }
}

impl fmt::Display for DenyPrivateOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            DenyPrivate::Auto => "auto",
            DenyPrivate::Always => "always",
            DenyPrivate::Never => "never",
        })
    }
}

impl Serialize for DenyPrivateOption {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DenyPrivateOption {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Switch(bool),
            Word(String),
        }
        let text = match Written::deserialize(deserializer)? {
            Written::Switch(is_on) => is_on.to_string(),
            Written::Word(text) => text,
        };
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    #[test]
    fn words_and_the_switch_of_earlier_versions_are_read() {
        let check = |value: &str, expect: Result<DenyPrivate, &str>| {
            let read = toml::from_str::<Options>(&format!("deny-private = {value}"));
            let read = read.map(|options| options.deny_private.map(|deny| deny.0));
            match expect {
                Ok(expect) => assert_eq!(read.expect(value), Some(expect), "{value}"),
                Err(words) => assert!(read.expect_err(value).to_string().contains(words), "{value}"),
            }
        };
        check("\"auto\"", Ok(DenyPrivate::Auto));
        check("\"always\"", Ok(DenyPrivate::Always));
        check("\"never\"", Ok(DenyPrivate::Never));
        check("true", Ok(DenyPrivate::Always));
        check("false", Ok(DenyPrivate::Never));
        check("\"maybe\"", Err("`maybe` is not auto, always or never"));
    }
}
