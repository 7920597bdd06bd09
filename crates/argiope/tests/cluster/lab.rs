//! A web on several addresses, a database, a server and real workers: to be killed, paused and sent away.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;
use service::access::Proof;
use service::joining::{Joining, ask};
use tempfile::TempDir;
use testdb::{Paused, Postgres, until};
use testweb::{Config, LogEntry, NameServer, Named, Server, Synthetic, Web};
use tokio::runtime::Runtime;

use crate::served::Served;
use testkit::ran::argiope;

/// The delay of sites and of addresses.
pub const DELAY: Duration = Duration::from_millis(20);

/// A web of `sites` sites with `pages` pages in all.
pub struct Laid {
    pub web: Server,
    /// Of each address so many ports, one after the other.
    doors: usize,
    connect_to: Vec<String>,
    /// As an option has it.
    delay: String,
    runtime: Runtime,
}

impl Laid {
    /// Serves it on so many addresses of loopback, from 127.0.0.2 on.
    pub fn out(sites: u64, pages: u64, addresses: u8) -> Self {
        Laid::at(sites, pages, (0..addresses).map(|n| Ipv4Addr::new(127, 0, 0, 2 + n)))
    }

    /// Serves it on these addresses of this machine; the sites are spread over them.
    pub fn at(sites: u64, pages: u64, addresses: impl IntoIterator<Item = Ipv4Addr>) -> Self {
        Laid::behind(1, sites, pages, addresses)
    }

    /// Serves it behind so many doors: ports of each address. A client that knows only one of them is recognised by it.
    pub fn behind(doors: usize, sites: u64, pages: u64, addresses: impl IntoIterator<Item = Ipv4Addr>) -> Self {
        let runtime = runtime();
        let all_doors = |address| std::iter::repeat_n(SocketAddr::from((address, 0)), doors);
        let web = serve(&runtime, sites, pages, addresses.into_iter().flat_map(all_doors));
        let first_doors: Vec<SocketAddr> = web.addresses().iter().copied().step_by(doors).collect();
        let at = |site: u64| first_doors[usize::try_from(site).expect("few") % first_doors.len()];
        let connect_to = (0..sites).map(|site| format!("s{site:04}.synthetic.test:80:{}", at(site))).collect();
        Laid { web, doors, connect_to, delay: in_words(DELAY), runtime }
    }

    /// The same, asked with another delay of sites and of addresses.
    pub fn every(mut self, delay: Duration) -> Self {
        self.delay = in_words(delay);
        self
    }

    /// Serves it on one address. Where its sites are is for name servers to say.
    pub fn named(sites: u64, pages: u64, address: Ipv4Addr) -> Self {
        let runtime = runtime();
        let web = serve(&runtime, sites, pages, [SocketAddr::from((address, 0))]);
        let port = web.address().port();
        let host = |site: u64| format!("s{site:04}.synthetic.test");
        let connect_to = (0..sites).map(|site| format!("{0}:80:{0}:{port}", host(site))).collect();
        Laid { web, doors: 1, connect_to, delay: in_words(DELAY), runtime }
    }

    /// Serves such a web on the same port of another address too.
    pub fn also(&self, sites: u64, pages: u64, address: Ipv4Addr) -> Server {
        serve(&self.runtime, sites, pages, [SocketAddr::from((address, self.web.address().port()))])
    }

    /// Starts a name server.
    pub fn name_server(&self, named: impl Fn(&str) -> Named + Send + Sync + 'static) -> NameServer {
        self.runtime.block_on(NameServer::start(named)).expect("a free port")
    }

    /// Ends such a server, and all connections to it.
    pub fn shut_down(&self, server: Server) {
        self.runtime.block_on(server.shutdown());
    }

    /// Serves a web with each of these hosts on an address of its own, from 127.0.0.2 on.
    pub fn apart(web: Web, hosts: &[&str]) -> Self {
        Laid::grouped(1, web, &hosts.iter().map(std::slice::from_ref).collect::<Vec<_>>())
    }

    /// Serves a web with each group of hosts on an address, from 127.0.0.2 on, behind so many doors.
    pub fn grouped(doors: usize, web: Web, hosts: &[&[&str]]) -> Self {
        let runtime = runtime();
        let addresses = (2..).map(|last| SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), 0)));
        let listen = addresses.take(hosts.len()).flat_map(|address| std::iter::repeat_n(address, doors)).collect();
        let web = runtime.block_on(Server::start(Config { listen, ..Config::new(web) })).expect("of this machine");
        let first_doors = web.addresses().iter().step_by(doors);
        let led = hosts.iter().zip(first_doors).flat_map(|(hosts, at)| hosts.iter().map(move |host| (host, at)));
        let connect_to = led.map(|(host, at)| format!("{host}:80:{at}")).collect();
        Laid { web, doors, connect_to, delay: in_words(DELAY), runtime }
    }

    /// Serves a web on one address.
    pub fn of(web: Web) -> Self {
        let runtime = runtime();
        let web = runtime.block_on(Server::start(Config::new(web))).expect("a free port");
        let connect_to = vec![web.connect_to()];
        Laid { web, doors: 1, connect_to, delay: in_words(DELAY), runtime }
    }

    /// The flags of a crawl of it.
    pub fn arguments(&self) -> Vec<&str> {
        let fixed = ["--scope", "domain", "--delay", &self.delay, "--ip-delay", &self.delay, "--backoff", "100ms"];
        let led = self.connect_to.iter().flat_map(|rule| ["--connect-to", rule.as_str()]);
        led.chain(fixed).collect()
    }

    /// Settings of a crawl that lead through the first door, made to lead through another.
    pub fn through(&self, door: usize, settings: &str) -> String {
        let led = |settings: String, of_address: &[SocketAddr]| {
            settings.replace(&format!("{}\"", of_address[0]), &format!("{}\"", of_address[door]))
        };
        self.web.addresses().chunks(self.doors).fold(settings.to_owned(), led)
    }

    /// The door by which a request came.
    pub fn door_of(&self, entry: &LogEntry) -> usize {
        let at = self.web.addresses().iter().position(|address| *address == entry.local);
        at.expect("it listens there") % self.doors
    }

    /// The time of the log's clock, in microseconds.
    pub fn now_us(&self) -> u64 {
        self.web.now_us()
    }

    /// All requests so far.
    pub fn log(&self) -> Vec<LogEntry> {
        self.web.log()
    }

    /// Asks for a page twice, the second time at once.
    pub fn ask_twice(&self, host: &str, path: &str) {
        for _ in 0..2 {
            let mut stream = TcpStream::connect(self.web.address()).expect("it listens");
            write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("it reads");
            stream.read_to_end(&mut Vec::new()).expect("it answers");
        }
    }

    /// A crawl of it by one process, into a directory.
    pub fn crawled_alone(&self) -> TempDir {
        let dir = TempDir::new().expect("a directory");
        let path = dir.path().to_str().expect("UTF-8");
        let crawl = ["crawl", SEED, "-o", path, "--progress", "none", "--depth", "100"];
        let ran = argiope(&[&crawl[..], &self.arguments()].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        dir
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime")
}

fn serve(runtime: &Runtime, sites: u64, pages: u64, listen: impl IntoIterator<Item = SocketAddr>) -> Server {
    let settings = format!("7,{sites},{pages},4").parse().expect("a synthetic web");
    let web = Web::new().site("*.synthetic.test", Synthetic::new(settings).expect("a synthetic web"));
    let config = Config { listen: listen.into_iter().collect(), ..Config::new(web) };
    runtime.block_on(Server::start(config)).expect("addresses of this machine")
}

impl Drop for Laid {
    fn drop(&mut self) {
        // Its connections are served on the runtime, which goes after it.
        let _guard = self.runtime.enter();
    }
}

/// The lease of a worker that nothing is to take its sites from: no machine is so busy that it ends before it is renewed.
const LEASE: [&str; 2] = ["--lease", "30s"];

/// The lease where workers are lost: others take over soon. On a busy machine it may end under a worker that is well.
pub const SHORT_LEASE: [&str; 2] = ["--lease", "2s"];

/// From where every page of the web is in reach.
pub const SEED: &str = "http://s0000.synthetic.test/p/0";

/// A crawl of a web by workers.
pub struct Lab {
    pub web: Laid,
    pub database: Mutex<Postgres>,
    pub served: Served,
    root: TempDir,
}

impl Lab {
    /// A server for the web, with more arguments. Sitemaps, of which the web has none, are not asked for.
    pub fn new(web: Laid, arguments: &[&str]) -> Self {
        Lab::with_sitemaps(web, &[&["--no-sitemaps"], arguments].concat())
    }

    /// The same where sitemaps are read as the server decides.
    pub fn with_sitemaps(web: Laid, arguments: &[&str]) -> Self {
        let (database, root) = (Postgres::start(), TempDir::new().expect("a directory"));
        let archive = format!("file://{}", root.path().join("shared").display());
        let usual = ["--archive", &archive, "--deny-private=false"];
        let lease = if arguments.contains(&"--lease") { &[][..] } else { &LEASE };
        let served = Served::start(&database, &[&usual[..], lease, &web.arguments(), arguments].concat());
        Lab { web, database: Mutex::new(database), served, root }
    }

    /// The directory of the crawl on shared storage.
    pub fn shared(&self) -> PathBuf {
        self.root.path().join("shared")
    }

    /// Starts a worker.
    pub fn worker(&self) -> Worker {
        self.worker_by(Command::new(env!("CARGO_BIN_EXE_argiope")), &[])
    }

    /// Starts a worker by a command that becomes the binary, with more arguments.
    pub fn worker_by(&self, binary: Command, arguments: &[&str]) -> Worker {
        self.worker_of(&self.served.workers, binary, arguments)
    }

    /// Stops what the database does for the worker of a door, between two commits.
    pub fn pause_sessions_of(&self, door: usize) -> Paused {
        self.database.lock().expect("nobody panicked").pause_sessions(&application(door))
    }

    /// Starts a worker that reaches the web by a door of its own, and that the database knows by it.
    pub fn worker_behind(&self, door: usize) -> Worker {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let told = runtime.block_on(ask(&self.served.workers, &Proof::default())).expect("it answers");
        let store = format!("{}?application_name={}", told.store, application(door));
        let told = Joining { settings: self.web.through(door, &told.settings), store, ..told };
        // What it has written is final soon: not each worker that is lost takes all its pages with it.
        let arguments = ["--seal-after", "2s"];
        self.worker_of(&tells_once(&told), Command::new(env!("CARGO_BIN_EXE_argiope")), &arguments)
    }

    fn worker_of(&self, server: &str, mut binary: Command, arguments: &[&str]) -> Worker {
        let output = tempfile::NamedTempFile::new_in(self.root.path()).expect("a file");
        let (file, path) = output.keep().expect("it stays");
        let process = binary
            .args(["worker", server, "--progress", "none", "--dir"])
            .arg(path.with_extension("dir"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .spawn()
            .expect("the binary starts");
        let worker = Worker { process, output: path };
        until("a worker to join", || worker.said().contains("has joined"));
        worker
    }

    /// URL, outcome and depth of each page known.
    pub fn pages(&self) -> BTreeMap<String, (Option<String>, i64)> {
        let rows = self.query("SELECT url, outcome::text, depth FROM argiope.page");
        rows.iter().map(|row| (row.get(0), (row.get(1), row.get(2)))).collect()
    }

    /// What the database says.
    pub fn query(&self, statement: &str) -> Vec<postgres::Row> {
        let mut client = self.database.lock().expect("nobody panicked").client();
        client.query(statement, &[]).expect("the statement is right")
    }

    /// Has the database do something.
    pub fn execute(&self, statements: &str) {
        let mut client = self.database.lock().expect("nobody panicked").client();
        client.batch_execute(statements).expect("the statements are right");
    }

    /// The names of those who own something.
    pub fn owners(&self) -> BTreeSet<String> {
        let owners =
            "SELECT w.name FROM argiope.worker w WHERE w.worker IN (SELECT owner FROM argiope.politeness_group)";
        self.query(owners).iter().map(|row| row.get(0)).collect()
    }

    /// A single number.
    pub fn number(&self, statement: &str) -> i64 {
        self.query(statement)[0].get(0)
    }

    /// Kills a worker. Its lease is over at once, so the others take over what it owned.
    pub fn lose(&self, worker: Worker) {
        let name = worker.name();
        worker.kill();
        self.execute(&format!("UPDATE argiope.worker SET lease_until = '-infinity' WHERE name = '{name}'"));
    }

    /// Makes a worker the owner of an address of the web, before any site is known there.
    pub fn give(&self, worker: &Worker, address: &str) {
        let name = worker.name();
        self.execute(&format!(
            "INSERT INTO argiope.politeness_group (name, owner, epoch)
                SELECT '{address}', worker, 1 FROM argiope.worker WHERE name = '{name}'"
        ));
    }

    /// Adds the seed and waits until nothing is left to do.
    pub fn crawl(&self) -> Value {
        self.served.asked(&["crawl", SEED])
    }
}

fn application(door: usize) -> String {
    format!("door{door}")
}

fn in_words(delay: Duration) -> String {
    format!("{}ms", delay.as_millis())
}

/// A server that tells one worker what it must know, and no more. Says where it is.
fn tells_once(told: &Joining) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    let body = serde_json::to_string(told).expect("JSON");
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a worker");
        let asked = BufReader::new(&stream).lines().map(|line| line.expect("HTTP"));
        asked.take_while(|line| !line.is_empty()).for_each(drop);
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).expect("it reads");
    });
    address
}

/// A running worker.
pub struct Worker {
    process: Child,
    output: PathBuf,
}

impl Worker {
    /// What it has said so far.
    pub fn said(&self) -> String {
        std::fs::read_to_string(&self.output).expect("its output")
    }

    /// Where others reach it, by which the database knows it, whichever its identity is.
    pub fn name(&self) -> String {
        let said = self.said();
        let joined = said.lines().find(|line| line.ends_with("has joined")).expect("it has joined");
        joined.rsplit(' ').nth(2).expect("its name").to_owned()
    }

    /// Sends a signal, such as `STOP`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.process.id().to_string()).status();
        assert!(sent.expect("kill starts").success(), "the process is still there");
    }

    /// Kills it, now.
    pub fn kill(mut self) {
        self.process.kill().expect("it is still there");
        self.process.wait().expect("a child of ours");
    }

    /// Asks it to leave, and waits for that. Gives its exit code, and what it has said.
    pub fn leave(self) -> (Option<i32>, String) {
        self.signal("TERM");
        self.ended()
    }

    /// Waits until it leaves. Gives its exit code, and what it has said.
    pub fn ended(mut self) -> (Option<i32>, String) {
        until("a worker to leave", || self.process.try_wait().expect("a child of ours").is_some());
        let code = self.process.wait().expect("a child of ours").code();
        (code, self.said())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It has ended, or is to end now.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
