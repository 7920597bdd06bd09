//! Some of the URLs found on a site, chosen by their keys, and whether other pages link to them too.

use foldhash::HashMap;
use model::Candidate;
use weburl::CanonicalUrl;

use super::group::{GROUPS_OF_URL, groups_of};

/// URLs in the sample of a site, at most.
const SAMPLED_MAX: usize = 256;

/// A sample of the URLs found on a site.
#[derive(Debug)]
pub(super) struct Sample {
    urls: HashMap<u64, Sampled>,
    /// Those are chosen whose keys have none of these bits.
    mask: u64,
}

/// A URL in the sample.
#[derive(Debug)]
struct Sampled {
    found_on: u64,
    /// How many pages of the site had ended then.
    found_at: u32,
    groups: [u64; GROUPS_OF_URL],
    /// Another page links to it.
    is_linked: bool,
    /// The same for each of its groups: a page that is not in the group does.
    is_linked_from_outside: [bool; GROUPS_OF_URL],
}

/// URLs of a group in the sample.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Linked {
    pub(super) sampled: u32,
    /// Those to which another page links than the one on which they were found.
    pub(super) by_any: u32,
    /// The same of pages that are not in the group.
    pub(super) from_outside: u32,
}

impl Sample {
    /// A sample of the URLs whose keys have none of the bits of `mask`, as long as those are not too many.
    pub(super) fn new(mask: u64) -> Self {
        Sample { urls: HashMap::default(), mask }
    }

    /// Takes notice of a link that leads to a URL of the site. One by which it was found, `is_fresh`, may bring it into the sample.
    pub(super) fn link(&mut self, by: &Candidate, to: &CanonicalUrl, is_fresh: bool, pages: u32) {
        let key = to.key();
        if key.url & self.mask != 0 {
            return;
        }
        match self.urls.get_mut(&key.url) {
            Some(sampled) if sampled.found_on != by.url.key().url && is_from_elsewhere(by, to) => {
                sampled.is_linked = true;
                let is_of_site = by.url.key().site == key.site;
                for (is_linked, group) in sampled.is_linked_from_outside.iter_mut().zip(groups_of(to)) {
                    *is_linked |= !(is_of_site && group.contains(&by.url));
                }
            }
            Some(_) => {}
            None if is_fresh => self.take(by, to, pages),
            None => {}
        }
    }

    fn take(&mut self, by: &Candidate, to: &CanonicalUrl, pages: u32) {
        if self.urls.len() >= SAMPLED_MAX {
            self.mask = self.mask << 1 | 1;
            let mask = self.mask;
            self.urls.retain(|url, _| url & mask == 0);
            if to.key().url & mask != 0 {
                return;
            }
        }
        let mut groups = [0; GROUPS_OF_URL];
        groups.iter_mut().zip(groups_of(to)).for_each(|(key, group)| *key = group.key());
        let is_linked_from_outside = [false; GROUPS_OF_URL];
        let found_on = by.url.key().url;
        let sampled = Sampled { found_on, found_at: pages, groups, is_linked: false, is_linked_from_outside };
        self.urls.insert(to.key().url, sampled);
    }

    /// The URLs of a group in the sample that were found since so many pages had ended.
    pub(super) fn count(&self, group: u64, since: u32) -> Linked {
        let mut linked = Linked::default();
        for url in self.urls.values().filter(|url| url.found_at >= since) {
            let Some(place) = url.groups.iter().position(|key| *key == group) else { continue };
            linked.sampled += 1;
            linked.by_any += u32::from(url.is_linked);
            linked.from_outside += u32::from(url.is_linked_from_outside[place]);
        }
        linked
    }

    /// Forgets what was found before so many pages had ended, and takes more of what comes where that leaves room.
    pub(super) fn forget_before(&mut self, pages: u32, mask_min: u64) {
        self.urls.retain(|_, sampled| sampled.found_at >= pages);
        if self.urls.len() < SAMPLED_MAX / 4 && self.mask > mask_min {
            self.mask >>= 1;
        }
    }
}

/// False where a page leads back to where it was found, or up to a directory that it lies in: so does every page of a generator.
fn is_from_elsewhere(by: &Candidate, to: &CanonicalUrl) -> bool {
    let is_up = by.url.key().site == to.key().site && by.url.path().starts_with(to.path()) && to.query().is_none();
    by.url.key() != to.key() && by.found_on != Some(to.key()) && !is_up
}
