//! The synthetic web: its graph, and that the pages served are that graph.

use std::collections::VecDeque;

use proptest::prelude::*;
use testweb::Web;
use testweb::synthetic::{PageId, Settings, Synthetic, TEXT_BYTES_MEAN};

use crate::client::{Client, get, start};

fn web(text: &str) -> Synthetic {
    Synthetic::new(text.parse().unwrap()).unwrap()
}

proptest! {
    #[test]
    fn every_page_is_reachable_from_the_root(seed: u64, sites in 1..40_u64, more in 0..400_u64, degree in 1..6_u64) {
        let pages = sites + more;
        let settings = Settings { seed, sites, pages, degree, text_bytes_mean: 0 };
        let web = Synthetic::new(settings).unwrap();
        let depths = web.breadth_first_depths(&[web.root()]);
        prop_assert_eq!(depths.len() as u64, pages);
        prop_assert!(depths.iter().all(Option::is_some));
    }

    #[test]
    fn links_lead_to_pages_and_are_always_the_same(seed: u64, sites in 1..40_u64, more in 0..400_u64) {
        let settings = Settings { seed, sites, pages: sites + more, degree: 5, text_bytes_mean: 100 };
        let (web, again) = (Synthetic::new(settings).unwrap(), Synthetic::new(settings).unwrap());
        for (index, id) in web.pages().enumerate() {
            prop_assert_eq!(web.index(id), index as u64);
            prop_assert!(web.contains(id) && web.links(id).iter().all(|link| web.contains(*link)));
            prop_assert_eq!(web.html(id), again.html(id));
        }
    }
}

#[test]
fn degree_is_the_average_and_four_of_five_random_links_stay_inside() {
    let web = web("1,100,20000,8");
    let (mut links, mut inside) = (0, 0);
    for id in web.pages() {
        for link in web.links(id) {
            links += 1;
            inside += u64::from(link.site == id.site);
        }
    }
    let degree = links as f64 / 20_000.0;
    assert!((7.9..8.1).contains(&degree), "{degree}");
    // One link of eight is the tree's and inside.
    let share = inside as f64 / links as f64;
    assert!((0.81..0.84).contains(&share), "{share}");
}

#[test]
fn seeds_make_other_webs() {
    let links = |web: Synthetic| web.pages().map(|id| web.links(id)).collect::<Vec<_>>();
    assert_ne!(links(web("1,5,100,5")), links(web("2,5,100,5")));
}

#[test]
fn text_has_the_size_asked_for() {
    let web = web("1,10,2000,2");
    let bytes: usize = web.pages().map(|id| web.html(id).len()).sum();
    let mean = bytes / 2000;
    assert!((TEXT_BYTES_MEAN..TEXT_BYTES_MEAN + 400).contains(&mean), "{mean}");
}

#[test]
fn depths_from_several_seeds_are_the_least_of_each() {
    let web = web("3,4,300,2");
    let seeds = [PageId { site: 1, page: 7 }, PageId { site: 3, page: 0 }];
    let each = seeds.map(|seed| web.breadth_first_depths(&[seed]));
    let both = web.breadth_first_depths(&seeds);
    for (index, depth) in both.into_iter().enumerate() {
        assert_eq!(depth, each.iter().filter_map(|depths| depths[index]).min());
    }
}

/// Walks the pages as served, by the links in their HTML, read with nothing but a search for `href="`.
#[tokio::test]
async fn the_pages_served_are_the_graph() {
    let web = web("5,7,200,3");
    let server = start(Web::new().site("*.synthetic.test", web)).await;
    let mut client = Client::connect(server.address()).await;
    let mut depths = vec![None; 200];
    depths[0] = Some(0);
    let mut queue = VecDeque::from([(web.root(), 0)]);
    while let Some((id, depth)) = queue.pop_front() {
        let page = client.get(&id.host(), &id.path()).await;
        assert_eq!(page.status, 200);
        for href in hrefs(page.text()) {
            let link = follow(id, href);
            let known = &mut depths[web.index(link) as usize];
            if known.is_none() {
                *known = Some(depth + 1);
                queue.push_back((link, depth + 1));
            }
        }
    }
    assert_eq!(depths, web.breadth_first_depths(&[web.root()]));
    assert_eq!(server.requests(), 200);
}

fn hrefs(html: &str) -> impl Iterator<Item = &str> {
    html.split("href=\"").skip(1).filter_map(|rest| rest.split_once('"')).map(|(href, _)| href)
}

fn follow(from: PageId, href: &str) -> PageId {
    let (host, path) = match href.strip_prefix("http://") {
        Some(rest) => rest.split_at(rest.find('/').unwrap()),
        None => (&*from.host(), href),
    };
    PageId::from_host_and_path(host, path).unwrap()
}

#[tokio::test]
async fn what_surrounds_the_pages() {
    let server = start(Web::new().site("*.synthetic.test", web("5,2,10,3"))).await;
    for (host, target, status) in [
        ("s0001.synthetic.test", "/p/4", 200),
        ("s0001.synthetic.test", "/p/5", 404),
        ("s0002.synthetic.test", "/p/0", 404),
        ("s0000.synthetic.test", "/", 301),
        ("s0000.synthetic.test", "/robots.txt", 200),
        ("s0000.synthetic.test", "/sitemap.xml", 404),
    ] {
        assert_eq!(get(&server, host, target).await.status, status, "{host}{target}");
    }
}
