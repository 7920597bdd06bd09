//! What is not recorded of known values, counted by site: so the publisher of an archive knows where it has `***`.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

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

/// How many values were redacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redacted {
    /// In fields of requests and of answers.
    pub fields: u64,
    /// In bodies of requests.
    pub bodies: u64,
}

impl Redacted {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Redacted::default()
    }

    /// Both together.
    #[must_use]
    pub fn and(self, more: Redacted) -> Redacted {
        Redacted { fields: self.fields + more.fields, bodies: self.bodies + more.bodies }
    }
}

/// Counts them.
#[derive(Debug, Default)]
pub(crate) struct Counted(Mutex<Redactions>);

impl Counted {
    pub(crate) fn add(&self, site: Site, redacted: Redacted) {
        if redacted.is_empty() {
            return;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.sites.len() < SITES_MAX || all.sites.contains_key(&site) {
            let of_site = all.sites.entry(site).or_default();
            *of_site = of_site.and(redacted);
        } else {
            all.others = all.others.and(redacted);
        }
    }

    pub(crate) fn so_far(&self) -> Redactions {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
