//! What was fetched, and what of it counts for the budgets of the crawl.

use std::time::Duration;

use crate::Spent;

/// Successful visits of pages and documents, and payload bytes of visits. They only grow.
///
/// The budgets count those of the round. So a run in which a round begins counts as a later run of that round does: its store tells
/// the same ([`store::Totals::pages_in_round`]).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    all: Fetched,
    /// As much was fetched when the round began.
    before: Fetched,
    /// What other workers have fetched in the round.
    elsewhere: Fetched,
    /// How long a crawl by several workers has been in the round.
    lasts: Duration,
}

#[derive(Clone, Copy, Debug, Default)]
struct Fetched {
    pages: u64,
    bytes: u64,
}

impl Counts {
    /// At the begin of a run, by what earlier runs have fetched in its round.
    pub(super) fn of_round(pages: u64, bytes: u64) -> Self {
        Counts { all: Fetched { pages, bytes }, ..Counts::default() }
    }

    /// A round begins.
    pub(super) fn begin_round(&mut self) {
        *self = Counts { all: self.all, before: self.all, ..Counts::default() };
    }

    /// Other workers have spent as much of the round.
    pub(super) fn spent_elsewhere(&mut self, Spent { pages, bytes, lasts, .. }: Spent) {
        (self.elsewhere, self.lasts) = (Fetched { pages, bytes }, lasts);
    }

    pub(super) fn add_page(&mut self) {
        self.all.pages += 1;
    }

    pub(super) fn add_bytes(&mut self, bytes: u64) {
        self.all.bytes += bytes;
    }

    /// Those of this run and, before a later round begins in it, those of earlier runs of its round.
    pub(super) fn pages(&self) -> u64 {
        self.all.pages
    }

    /// The same of bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.all.bytes
    }

    /// What `--max-pages` limits.
    pub(super) fn pages_in_round(&self) -> u64 {
        self.all.pages - self.before.pages + self.elsewhere.pages
    }

    /// What `--max-bytes` limits.
    pub(super) fn bytes_in_round(&self) -> u64 {
        self.all.bytes - self.before.bytes + self.elsewhere.bytes
    }

    /// What `--max-time` limits in a crawl by several workers.
    pub(super) fn lasts(&self) -> Duration {
        self.lasts
    }
}
