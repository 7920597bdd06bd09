//! robots.txt bytes to rules, to an answer with the line that decided.
//!
//! The Robots Exclusion Protocol as RFC 9309 writes it down, for one crawler with one product token.
//! Pure: bytes go in, values come out, and no input is an error. What was fetched becomes rules by
//! [`access`], a URL is judged by [`RobotsTxt::decide`], and every decision names the line of the
//! file that made it.
//!
//! ```
//! use robots::{Matching, RobotsTxt};
//!
//! let file = b"User-agent: *\nDisallow: /private/\nAllow: /private/*.html$\nCrawl-delay: 0.5\n";
//! let robots = RobotsTxt::parse(file, "argiope");
//!
//! assert!(robots.decide("/private/a.html", Matching::LongestMatch).allowed);
//!
//! let refused = robots.decide("/private/a.pdf", Matching::LongestMatch);
//! assert!(!refused.allowed);
//! let line = refused.rule.expect("a line of the file decided");
//! assert_eq!((line.line_number, line.text.as_str()), (2, "Disallow: /private/"));
//!
//! assert_eq!(robots.crawl_delay(), Some(std::time::Duration::from_millis(500)));
//! ```
//!
//! *Invariant*: nothing here knows HTTP, time or storage. A [`RobotsTxt`] is never written to disk:
//! after a restart the kept body is parsed again, which takes 11 milliseconds
//! at most.

mod access;
mod robots_txt;

mod decision;
mod rule_list;
mod rules;

mod crawl_delay;
mod group_reader;
mod lines;
mod record;
mod unread;

mod gram_table;
mod line_frames;
mod packed_rule;
mod prefix_table;

mod normal_form;
mod pattern;
mod steps;

pub use access::{Access, Lifetime, ROBOTS_CACHE_MAX, ROBOTS_REDIRECTS_MAX, RobotsFetch, access};
pub use crawl_delay::{CRAWL_DELAY_MAX, wait};
pub use decision::{DecidingLine, Decision, Matching, Reason, Undefined};
pub use group_reader::{SITEMAP_URL_BYTES_MAX, SITEMAPS_MAX, sitemaps, unread};
pub use line_frames::LINE_TEXT_BYTES_MAX;
pub use lines::ROBOTS_BYTES_MAX;
pub use robots_txt::RobotsTxt;
pub use steps::DECISION_STEPS_MAX;
pub use unread::{Misread, UNREAD_LINES_MAX, Unread, UnreadLine};
