//! What showing pages in a browser brought.

use std::collections::BTreeMap;

use dataset::Column;
use model::Outcome;
use serde::{Deserialize, Serialize};

/// Kinds of evidence that are counted separately: there are six.
const EVIDENCE_MAX: usize = 16;

/// The pages that were shown in a browser for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedPages {
    /// What spoke for showing them.
    pub evidence: String,
    /// How many they are.
    pub pages: u64,
    /// Of those, the ones that the browser could not show.
    pub failed: u64,
    /// Links that they show only there.
    pub links: u64,
    /// Characters of text that they show only there.
    pub text_chars: u64,
}

/// Sums by evidence.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rendering(BTreeMap<String, RenderedPages>);

impl Rendering {
    /// The columns that it reads.
    pub(crate) const COLUMNS: [&str; 3] = ["rendered_for", "rendered_links", "rendered_chars"];

    pub(crate) fn add(&mut self, batch: &impl Column, row: usize) {
        let Some(evidence) = batch.text("rendered_for", row) else { return };
        if self.0.len() >= EVIDENCE_MAX && !self.0.contains_key(evidence) {
            return;
        }
        let number = |column| batch.number(column, row).and_then(|number| u64::try_from(number).ok()).unwrap_or(0);
        let pages = self.0.entry(evidence.to_owned()).or_default();
        pages.pages += 1;
        pages.failed += u64::from(batch.text("outcome", row) == Some(Outcome::RenderError.as_str()));
        pages.links += number("rendered_links");
        pages.text_chars += number("rendered_chars");
    }

    /// Adds the sums over other pages.
    pub(crate) fn add_all(&mut self, other: Rendering) {
        for (evidence, more) in other.0 {
            if self.0.len() >= EVIDENCE_MAX && !self.0.contains_key(&evidence) {
                continue;
            }
            let pages = self.0.entry(evidence).or_default();
            pages.pages += more.pages;
            pages.failed += more.failed;
            pages.links += more.links;
            pages.text_chars += more.text_chars;
        }
    }

    /// The greatest first.
    pub(crate) fn ranked(self) -> Vec<RenderedPages> {
        let mut all: Vec<RenderedPages> =
            self.0.into_iter().map(|(evidence, pages)| RenderedPages { evidence, ..pages }).collect();
        all.sort_by_key(|pages| std::cmp::Reverse(pages.pages));
        all
    }
}
