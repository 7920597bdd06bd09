//! The different targets of a page's links.

use std::collections::HashSet;

use compact_str::CompactString;

use crate::page::Link;

/// What links lead to, fragments aside: the same text in front of `#` is the same target.
#[derive(Debug)]
pub(super) struct Targets(HashSet<CompactString>);

impl Targets {
    pub(super) fn of(links: &[Link]) -> Self {
        Targets(links.iter().map(|link| target(&link.href).into()).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn has(&self, href: &str) -> bool {
        self.0.contains(target(href))
    }

    pub(super) fn add(&mut self, href: &str) {
        self.0.insert(target(href).into());
    }
}

fn target(href: &str) -> &str {
    href.split('#').next().unwrap_or_default()
}
