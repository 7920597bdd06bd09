//! What became of a URL: one vocabulary in the store, the exports, the reports and the documentation.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! outcomes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// The outcome of a visit. Until there is one, a URL is in the frontier.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Outcome { $($(#[$doc])* $name,)* }

        impl Outcome {
            /// All outcomes, in the order of the documentation.
            pub const ALL: &'static [Outcome] = &[$(Outcome::$name),*];

            /// The word used everywhere, for example `http_error`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Outcome::$name => $text),* }
            }

            /// The byte used in stores. Codes are never reused.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self { $(Outcome::$name => $code),* }
            }

            /// The inverse of [`Outcome::code`].
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Outcome> {
                match code { $($code => Some(Outcome::$name),)* _ => None }
            }
        }
    };
}

outcomes! {
    /// An HTML page was fetched.
    Html = 1, "html";
    /// Something else than HTML was fetched.
    Binary = 2, "binary";
    /// The payload equals that of a URL fetched before, which is named.
    Duplicate = 3, "duplicate";
    /// A redirect; its target is a URL of its own.
    Redirect = 4, "redirect";
    /// The server answered with an error status.
    HttpError = 5, "http_error";
    /// robots.txt forbids the URL, or could not be had and so forbids all.
    Disallowed = 6, "disallowed";
    /// The host name does not resolve.
    DomainError = 7, "domain_error";
    /// A time limit was reached.
    Timeout = 8, "timeout";
    /// The connection was refused, reset or broken, or the answer was not HTTP.
    ConnectionError = 9, "connection_error";
    /// TLS could not be set up.
    TlsError = 10, "tls_error";
    /// The browser could not render the page.
    RenderError = 11, "render_error";
    /// A size limit was reached before anything useful came.
    TooLarge = 12, "too_large";
    /// Outside the scope, or excluded by a pattern.
    Excluded = 13, "excluded";
    /// A trap rule stopped it.
    Trap = 14, "trap";
    /// The site was given up before the URL's turn came.
    GivenUp = 15, "given_up";
    /// The server says that the content is the same as at the visit before (304).
    NotModified = 16, "not_modified";
}

impl Outcome {
    /// Outcomes of URLs that nobody asked a server for, since the crawl's own rules or robots.txt forbid it.
    pub const REFUSED: [Outcome; 3] = [Outcome::Disallowed, Outcome::Excluded, Outcome::Trap];

    /// True where a page or another document was fetched, or is as it was: there is a content, be it new, repeated or confirmed.
    #[must_use]
    pub const fn is_fetched(self) -> bool {
        self.has_content() || matches!(self, Outcome::Duplicate | Outcome::NotModified)
    }

    /// True where a page or another document was fetched whose content no URL had before.
    #[must_use]
    pub const fn has_content(self) -> bool {
        matches!(self, Outcome::Html | Outcome::Binary)
    }

    /// True where the server was asked in vain.
    #[must_use]
    pub fn is_failure(self) -> bool {
        self.may_be_reopened() && !Outcome::REFUSED.contains(&self)
    }

    /// True where the outcome may be taken back, so that the URL is fetched again: it is a failure or a refusal. What was fetched may be
    /// the original of others, and redirects have led on.
    #[must_use]
    pub const fn may_be_reopened(self) -> bool {
        !self.is_fetched() && !matches!(self, Outcome::Redirect)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Outcome;

    #[test]
    fn each_outcome_is_one_of_four() {
        for outcome in Outcome::ALL {
            let kinds = [
                outcome.is_fetched(),
                *outcome == Outcome::Redirect,
                outcome.is_failure(),
                Outcome::REFUSED.contains(outcome),
            ];
            assert_eq!(kinds.iter().filter(|is| **is).count(), 1, "{outcome}");
        }
    }

    #[test]
    fn codes_are_unique_and_read_back() {
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::from_code(outcome.code()), Some(*outcome));
        }
        assert_eq!(Outcome::from_code(0), None);
    }
}
