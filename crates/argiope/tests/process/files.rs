//! More sites than files may be open: none of them is lost for that.

use std::process::Command;

use serde_json::Value;
use testweb::Web;
use testweb::synthetic::{Settings, Synthetic};

use crate::binary::{BINARY, Ended, Running};
use crate::served::Served;

const PAGES: u64 = 600;

/// Crawls a web of as many sites as pages, `limited` by options of the shell's `ulimit`.
fn crawl(limited: &str, more: &[&str]) -> Ended {
    let settings = Settings { seed: 5, sites: PAGES, pages: PAGES, degree: 6, text_bytes_mean: 100 };
    let served = Served::start(Web::new().site("*.synthetic.test", Synthetic::new(settings).unwrap()));
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit {limited}; exec \"$0\" \"$@\""), BINARY]);
    command.args(["crawl", "http://s0000.synthetic.test/p/0", "--scope", "any", "--progress", "none", "--json"]);
    command.args(["--delay", "0", "--ip-delay", "0"]).args(served.flags()).args(more);
    command.arg("-o").arg(dir.path().join("crawl"));
    let mut running = Running::start(&mut command);
    running.say(b"");
    running.end()
}

#[test]
fn a_crawl_of_more_sites_than_files_misses_none() {
    // Asked for no more than is given at first; and nothing more is given, so that fewer connections are kept.
    for (limited, more) in [("-S -n 128", &[][..]), ("-n 256", &["--concurrency", "32"])] {
        let ended = crawl(limited, more).expect_code(0);
        let summary: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(summary["fetched"], PAGES, "{limited}: {summary}");
        assert_eq!(summary["outcomes"]["connection_error"], Value::Null, "{limited}: {summary}");
    }
}

#[test]
fn more_fetches_than_files_are_refused() {
    let ended = crawl("-n 256", &["--concurrency", "129"]).expect_code(2);
    let expect = "argiope: --concurrency 129: the system allows files for 128 fetches: \
                  allow more open files (`ulimit -n`) or set less\n";
    assert_eq!(ended.stderr, expect);
}
