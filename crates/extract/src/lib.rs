//! Response bytes to links, images, text and metadata; sitemaps and feeds; charset and media type.
//!
//! Pure functions of bytes: no I/O, no clock, no errors. Bad content is not a failure but an outcome:
//! what could be read is returned, and what was left out is counted or flagged. Time is linear in the
//! input, nothing recurses on its depth, and every collection has a limit.
//!
//! *Invariant:* this crate knows no URLs, only `href` values as written (entities decoded, cleaned as
//! [`href`] says) and the page's `base`. Joining and canonicalising belong to another crate.

pub mod besides;
pub mod charset;
pub mod data_uri;
pub mod href;
pub mod html;
pub mod limits;
pub mod media_type;
pub mod numbers;
pub mod page;
pub mod parts;
pub mod passages;
pub mod refresh;
pub mod requisites;
pub mod robots_tag;
pub mod simhash;
pub mod sitemap;
pub mod srcset;
pub mod wording;

mod blocks;
mod collapse;
mod onclick;
mod sketch;
mod swar;

pub use limits::Limits;
pub use page::{HtmlPage, IgnoredLinks, Image, ImageSource, Link, LinkKind, Refresh, Rel, Scripting, Truncated};
pub use robots_tag::RobotsDirectives;
pub use sketch::Sketch;
