//! The optional rules of the canonical form, as flags.

use clap::Args;
use weburl::CanonicalRules;

/// Which optional rules hold.
#[derive(Debug, Default, Clone, Args)]
#[command(next_help_heading = "Rules of the canonical form")]
pub(super) struct CanonicalFlags {
    /// Sort the parameters of the query
    #[arg(long)]
    sort_query: bool,
    /// Remove session ids
    #[arg(long)]
    strip_session_ids: bool,
    /// Remove tracking parameters such as utm_source
    #[arg(long)]
    strip_tracking: bool,
    /// Collapse // in the path to /
    #[arg(long)]
    collapse_slashes: bool,
    /// Remove a leading www. of the host
    #[arg(long)]
    strip_www: bool,
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
