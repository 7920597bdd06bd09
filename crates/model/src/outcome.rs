//! The outcomes of URLs: one vocabulary in the store, the exports, the reports and the documentation.

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
    /// A document other than HTML was fetched.
    Binary = 2, "binary";
    /// The content equals that of another URL, fetched before and named in the visit.
    Duplicate = 3, "duplicate";
    /// A redirect; its target is a URL of its own.
    Redirect = 4, "redirect";
    /// The server answered with an error status.
    HttpError = 5, "http_error";
    /// robots.txt forbids the URL.
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
    /// A size limit was reached before anything useful came; or, in a later round, before as much came as was known.
    TooLarge = 12, "too_large";
    /// Outside the scope, or excluded by a pattern.
    Excluded = 13, "excluded";
    /// A trap rule stopped it.
    Trap = 14, "trap";
    /// The site was given up before the URL's turn came.
    GivenUp = 15, "given_up";
    /// The server reports that the content has not changed since the visit before (304).
    NotModified = 16, "not_modified";
}

impl Outcome {
    /// True if there is a content, be it new, repeated or confirmed: a page or document was fetched, or has not changed.
    #[must_use]
    pub const fn is_fetched(self) -> bool {
        self.has_content() || self.repeats_content()
    }

    /// True if a page or document was fetched whose content no URL had before.
    #[must_use]
    pub const fn has_content(self) -> bool {
        matches!(self, Outcome::Html | Outcome::Binary)
    }

    /// True if the content is that of another visit: of another URL, or of the same one before.
    #[must_use]
    pub const fn repeats_content(self) -> bool {
        matches!(self, Outcome::Duplicate | Outcome::NotModified)
    }

    /// True if the visit itself brought a page or document, be its content new or that of another URL.
    #[must_use]
    pub const fn is_page(self) -> bool {
        self.is_fetched() && !matches!(self, Outcome::NotModified)
    }

    /// True if the URL was never requested, since the crawl's own rules or robots.txt forbid it.
    #[must_use]
    pub const fn is_refused(self) -> bool {
        matches!(self, Outcome::Disallowed | Outcome::Excluded | Outcome::Trap)
    }

    /// True if nothing was heard of the site: its name, a connection or an answer failed, or it was given up.
    #[must_use]
    pub const fn is_unreached(self) -> bool {
        matches!(
            self,
            Outcome::DomainError | Outcome::ConnectionError | Outcome::Timeout | Outcome::TlsError | Outcome::GivenUp
        )
    }

    /// True if the URL was requested without success, or would have been.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        !self.is_final() && !self.is_refused()
    }

    /// True if nothing reopens the outcome, so that the URL would be fetched again in the same round. Fetched content may be the original
    /// of duplicates, and redirects have led on. Failures and refusals may be reopened.
    #[must_use]
    pub const fn is_final(self) -> bool {
        self.is_fetched() || matches!(self, Outcome::Redirect)
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
            let kinds =
                [outcome.is_fetched(), *outcome == Outcome::Redirect, outcome.is_failure(), outcome.is_refused()];
            assert_eq!(kinds.iter().filter(|is| **is).count(), 1, "{outcome}");
        }
    }

    #[test]
    fn each_set_has_its_outcomes() {
        let check = |is: fn(Outcome) -> bool, expect: &str| {
            let found: Vec<&str> = Outcome::ALL.iter().filter(|one| is(**one)).map(|one| one.as_str()).collect();
            assert_eq!(found.join(" "), expect);
        };
        check(Outcome::is_fetched, "html binary duplicate not_modified");
        check(Outcome::has_content, "html binary");
        check(Outcome::repeats_content, "duplicate not_modified");
        check(Outcome::is_page, "html binary duplicate");
        check(Outcome::is_refused, "disallowed excluded trap");
        check(Outcome::is_final, "html binary duplicate redirect not_modified");
        check(Outcome::is_unreached, "domain_error timeout connection_error tls_error given_up");
        let failures = "http_error domain_error timeout connection_error tls_error render_error too_large given_up";
        check(Outcome::is_failure, failures);
    }

    #[test]
    fn codes_are_unique_and_read_back() {
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::from_code(outcome.code()), Some(*outcome));
        }
        assert_eq!(Outcome::from_code(0), None);
    }
}
