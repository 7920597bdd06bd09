//! The name of the schema a store is in.

use std::fmt;
use std::str::FromStr;

/// Bytes of a name that PostgreSQL keeps.
const NAME_BYTES_MAX: usize = 63;

/// A schema's name: lower case letters, digits and `_`, so that it needs no quotation marks in psql.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema(String);

/// A text that is no name for a schema of ours.
#[derive(Debug, thiserror::Error)]
#[error(
    "is no schema's name of lower case letters, digits and _, at most {NAME_BYTES_MAX}, not beginning with a digit or pg_"
)]
pub struct NotASchema;

impl Schema {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Schema {
    fn default() -> Self {
        Schema("argiope".to_owned())
    }
}

impl FromStr for Schema {
    type Err = NotASchema;

    fn from_str(text: &str) -> Result<Self, NotASchema> {
        let is_name = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        let begins_well = !text.starts_with(|first: char| first.is_ascii_digit()) && !text.starts_with("pg_");
        let fits = (1..=NAME_BYTES_MAX).contains(&text.len());
        if is_name && begins_well && fits { Ok(Schema(text.to_owned())) } else { Err(NotASchema) }
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (text, expect) in [
            ("argiope", true),
            ("crawl_2026", true),
            ("_x", true),
            ("", false),
            ("2026", false),
            ("pg_catalog", false),
            ("Crawl", false),
            ("a b", false),
            ("a\"b", false),
        ] {
            assert_eq!(text.parse::<Schema>().is_ok(), expect, "{text}");
        }
        assert!("x".repeat(64).parse::<Schema>().is_err());
    }
}
