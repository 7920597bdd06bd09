//! A farm of hosts: many names of one owner, whose pages lead to ever more of its names.

use std::net::IpAddr;

use super::{Html, Link, Name, Page, Reach, Reply, Robots, RobotsReply, Site, Web};
use crate::rng::Rng;

/// Hosts to which the first page of a host leads.
const HOSTS_LINKED: usize = 8;

/// Pages of a farm, about: so many that it is at work for long, so few that a simulation is soon done.
const PAGES: usize = 500;

/// Pages of a host of it besides its first, at most.
const PAGES_A_HOST_MAX: usize = 24;

/// Addresses of a farm, at most.
const ADDRESSES_MAX: u64 = 3;

/// From where on the texts of its pages count, so that they are nobody else's.
const FIRST_TEXT: u64 = 1 << 32;

/// The links from a host of a farm to any other of it are fewer than this.
pub(crate) const FARM_DEPTH_MAX: u32 = 5;

impl Web {
    /// Adds a farm that has some times as many hosts as there are places in front. It is known from the start.
    pub(crate) fn add_farm(&mut self, rng: &mut Rng, places: usize) {
        let hosts = places * usize::try_from(rng.between(2, 5)).unwrap_or(2);
        let pages = (PAGES / hosts).clamp(1, PAGES_A_HOST_MAX);
        let domain = if rng.chance(500) { ".farm.test" } else { "farm.test" };
        let urls: Vec<String> = (0..hosts).map(|n| format!("http://f{n}{domain}/")).collect();
        let (addresses, pace_ms) = (rng.between(1, ADDRESSES_MAX), rng.pick(&[5, 50, 300]));
        for (n, url) in urls.iter().enumerate() {
            let text = url.trim_end_matches('/').to_owned();
            self.sites.insert(text.clone(), site(rng, addresses, pace_ms));
            self.farm.insert(text);
            let own = (0..pages).map(|page| format!("{url}p{page}.html"));
            let children = urls.iter().skip(n * HOSTS_LINKED + 1).take(HOSTS_LINKED).cloned();
            self.add_page(url.clone(), own.chain(children));
            for page in 0..pages {
                let others = [urls[rng.index(hosts)].clone(), urls[rng.index(hosts)].clone()];
                self.add_page(format!("{url}p{page}.html"), others.into_iter());
            }
        }
        self.seeds.push(urls[0].clone());
    }

    fn add_page(&mut self, url: String, targets: impl Iterator<Item = String>) {
        let links = targets.map(|target| Link { href: target.clone(), target }).collect();
        let html = Html { links, text: FIRST_TEXT + self.pages.len() as u64, ..Html::default() };
        self.pages.insert(url, Page { faults: Vec::new(), reply: Reply::Html(html) });
    }
}

fn site(rng: &mut Rng, addresses: u64, pace_ms: u64) -> Site {
    let address = u8::try_from(rng.between(1, addresses)).unwrap_or(1);
    Site {
        addresses: vec![IpAddr::from([10, 1, 0, address])],
        name: Name::Found { failures_first: 0 },
        reach: Reach::Answers,
        robots: Robots {
            faults: Vec::new(),
            reply: RobotsReply::Rules,
            disallow: Vec::new(),
            allow: Vec::new(),
            crawl_delay: None,
            sitemaps: Vec::new(),
        },
        pace_ms,
    }
}
