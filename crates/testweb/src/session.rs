//! What a connection needs to answer requests.

use std::sync::Arc;

use tokio_rustls::TlsAcceptor;

use crate::log::{Exchange, Log, Peer};
use crate::{Reply, Request, Web};

/// What a connection needs to answer requests.
#[derive(Clone)]
pub(crate) struct Session {
    pub web: Arc<Web>,
    pub log: Arc<Log>,
    pub tls: TlsAcceptor,
    pub peer: Peer,
}

impl Session {
    /// Notes that a request has arrived.
    pub fn begin(&self, protocol: &'static str, request: &Request) -> Exchange {
        self.log.begin(self.peer, protocol, request)
    }

    /// The reply of the site that is asked.
    pub fn reply(&self, request: &Request) -> Reply {
        self.web.reply(request)
    }
}
