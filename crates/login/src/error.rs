//! Why a login does not work.

use std::fmt;

use weburl::{CanonicalUrl, Site};

/// Where a login came to, for a message: a URL without its query, which may bear tickets, tokens and even the fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place(String);

impl From<&CanonicalUrl> for Place {
    fn from(url: &CanonicalUrl) -> Self {
        Place(match url.as_str().split_once('?') {
            Some((path, _)) => format!("{path}?…"),
            None => url.to_string(),
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Redirects in a row on the way to a form, and after it was sent.
pub const REDIRECTS_MAX: usize = 10;

/// Why a login did not work. No value of a field is shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// A server did not answer.
    #[error("no answer from {place}: {detail}")]
    NoAnswer {
        /// Where it was asked.
        place: Place,
        /// Why.
        detail: String,
    },
    /// There is no page with a form.
    #[error("{place} answered with status {status}")]
    Status {
        /// Where it was asked.
        place: Place,
        /// What it said.
        status: u16,
    },
    /// There are too many redirects.
    #[error("more than {REDIRECTS_MAX} redirects in a row, the last one to {place}")]
    Redirects {
        /// Where they lead.
        place: Place,
    },
    /// A server asks for the fields at another place (RFC 9110 §15.4.8).
    #[error("{place} asks with status {status} for the fields to be sent elsewhere: name that page as `url`")]
    Again {
        /// Where they were sent.
        place: Place,
        /// What it said.
        status: u16,
    },
    /// There is no such form.
    #[error("{place} has no such form: none that `form` selects, that has these `fields`, or a password")]
    NoForm {
        /// The page.
        place: Place,
    },
    /// The form has no such field.
    #[error("the form has no field `{name}`: it has {known}")]
    NoField {
        /// The field.
        name: String,
        /// Those that it has.
        known: String,
    },
    /// The form is sent by GET.
    #[error("the form does not use POST, so its fields would be part of a URL")]
    NotPost,
    /// The form is not sent as `application/x-www-form-urlencoded`.
    #[error("the form has another encoding than application/x-www-form-urlencoded")]
    Encoding,
    /// The form is sent to nowhere.
    #[error("the form is sent to `{action}`, which is no URL of the web")]
    NoUrl {
        /// Where.
        action: String,
    },
    /// The form is sent to another site.
    #[error(
        "the form is sent to another site, {site}: name it as `sent-to` if it may learn the fields; from https only https"
    )]
    Elsewhere {
        /// Where.
        site: Site,
    },
    /// The answer does not show success.
    #[error("{place} answered with status {status}, and {lacking}: are the fields right?")]
    Refused {
        /// Where the answer came from.
        place: Place,
        /// Its status.
        status: u16,
        /// What it lacks.
        lacking: String,
    },
}

/// A login that did not work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("login {name}: {error}")]
pub struct LoginFailed {
    /// Its name.
    pub name: String,
    /// Why.
    pub error: LoginError,
}

#[cfg(test)]
mod tests {
    use weburl::CanonicalRules;

    use super::*;

    #[test]
    fn no_query_is_in_a_message() {
        for (url, expect) in [
            ("https://a.test/denied?ticket=S3CRET", "https://a.test/denied?… answered with status 403"),
            ("https://a.test/denied", "https://a.test/denied answered with status 403"),
        ] {
            let url = CanonicalUrl::parse(url, &CanonicalRules::default()).expect(url);
            let error = LoginError::Status { place: Place::from(&url), status: 403 };
            assert_eq!(error.to_string(), expect);
        }
    }
}
