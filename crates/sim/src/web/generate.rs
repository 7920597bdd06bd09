//! A web out of a seed.

use std::net::IpAddr;

use super::spelling::link;
use super::{
    AlwaysFails, Busy, Fault, Html, Link, Name, Page, Reach, Reply, Robots, RobotsReply, Site, Web, site_text,
};
use crate::rng::Rng;

/// How often in a row something may fail that succeeds in the end: one less than a URL has attempts.
const FAULTS_MAX: u64 = 3;

/// URLs of a site that fail for ever, at most: with more, a site may be given up by chance of the order.
const HOPELESS_PER_SITE_MAX: usize = 2;

/// A host that does not exist, to which some pages link.
const NOWHERE: &str = "http://nowhere.test";

/// Months in a calendar without end: more than any crawl here may fetch.
const CALENDAR_MONTHS: u32 = 120;

/// Redirects in a row: more than are followed.
const HOPS: usize = 13;

impl Web {
    /// The web of this seed. `is_calm` leaves out everything that fails by chance.
    #[must_use]
    pub fn generate(rng: &mut Rng, is_calm: bool) -> Web {
        let mut generator = Generator { web: Web::default(), names: Vec::new(), fault_chance: 0, texts: 0 };
        generator.fault_chance = if is_calm { 0 } else { rng.pick(&[0, 50, 200]) };
        generator.sites(rng);
        generator.pages(rng);
        generator.traps(rng);
        generator.sitemaps(rng);
        generator.seeds(rng);
        generator.web
    }
}

struct Generator {
    web: Web,
    /// The URLs of ordinary pages, in the order in which they were made.
    names: Vec<String>,
    /// In a thousand requests.
    fault_chance: u64,
    texts: u64,
}

impl Generator {
    fn sites(&mut self, rng: &mut Rng) {
        let count = rng.between(1, 8);
        let addresses = rng.between(1, count);
        for n in 0..count {
            let text = match rng.below(10) {
                0 => format!("https://h{n}.test"),
                1 => format!("http://h{n}.test:8080"),
                // Another site on the host before.
                2 if n > 0 => format!("https://h{}.test", n - 1),
                _ => format!("http://h{n}.test"),
            };
            let mut site = self.site(rng, addresses);
            if n == 0 {
                // Most of the web hangs on the first one.
                site.reach = Reach::Answers;
                site.robots.reply = RobotsReply::Rules;
                site.name = Name::Found { failures_first: 0 };
            }
            self.web.sites.insert(text, site);
        }
        let texts: Vec<String> = self.web.sites.keys().cloned().collect();
        for site in self.web.sites.values_mut() {
            if rng.chance(120) {
                let other = texts[rng.index(texts.len())].clone();
                site.robots.reply = RobotsReply::RedirectTo(other);
            }
        }
        self.break_redirect_chains(&texts);
        let nowhere = Site { name: Name::NotFound, ..self.site(rng, 1) };
        self.web.sites.insert(NOWHERE.to_owned(), nowhere);
    }

    /// A robots.txt redirects to rules that can be had, and not on: so what holds is plain to see.
    fn break_redirect_chains(&mut self, texts: &[String]) {
        for text in texts {
            let RobotsReply::RedirectTo(other) = self.web.sites[text].robots.reply.clone() else { continue };
            let target = &self.web.sites[&other];
            let is_there = target.reach == Reach::Answers && matches!(target.name, Name::Found { .. });
            let leads_on = other == *text || target.robots.reply != RobotsReply::Rules || !is_there;
            if let Some(site) = self.web.sites.get_mut(text).filter(|_| leads_on) {
                site.robots.reply = RobotsReply::Rules;
            }
        }
    }

    fn site(&mut self, rng: &mut Rng, addresses: u64) -> Site {
        let address = |rng: &mut Rng| {
            let last = u8::try_from(rng.between(1, addresses)).unwrap_or(1);
            match rng.below(4) {
                // Two networks of a /64 each.
                0 => IpAddr::from([0x2001, 0xdb8, 0, u16::from(last % 2), 0, 0, 0, u16::from(last)]),
                _ => IpAddr::from([10, 0, 0, last]),
            }
        };
        let mut all = vec![address(rng)];
        let second = address(rng);
        if rng.chance(200) && second != all[0] {
            all.push(second);
        }
        let name = match rng.below(40) {
            0 => Name::NotFound,
            1 => Name::ServerFails,
            2..=4 => Name::Found { failures_first: u32::try_from(rng.between(1, FAULTS_MAX)).unwrap_or(1) },
            _ => Name::Found { failures_first: 0 },
        };
        let reach = match rng.below(30) {
            0 => Reach::Refuses,
            1 => Reach::Silent,
            _ => Reach::Answers,
        };
        let reply = match rng.below(20) {
            0 | 1 => RobotsReply::Status(404),
            2 => RobotsReply::Status(rng.pick(&[401, 403, 410])),
            3 => RobotsReply::Status(rng.pick(&[500, 503])),
            _ => RobotsReply::Rules,
        };
        let faults = self.faults(rng, 2);
        let pace_ms = rng.pick(&[5, 50, 50, 300, 4_000]);
        Site { addresses: all, name, reach, robots: rules(rng, faults, reply), pace_ms }
    }

    /// How the first requests fail. `factor` makes it more probable.
    fn faults(&mut self, rng: &mut Rng, factor: u64) -> Vec<Fault> {
        let mut faults = Vec::new();
        while faults.len() < usize::try_from(FAULTS_MAX).unwrap_or(0) && rng.chance(self.fault_chance * factor) {
            faults.push(match rng.below(6) {
                0 => Fault::Lost,
                1 => Fault::Broken,
                2 => Fault::Refused,
                _ => Fault::Busy(busy(rng)),
            });
        }
        faults
    }

    fn pages(&mut self, rng: &mut Rng) {
        let sites: Vec<String> = self.web.sites.keys().filter(|site| *site != NOWHERE).cloned().collect();
        for site in &sites {
            self.names.push(format!("{site}/"));
            let pages = if rng.chance(20) { rng.between(150, 400) } else { rng.between(0, 25) };
            for n in 0..pages {
                let path = match rng.below(20) {
                    0 | 1 => format!("private/{n}"),
                    2 => format!("private/open/{n}"),
                    3 => format!("file{n}.pdf"),
                    4 => format!("cgi-bin/{n}"),
                    5 => format!("list?page={n}&sort=~up"),
                    _ => format!("p{n}.html"),
                };
                self.names.push(format!("{site}/{path}"));
            }
        }
        for at in 0..self.names.len() {
            let url = self.names[at].clone();
            let reply = self.reply(rng, &url);
            let faults = self.faults(rng, 1);
            self.web.pages.insert(url, Page { faults, reply });
        }
        self.make_reachable(rng);
    }

    fn reply(&mut self, rng: &mut Rng, url: &str) -> Reply {
        match rng.below(40) {
            0..=3 => {
                let target = self.names[rng.index(self.names.len())].clone();
                Reply::Redirect { status: rng.pick(&[301, 302, 303, 307, 308]), to: link(rng, Some(url), &target) }
            }
            4 => Reply::Status(rng.pick(&[404, 410, 403, 500, 400, 304])),
            5 | 6 => Reply::Document(rng.below(6)),
            7 => self.hopeless(rng, url),
            8 => Reply::RedirectNowhere,
            9..=11 => match self.earlier_html(rng) {
                Some(twin) => Reply::Html(twin),
                None => Reply::Html(self.html(rng, None)),
            },
            12 => {
                let mut html = self.html(rng, Some(url));
                html.breaks_after = Some(rng.index(html.links.len() + 1));
                Reply::Html(html)
            }
            13 => Reply::Html(Html { nofollow: true, ..self.html(rng, Some(url)) }),
            14..=20 => Reply::Html(self.html(rng, None)),
            _ => Reply::Html(self.html(rng, Some(url))),
        }
    }

    fn hopeless(&mut self, rng: &mut Rng, url: &str) -> Reply {
        let is_hopeless = |page: &Page| matches!(page.reply, Reply::AlwaysFails(_) | Reply::AlwaysBusy(_));
        let on_site = self.web.pages.iter().filter(|(other, _)| site_text(other) == site_text(url));
        if on_site.filter(|(_, page)| is_hopeless(page)).count() >= HOPELESS_PER_SITE_MAX {
            return Reply::Status(500);
        }
        match rng.below(6) {
            0 => Reply::AlwaysFails(AlwaysFails::Lost),
            1 => Reply::AlwaysFails(AlwaysFails::Broken),
            2 => Reply::AlwaysFails(AlwaysFails::Garbage),
            3 => Reply::AlwaysFails(AlwaysFails::HugeHead),
            _ => Reply::AlwaysBusy(busy(rng)),
        }
    }

    /// A page made before whose links are all absolute, so that it can stand at another URL too.
    fn earlier_html(&self, rng: &mut Rng) -> Option<Html> {
        let is_absolute = |html: &&Html| html.links.iter().all(|link| link.href.contains("://"));
        let pages = self.web.pages.values().filter_map(|page| match &page.reply {
            Reply::Html(html) => Some(html),
            _ => None,
        });
        let twins: Vec<&Html> = pages.filter(is_absolute).collect();
        (!twins.is_empty()).then(|| twins[rng.index(twins.len())].clone())
    }

    fn html(&mut self, rng: &mut Rng, from: Option<&str>) -> Html {
        self.texts += 1;
        let mut html = Html { text: self.texts, ..Html::default() };
        for _ in 0..rng.below(6) {
            let target = match rng.below(20) {
                0 => format!("{NOWHERE}/{}", rng.below(3)),
                1 => format!("{}missing{}", self.names[0], rng.below(5)),
                _ => self.names[rng.index(self.names.len())].clone(),
            };
            html.links.push(link(rng, from, &target));
        }
        html
    }

    /// Lets most pages be linked from one made before.
    fn make_reachable(&mut self, rng: &mut Rng) {
        for at in 1..self.names.len() {
            let target = self.names[at].clone();
            // A page with very many links now and then: the first.
            let from = self.names[if rng.chance(300) { 0 } else { rng.index(at) }].clone();
            self.add_link(rng, &from, &target);
        }
    }

    /// Adds a link to a page, if it is one of its own kind: twins stay twins.
    fn add_link(&mut self, rng: &mut Rng, from: &str, target: &str) {
        let new = link(rng, None, target);
        let Some(Page { reply: Reply::Html(html), .. }) = self.web.pages.get(from) else { return };
        let old = html.clone();
        for page in self.web.pages.values_mut() {
            if let Reply::Html(html) = &mut page.reply
                && *html == old
            {
                html.links.push(new.clone());
            }
        }
    }

    fn traps(&mut self, rng: &mut Rng) {
        let home = self.names[0].clone();
        if !matches!(self.web.pages[&home].reply, Reply::Html(_)) || rng.chance(200) {
            self.texts += 1;
            self.web.pages.insert(home.clone(), plain(self.texts, Vec::new()));
        }
        if rng.chance(150) {
            self.calendar(rng, &home);
        }
        if rng.chance(150) {
            self.loop_of_segments(&home);
        }
        if rng.chance(150) {
            let hop = |n: usize| format!("{home}hop{n}");
            for n in 0..HOPS {
                let to = Link { target: hop(n + 1), href: hop(n + 1) };
                self.web.pages.insert(hop(n), Page { faults: Vec::new(), reply: Reply::Redirect { status: 301, to } });
            }
            self.add_link(rng, &home, &hop(0));
        }
    }

    fn calendar(&mut self, rng: &mut Rng, home: &str) {
        let month = |n: u32| format!("{home}cal/{}/{:02}/", 2000 + n / 12, n % 12 + 1);
        for n in 0..CALENDAR_MONTHS {
            self.texts += 1;
            let next = Link { target: month(n + 1), href: month(n + 1) };
            self.web.pages.insert(month(n), plain(self.texts, vec![next]));
        }
        self.add_link(rng, home, &month(0));
    }

    /// A relative link to a directory of the same name, for ever.
    fn loop_of_segments(&mut self, home: &str) {
        let deep = |n: usize| format!("{home}{}", "loop/".repeat(n));
        for n in 1..=8 {
            self.texts += 1;
            let next = Link { target: deep(n + 1), href: "loop/".to_owned() };
            self.web.pages.insert(deep(n), plain(self.texts, vec![next]));
        }
        let mut rng = Rng::new(self.texts);
        self.add_link(&mut rng, home, &deep(1));
    }

    fn sitemaps(&mut self, rng: &mut Rng) {
        let sites: Vec<String> = self.web.sites.keys().cloned().collect();
        for text in sites {
            let own: Vec<String> = self.names.iter().filter(|url| site_text(url) == text).cloned().collect();
            let listed: Vec<String> = own.into_iter().filter(|_| rng.chance(300)).collect();
            let mut lay = |path: &str, reply: Reply| {
                let url = format!("{text}{path}");
                self.web.pages.insert(url.clone(), Page { faults: Vec::new(), reply });
                url
            };
            match rng.below(4) {
                0 => {
                    lay("/sitemap.xml", Reply::Sitemap(listed));
                }
                1 => {
                    let parts = listed.chunks(2).enumerate();
                    let parts: Vec<String> =
                        parts.map(|(n, urls)| lay(&format!("/map-{n}.xml"), Reply::Sitemap(urls.to_vec()))).collect();
                    let index = lay("/map-index.xml", Reply::SitemapIndex(parts));
                    if let Some(site) = self.web.sites.get_mut(&text) {
                        site.robots.sitemaps.push(index);
                    }
                }
                _ => {}
            }
        }
    }

    fn seeds(&mut self, rng: &mut Rng) {
        let mut seeds = vec![self.names[0].clone()];
        for _ in 0..rng.below(3) {
            seeds.push(self.names[rng.index(self.names.len())].clone());
        }
        if rng.chance(100) {
            let from = format!("{}start", self.names[rng.index(self.names.len())]);
            let to = link(rng, None, &self.names[0]);
            seeds = vec![from.clone()];
            self.web.pages.insert(from, Page { faults: Vec::new(), reply: Reply::Redirect { status: 302, to } });
        }
        self.web.seeds = seeds;
    }
}

fn plain(text: u64, links: Vec<Link>) -> Page {
    Page { faults: Vec::new(), reply: Reply::Html(Html { links, text, ..Html::default() }) }
}

fn busy(rng: &mut Rng) -> Busy {
    let retry_after_s = match rng.below(8) {
        0..=2 => None,
        3 => Some(0),
        4..=6 => Some(rng.between(1, 200)),
        _ => Some(rng.pick(&[3_600, 20_000, 100_000])),
    };
    Busy { status: rng.pick(&[429, 503]), retry_after_s, as_date: rng.chance(300) }
}

fn rules(rng: &mut Rng, faults: Vec<Fault>, reply: RobotsReply) -> Robots {
    let mut robots =
        Robots { faults, reply, disallow: Vec::new(), allow: Vec::new(), crawl_delay: None, sitemaps: Vec::new() };
    match rng.below(8) {
        0..=3 => robots.disallow.push("/private".to_owned()),
        4 => {
            robots.disallow.push("/private".to_owned());
            robots.allow.push("/private/open/".to_owned());
        }
        5 if rng.chance(300) => robots.disallow.push("/".to_owned()),
        _ => {}
    }
    if rng.chance(200) {
        robots.crawl_delay = Some(rng.pick(&[2, 5, 30, 1_000]));
    }
    robots
}
