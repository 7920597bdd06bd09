//! What is internal: the seed's host or a prefix, also where redirects lead.

use testweb::{Pages, Reply, Web};

use crate::run::Course;

fn web() -> Web {
    let site = Pages::new()
        .html("/", "<a href=/docs/a>a</a><a href=//other.test/>o</a><a href=http://seed.test.evil.test/>e</a>")
        .html("/docs/a", "<a href=b>b</a><a href=/>up</a><a href='HTTP://SEED.Test//docs///b#x'>b</a><a href=/in>i</a>")
        .html("/docs/b", "<a href=http://other.test/x>x</a><a href=/out>out</a>")
        .html("/docs/c", "c")
        .reply("/in", Reply::redirect(302, "/docs/c"))
        .reply("/out", Reply::redirect(302, "http://other.test/"));
    let other = || Pages::new().html("/", "other").html("/x", "other");
    Web::new().site("seed.test", site).site("other.test", other()).site("seed.test.evil.test", other())
}

fn check(seed: &str, options: &[&str], expect: &[(&str, u32)]) {
    let course = Course::on(web());
    course.run_well(&[&[seed, "data", "9"], options].concat());
    let mut expect: Vec<_> = expect.iter().map(|(url, depth)| ((*url).to_owned(), *depth)).collect();
    expect.sort();
    assert_eq!(course.visited("data"), expect, "{seed} {options:?}");
    let strangers = course.log().into_iter().filter(|entry| entry.host != "seed.test").count();
    assert_eq!(strangers, 0, "nothing external is asked for");
}

#[test]
fn the_host_of_the_seed_is_internal() {
    let expect = [
        ("http://seed.test/", 0),
        ("http://seed.test/docs/a", 1),
        ("http://seed.test/docs/b", 2),
        ("http://seed.test/docs/c", 2),
    ];
    check("http://seed.test/", &[], &expect);
    check("HTTP://Seed.TEST", &[], &expect);
}

#[test]
fn a_prefix_is_internal() {
    let inner = [("http://seed.test/docs/a", 0), ("http://seed.test/docs/b", 1)];
    check("http://seed.test/docs/a", &["--internal", "http://seed.test/docs/"], &inner);
    check("http://seed.test//docs/a", &["--internal", "HTTP://SEED.test//docs"], &inner);
    check("http://seed.test/docs/b", &["--internal", "http://seed.test"], &[("http://seed.test/docs/b", 0)]);
}

#[test]
fn the_target_of_a_redirected_seed_is_page_0() {
    check("http://seed.test/in", &[], &[("http://seed.test/docs/c", 0)]);
}
