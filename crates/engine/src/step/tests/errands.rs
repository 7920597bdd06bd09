//! robots.txt that redirects to another site.

use std::time::Duration;

use model::FailureKind;

use super::driven::Driven;
use super::settings;

const SECOND: Duration = Duration::from_secs(1);

/// The target fails once, and then has its robots.txt before the other comes back for it, while its name is still being looked up for the other.
#[test]
fn what_a_site_has_fetched_for_itself_is_not_fetched_again_for_another() {
    let mut crawl = Driven::begin(settings(), &["http://moved.test/", "http://slow.test/", "http://target.test/"]);
    crawl.resolved("http://moved.test/", Ok(&[1]));
    crawl.resolved("http://target.test/", Ok(&[2]));
    crawl.answered("http://moved.test/robots.txt", 302, &[("Location", "http://target.test/robots.txt")], "");
    // Its address has one visit at a time.
    crawl.resolved("http://slow.test/", Ok(&[1]));
    crawl.wait(SECOND / 2);
    crawl.failed("http://target.test/robots.txt", FailureKind::Disconnected);
    crawl.wait(SECOND);
    crawl.answered("http://target.test/robots.txt", 200, &[], "User-agent: *\nDisallow: /private\n");
    crawl.answered("http://slow.test/robots.txt", 404, &[], "");
    crawl.wait(SECOND);
    crawl.answered("http://slow.test/", 404, &[], "");
    crawl.wait(SECOND);
    crawl.target_resolved("http://target.test/robots.txt", Ok(&[2]));
    crawl.wait(SECOND);
    assert_eq!(crawl.asked(), ["http://moved.test/", "http://target.test/"]);
}
