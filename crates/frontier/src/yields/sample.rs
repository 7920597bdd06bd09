//! Some of the URLs found on a site, chosen by their keys, and whether another page links to them too.

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
            Some(sampled) => sampled.is_linked |= sampled.found_on != by.url.key().url && is_from_elsewhere(by, to),
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
        let sampled = Sampled { found_on: by.url.key().url, found_at: pages, groups, is_linked: false };
        self.urls.insert(to.key().url, sampled);
    }

    /// How many URLs of a group that were found since so many pages had ended are in the sample, and to how many of those another page links.
    pub(super) fn count(&self, group: u64, since: u32) -> (u32, u32) {
        let of_group =
            self.urls.values().filter(|sampled| sampled.found_at >= since && sampled.groups.contains(&group));
        of_group.fold((0, 0), |(all, linked), sampled| (all + 1, linked + u32::from(sampled.is_linked)))
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
