//! What makes a request.

use weburl::CanonicalUrl;

/// The initiator of a request, which decides the secrets that the request bears ([`crate::Keyring`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initiator<'a> {
    /// The crawl itself: all that the server may learn.
    Crawl,
    /// A page in a browser: no secret that is not that page's as well.
    Page(&'a CanonicalUrl),
    /// A page in a browser, without credentials: no secret. So are requests of a frame that shows something of another site, since the frame
    /// may read the answer.
    Anonymous,
}

impl<'a> Initiator<'a> {
    /// The page, if one makes the request in its own name.
    pub(crate) fn page(self) -> Option<&'a CanonicalUrl> {
        match self {
            Initiator::Page(page) => Some(page),
            Initiator::Crawl | Initiator::Anonymous => None,
        }
    }
}
