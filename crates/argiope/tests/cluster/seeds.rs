//! Seeds that come while workers crawl: what was excluded by who did not know them belongs to the crawl all the same.

use testdb::until;
use testweb::{Pages, Web};

use crate::lab::{Lab, Laid};

#[test]
fn a_link_that_was_judged_before_its_seed_was_known_and_recorded_after_is_crawled() {
    let portal = Pages::new().html("/", "<a href=http://one.test/linked>one</a><a href=http://other.test/>other</a>");
    let one = Pages::new().html("/", "no links").html("/linked", "nor here");
    let lab = Lab::new(Laid::of(Web::new().site("portal.test", portal).site("one.test", one)), &[]);
    let _worker = lab.worker();
    assert_eq!(lab.served.client(&["pause"]).code, 0);
    lab.served.add("http://portal.test/");
    until("the site has an owner", || {
        lab.number("SELECT count(*) FROM argiope.politeness_group WHERE owner IS NOT NULL") == 1
    });
    // From here on nothing of the site can be committed.
    let mut client = lab.database.lock().expect("nobody panicked").client();
    let mut blocker = client.transaction().expect("a transaction");
    blocker.batch_execute("SELECT FROM argiope.politeness_group FOR UPDATE").expect("a lock");
    assert_eq!(lab.served.client(&["resume"]).code, 0);
    until("the page is fetched", || {
        lab.web.log().iter().any(|entry| entry.host == "portal.test" && entry.target == "/" && entry.end_us.is_some())
    });
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%commit(%'";
    until("a commit waits", || lab.number(waiting) > 0);
    lab.served.add("http://one.test/");
    blocker.rollback().expect("no locks");

    until("all is crawled", || lab.number("SELECT count(*) FROM argiope.visit WHERE outcome = 'html'") == 3);
    until("nothing is left", || lab.number("SELECT count(*) FROM argiope.unjudged") == 0);
    let pages = lab.pages();
    let outcome = |url: &str| pages.get(url).and_then(|(outcome, _)| outcome.as_deref());
    assert_eq!(
        outcome("http://one.test/linked"),
        Some("html"),
        "it was found on a page only, out of scope at that time"
    );
    assert_eq!(outcome("http://other.test/"), Some("excluded"));
    assert_eq!(lab.number("SELECT count(*) FROM argiope.queue"), 0);
}
