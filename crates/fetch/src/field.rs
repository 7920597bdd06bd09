//! A request field that the user gives.

use std::fmt;
use std::str::FromStr;

use http::header::{self, HeaderName, HeaderValue};

/// What stands for a secret value wherever it is recorded or shown.
pub const REDACTED: &str = "***";

/// Fields that are part of how the request is sent, so not the user's to set.
pub(crate) const RESERVED: [HeaderName; 8] = [
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    header::PROXY_AUTHORIZATION,
];

/// Fields that say what is preferred, or who asks, and never prove it: what they say may be known to everybody.
const PUBLIC: [&str; 13] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "dnt",
    "from",
    "pragma",
    "priority",
    "save-data",
    "sec-gpc",
    "upgrade-insecure-requests",
    "user-agent",
];

/// A request field. Unless its name is that of a well-known harmless one, its value is a secret: neither its debug form nor a
/// recorded request shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Field {
    pub(crate) name: HeaderName,
    pub(crate) value: HeaderValue,
}

/// Why a text is no [`Field`]. What was given is not in it: it may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// There is no colon.
    #[error("is not `Name: value`")]
    Form,
    /// The name has characters that no name has.
    #[error("has a name with characters that cannot be sent")]
    Name,
    /// The value has characters that cannot be sent; the name.
    #[error("`{0}` has characters that cannot be sent")]
    Value(String),
    /// The field belongs to the connection, not to the user; the name.
    #[error("`{0}` is set by the crawler itself")]
    Reserved(String),
}

impl Field {
    /// A field.
    ///
    /// # Errors
    /// The name or the value cannot be sent, or the field is not the user's to set.
    pub fn new(name: &str, value: &str) -> Result<Self, FieldError> {
        let name = HeaderName::try_from(name.trim()).map_err(|_| FieldError::Name)?;
        let of_name = || canonical_case(&name);
        let mut value = HeaderValue::from_str(value.trim()).map_err(|_| FieldError::Value(of_name()))?;
        if RESERVED.contains(&name) {
            return Err(FieldError::Reserved(of_name()));
        }
        value.set_sensitive(!is_public(name.as_str()));
        Ok(Field { name, value })
    }

    /// Whether its value is a secret.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.value.is_sensitive()
    }

    /// Its name, in lower case.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_str()
    }
}

impl FromStr for Field {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        let (name, value) = text.split_once(':').ok_or(FieldError::Form)?;
        Field::new(name, value)
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = if self.is_secret() { REDACTED } else { self.value.to_str().unwrap_or_default() };
        write!(f, "{}: {value}", self.name)
    }
}

/// Whether the value of a field of this name is no secret, whatever it is.
#[must_use]
pub fn is_public(name: &str) -> bool {
    PUBLIC.iter().any(|public| public.eq_ignore_ascii_case(name.trim()))
}

/// A name with its words beginning with capitals.
fn canonical_case(name: &HeaderName) -> String {
    let word = |word: &str| word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)).collect();
    name.as_str().split('-').map(word).collect::<Vec<String>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_secret_unless_its_name_says_that_it_is_none() {
        for (text, shown, is_secret) in [
            ("Accept-Language: sl", "accept-language: sl", false),
            ("FROM: me@a.test", "from: me@a.test", false),
            ("Authorization: Bearer s3cret", "authorization: ***", true),
            ("Cookie:s3cret=1", "cookie: ***", true),
            ("X-Anything: s3cret", "x-anything: ***", true),
            ("Referer: http://a.test/?token=s3cret", "referer: ***", true),
        ] {
            let field: Field = text.parse().expect(text);
            assert_eq!((format!("{field:?}").as_str(), field.is_secret()), (shown, is_secret));
        }
    }

    #[test]
    fn no_error_shows_a_value() {
        for (text, expect) in [
            ("Bearer s3cret", FieldError::Form),
            ("Author ization: s3cret", FieldError::Name),
            ("Authorization: s3cret\r\nX: y", FieldError::Value("Authorization".to_owned())),
            ("x-api-key: s3crét\u{7f}", FieldError::Value("X-Api-Key".to_owned())),
            ("proxy-authorization: s3cret", FieldError::Reserved("Proxy-Authorization".to_owned())),
            ("HOST: s3cret", FieldError::Reserved("Host".to_owned())),
        ] {
            let error = text.parse::<Field>().expect_err(text);
            assert!(!error.to_string().contains("s3cr"), "{error}");
            assert_eq!(error, expect);
        }
    }
}
