//! Workers at different distances from the web: the nearest owns a group, also when it comes later, and all is right while a group moves.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use testdb::until;
use testweb::LogEntry;

use crate::lab::{Lab, Laid, SEED, Worker};
use crate::workers::{asked, check_polite};

/// From a worker to an address and back, in milliseconds: too far apart for a busy machine to confuse them.
const NEAREST_MS: u32 = 5;
const NEAR_MS: u32 = 30;
const FAR_MS: u32 = 80;

const SITES: usize = 8;
const PAGES: usize = 300;
const TOKEN: &str = "a-token-of-the-tests";

/// By worker, by address.
type Distances = BTreeMap<Ipv4Addr, BTreeMap<Ipv4Addr, u32>>;

/// Workers' networks, apart from this machine's, and what delays the packets between them. Gone with its process, which ends with ours.
struct DelayLine {
    process: Child,
    /// By the worker's address.
    namespaces: BTreeMap<Ipv4Addr, String>,
}

impl DelayLine {
    fn start(outside: &[Ipv4Addr], distances: &Distances) -> Self {
        let list = |addresses: &[Ipv4Addr]| addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let workers: Vec<Ipv4Addr> = distances.keys().copied().collect();
        let mut process = Command::new("python3")
            .args(["-c", include_str!("delay_line.py")])
            .args([list(outside), list(&workers), json!(distances).to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("piped")).read_line(&mut line).expect("text");
        if line.is_empty() {
            let mut why = String::new();
            process.stderr.take().expect("piped").read_to_string(&mut why).expect("text");
            panic!("this test needs root for network namespaces, /dev/net/tun, and ip (Debian: iproute2): {why}");
        }
        DelayLine { process, namespaces: serde_json::from_str(&line).expect("JSON") }
    }

    /// The binary in the network of a worker.
    fn binary(&self, worker: Ipv4Addr) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", self.namespaces[&worker])).arg(env!("CARGO_BIN_EXE_argiope"));
        command
    }
}

impl Drop for DelayLine {
    fn drop(&mut self) {
        // Its standard input ends, and it ends by itself.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// An address in a network of this process's own, one of the 512 set aside for tests of networks (RFC 2544).
fn address(host: u8) -> Ipv4Addr {
    let network = u32::from(Ipv4Addr::new(198, 18, 0, 0)) + std::process::id() % 512 * 256;
    Ipv4Addr::from(network + u32::from(host))
}

/// A crawl by workers that reach nothing but by a delay line.
struct Apart {
    lab: Lab,
    line: DelayLine,
    token_file: tempfile::NamedTempFile,
}

impl Apart {
    /// `web` are the addresses of the web.
    fn new(web: &[Ipv4Addr], distances: &Distances) -> Self {
        let server = address(254);
        let line = DelayLine::start(&[&[server], web].concat(), distances);
        let token_file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(token_file.path(), TOKEN).expect("written");
        let workers = SocketAddr::from((server, 0)).to_string();
        let token_path = token_file.path().to_str().expect("UTF-8");
        let web = Laid::at(SITES as u64, PAGES as u64, web.iter().copied());
        let lab = Lab::new(web, &["--workers", &workers, "--token-file", token_path]);
        Apart { lab, line, token_file }
    }

    fn token_path(&self) -> &str {
        self.token_file.path().to_str().expect("UTF-8")
    }

    fn worker(&self, at: Ipv4Addr) -> Worker {
        let listen = SocketAddr::from((at, 0)).to_string();
        self.lab.worker_by(self.line.binary(at), &["--listen", &listen, "--token-file", self.token_path()])
    }

    fn asked(&self, arguments: &[&str]) -> Value {
        self.lab.served.asked(&[&["--token-file", self.token_path()], arguments].concat())
    }

    /// Who owns which address.
    fn owners(&self) -> BTreeMap<Ipv4Addr, Ipv4Addr> {
        let rows = self.lab.query(
            "SELECT g.name, split_part(w.name, ':', 1) FROM argiope.politeness_group g JOIN argiope.worker w ON w.worker = g.owner",
        );
        let address = |text: String| text.parse().expect("an address");
        rows.iter().map(|row| (address(row.get(0)), address(row.get(1)))).collect()
    }

    /// Asks everything, and checks the answers against each other. Gives the pages that are found.
    fn check_answers(&self, found_before: &BTreeSet<String>) -> BTreeSet<String> {
        let workers = self.asked(&["workers"])["workers"].take();
        let workers = workers.as_array().expect("workers");
        let sum = |of: &str| workers.iter().map(|worker| worker[of].as_u64().unwrap_or(0)).sum::<u64>();
        assert_eq!((sum("groups"), sum("sites")), (2, SITES as u64), "everything has one owner: {workers:?}");

        // In the order in which a group moves, that of the addresses: what moves meanwhile is reported twice rather than not at all.
        let mut sites = BTreeSet::new();
        let names: BTreeSet<&str> = workers.iter().map(|worker| worker["name"].as_str().expect("a name")).collect();
        for name in names {
            let domains = self.asked(&["domains", name]);
            for domain in domains["domains"].as_array().expect("domains") {
                sites.insert(domain["site"].as_str().expect("a site").to_owned());
            }
        }
        assert_eq!(sites.len(), SITES, "every site is reported: {sites:?}");

        let answer = self.asked(&["search", "e", "--limit", "1000"]);
        let urls = answer["found"].as_array().expect("pages").iter();
        let found: BTreeSet<String> = urls.map(|found| found["url"].as_str().expect("a URL").to_owned()).collect();
        assert_eq!(answer["pages"], json!(found.len()), "no page is found twice");
        let fetched = asked(&self.lab.web.log());
        assert!(found.iter().all(|url| fetched.contains_key(url)), "what is found was fetched");
        assert!(found.is_superset(found_before), "what was found once stays: {:?}", found_before.difference(&found));
        found
    }
}

/// Who asked an address, each time that it was another than before.
fn askers(log: &[LogEntry], address: Ipv4Addr) -> Vec<IpAddr> {
    let of_address = log.iter().filter(|entry| entry.local.ip() == address);
    let mut askers: Vec<IpAddr> = of_address.map(|entry| entry.peer.ip()).collect();
    askers.dedup();
    askers
}

#[test]
fn the_nearest_worker_owns_an_address_and_takes_it_over_when_it_comes_later() {
    let [here, there] = [address(1), address(2)];
    let [one, two, three] = [address(11), address(12), address(13)];
    let distances = [
        (one, [(here, NEAR_MS), (there, FAR_MS)].into()),
        (two, [(here, FAR_MS), (there, NEAR_MS)].into()),
        (three, [(here, FAR_MS), (there, NEAREST_MS)].into()),
    ];
    let apart = Apart::new(&[here, there], &distances.into());
    let _early = [one, two].map(|at| apart.worker(at));
    apart.asked(&["add-seeds", SEED]);
    until("each owns what is nearer", || apart.owners() == [(here, one), (there, two)].into());
    until("all sites are known", || {
        apart.lab.number("SELECT count(politeness_group) FROM argiope.site") == SITES as i64
    });
    let settled = apart.lab.web.log().len();
    let mut found = apart.check_answers(&BTreeSet::new());

    let _late = apart.worker(three);
    until("the nearest of all has taken over", || {
        found = apart.check_answers(&found);
        apart.owners() == [(here, one), (there, three)].into()
    });
    let answer = apart.asked(&["crawl", SEED]);
    assert_eq!(answer["fetched"], PAGES, "{answer}");
    assert_eq!(apart.check_answers(&found).len(), PAGES);

    let log = apart.lab.web.log();
    check_polite(&log);
    // What is known of a robots.txt counts for another owner once the segment with its record is sealed: else each asks itself.
    let pages: Vec<_> = asked(&log).into_iter().filter(|(url, _)| !url.ends_with("/robots.txt")).collect();
    assert!(pages.iter().all(|(_, times)| *times == 1), "no page is asked for twice: {pages:?}");
    assert_eq!(askers(&log[settled..], here), [one]);
    assert_eq!(askers(&log[settled..], there), [two, three]);
}
