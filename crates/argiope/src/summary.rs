//! The summary that ends every crawl, and what `status` shows: for people, or as one JSON object.

use std::fmt::Write;

use model::Outcome;
use serde::Serialize;
use store::Totals;

use crate::units::human_bytes;

/// Where a crawl stands.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// `done`, `limit`, `stopped`; or `pending`, `finished` where no run is looked at.
    pub end: String,
    /// The limit that was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// URLs known.
    pub urls: u64,
    /// URLs in the frontier.
    pub frontier: u64,
    /// Pages and documents fetched.
    pub fetched: u64,
    /// URLs by outcome.
    pub outcomes: serde_json::Map<String, serde_json::Value>,
    /// Sites known.
    pub sites: u64,
    /// Sitemaps read.
    pub sitemaps: u64,
    /// Payload bytes.
    pub bytes: u64,
    /// How long this run took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The crawl's directory.
    pub directory: String,
}

impl Summary {
    /// A summary of the totals of a store.
    #[must_use]
    pub fn new(end: &str, totals: &Totals, directory: &std::path::Path) -> Self {
        let outcomes = Outcome::ALL.iter().filter(|outcome| totals.count(**outcome) > 0);
        Summary {
            end: end.to_owned(),
            limit: None,
            urls: totals.urls,
            frontier: totals.pending,
            fetched: totals.fetched(),
            outcomes: outcomes.map(|outcome| (outcome.to_string(), totals.count(*outcome).into())).collect(),
            sites: totals.sites,
            sitemaps: totals.sitemaps,
            bytes: totals.bytes,
            seconds: None,
            directory: directory.display().to_string(),
        }
    }

    /// The summary as one line of JSON.
    ///
    /// # Errors
    /// Never in practice.
    pub fn to_json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string(self)?)
    }

    /// The summary for people.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let _ = write!(
            out,
            "{} pages and documents fetched ({}) of {} URLs",
            self.fetched,
            human_bytes(self.bytes),
            self.urls
        );
        let _ = write!(out, " on {} site{}", self.sites, if self.sites == 1 { "" } else { "s" });
        if let Some(seconds) = self.seconds {
            let _ = write!(out, " in {seconds:.1} s");
        }
        out.push('\n');
        for (outcome, count) in &self.outcomes {
            let _ = writeln!(out, "  {outcome:<17} {count:>9}");
        }
        if self.frontier > 0 {
            let _ = writeln!(out, "  {:<17} {:>9}   not visited yet", "frontier", self.frontier);
        }
        if self.sitemaps > 0 {
            let _ = writeln!(out, "  {:<17} {:>9}   not counted above", "sitemaps", self.sitemaps);
        }
        let _ = writeln!(out, "in {}", self.directory);
        out
    }
}
