//! Any site, with faults laid over it: latency, stalls, errors that pass.

use std::collections::{HashMap, HashSet};
use std::iter;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::{Reply, Request, Site, Step};

/// A site with faults. Paths are compared without the query.
pub struct Faults<S> {
    site: S,
    latency: Duration,
    stalled: HashSet<String>,
    failing: HashMap<String, Failing>,
}

struct Failing {
    reply: Reply,
    left: AtomicU32,
}

impl<S: Site> Faults<S> {
    /// The site as it is.
    pub fn new(site: S) -> Self {
        Faults { site, latency: Duration::ZERO, stalled: HashSet::new(), failing: HashMap::new() }
    }

    /// Every reply comes that much later.
    pub fn latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// The path is never answered.
    pub fn stall(mut self, path: &str) -> Self {
        self.stalled.insert(path.to_owned());
        self
    }

    /// The first `times` requests for the path get that reply, such as `Reply::error(503, path)`; `HEAD` and `GET`
    /// are counted alike.
    pub fn fail_first(mut self, path: &str, times: u32, reply: Reply) -> Self {
        self.failing.insert(path.to_owned(), Failing { reply, left: AtomicU32::new(times) });
        self
    }
}

impl<S: Site> Site for Faults<S> {
    fn reply(&self, request: &Request) -> Reply {
        let path = request.path();
        if self.stalled.contains(path) {
            return Reply::raw(|| iter::once(Step::Hang));
        }
        let failing = self.failing.get(path).filter(|failing| failing.take());
        let mut reply = match failing {
            Some(failing) => failing.reply.clone(),
            None => self.site.reply(request),
        };
        reply.delay += self.latency;
        reply
    }
}

impl Failing {
    /// Whether this request fails.
    fn take(&self) -> bool {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}
