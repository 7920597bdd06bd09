//! The answer about one URL: allowed or not, why, and by which line.

use std::fmt;

/// How the rules of a group are weighed against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matching {
    /// RFC 9309 §2.2.2 and §2.2.3: the matching rule with the most octets decides, Allow before
    /// Disallow where they are equally long; `*` and a final `$` are special.
    #[default]
    LongestMatch,
    /// The first rule in the order of the file that matches decides. Rules are plain prefixes, so
    /// `*` and `$` stand for themselves. This is how crawlers read the file before RFC 9309, and
    /// the rule of the CIS 5550 crawler assignment.
    FirstMatch,
}

/// What robots.txt says about one URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Whether the URL may be fetched.
    pub allowed: bool,
    /// Why.
    pub reason: Reason,
    /// The line that decided; given exactly when `reason` is [`Reason::Rule`].
    pub rule: Option<DecidingLine>,
}

/// A line of the robots.txt as it was found there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidingLine {
    /// Counted from 1.
    pub line_number: u32,
    /// The whole line with its comment, trimmed. Invalid UTF-8 and control characters are replaced
    /// by U+FFFD, and a line longer than [`LINE_TEXT_BYTES_MAX`](crate::LINE_TEXT_BYTES_MAX) ends in `…`.
    pub text: String,
}

/// Why a URL is allowed or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A rule matched: [`Decision::rule`].
    Rule,
    /// No rule matched, or no group is for us (RFC 9309 §2.2.2): allowed.
    NoRuleMatches,
    /// `/robots.txt` itself is always allowed (RFC 9309 §2.2.2).
    RobotsTxtItself,
    /// The site has no robots.txt (RFC 9309 §2.3.1.3): allowed.
    NoRobotsTxt,
    /// So many rules would have to be tried that the answer is not looked for beyond
    /// [`DECISION_STEPS_MAX`](crate::DECISION_STEPS_MAX): not allowed, since one of them may forbid it.
    TooManySteps,
    /// Whether the site has a robots.txt is not known (RFC 9309 §2.3.1.4): not allowed.
    Undefined(Undefined),
}

/// What kept us from learning the rules of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undefined {
    /// The server answered with a status that says "not now": 5xx, 429, 304 without a file, or none that HTTP knows.
    Status(u16),
    /// No answer: name not resolved, connection refused or reset, TLS failure, timeout.
    Unreachable,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule => f.write_str("a rule of robots.txt matches"),
            Self::NoRuleMatches => f.write_str("no rule of robots.txt matches"),
            Self::RobotsTxtItself => f.write_str("robots.txt itself is always allowed"),
            Self::TooManySteps => f.write_str("robots.txt has more rules to try than are tried"),
            Self::NoRobotsTxt => f.write_str("the site has no robots.txt"),
            Self::Undefined(Undefined::Status(code)) => write!(f, "robots.txt answered with status {code}"),
            Self::Undefined(Undefined::Unreachable) => f.write_str("robots.txt was unreachable"),
        }
    }
}

impl fmt::Display for DecidingLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line_number, self.text)
    }
}
