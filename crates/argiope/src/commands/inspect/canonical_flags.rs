//! The optional rules of the canonical form, as flags and as keys of a request.

use clap::Args;
use weburl::{CanonicalRules, CanonicalUrl};

/// Which optional rules hold.
#[derive(Debug, Default, Clone, Args)]
#[command(next_help_heading = "Rules of the canonical form")]
pub(super) struct CanonicalFlags {
    /// Sort the parameters of the query
    #[arg(long)]
    pub(super) sort_query: bool,
    /// Remove session ids
    #[arg(long)]
    pub(super) strip_session_ids: bool,
    /// Remove tracking parameters such as utm_source
    #[arg(long)]
    pub(super) strip_tracking: bool,
    /// Collapse // in the path to /
    #[arg(long)]
    pub(super) collapse_slashes: bool,
    /// Remove a leading www. of the host
    #[arg(long)]
    pub(super) strip_www: bool,
}

impl CanonicalFlags {
    pub(super) fn rules(&self) -> CanonicalRules {
        CanonicalRules {
            sort_query: self.sort_query,
            strip_session_ids: self.strip_session_ids,
            strip_tracking: self.strip_tracking,
            collapse_slashes: self.collapse_slashes,
            strip_www: self.strip_www,
            ..CanonicalRules::default()
        }
    }
}

/// Reads an argument that must be a URL the crawler knows, such as that of a page.
pub(super) fn page_url(text: &str) -> Result<CanonicalUrl, weburl::Rejected> {
    CanonicalUrl::parse(text, &CanonicalRules::default())
}

/// The same URL by other rules.
pub(super) fn by_rules(url: &CanonicalUrl, rules: &CanonicalRules) -> CanonicalUrl {
    // Rules only shorten what is canonical already; should they break a URL, it stays as it is.
    CanonicalUrl::parse(url.as_str(), rules).unwrap_or_else(|_| url.clone())
}
