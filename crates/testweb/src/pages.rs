//! A site that a test writes down: a map from targets to replies.

use std::collections::HashMap;

use bytes::Bytes;

use crate::{Reply, Request, Site};

/// Replies by target (path and query, compared as sent); everything else is 404.
#[derive(Default)]
pub struct Pages {
    replies: HashMap<String, Reply>,
}

impl Pages {
    /// No pages yet.
    pub fn new() -> Self {
        Pages::default()
    }

    /// The same with an HTML page in UTF-8.
    pub fn html(self, target: impl Into<String>, body: impl Into<Bytes>) -> Self {
        self.reply(target, Reply::html(body))
    }

    /// The same with a page of plain text, such as `/robots.txt`.
    pub fn text(self, target: impl Into<String>, body: impl Into<Bytes>) -> Self {
        self.reply(target, Reply::text(body))
    }

    /// The same with any reply.
    pub fn reply(mut self, target: impl Into<String>, reply: Reply) -> Self {
        self.replies.insert(target.into(), reply);
        self
    }

    /// The targets written down so far.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.replies.keys().map(String::as_str)
    }
}

impl Site for Pages {
    fn reply(&self, request: &Request) -> Reply {
        self.replies.get(&request.target).cloned().unwrap_or_else(|| Reply::error(404, &request.target))
    }
}
