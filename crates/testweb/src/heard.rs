//! Sites overheard: every request with all its fields, for tests of who learns what.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Request, Site, from_fn};

/// Every request that came to the sites it was put before.
#[derive(Clone, Default)]
pub struct Heard(Arc<Mutex<Vec<Request>>>);

impl Heard {
    /// The same site, overheard.
    pub fn at<S: Site>(&self, site: S) -> impl Site + use<S> {
        let heard = self.clone();
        from_fn(move |request: &Request| {
            heard.lock().push(request.clone());
            site.reply(request)
        })
    }

    /// The requests so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Request> {
        self.lock().clone()
    }

    /// The sites that were asked, as `scheme://host`.
    pub fn sites(&self) -> BTreeSet<String> {
        self.lock().iter().map(site_of).collect()
    }

    /// The sites that were asked, with how many of their requests bore this field (its name in lower case) and how many there were.
    pub fn bearing(&self, field: &str) -> BTreeMap<String, (usize, usize)> {
        let mut bearing = BTreeMap::<String, (usize, usize)>::new();
        for request in self.lock().iter() {
            let (with, all) = bearing.entry(site_of(request)).or_default();
            *with += usize::from(request.header(field).is_some());
            *all += 1;
        }
        bearing
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Request>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn site_of(request: &Request) -> String {
    format!("{}://{}", request.scheme, request.host)
}
