//! Questions to several workers together, each with the pages of a site: the answers are those of one crawl of all sites.

use std::net::Ipv4Addr;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use api::{
    Drawn, LinksRequest, OverlapRequest, OverlapResponse, PageRankRequest, PageRankResponse, PathRequest,
    PictureRequest, PictureResponse, SearchRequest, SearchResponse,
};
use crawl::opened::Opened;
use dataset::Layout;
use dataset::schema::Table;
use report::Statistics;
use serde_json::{Value, json};
use service::access::Guard;
use service::queries::{ContentsRequest, Coordinator, Endpoint, Fetch, Members, QueryError, Request, fetch_from};
use shared_archive::SharedArchive;
use testdb::until;
use testweb::{Pages, Web};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use weburl::CanonicalRules;

use testkit::crawled::Crawled;
use testkit::ran::{Ran, argiope};
use testkit::ui::Ui;

const SITES: usize = 3;
const PAGES_OF_SITE: usize = 25;
const TOKEN: &str = "the workers' own";

/// Sites whose pages link to each other, within a site and across. The first page of a site has a copy.
fn web() -> Web {
    let url = |site: usize, page: usize| format!("http://s{site}.test/{page}");
    let mut web = Web::new();
    for site in 0..SITES {
        let mut pages = Pages::new();
        for page in 0..PAGES_OF_SITE {
            let next = url(site, (page + 1) % PAGES_OF_SITE);
            let across = url((site + page) % SITES, (page * page + 7 * site) % PAGES_OF_SITE);
            let nowhere = format!("http://nowhere.invalid/{}", page % 4);
            let html = format!(
                "<title>{site}</title>{}<a href={next}>next</a><a rel=nofollow href={across}>across</a><a href={nowhere}>x</a>",
                "orb weaver ".repeat((page + site) % 5)
            );
            pages = if page == 0 { pages.html("/copy", html.clone()) } else { pages };
            let copy = if page == 3 { "<a href=/copy>copy</a>" } else { "" };
            pages = pages.html(format!("/{page}"), format!("{html}{copy}"));
        }
        web = web.site(&format!("s{site}.test"), pages);
    }
    web
}

/// A crawl of some sites.
fn crawl(sites: &[usize]) -> Crawled {
    let seeds: Vec<String> = sites.iter().map(|site| format!("http://s{site}.test/0")).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    Crawled::of(web(), seeds[0], &[&seeds[1..], &["--no-sitemaps"]].concat())
}

/// Crawls of a site each: what the workers have.
fn crawl_parts() -> [Crawled; SITES] {
    std::array::from_fn(|site| crawl(&[site]))
}

/// A worker, as far as queries go. It runs apart from the others, so that it can be stopped.
struct Worker {
    url: String,
    runtime: Option<Runtime>,
}

impl Worker {
    fn start(root: &Path, fetch: Arc<Fetch>) -> Self {
        let runtime = runtime();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let endpoint = Endpoint {
            program: PathBuf::from(env!("CARGO_BIN_EXE_argiope")),
            root: root.to_owned(),
            listen: Ipv4Addr::LOCALHOST.into(),
            host: "localhost".to_owned(),
            guard: Guard::by_token(Some(TOKEN)),
            fetch,
            state: None,
        };
        runtime.spawn(endpoint.serve(listener));
        Worker { url, runtime: Some(runtime) }
    }

    fn of(part: &Crawled) -> Self {
        Worker::start(Path::new(part.dir()), Arc::new(|segment, _| anyhow::bail!("{segment}: nobody has gone")))
    }

    /// Ends as a process does that is killed.
    fn stop(&mut self) {
        self.runtime.take().expect("it runs").shutdown_background();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.runtime.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

/// The workers that are alive, as a client sees them.
#[derive(Clone, Default)]
struct Alive(Arc<Mutex<Members>>);

impl Alive {
    fn of<'a>(workers: impl IntoIterator<Item = &'a Worker>) -> Self {
        let alive = Alive::default();
        alive.set(workers);
        alive
    }

    fn set<'a>(&self, workers: impl IntoIterator<Item = &'a Worker>) {
        self.0.lock().expect("no panic").workers = workers.into_iter().map(|worker| worker.url.clone()).collect();
    }

    async fn ask<R: Request>(&self, request: &R) -> Result<R::Response, QueryError> {
        let coordinator = Coordinator::new(CanonicalRules::default(), Some(TOKEN.to_owned()));
        coordinator.ask(request, || async { Ok(self.0.lock().expect("no panic").clone()) }).await
    }
}

fn ranks(normalized: bool) -> PageRankRequest {
    PageRankRequest { top: 1_000, normalized, ..PageRankRequest::default() }
}

/// Asks everything, and compares with what the binary says of one crawl.
fn compare(asking: &Runtime, alive: &Alive, whole: &Crawled) {
    let ran = |command: &str, arguments: &[&str]| -> Ran {
        let ran = whole.run(command, arguments);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran
    };
    for normalized in [false, true] {
        let flags: &[&str] = if normalized { &["--normalized"] } else { &[] };
        let expect = ran("rank", &[&["--json", "--visited", "--top", "1000"], flags].concat()).json();
        let PageRankResponse { rounds, vertices, edges, ranked, .. } =
            asking.block_on(alive.ask(&ranks(normalized))).expect("an answer");
        let rows: Vec<Value> = ranked
            .iter()
            .map(|ranked| json!({"place": ranked.place, "rank": ranked.rank, "name": ranked.url}))
            .collect();
        assert_eq!(json!([rounds, vertices, edges]), json!([expect["rounds"], expect["vertices"], expect["edges"]]));
        assert_eq!(Value::from(rows), expect["rows"]);
        // One in the middle, and one that nobody crawled.
        for url in [ranked[ranked.len() / 2].url.as_str(), "http://nowhere.invalid/1"] {
            let expect = ran("rank", &[&[url, "--json", "--visited"], flags].concat()).json();
            let request = PageRankRequest { url: Some(url.to_owned()), normalized, ..PageRankRequest::default() };
            let one = asking.block_on(alive.ask(&request)).expect("an answer").ranked.remove(0);
            assert_eq!(json!({"url": one.url, "rank": one.rank, "place": one.place}), {
                let mut expect = expect;
                let fields = expect.as_object_mut().expect("an object");
                fields.remove("of");
                // A URL without a visit has none; numbers are 0 then.
                fields.entry("place").and_modify(|place| *place = json!(place.as_u64().unwrap_or(0)));
                expect
            });
        }
    }

    let ui = Ui::start(Path::new(whole.dir()));
    for of in ["pages", "sites", "domains"] {
        let path = format!("/graph.json?of={of}");
        until("the picture to be drawn", || ui.get(&path).status == 200);
        let expect: Value = serde_json::from_str(&ui.page(&path)).expect("JSON");
        let request = PictureRequest { of: of.to_owned(), max: 0 };
        let PictureResponse { vertices, links, communities, vertices_left_out, links_left_out } =
            asking.block_on(alive.ask(&request)).expect("an answer");
        assert!(vertices.len() >= SITES && !links.is_empty(), "{of}");
        let drawn = vertices.iter().map(|drawn| {
            let Drawn { name, rank, linked_by, community, x, y } = drawn;
            json!({"name": name, "rank": rank, "linked_by": linked_by, "community": community, "at": [x, y]})
        });
        let found = json!({
            "vertices": drawn.collect::<Vec<_>>(),
            "links": links.iter().map(|link| [link.source, link.target]).collect::<Vec<_>>(),
            "communities": communities,
            "left_out": [vertices_left_out, links_left_out],
        });
        for part in ["left_out", "communities", "links"] {
            assert_eq!(found[part], expect[part], "{of}: {part}");
        }
        // Places are told in the digits of their precision, which is less than that of numbers in JSON.
        let each = |picture: &Value| {
            let mut vertices = picture["vertices"].as_array().expect("vertices").clone();
            for at in vertices.iter_mut().flat_map(|drawn| drawn["at"].as_array_mut().expect("a place")) {
                *at = json!((at.as_f64().expect("a number") as f32).to_bits());
            }
            vertices
        };
        for (found, expect) in each(&found).iter().zip(&each(&expect)) {
            assert_eq!(found, expect, "{of}");
        }
    }

    let urls = ["s0.test/0", "http://s1.test/3"];
    let expect = ran("overlap", &[urls[0], urls[1], "--json", "--visited"]).json();
    let request = OverlapRequest { url1: urls[0].to_owned(), url2: urls[1].to_owned(), list: true };
    let OverlapResponse { overlap, domains, reachable, links, edges } =
        asking.block_on(alive.ask(&request)).expect("an answer");
    assert!(overlap > 5 && overlap == links.iter().sum::<u64>(), "{overlap} {links:?}");
    let edges: Vec<Value> = edges.iter().map(|edge| json!({"source": edge.source, "target": edge.target})).collect();
    let (there, back) = edges.split_at(usize::try_from(links[0]).expect("few"));
    let found = json!({"overlap": overlap, "domains": domains, "reachable": reachable, "edges": [there, back]});
    assert_eq!(found, expect);

    let orb = SearchRequest { text: "orb".to_owned(), limit: 30, ..SearchRequest::default() };
    let of_site = SearchRequest { site: "s1.test".to_owned(), since: 1.0, ..orb.clone() };
    let regex = SearchRequest { text: "we.*r".to_owned(), regex: true, ..orb.clone() };
    let main_text = SearchRequest { main_text: true, ..orb.clone() };
    for (request, flags) in [
        (orb, &[] as &[&str]),
        (regex, &["--regex"]),
        (main_text, &["--main-text"]),
        (of_site, &["--site", "s1.test", "--since", "1970-01-02"]),
    ] {
        let text = request.text.clone();
        let expect = ran("search", &[&[text.as_str(), "--json", "--limit", "30"], flags].concat()).json();
        let SearchResponse { pages, occurrences, found } = asking.block_on(alive.ask(&request)).expect("an answer");
        let rows: Vec<Value> = found
            .into_iter()
            .map(|found| {
                let context = Some(found.context).filter(|context| !context.is_empty());
                json!({"occurrences": found.occurrences, "url": found.url, "context": context})
            })
            .collect();
        assert_eq!(json!({"pages": pages, "occurrences": occurrences, "rows": rows}), expect, "{text}");
    }

    for url in ["http://s1.test/0", "http://s0.test/copy", "http://nowhere.invalid/1"] {
        let sorted = |mut links: Vec<String>| {
            links.sort_unstable();
            links
        };
        let expect = ran("links", &[url, "--json"]).stdout.lines().map(str::to_owned).collect();
        let answer = asking.block_on(alive.ask(&LinksRequest { url: url.to_owned() })).expect("an answer");
        assert!(answer.from.iter().all(|link| link.source == url) && answer.to.iter().all(|link| link.target == url));
        let line = |link: &api::Link| {
            let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            let (text, rel) = (given(&link.text), given(&link.rel));
            json!({"source": link.source, "target": link.target, "text": text, "kind": link.kind, "rel": rel})
                .to_string()
        };
        let found = answer.from.iter().chain(&answer.to).map(line).collect();
        assert_eq!(sorted(found), sorted(expect), "{url}");
    }

    let path = |url1: &str, url2: &str| {
        asking.block_on(alive.ask(&PathRequest { url1: url1.to_owned(), url2: url2.to_owned() }))
    };
    for (one, other) in [
        ("http://s0.test/0", "http://s2.test/13"),
        ("http://s2.test/copy", "http://nowhere.invalid/3"),
        ("http://s1.test/7", "http://s0.test/copy"),
        ("http://s1.test/7", "http://s1.test/7"),
    ] {
        let expect = ran("path", &[one, other, "--json"]).json();
        let answer = path(one, other).expect("an answer");
        let texts = answer.texts.iter().map(|text| Some(text).filter(|text| !text.is_empty()));
        let found = json!({"links": answer.texts.len(), "urls": answer.urls, "texts": texts.collect::<Vec<_>>()});
        assert_eq!(found, expect, "{one} {other}");
    }
    let [nowhere, start] = ["http://nowhere.invalid/1", "http://s0.test/0"];
    assert_eq!(path(nowhere, start), Err(QueryError::NoPath(nowhere.to_owned(), start.to_owned())));
    assert!(matches!(path(start, "http://unknown.invalid/"), Err(QueryError::Unknown(_))));
}

/// What workers tell for a report makes the report of one crawl.
fn compare_reports(asking: &Runtime, alive: &Alive, whole: &Crawled) {
    let ran = whole.run("report", &["--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let expect: Statistics = serde_json::from_value(ran.json()).expect("statistics");
    let opened = Opened::new(Path::new(whole.dir())).expect("a crawl");
    let seed_sites = report::seed_sites(opened.view()).expect("seeds");
    let gathered = asking.block_on(alive.ask(&ContentsRequest { seed_sites })).expect("an answer");
    let found = Statistics::of_state(opened.view(), Some(gathered), None).expect("a report");
    assert_eq!(found.images, expect.images);
    assert_eq!(found.links, expect.links);
    assert_eq!(found.duplicates, expect.duplicates);
    assert_eq!(found.picture, expect.picture);
    assert!(found.links.is_some_and(|links| links.most_linked.rows.len() > SITES * PAGES_OF_SITE));
    assert!(expect.duplicates.near.is_some_and(|near| near.near.all_sites > 0), "some pages resemble each other");
    assert_eq!(
        (found.binary_by_type, found.rendering, found.items),
        (expect.binary_by_type, expect.rendering, expect.items)
    );
}

#[test]
fn workers_answer_together_as_one_crawl_of_everything() {
    let (asking, whole, parts) = (runtime(), crawl(&[0, 1, 2]), crawl_parts());
    let workers = parts.each_ref().map(Worker::of);
    compare_reports(&asking, &Alive::of(&workers), &whole);
    compare(&asking, &Alive::of(&workers), &whole);
    compare(&asking, &Alive::of(workers.iter().rev()), &whole);
    no_process_is_left();
}

#[test]
fn segments_of_workers_that_are_gone_are_read_by_one_of_the_others() {
    let (asking, whole, parts) = (runtime(), crawl(&[0, 1, 2]), crawl_parts());
    let gone = &parts[2];
    let segments: Vec<String> = gone
        .segments()
        .iter()
        .map(|path| path.file_name().expect("a name").to_str().expect("UTF-8").to_owned())
        .collect();
    let shared = tempfile::TempDir::new().expect("a directory");
    let archive = SharedArchive::open(&format!("file://{}", shared.path().display())).expect("an archive");
    for segment in &segments {
        archive.put_segment(segment, Path::new(gone.dir())).expect("shared");
    }
    let fetched: Arc<Mutex<Vec<String>>> = Arc::default();
    let fetch: Arc<Fetch> = {
        let (fetched, fetch) = (fetched.clone(), fetch_from(Arc::new(archive)));
        Arc::new(move |segment: &str, layout: &Layout| {
            fetched.lock().expect("no panic").push(segment.to_owned());
            fetch(segment, layout)
        })
    };
    let workers = [0, 1].map(|site| Worker::start(Path::new(parts[site].dir()), fetch.clone()));
    let alive = Alive::of(&workers);
    alive.0.lock().expect("no panic").segments.clone_from(&segments);
    compare(&asking, &alive, &whole);
    assert_eq!(*fetched.lock().expect("no panic"), segments, "once, and by one");
}

#[test]
fn wrong_questions_are_told_at_once() {
    let (asking, parts) = (runtime(), crawl_parts());
    let workers = [0, 1].map(|site| Worker::of(&parts[site]));
    let alive = Alive::of(&workers);
    let overlap = |url1: &str, url2: &str| {
        let request = OverlapRequest { url1: url1.to_owned(), url2: url2.to_owned(), list: false };
        asking.block_on(alive.ask(&request)).expect_err("wrong").to_string()
    };
    assert_eq!(overlap("s0.test/none", "s1.test/0"), "http://s0.test/none: the crawl has not visited it");
    let same = "both URLs are in s0.test: an overlap needs two domains (host and port)";
    assert_eq!(overlap("s0.test/1", "s0.test/2"), same);
    let links = asking.block_on(alive.ask(&LinksRequest { url: "http://s0.test/none".to_owned() }));
    assert_eq!(links, Err(QueryError::Unknown("http://s0.test/none".to_owned())));
    let request = PageRankRequest { url: Some("http://s0.test/none".to_owned()), ..ranks(false) };
    let ranked = asking.block_on(alive.ask(&request)).expect("an answer").ranked.remove(0);
    assert_eq!((ranked.place, ranked.rank), (0, 0.0));
    let nobody = asking.block_on(Alive::default().ask(&ranks(false))).expect_err("nobody").to_string();
    assert_eq!(nobody, "no workers are alive: start some with `argiope worker`");
}

#[test]
fn a_question_that_cannot_be_answered_is_put_some_times_and_then_told_why() {
    let (asking, parts) = (runtime(), [crawl(&[0]), crawl(&[1])]);
    let workers = parts.each_ref().map(Worker::of);
    let pages = Layout::at(Path::new(parts[1].dir()).join("dataset")).files(Table::Pages).expect("files").remove(0);
    std::fs::write(&pages, "no table").expect("a file");
    // A list that changes spares the pauses.
    let (alive, looks) = (Alive::of(&workers), AtomicUsize::new(0));
    let members = || async {
        let mut members = alive.0.lock().expect("no panic").clone();
        members.workers.rotate_left(looks.fetch_add(1, Ordering::Relaxed) % 2);
        Ok(members)
    };
    let coordinator = Coordinator::new(CanonicalRules::default(), Some(TOKEN.to_owned()));
    let error = asking.block_on(coordinator.ask(&ranks(false), members)).expect_err("a damaged file").to_string();
    let begin = format!("{}: dataset: {}: ", workers[1].url, pages.display());
    assert!(error.starts_with(&begin) && error.ends_with(" (the last of 6 tries)"), "{error}");
    no_process_is_left();
}

#[test]
fn who_does_not_bear_the_token_is_not_let_in() {
    use std::io::{Read, Write};

    let part = crawl(&[0]);
    let worker = Worker::of(&part);
    let answer = |authorization: &str| {
        let mut stream = std::net::TcpStream::connect(worker.url.trim_start_matches("http://")).expect("it listens");
        write!(stream, "DELETE /v1/queries/00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{authorization}\r\n")
            .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer.lines().next().expect("a line").to_owned()
    };
    assert_eq!(answer(""), "HTTP/1.1 401 Unauthorized");
    assert_eq!(answer("Authorization: Bearer another\r\n"), "HTTP/1.1 401 Unauthorized");
    assert_eq!(answer(&format!("Authorization: Bearer {TOKEN}\r\n")), "HTTP/1.1 200 OK");
}

/// Holds up the process of a worker in the middle of a query: it asks the crawl that seems to be running in the directory to
/// complete its files, and gets no answer until this is let go of.
struct Held {
    socket: PathBuf,
    listener: Option<UnixListener>,
    asking: Option<UnixStream>,
}

impl Held {
    fn at(part: &Crawled) -> Self {
        let socket = Path::new(part.dir()).join("live.socket");
        let listener = UnixListener::bind(&socket).expect("a socket");
        Held { socket, listener: Some(listener), asking: None }
    }

    /// Waits for the process. Those that come later are not held up.
    fn wait(&mut self) {
        let listener = self.listener.take().expect("it is waited for once");
        self.asking = Some(listener.accept().expect("a process").0);
        std::fs::remove_file(&self.socket).expect("a socket");
    }
}

/// A query in the middle of its first try.
struct Asked {
    held: Held,
    answer: JoinHandle<Result<PageRankResponse, QueryError>>,
}

impl Asked {
    fn begin(asking: &Runtime, alive: &Alive, holding: &Crawled) -> Self {
        let mut held = Held::at(holding);
        let alive = alive.clone();
        let answer = asking.spawn(async move { alive.ask(&ranks(true)).await });
        held.wait();
        assert_eq!(processes().len(), SITES, "one for each member");
        Asked { held, answer }
    }
}

/// The processes that take part in queries of this test.
fn processes() -> Vec<u32> {
    let own = std::process::id().to_string();
    let of_process = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.ok()?;
        let id = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // What follows the name of the program: its state, and the parent.
        let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?;
        let command = std::fs::read(entry.path().join("cmdline")).ok()?;
        let is_part = command.ends_with(b"\0query-part\0");
        (parent == own && is_part).then_some(id)
    };
    std::fs::read_dir("/proc").expect("processes").filter_map(of_process).collect()
}

fn no_process_is_left() {
    until("the processes of queries end", || processes().is_empty());
}

/// The ranks of the first two sites.
fn ranks_of_two(asking: &Runtime, parts: &[Crawled; SITES]) -> PageRankResponse {
    let workers = [0, 1].map(|site| Worker::of(&parts[site]));
    asking.block_on(Alive::of(&workers).ask(&ranks(true))).expect("an answer")
}

#[test]
fn a_query_begins_anew_without_a_worker_that_stopped() {
    let (asking, parts) = (runtime(), crawl_parts());
    let expect = ranks_of_two(&asking, &parts);
    let mut workers = parts.each_ref().map(Worker::of);
    let alive = Alive::of(&workers);
    let asked = Asked::begin(&asking, &alive, &parts[2]);
    workers[2].stop();
    alive.set(&workers[..2]);
    assert_eq!(asking.block_on(asked.answer).expect("no panic"), Ok(expect));
    no_process_is_left();
}

#[test]
fn a_query_begins_anew_without_a_worker_that_is_alive_no_more_and_does_not_answer() {
    let (asking, parts) = (runtime(), crawl_parts());
    let expect = ranks_of_two(&asking, &parts);
    let workers = parts.each_ref().map(Worker::of);
    let alive = Alive::of(&workers);
    let asked = Asked::begin(&asking, &alive, &parts[0]);
    // The first is held up, and stays so.
    alive.set(&workers[..2]);
    assert_eq!(asking.block_on(asked.answer).expect("no panic"), Ok(expect));
    no_process_is_left();
}

#[test]
fn a_query_begins_anew_after_a_process_was_killed() {
    let (asking, parts) = (runtime(), crawl_parts());
    let workers = parts.each_ref().map(Worker::of);
    let alive = Alive::of(&workers);
    let expect = asking.block_on(alive.ask(&ranks(true))).expect("an answer");
    for place in 0..SITES {
        no_process_is_left();
        let asked = Asked::begin(&asking, &alive, &parts[1]);
        let killed = Command::new("kill").args(["-9", &processes()[place].to_string()]).status().expect("kill");
        assert!(killed.success());
        assert_eq!(asking.block_on(asked.answer).expect("no panic").as_ref(), Ok(&expect), "{place}");
        drop(asked.held);
    }
}

#[test]
fn a_query_that_nobody_waits_for_leaves_no_process() {
    let (asking, parts) = (runtime(), crawl_parts());
    let workers = parts.each_ref().map(Worker::of);
    let asked = Asked::begin(&asking, &Alive::of(&workers), &parts[1]);
    asked.answer.abort();
    no_process_is_left();
}

#[test]
fn a_process_ends_with_the_worker_that_started_it() {
    let ran = argiope(&["query-part"]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.json(), json!({"Err": {"Failed": "the worker has gone"}}));
}
