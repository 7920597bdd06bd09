//! What the fetch of a robots.txt means for the site (RFC 9309 §2.3.1).

use std::time::Duration;

use crate::decision::Undefined;
use crate::robots_txt::RobotsTxt;

/// How many redirects in a row are followed to a robots.txt, across hosts too (RFC 9309 §2.3.1.2).
/// The file reached speaks for the site that was asked first.
pub const ROBOTS_REDIRECTS_MAX: usize = 5;

/// How long a [`Lifetime::Final`] answer may be used before it is fetched again (RFC 9309 §2.4).
pub const ROBOTS_CACHE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// How the fetch of a robots.txt ended, redirects already followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RobotsFetch<'a> {
    /// The server answered. A 3xx here is a redirect that leads nowhere, such as one without a target.
    Status {
        /// The HTTP status code.
        code: u16,
        /// The body, decoded; as much of it as was read.
        body: &'a [u8],
    },
    /// More than [`ROBOTS_REDIRECTS_MAX`] redirects, a loop included.
    TooManyRedirects,
    /// No whole answer: name not resolved, connection refused or reset, TLS failure, timeout.
    Unreachable,
}

/// The rules that follow from a fetch, and how long they hold.
#[derive(Debug, Clone)]
pub struct Access {
    /// The rules to obey.
    pub rules: RobotsTxt,
    /// How long.
    pub lifetime: Lifetime,
}

/// How long an [`Access`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// The site's word: to be used for at most [`ROBOTS_CACHE_MAX`].
    Final,
    /// The site has not spoken: ask again, with growing pauses. RFC 9309 permits to take the file
    /// for absent after about 30 days of this; we stay with the disallow for as long as it lasts.
    Temporary,
}

impl RobotsFetch<'_> {
    /// How long what follows from it holds, without reading the body ([`access`] has the table).
    #[must_use]
    pub fn lifetime(&self) -> Lifetime {
        match self {
            RobotsFetch::Status { code: 304 | 429, .. } => Lifetime::Temporary,
            RobotsFetch::Status { code: 200..=499, .. } | RobotsFetch::TooManyRedirects => Lifetime::Final,
            RobotsFetch::Status { .. } | RobotsFetch::Unreachable => Lifetime::Temporary,
        }
    }
}

/// What a site allows after its robots.txt was requested.
///
/// | fetch | rules | lifetime |
/// |---|---|---|
/// | 2xx | those of the body | final |
/// | 3xx but 304, or too many redirects | allow all: "unavailable" (§2.3.1.2) | final |
/// | 304 that no request asked for | disallow all | temporary |
/// | 4xx but 429 | allow all: "unavailable" (§2.3.1.3) | final |
/// | 429 | disallow all | temporary |
/// | 5xx | disallow all: "unreachable" (§2.3.1.4) | temporary |
/// | any other status | disallow all | temporary |
/// | unreachable | disallow all (§2.3.1.4) | temporary |
///
/// A 304 says that there is a file, and nobody has it: where an earlier file is known, the caller takes that in its place.
///
/// 429 is in the range that the RFC calls unavailable, but it says that the server has too much to
/// do, not that there is no file: to answer it with an unrestricted crawl would be the opposite of
/// what was asked. Google reads it as a server error too. A status outside 100 to 599 is to be
/// treated as 5xx by RFC 9110 §15; and 1xx is never a final answer, so it is no answer.
#[must_use]
pub fn access(fetch: RobotsFetch<'_>, product_token: &str) -> Access {
    let lifetime = fetch.lifetime();
    let rules = match (lifetime, fetch) {
        (_, RobotsFetch::Status { code: 200..=299, body }) => RobotsTxt::parse(body, product_token),
        (Lifetime::Final, _) => RobotsTxt::allow_all(),
        (Lifetime::Temporary, RobotsFetch::Status { code, .. }) => RobotsTxt::disallow_all(Undefined::Status(code)),
        (Lifetime::Temporary, _) => RobotsTxt::disallow_all(Undefined::Unreachable),
    };
    Access { rules, lifetime }
}
