//! What the records of a run lack of known values, counted by site: so the publisher of an archive knows where it has `***`.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use model::{Exchange, Redacted};
use weburl::Site;

/// Sites that are counted each for itself. Those beyond count together.
const SITES_MAX: usize = 1_000;

/// Values in place of which the records of a run have `***`, besides those of `Cookie`, `Set-Cookie` and `Authorization`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redactions {
    /// By site.
    pub sites: BTreeMap<Site, Redacted>,
    /// Of further sites.
    pub others: Redacted,
}

/// Counts them while records are written.
#[derive(Debug, Default)]
pub struct Redacting(Mutex<Redactions>);

impl Redacting {
    pub(crate) fn add(&self, Exchange { url, redacted, .. }: &Exchange) {
        if redacted.is_empty() {
            return;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let site = url.site();
        if all.sites.len() < SITES_MAX || all.sites.contains_key(&site) {
            let of_site = all.sites.entry(site).or_default();
            *of_site = of_site.and(*redacted);
        } else {
            all.others = all.others.and(*redacted);
        }
    }

    /// Those of the records so far.
    #[must_use]
    pub fn so_far(&self) -> Redactions {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
