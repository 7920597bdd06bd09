//! What is printed: each URL explored and each URL found, indented by depth.

use testweb::{Pages, Reply, Web};

use crate::run::Course;

#[test]
fn every_url_explored_and_every_url_found_is_printed() {
    let home = "<a href=/a>a</a><a href=/a#2>a</a><a href=/>home</a><a href=http://x.test/>x</a><a href=/gone>g</a>\
        <a href=/paper>p</a><a href=/moved>m</a><a href=mailto:me@x.test>me</a>";
    let site = Pages::new()
        .text("/robots.txt", "User-agent: *\nDisallow: /secret\n")
        .html("/", home)
        .html("/a", "<a href=/>home</a><a href=/deep>deep</a><a href=/secret>s</a>")
        .html("/deep", "<a href=/deeper>too deep to be looked at</a>")
        .reply("/paper", Reply::new(200).header("Content-Type", "application/pdf").body("%PDF-1.4"))
        .reply("/moved", Reply::redirect(301, "/deep"));
    let course = Course::on(Web::new().site("seed.test", site));
    let printed = course.run_well(&["http://seed.test/", "./data/", "1"]);

    let expect = [
        "0  Fetched: http://seed.test/",
        "0    Found: http://seed.test/a",
        "0    Known: http://seed.test/",
        "0    Found: http://seed.test/gone",
        "0    Found: http://seed.test/paper",
        "0    Found: http://seed.test/moved",
        "0    External: http://x.test/",
    ];
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[..expect.len()], expect);
    let mut rest = lines[expect.len()..lines.len() - 1].to_vec();
    rest.sort_unstable();
    let expect = [
        "1    Failed: http://seed.test/gone (status 404)",
        "1    Fetched: http://seed.test/a",
        "1    Fetched: http://seed.test/deep",
        "1    NotHTML: http://seed.test/paper (application/pdf)",
        "1    Redirect: http://seed.test/moved -> http://seed.test/deep",
    ];
    assert_eq!(rest, expect);
    assert_eq!(lines.last(), Some(&"3 pages saved in ./data/; the state of the crawl is in ./data.crawl"));
}

#[test]
fn the_fetched_lines_are_in_the_order_of_the_ids() {
    let course = Course::on(Web::sandboxes());
    let printed = course.run_well(&["http://simple.test/", "data", "3"]);
    let fetched: Vec<&str> =
        printed.lines().filter_map(|line| line.split_once("Fetched: ")).map(|(_, url)| url).collect();
    let saved: Vec<String> = course.pages("data").into_iter().map(|page| page.url).collect();
    assert_eq!(fetched, saved);
}
