//! robots.txt that redirects to an address of another worker: that worker asks for it, and nobody else.

use testdb::until;
use testweb::{Pages, Reply, Web};

use crate::handed_over::bid;
use crate::lab::{Lab, Laid, Worker};
use testkit::judge::address_of;

/// Where the sites are whose robots.txt leads away, and where it leads.
const HERE: &str = "127.0.0.2";
const THERE: &str = "127.0.0.3";
/// The doors of those who own these addresses.
const DOOR_HERE: usize = 1;
const DOOR_THERE: usize = 0;

const LEADING: [&str; 3] = ["lead0.test", "lead1.test", "lead2.test"];

fn web() -> Web {
    let leading = |host: &str| {
        Pages::new()
            .reply("/robots.txt", Reply::redirect(302, "http://target.test/robots.txt"))
            .html("/", "<a href=/open>open</a> <a href=/shut>shut</a>")
            .html("/open", format!("{host} open"))
            .html("/shut", format!("{host} shut"))
    };
    let web = LEADING.iter().fold(Web::new(), |web, host| web.site(host, leading(host)));
    let page = |text: &'static str| Pages::new().html("/", text);
    web.site("here.test", page("here"))
        .site("there.test", page("there"))
        .site("target.test", Pages::new().text("/robots.txt", "User-agent: *\nDisallow: /shut\n"))
}

fn owner(lab: &Lab, address: &str) -> String {
    let owner = "SELECT coalesce(max(w.name), '') FROM argiope.politeness_group g
        JOIN argiope.worker w ON w.worker = g.owner WHERE g.name = ";
    lab.query(&format!("{owner}'{address}'"))[0].get(0)
}

fn owns(lab: &Lab, address: &str, worker: &Worker) {
    bid(lab, address, &worker.name());
    until("the worker to own the address", || owner(lab, address) == worker.name());
}

#[test]
fn a_robots_txt_at_an_address_of_another_worker_is_asked_for_by_that_worker() {
    let here: Vec<&str> = LEADING.into_iter().chain(["here.test"]).collect();
    let lab = Lab::new(Laid::grouped(2, web(), &[&here, &["there.test", "target.test"]]), &[]);
    // Who is alone owns all.
    let owner_there = lab.worker_behind(DOOR_THERE);
    lab.served.crawl("http://there.test/", 0);
    lab.served.crawl("http://here.test/", 0);
    let owner_here = lab.worker_behind(DOOR_HERE);
    owns(&lab, HERE, &owner_here);
    owns(&lab, THERE, &owner_there);
    let before = lab.web.log().len();
    for host in LEADING {
        lab.served.add(&format!("http://{host}/"));
    }
    for host in LEADING {
        lab.served.asked(&["crawl", &format!("http://{host}/")]);
    }
    assert_eq!((owner(&lab, HERE), owner(&lab, THERE)), (owner_here.name(), owner_there.name()), "nothing moved");
    let log = &lab.web.log()[before..];
    for entry in log {
        let expect = if address_of(entry) == THERE { DOOR_THERE } else { DOOR_HERE };
        assert_eq!(lab.web.door_of(entry), expect, "{entry:?}");
    }
    let asked: Vec<&str> =
        log.iter().filter(|entry| entry.host == "target.test").map(|entry| entry.target.as_str()).collect();
    assert_eq!(asked, ["/robots.txt"]);
    let pages = lab.pages();
    for host in LEADING {
        let outcome = |path: &str| pages[&format!("http://{host}{path}")].0.as_deref();
        assert_eq!((outcome("/open"), outcome("/shut")), (Some("html"), Some("disallowed")), "{host}");
    }
}
