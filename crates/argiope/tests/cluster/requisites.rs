//! What pages need to be shown, on hosts of several workers.

use serde_json::json;
use testweb::furnished;

use crate::lab::{Lab, Laid};

#[test]
fn workers_fetch_once_what_pages_need_and_count_no_page_for_it() {
    let lab = Lab::new(Laid::of(furnished::web()), &["--requisites"]);
    let _workers = [lab.worker(), lab.worker()];
    assert_eq!(lab.served.asked(&["crawl", "http://furnished.test/"])["fetched"], json!(furnished::PAGES.len()));
    let log = lab.web.log();
    for furnished::File { url, .. } in furnished::files() {
        let requests = log.iter().filter(|entry| format!("http://{}{}", entry.host, entry.target) == url).count();
        assert_eq!(requests, 1, "{url}");
    }
    let fetched = "SELECT count(*) FROM argiope.url u JOIN argiope.visit v USING (site_key, url_key)
        WHERE u.purpose = 'requisite' AND v.outcome IN ('binary', 'duplicate')";
    assert_eq!(lab.number(fetched), i64::try_from(furnished::files().len()).expect("few"));
}
