//! Two processes on loopback, which know half of the pages each, give the answer of one that knows all.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;

use graph::{Crew, Definition, Graph, GraphBuilder, Overlap, PageKind, overlap, pagerank};

use crate::graphs::url;

/// Tells the second process where the first listens.
const ADDRESS: &str = "ARGIOPE_TEST_FIRST_PROCESS";
const PAGES: usize = 3_000;
const THREADS: usize = 2;

/// A graph of 40 sites, with a few pages that many link to; of one process what it knows: every second page with its links.
fn graph(process: Option<usize>) -> Arc<Graph> {
    let page = |number: usize| url(&format!("s{}.test/{number}", number % 40)).key();
    let mut graph = GraphBuilder::default();
    let mut random = 1usize;
    for number in 0..PAGES {
        let is_known = process.is_none_or(|process| number % 2 == process);
        if is_known {
            let kind = if number % 7 == 0 { PageKind::Failed } else { PageKind::Fetched };
            graph.page(page(number), kind).expect("few");
        }
        for _ in 0..number % 12 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let far = (random >> 33) % PAGES;
            if is_known {
                graph.link(page(number), page(if random >> 63 == 0 { far } else { far % 10 })).expect("few");
            }
        }
    }
    Arc::new(graph.finish().expect("few"))
}

/// The answers in this process, a line each: keys and exact numbers.
fn answers(process: Option<usize>, mut crew: impl FnMut() -> Crew) -> Vec<String> {
    let graph = graph(process);
    let mut lines = Vec::new();
    for definition in [Definition::Original, Definition::Normalized] {
        let ranks = pagerank(&graph, definition, crew()).expect("an answer");
        let rank =
            |(key, rank): &(weburl::UrlKey, f64)| format!("{definition:?} {} {key} {}", ranks.rounds, rank.to_bits());
        lines.extend(ranks.values.iter().map(rank));
    }
    let Overlap { reachable, edges } =
        overlap(&graph, [&url("s1.test/1"), &url("s2.test/2")], crew()).expect("an answer");
    lines.push(format!("reachable {} {}", reachable[0], reachable[1]));
    lines.extend(
        edges.iter().enumerate().flat_map(|(from, edges)| edges.iter().map(move |edge| format!("{from} {edge:?}"))),
    );
    lines
}

/// Each process reports what it reached: the sum is that of one process.
fn joined(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let (reachable, mut lines): (Vec<String>, Vec<String>) =
        lines.into_iter().partition(|line| line.starts_with("reachable"));
    let count = |at: usize| {
        reachable
            .iter()
            .map(|line| line.split(' ').nth(at).expect("a number").parse::<u64>().expect("a number"))
            .sum::<u64>()
    };
    lines.push(format!("reachable {} {}", count(1), count(2)));
    lines.sort_unstable();
    lines
}

#[test]
fn two_processes_give_the_answer_of_one() {
    let alone = joined(answers(None, || Crew::threads(1)));
    assert!(alone.len() > 2 * PAGES);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let mut second = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "processes::the_second_process", "--nocapture"])
        .env(ADDRESS, listener.local_addr().expect("an address").to_string())
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut lines =
        answers(Some(0), || Crew::among(vec![None, Some(listener.accept().expect("a connection").0)], THREADS));
    let told = BufReader::new(listener.accept().expect("a connection").0);
    lines.extend(told.lines().map(|line| line.expect("a line")));
    assert!(second.wait().expect("it ends").success());
    assert_eq!(joined(lines), alone);
}

/// Is the other process where [`two_processes_give_the_answer_of_one`] asks for it, and else has nothing to do.
#[test]
fn the_second_process() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let connect = || TcpStream::connect(&address).expect("the first process listens");
    let lines = answers(Some(1), || Crew::among(vec![Some(connect()), None], THREADS));
    let mut told = connect();
    lines.iter().for_each(|line| writeln!(told, "{line}").expect("the first process reads"));
}
