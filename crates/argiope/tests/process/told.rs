//! What a crawl says, and where: quiet, verbose, in a log, and before it begins.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testweb::{Pages, Web};

use crate::binary::{BINARY, Ended, Running};
use crate::served::Served;

fn serve() -> Served {
    let one = Pages::new()
        .text("/robots.txt", "User-agent: *\nCrawl-delay: 2\nDisallow: /private\nCrawl-delay: banana\n")
        .html("/", "<a href=/gone>gone</a><a href=/x.pdf>pdf</a>");
    let two = Pages::new().html("/", "<p>two");
    Served::start(Web::new().site("one.test", one).site("two.test", two))
}

fn crawl(served: &Served, dir: &Path, more: &[&str]) -> Ended {
    let mut command = Command::new(BINARY);
    command.args([
        "crawl",
        "--delay",
        "0",
        "--delay-factor",
        "0",
        "--ip-delay",
        "0",
        "--no-sitemaps",
        "--exclude",
        "*.pdf",
    ]);
    command.args(served.flags()).args(more).arg("-o").arg(dir);
    Running::start(&mut command).end()
}

#[test]
fn a_quiet_crawl_says_why_it_failed_and_nothing_else() {
    let (served, dirs) = (serve(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let ended = crawl(&served, &dir, &["-q", "http://two.test/", "--max-pages", "1"]);
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""), "{}", ended.status);
    let refused = crawl(&served, &dir, &["-q", "--depth", "7"]).expect_code(2);
    assert!(refused.stderr.starts_with("argiope: ") && refused.stderr.lines().count() == 1, "{}", refused.stderr);
    let summary = crawl(&served, &dir, &["-q", "--json", "--max-pages", "5"]).expect_code(0);
    assert_eq!(serde_json::from_str::<Value>(&summary.stdout).unwrap()["fetched"], 1);
    let none = crawl(&served, &dirs.path().join("none"), &["-q", "http://one.test/gone"]).expect_code(1);
    assert!(none.stderr.contains("http://one.test/gone: http_error 404") && none.stdout.is_empty(), "{}", none.stderr);
    assert!(none.stderr.contains(" --retry http_error` visits it again"), "{}", none.stderr);
}

#[test]
fn a_quiet_crawl_says_that_cookies_are_not_used_since_their_time_is_over() {
    let (served, dirs) = (serve(), tempfile::tempdir().unwrap());
    let cookies = dirs.path().join("cookies");
    // A cookie of a session has the time 0.
    for (number, (expire, told)) in [
        (&["0"][..], ""),
        (&["1000000000"], "argiope: --cookies: 1 cookie has expired and is not sent\n"),
        (&["1000000000", "1"], "argiope: --cookies: 2 cookies have expired and are not sent\n"),
        (&["1000000000", "0"], "cookies.jsonl; 1 expired, not sent\n"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut file = fresh::create_secret(&cookies).unwrap();
        for (name, expires) in expire.iter().enumerate() {
            writeln!(file, ".two.test\tTRUE\t/\tFALSE\t{expires}\tname{name}\tvalue").unwrap();
        }
        let given = ["-q", "--max-pages", "1", "--cookies", cookies.to_str().unwrap(), "http://two.test/"];
        let ended = crawl(&served, &dirs.path().join(number.to_string()), &given);
        assert!(ended.stderr.ends_with(told) && ended.stderr.is_empty() == told.is_empty(), "{}", ended.stderr);
        std::fs::remove_file(&cookies).unwrap();
    }
}

/// A quiet crawl says what was left out, lost or not used.
#[test]
fn a_quiet_crawl_names_the_lines_of_a_file_that_are_no_seeds() {
    let (served, dirs) = (serve(), tempfile::tempdir().unwrap());
    let (dir, seeds) = (dirs.path().join("crawl"), dirs.path().join("seeds"));
    std::fs::write(&seeds, "http://two.test/\nhttp://\nfoo bar\n").unwrap();
    let list = format!("--seeds {}", seeds.display());
    let ended = crawl(&served, &dir, &["-q", "--seeds", seeds.to_str().unwrap()]).expect_code(0);
    let lines: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", ended.stderr);
    assert!(lines[0].starts_with(&format!("argiope: {list} line 2: ")), "{}", ended.stderr);
    assert!(lines[1].starts_with(&format!("argiope: {list} line 3: ")), "{}", ended.stderr);
    assert!(ended.stdout.is_empty(), "{}", ended.stdout);
}

#[test]
fn a_verbose_crawl_says_what_becomes_of_each_url_and_a_log_has_it_with_time_and_level() {
    let (served, dirs) = (serve(), tempfile::tempdir().unwrap());
    let (dir, log) = (dirs.path().join("crawl"), dirs.path().join("log"));
    let ended = crawl(&served, &dir, &["-v", "--log", log.to_str().unwrap(), "http://one.test/"]).expect_code(0);
    for expect in [
        "argiope: html 200 http://one.test/\n",
        "argiope: http_error 404 http://one.test/gone",
        "argiope: excluded http://one.test/x.pdf: ",
        "argiope: http://one.test/robots.txt: not read: line 4: Crawl-delay: banana (no number of seconds, ",
    ] {
        assert!(ended.stderr.contains(expect), "{expect}: {}", ended.stderr);
    }
    // What is wrong is there too, behind what was there.
    crawl(&served, &dir, &["-q", "--log", log.to_str().unwrap(), "--depth", "7"]).expect_code(2);
    let text = std::fs::read_to_string(&log).unwrap();
    let entries: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(
        entries.iter().all(|entry| entry["at"].as_str().is_some_and(|at| at.starts_with("20") && at.ends_with('Z')))
    );
    let of = |level: &'static str| entries.iter().filter(move |entry| entry["level"] == level);
    assert_eq!(of("detail").count(), 4);
    assert!(of("info").any(|entry| entry["summary"]["fetched"] == 1), "{text}");
    assert!(of("error").next().unwrap()["message"].as_str().unwrap().contains("depth"));
    let refused = crawl(&served, &dir, &["--log", "/nowhere/log"]).expect_code(2);
    assert!(refused.stderr.contains("--log /nowhere/log: No such file"), "{}", refused.stderr);
}

#[test]
fn a_dry_run_judges_seeds_asks_for_robots_txt_and_writes_nothing() {
    let (served, dirs) = (serve(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let seeds = ["http://one.test/", "http://one.test/private/x", "http://one.test/a.pdf", "http://two.test/"];
    let told = crawl(&served, &dir, &[&seeds[..], &["--dry-run", "--max-pages", "9"]].concat()).expect_code(0).stdout;
    for expect in [
        "max-pages = 9\n",
        "http://one.test/: allowed by robots.txt: ",
        "; Crawl-delay 2 s; not read: line 4: Crawl-delay: banana (no number of seconds, and no unit that is known)\n",
        "http://one.test/private/x: disallowed by robots.txt: ",
        "http://one.test/a.pdf: excluded: ",
        "http://two.test/: allowed by robots.txt: ",
        "4 seeds; nothing was written\n",
    ] {
        assert!(told.contains(expect), "{expect}: {told}");
    }
    assert!(!dir.exists());
    let log = served.log();
    let asked: Vec<&str> = log.iter().map(|entry| entry.target.as_str()).collect();
    assert_eq!(asked, ["/robots.txt", "/robots.txt"], "once a site");
}
