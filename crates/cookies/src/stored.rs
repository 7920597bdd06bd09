//! What an origin keeps in a browser besides cookies: the entries of `localStorage` and `sessionStorage` (HTML, 12.2). Applications keep the
//! tokens of a session there.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use weburl::{CanonicalRules, CanonicalUrl};

/// Bytes of the name and the value of an entry; browsers keep some 5 MB of an origin in all.
const STORED_BYTES_MAX: usize = 5 << 20;
/// A text in a value that has fewer bytes is a setting rather than a token.
const SECRET_BYTES_MIN: usize = 16;

/// Where an entry is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Area {
    /// `localStorage`
    Local,
    /// `sessionStorage`
    Session,
}

impl Area {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Area::Local => "local",
            Area::Session => "session",
        }
    }
}

/// An entry.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// The origin, as scripts read it: scheme, host, and the port that is not that of the scheme.
    pub origin: String,
    /// Where it is kept.
    pub area: Area,
    /// The name.
    pub name: String,
    /// The value: a secret.
    pub value: String,
}

impl Stored {
    /// The registrable domain of the origin; `None` if it is none of the web, or the entry is longer than browsers keep.
    pub(crate) fn domain(&self) -> Option<String> {
        let url = CanonicalUrl::parse(&format!("{}/", self.origin), &CanonicalRules::default()).ok()?;
        let is_origin = url.path() == "/" && self.bytes() <= STORED_BYTES_MAX;
        is_origin.then(|| url.domain().to_owned())
    }

    /// Whether it is the same entry with another value.
    pub(crate) fn replaces(&self, other: &Stored) -> bool {
        (&self.origin, self.area, &self.name) == (&other.origin, other.area, &other.name)
    }

    /// What it takes in memory, about.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Stored>() + self.origin.len() + self.name.len() + self.value.len()
    }

    /// The parts of the value that may be tokens: of JSON the texts in it, else the value.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let mut secrets = Vec::new();
        let mut left: Vec<Value> = match serde_json::from_str(&self.value) {
            Ok(json @ (Value::Object(_) | Value::Array(_) | Value::String(_))) => vec![json],
            _ => vec![Value::String(self.value.clone())],
        };
        while let Some(json) = left.pop() {
            match json {
                Value::Object(fields) => left.extend(fields.into_iter().map(|(_, value)| value)),
                Value::Array(values) => left.extend(values),
                Value::String(text) if may_be_token(&text) => secrets.push(text),
                _ => {}
            }
        }
        secrets
    }
}

/// Whether a text is long, and neither words nor an address.
fn may_be_token(text: &str) -> bool {
    text.len() >= SECRET_BYTES_MIN && !text.contains(char::is_whitespace) && !text.contains("://")
}

/// Without the value.
impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}Storage of {}: {}=***", self.area.as_str(), self.origin, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_found_in_values() {
        for (value, expect) in [
            ("abcdefghijklmnopqrs", &["abcdefghijklmnopqrs"][..]),
            ("dark", &[]),
            (
                r#"{"user":{"name":"Ana"},"tokens":["eyJhbGciOiJIUzI1NiJ9","https://issuer.example/x"]}"#,
                &["eyJhbGciOiJIUzI1NiJ9"],
            ),
            (r#""abcdefghijklmnopqrs""#, &["abcdefghijklmnopqrs"]),
            ("a text with words in it", &[]),
        ] {
            let stored = Stored {
                origin: "https://a.test".to_owned(),
                area: Area::Local,
                name: "n".to_owned(),
                value: value.to_owned(),
            };
            assert_eq!(stored.secrets(), expect, "{value}");
            assert!(!format!("{stored:?}").contains(value));
        }
    }
}
