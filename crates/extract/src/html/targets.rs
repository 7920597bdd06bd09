//! The different targets of a page's links.

use std::collections::HashSet;

use compact_str::CompactString;
use weburl::target_of;

use crate::page::Link;

/// What links lead to, parts of pages aside ([`weburl::target_of`]).
#[derive(Debug)]
pub(super) struct Targets(HashSet<CompactString>);

impl Targets {
    pub(super) fn of(links: &[Link]) -> Self {
        Targets(links.iter().map(|link| target_of(&link.href).into()).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn has(&self, href: &str) -> bool {
        self.0.contains(target_of(href))
    }

    pub(super) fn add(&mut self, href: &str) {
        self.0.insert(target_of(href).into());
    }
}
