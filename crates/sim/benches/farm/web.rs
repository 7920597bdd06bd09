//! The web: honest sites that lead to each other as a tree, and a farm. Its first hosts lead to all others, which is known at once, and each has
//! pages without end.

use std::net::IpAddr;

use weburl::{CanonicalUrl, SiteKey};

/// Pages of an honest site.
pub const PAGES: u32 = 20;

/// Hosts of the farm that are seeds. Their first pages lead to all others.
pub const FARM_SEEDS: u32 = 10;

/// Sites to which the first page of an honest one leads.
const SITES_LINKED: u32 = 4;

/// Addresses of the farm.
const ADDRESSES: u32 = 20;

/// How the hosts of the farm are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// All below one domain.
    OneDomain,
    /// Each has a domain of its own.
    ManyDomains,
}

/// A host, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host {
    Honest(u32),
    Farm(u32),
}

/// The web.
#[derive(Clone, Copy)]
pub struct Web {
    /// Hosts of the farm.
    pub farm: u32,
    /// Honest sites.
    pub honest: u32,
    pub names: Names,
}

impl Web {
    /// Its hosts.
    pub fn hosts(&self) -> impl Iterator<Item = Host> {
        (0..self.honest).map(Host::Honest).chain((0..self.farm).map(Host::Farm))
    }

    /// A page of a host.
    pub fn url(&self, host: Host, page: u32) -> CanonicalUrl {
        let site = match (host, self.names) {
            (Host::Honest(n), _) => format!("http://h{n}.test"),
            (Host::Farm(n), Names::OneDomain) => format!("http://f{n}.farm.test"),
            (Host::Farm(n), Names::ManyDomains) => format!("http://f{n}farm.test"),
        };
        let path = if page == 0 { String::new() } else { format!("p{page}") };
        CanonicalUrl::from_canonical(&format!("{site}/{path}")).expect("canonical")
    }

    /// The key of its site.
    pub fn key(&self, host: Host) -> SiteKey {
        self.url(host, 0).key().site
    }

    /// Where it is.
    pub fn address(host: Host) -> IpAddr {
        match host {
            Host::Honest(n) => IpAddr::from((0x0A00_0000 + n).to_be_bytes()),
            Host::Farm(n) => IpAddr::from((0x0B00_0000 + n % ADDRESSES).to_be_bytes()),
        }
    }

    /// Links from a seed to a page of an honest site.
    pub fn depth(n: u32, page: u32) -> u32 {
        let above = std::iter::successors(Some(n), |n| (*n > 0).then(|| (n - 1) / SITES_LINKED)).count();
        u32::try_from(above - 1).expect("few") + page.min(1)
    }

    /// What a page has in it.
    pub fn body(&self, host: Host, page: u32) -> String {
        let mut body = format!("<!doctype html><title>{host:?} {page}</title>");
        let mut link = |host, page| body.push_str(&format!("<a href=\"{}\">a</a>", self.url(host, page)));
        match host {
            Host::Honest(n) if page == 0 => {
                (1..PAGES).for_each(|page| link(host, page));
                let first = (n * SITES_LINKED + 1).min(self.honest);
                (first..(first + SITES_LINKED).min(self.honest)).for_each(|n| link(Host::Honest(n), 0));
            }
            Host::Honest(_) => link(host, 0),
            Host::Farm(n) => {
                link(host, page + 1);
                if page == 0 && n < FARM_SEEDS {
                    (n..self.farm).step_by(FARM_SEEDS as usize).for_each(|n| link(Host::Farm(n), 0));
                }
            }
        }
        body
    }
}
