//! The URL as a value: canonical form, site, domain, SURT, scope patterns, key.
//!
//! Everything in Argiope that says "the same URL" or "the same site" means what this crate says. It is pure: no I/O, no
//! clock, no network. Text from the web enters by [`CanonicalUrl::parse`] or [`CanonicalUrl::join`]; what comes out is
//! canonical, http or https, and bounded in length, so later code relies on it without checking again.
//!
//! ```
//! use weburl::{CanonicalRules, CanonicalUrl};
//! let rules = CanonicalRules::default();
//! let page = CanonicalUrl::parse("HTTP://Example.COM:80/a/../b/?q=%7euser#top", &rules)?;
//! assert_eq!(page.as_str(), "http://example.com/b/?q=~user");
//! assert_eq!(page.join("c.html", &rules)?.as_str(), "http://example.com/b/c.html");
//! assert_eq!(page.site().to_string(), "http://example.com");
//! # Ok::<(), weburl::Rejected>(())
//! ```

mod canonical;
mod domain;
mod key;
mod pattern;
mod percent;
mod plain;
mod query;
mod reference_cache;
mod route;
mod scope;
mod site;
mod surt;
mod url_pattern;
mod user_info;

pub use canonical::{CanonicalRules, CanonicalUrl, QueryEncoder, Rejected, URL_BYTES_MAX};
pub use domain::{is_public_suffix, registrable_domain};
pub use key::{SiteKey, UrlKey};
pub use pattern::{Pattern, PatternError};
pub use query::is_session_id;
pub use reference_cache::ReferenceCache;
pub use route::{HashRoutes, target_of};
pub use scope::{Scope, ScopeKind};
pub use site::Site;
pub use surt::surt;
pub use url_pattern::{UrlPattern, UrlPatternError};
pub use user_info::{UserInfo, without_user_info};
