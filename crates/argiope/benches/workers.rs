//! How many pages a second one process crawls, and several workers of a server on the same machine, and what a page costs them and PostgreSQL.
//!
//! `cargo bench --workspace --bench workers -- [PAGES]`, without it 20,000. The web, PostgreSQL and all crawlers share the machine, so more
//! workers are not faster here than its cores: what counts is what a page costs. Time ends for a process with its end, for workers
//! with the answer that nothing is left to do; their processor time includes that they leave, so that all segments are sealed.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::Value;
use tempfile::TempDir;
use testdb::{Postgres, TUNED, until};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const PAGES: u64 = 20_000;
const SITES: u64 = 400;
/// Links of a page, on average.
const DEGREE: u64 = 10;
/// How often each is measured, in turn; the median counts.
const ROUNDS: usize = 3;
const SEED: &str = "http://s0000.synthetic.test/p/0";
const FAST: [&str; 11] = [
    "--scope",
    "any",
    "--delay",
    "0",
    "--ip-delay",
    "0",
    "--no-sitemaps",
    "--max-simple-queries-per-path",
    "0",
    "--connect-to",
    "", // where the web is
];
const TICKS_PER_SECOND: f64 = 100.0;

/// Who crawls.
#[derive(Clone, Copy)]
enum Crawler {
    Embedded,
    Postgres,
    Workers(usize),
}

impl Crawler {
    const ALL: [Crawler; 5] =
        [Crawler::Embedded, Crawler::Postgres, Crawler::Workers(1), Crawler::Workers(2), Crawler::Workers(4)];

    fn name(self) -> String {
        match self {
            Crawler::Embedded => "one process, embedded store".to_owned(),
            Crawler::Postgres => "one process, PostgreSQL".to_owned(),
            Crawler::Workers(1) => "1 worker".to_owned(),
            Crawler::Workers(n) => format!("{n} workers"),
        }
    }
}

/// What a crawl took: seconds, and bytes.
struct Taken {
    time: f64,
    cpu: f64,
    database_cpu: f64,
    wal: f64,
}

/// A process of the binary, ended with the benchmark.
struct Process(Child);

impl Process {
    /// Starts one, and gives its first line.
    fn start(arguments: &[&str]) -> Result<(Self, String)> {
        let mut process = Process(argiope(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?);
        let mut line = String::new();
        BufReader::new(process.0.stdout.as_mut().ok_or("no pipe")?).read_line(&mut line)?;
        Ok((process, line))
    }

    /// Asks it to end, and waits for that.
    fn leave(mut self) -> Result<()> {
        Command::new("kill").arg(self.0.id().to_string()).status()?;
        match self.0.wait()?.success() {
            true => Ok(()),
            false => Err("a worker did not leave in order".into()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn argiope(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_argiope"));
    command.args(arguments);
    command
}

/// Runs it to its end, which is to say that so many pages were fetched.
fn fetches(pages: u64, arguments: &[&str]) -> Result<()> {
    let ran = argiope(arguments).output()?;
    let told = serde_json::from_slice::<Value>(&ran.stdout).unwrap_or_default();
    match ran.status.success() && told["fetched"] == pages {
        true => Ok(()),
        false => Err(format!("not {pages} pages: {told} {}", String::from_utf8_lossy(&ran.stderr)).into()),
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed().as_secs_f64())
}

/// Seconds of a processor that the processes have had which were started here and have ended (proc(5): cutime, cstime).
fn cpu_of_ended() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(") ").ok_or("no name")?.1.split(' ').skip(13).take(2);
    Ok(fields.map(str::parse::<f64>).sum::<std::result::Result<f64, _>>()? / TICKS_PER_SECOND)
}

fn crawl(crawler: Crawler, pages: u64, options: &[&str]) -> Result<Taken> {
    let (dir, database) = (TempDir::new()?, Postgres::start_with(&TUNED));
    let (out, url) = (dir.path().join("crawl").display().to_string(), database.url());
    let (cpu, database_cpu, wal) = (cpu_of_ended()?, database.cpu_seconds(), database.wal_bytes());
    let alone = ["crawl", SEED, "-o", &out, "--progress", "none", "--json"];
    let time = match crawler {
        Crawler::Embedded => timed(|| fetches(pages, &[&alone, options].concat()))?,
        Crawler::Postgres => timed(|| fetches(pages, &[&alone, options, &["--store", &url]].concat()))?,
        Crawler::Workers(workers) => crawl_together(workers, pages, options, &database, &dir)?,
    };
    Ok(Taken {
        time,
        cpu: cpu_of_ended()? - cpu,
        database_cpu: database.cpu_seconds() - database_cpu,
        wal: database.wal_bytes() - wal,
    })
}

fn crawl_together(workers: usize, pages: u64, options: &[&str], database: &Postgres, dir: &TempDir) -> Result<f64> {
    let (url, archive) = (database.url(), format!("file://{}", dir.path().join("shared").display()));
    let ports = ["--clients", "127.0.0.1:0", "--workers", "127.0.0.1:0", "--json"];
    let where_to = ["server", "--store", &url, "--archive", &archive, "--deny-private=false"];
    let (server, line) = Process::start(&[&where_to[..], &ports, options].concat())?;
    let told: Value = serde_json::from_str(&line)?;
    let port = |of: &str| told[of].as_str().map(str::to_owned).ok_or("no address");
    let (clients, join_at) = (port("clients")?, port("workers")?);
    let start = |n: usize| {
        let dir = dir.path().join(n.to_string()).display().to_string();
        argiope(&["worker", &join_at, "--progress", "none", "--dir", &dir]).stderr(Stdio::null()).spawn().map(Process)
    };
    let started = (0..workers).map(start).collect::<std::io::Result<Vec<_>>>()?;
    let mut client = database.client();
    until("workers to join", || {
        let joined = client.query_one("SELECT count(*) FROM argiope.worker", &[]);
        joined.is_ok_and(|row| usize::try_from(row.get::<_, i64>(0)) == Ok(workers))
    });
    let time = timed(|| fetches(pages, &["client", "--server", &clients, "--json", "crawl", SEED]))?;
    started.into_iter().try_for_each(Process::leave)?;
    drop(server);
    Ok(time)
}

fn median(rounds: &[Taken], of: fn(&Taken) -> f64) -> f64 {
    let mut values: Vec<f64> = rounds.iter().map(of).collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<()> {
    let pages = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(PAGES);
    let synthetic = format!("1,{SITES},{pages},{DEGREE}");
    let (_web, line) = Process::start(&["testweb", "--listen", "127.0.0.1:0", "--synthetic", &synthetic])?;
    let address = line.trim().strip_prefix("listening on ").ok_or("the web does not say where it is")?;
    let connect_to = format!("::{address}");
    let mut options = FAST;
    options[FAST.len() - 1] = &connect_to;

    let mut taken = Crawler::ALL.map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for (crawler, rounds) in Crawler::ALL.into_iter().zip(&mut taken) {
            rounds.push(crawl(crawler, pages, &options)?);
        }
    }
    println!(
        "| crawled by | pages/s | crawlers: CPU µs a page | PostgreSQL: CPU µs a page | its cores | WAL bytes a page |"
    );
    println!("|---|---|---|---|---|---|");
    for (crawler, rounds) in Crawler::ALL.into_iter().zip(&taken) {
        let a_page = |of| median(rounds, of) / pages as f64;
        println!(
            "| {} | {:.0} | {:.0} | {:.0} | {:.2} | {:.0} |",
            crawler.name(),
            1.0 / a_page(|taken| taken.time),
            a_page(|taken| taken.cpu) * 1e6,
            a_page(|taken| taken.database_cpu) * 1e6,
            median(rounds, |taken| taken.database_cpu / taken.time),
            a_page(|taken| taken.wal),
        );
    }
    Ok(())
}
