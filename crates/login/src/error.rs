//! Why a login does not work.

use weburl::{CanonicalUrl, Site};

/// Redirects in a row on the way to a form, and after it was sent.
pub const REDIRECTS_MAX: usize = 10;

/// Why a login did not work. No value of a field is shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// A server did not answer.
    #[error("no answer from {url}: {detail}")]
    NoAnswer {
        /// Where it was asked.
        url: CanonicalUrl,
        /// Why.
        detail: String,
    },
    /// There is no page with a form.
    #[error("{url} answered with status {status}")]
    Status {
        /// Where it was asked.
        url: CanonicalUrl,
        /// What it said.
        status: u16,
    },
    /// There are too many redirects.
    #[error("more than {REDIRECTS_MAX} redirects in a row, the last one to {url}")]
    Redirects {
        /// Where they lead.
        url: CanonicalUrl,
    },
    /// A server asks for the fields at another place (RFC 9110 §15.4.8).
    #[error("{url} asks with status {status} for the fields to be sent elsewhere: name that page as `url`")]
    Again {
        /// Where they were sent.
        url: CanonicalUrl,
        /// What it said.
        status: u16,
    },
    /// There is no such form.
    #[error("{url} has no such form: none that `form` selects, that has these `fields`, or a password")]
    NoForm {
        /// The page.
        url: CanonicalUrl,
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
    #[error("{url} answered with status {status}, and {lacking}: are the fields right?")]
    Refused {
        /// Where the answer came from.
        url: CanonicalUrl,
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
