//! A site answers requests; a web is the sites by the names of their hosts.

use std::collections::HashMap;
use std::sync::Arc;

use crate::{Reply, Request};

/// One site, or many under one rule: requests in, replies out. It does no input or output of its own on the
/// network; what it remembers (how often a path was requested) it guards itself.
pub trait Site: Send + Sync {
    /// The reply to a request. `HEAD` is answered like `GET`: the server leaves out the body.
    fn reply(&self, request: &Request) -> Reply;
}

/// A site given by a closure.
pub fn from_fn<F>(reply: F) -> impl Site
where
    F: Fn(&Request) -> Reply + Send + Sync,
{
    FromFn(reply)
}

/// The sites by host.
#[derive(Clone, Default)]
pub struct Web {
    exact: HashMap<String, Arc<dyn Site>>,
    suffixes: Vec<(String, Arc<dyn Site>)>,
    any: Option<Arc<dyn Site>>,
}

impl Web {
    /// A web without sites.
    pub fn new() -> Self {
        Web::default()
    }

    /// The same with one more site. The host is a name (`simple.test`), a suffix (`*.synthetic.test`)
    /// or `*` for every name that no other site has. A name beats a suffix, and an earlier suffix a later one.
    pub fn site(mut self, host: &str, site: impl Site + 'static) -> Self {
        let (host, site) = (host.to_ascii_lowercase(), Arc::new(site));
        if host == "*" {
            self.any = Some(site);
        } else if let Some(suffix) = host.strip_prefix('*') {
            self.suffixes.push((suffix.to_owned(), site));
        } else {
            self.exact.insert(host, site);
        }
        self
    }

    /// The reply of the site that has the host; 421 (RFC 9110 section 15.5.20) if none has.
    pub(crate) fn reply(&self, request: &Request) -> Reply {
        self.find(&request.host).map_or_else(|| Reply::error(421, &request.host), |site| site.reply(request))
    }

    fn find(&self, host: &str) -> Option<&Arc<dyn Site>> {
        self.exact
            .get(host)
            .or_else(|| self.suffixes.iter().find(|(suffix, _)| host.ends_with(suffix)).map(|(_, site)| site))
            .or(self.any.as_ref())
    }
}

impl<S: Site + ?Sized> Site for Arc<S> {
    fn reply(&self, request: &Request) -> Reply {
        (**self).reply(request)
    }
}

struct FromFn<F>(F);

impl<F> Site for FromFn<F>
where
    F: Fn(&Request) -> Reply + Send + Sync,
{
    fn reply(&self, request: &Request) -> Reply {
        self.0(request)
    }
}
