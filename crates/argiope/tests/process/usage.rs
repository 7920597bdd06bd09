//! Wrong arguments, directories and files: one clear line, exit code 2 for what was asked, 1 for what cannot be done.

use std::path::Path;

use testweb::Web;

use crate::binary::{self, Running};
use crate::served::Served;

const USAGE: i32 = 2;
const FAILED: i32 = 1;

/// Runs `crawl` in `dir` (arguments are split at spaces, DIR stands for it) and compares the line on standard error.
fn check(dir: &Path, arguments: &str, code: i32, expect: &str) {
    let here = dir.to_str().unwrap();
    let arguments: Vec<String> = arguments.split(' ').map(|argument| argument.replace("DIR", here)).collect();
    let ended = binary::run(&[vec!["crawl".to_owned()], arguments.clone()].concat());
    let said = ended.stderr.replace(here, "DIR");
    assert_eq!(said.trim_end(), format!("argiope: {expect}"), "{arguments:?}");
    assert_eq!((ended.status.code(), ended.stdout.as_str()), (Some(code), ""), "{arguments:?}");
}

/// The same for what the parser of the command line refuses: its first line, without a usage that may follow.
fn check_refused(arguments: &str, expect: &str) {
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let ended = binary::run(&arguments).expect_code(USAGE);
    assert_eq!(ended.stderr.lines().next(), Some(expect), "{arguments:?}");
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("use '-- "), "an option is never meant as a seed: {}", ended.stderr);
}

#[test]
fn what_the_command_line_does_not_know_is_named() {
    check_refused("crawll", "error: unrecognized subcommand 'crawll'");
    check_refused("crawl http://a.test/ --frobnicate", "error: unexpected argument '--frobnicate' found");
    check_refused(
        "crawl http://a.test/ --depth many",
        "error: invalid value 'many' for '--depth <N>': is no whole number from 0 to 4294967295",
    );
    check_refused(
        "crawl http://a.test/ --depth -1",
        "error: invalid value '-1' for '--depth <N>': is no whole number from 0 to 4294967295",
    );
    check_refused(
        "crawl http://a.test/ --max-redirects 256",
        "error: invalid value '256' for '--max-redirects <N>': is no whole number from 0 to 255",
    );
    check_refused(
        "crawl http://a.test/ --delay soon",
        "error: invalid value 'soon' for '--delay <D>': `soon` is no duration such as 250ms, 1s or `1m 30s`",
    );
    check_refused(
        "crawl http://a.test/ --max-bytes 1.5MB",
        "error: invalid value '1.5MB' for '--max-bytes <B>': `1.5mb` is no size such as 10MB, 500KiB or 10000000",
    );
    check_refused("crawl http://a.test/ --progress loud", "error: invalid value 'loud' for '--progress <HOW>'");
    check_refused(
        "crawl http://a.test/ --sitemaps --no-sitemaps",
        "error: the argument '--sitemaps[=<BOOL>]' cannot be used with '--no-sitemaps'",
    );
}

#[test]
fn values_that_cannot_be_used_are_named() {
    let dirs = tempfile::tempdir().unwrap();
    let check = |flags: &str, expect: &str| {
        check(dirs.path(), &format!("http://a.test/ -o DIR/new {flags}"), USAGE, expect);
        assert!(!dirs.path().join("new").exists(), "{flags} made the directory");
    };
    check("--robots no", "--robots `no` is not rfc9309, first-match or ignore");
    check("--proxy nope", "--proxy `nope`: the proxy is not a URL: relative URL without a base");
    check("--resolve a", "--resolve `a`: `a` is not of the form HOST:PORT:ADDR[,ADDR]");
    check("--connect-to a", "--connect-to `a`: `a` is not of the form HOST1:PORT1:HOST2:PORT2");
    check("--dns-servers 127.0.0.1,a", "--dns-servers `a`: `a` is not of the form ADDR[:PORT]");
    check("--header x", "--header: one is not `Name: value` (it is not shown, since it may be secret)");
    check("--user-agent (x)", "--user-agent `(x)` does not begin with a name such as `argiope/1.0`");
    check("--delay-factor=-1", "--delay-factor -1 is not between 0 and 1000000");
    check("--delay-factor NaN", "--delay-factor NaN is not between 0 and 1000000");
    for flag in ["dns-timeout", "connect-timeout", "first-byte-timeout", "total-timeout", "render-time"] {
        check(&format!("--{flag} 0"), &format!("--{flag} must be more than 0"));
    }
    check("--backoff 10m", "--backoff 10m is longer than --max-backoff 5m: change one of them");
    check("--info-url notaurl --documents", "--info-url `notaurl`: not a URL: relative URL without a base");
    check(
        "--delay-for b.test=5s --delay-for b.test=1s",
        "--delay-for b.test=5s and b.test=1s are two delays of one site: give one",
    );
    check(
        "--documents false",
        "seed `false`: a switch takes its value after an equals sign, as in --documents=false; a host of that name is http://false/",
    );
    check(
        "--deny-private never",
        "seed `never`: a switch takes its value after an equals sign, as in --deny-private=never; a host of that name is http://never/",
    );
    check(
        "--ui 127.0.0.1:7999",
        "`127.0.0.1:7999`: --ui takes its address after an equals sign, as in --ui=127.0.0.1:7999; the seed is http://127.0.0.1:7999/",
    );
    check("--concurrency 0", "--concurrency must be at least 1");
    check("--segment-size 0", "--segment-size must be at least 1");
    for flag in ["max-pages", "max-pages-per-site", "max-bytes", "max-time", "max-body-bytes", "max-attempts"] {
        let expect = format!(
            "--{flag} must be more than 0; without it there is no such limit, or the default; --unset {flag} takes an earlier one back"
        );
        check(&format!("--{flag} 0"), &expect);
    }
    for flag in ["include", "exclude"] {
        let expect = "matches no URL: a pattern is compared with the whole URL, `*` stands for any characters";
        check(&format!("--{flag} ["), &format!("--{flag} `[` {expect} (*[*)"));
        check(&format!("--{flag} ads"), &format!("--{flag} `ads` {expect} (*ads*)"));
    }
    std::fs::write(dirs.path().join("no-certificate"), "hello").unwrap();
    check("--ca-cert DIR/no-certificate", "--ca-cert DIR/no-certificate: no certificate in it");
    check(
        "--connections-per-site 2",
        "--connections-per-site above 1 needs --ip-delay 0: the delay per address is between connections",
    );
    check(
        "--scope hots",
        "--scope `hots` is not site, host, domain, prefix, any, a host suffix such as .gov.si, or a pattern with *",
    );
    check("--ca-cert DIR/none", "--ca-cert DIR/none: No such file or directory (os error 2)");
    check("--exclude-file DIR/none", "--exclude-file DIR/none: No such file or directory (os error 2)");
    check("--config DIR/none", "--config DIR/none: No such file or directory (os error 2)");
    check("--seeds DIR/none", "--seeds DIR/none: No such file or directory (os error 2)");
    check("--seeds DIR", "--seeds DIR: Is a directory (os error 21)");
}

#[test]
fn what_cannot_be_taken_back_is_named() {
    check_refused(
        "crawl -o x --unset max-page",
        "error: invalid value 'max-page' for '--unset <KEY>': `max-page` is no setting: `argiope settings` lists them",
    );
    let dirs = tempfile::tempdir().unwrap();
    check(dirs.path(), "http://a.test/ -o DIR/new --unset max-pages", FAILED, "--unset: DIR/new: no such directory");
}

#[test]
fn what_cannot_be_retried_is_named() {
    let possible = "possible are http_error, disallowed, domain_error, timeout, connection_error, tls_error, render_error, too_large, \
         excluded, trap, given_up";
    for (given, why) in
        [("html", "was fetched, and stays"), ("redirect", "was fetched, and stays"), ("errors", "is no outcome")]
    {
        check_refused(
            &format!("crawl -o x --retry timeout,{given}"),
            &format!("error: invalid value '{given}' for '--retry <OUTCOME>': {given} {why}; {possible}"),
        );
    }
    let dirs = tempfile::tempdir().unwrap();
    let expect = "--retry: DIR/new: no such directory";
    check(dirs.path(), "http://a.test/ -o DIR/new --retry timeout", FAILED, expect);
}

#[test]
fn seeds_that_are_no_urls_are_named_and_no_seeds_are_noticed() {
    let dirs = tempfile::tempdir().unwrap();
    let check = |arguments: &str, expect: &str| {
        check(dirs.path(), arguments, USAGE, expect);
        assert!(!dirs.path().join("new").exists(), "{arguments} made the directory");
    };
    std::fs::write(dirs.path().join("empty"), "# nothing\n\n").unwrap();
    std::fs::write(dirs.path().join("mixed"), "http://a.test/\nmailto:a@b.test\n").unwrap();
    std::fs::write(dirs.path().join("latin"), b"http://caf\xe9.test/\n").unwrap();
    check("-o DIR/new ftp://a.test/", "seed `ftp://a.test/`: the scheme is ftp, not http or https");
    check("-o DIR/new http://[::1/", "seed `http://[::1/`: not a URL: invalid IPv6 address");
    check("-o DIR/new", "no seeds: give URLs, or --seeds FILE");
    check("--delay 1", "no seeds: give URLs, or --seeds FILE, or -o DIR to resume");
    check("-o DIR/new --seeds DIR/empty", "no seeds: give URLs, or --seeds FILE");
    check("-o DIR/new --seeds -", "no seeds: give URLs, or --seeds FILE");
    let mixed = "--seeds DIR/mixed line 2: seed `mailto:a@b.test`: the scheme is mailto, not http or https";
    check("-o DIR/new --seeds DIR/mixed --strict", mixed);
    // What some editors put at the beginning of a file is no part of its first line.
    std::fs::write(dirs.path().join("marked"), "\u{feff}ftp://a.test/\r\n").unwrap();
    let marked = "--seeds DIR/marked line 1: seed `ftp://a.test/`: the scheme is ftp, not http or https";
    check("-o DIR/new --seeds DIR/marked --strict", marked);
    let latin = "--seeds DIR/latin line 1: seed `http://caf\\xe9.test/`: not UTF-8";
    check("-o DIR/new --seeds DIR/latin --strict", latin);
    let none = "no seeds: give URLs, or --seeds FILE";
    check("-o DIR/new --seeds DIR/latin", &format!("{latin}; left out\nargiope: {none}"));
}

#[test]
fn user_names_and_passwords_are_refused_where_they_would_be_written_down() {
    let dirs = tempfile::tempdir().unwrap();
    for (flag, url) in [
        ("--exclude", "http://ana:S3CRET@host/p/1*"),
        ("--include", "http*://ana:S3CRET@host/*"),
        ("--scope", "*://ana:S3CRET@host/*"),
        ("--header-for", "http://ana:S3CRET@host/ A:b"),
        ("--info-url", "http://ana:S3CRET@host/"),
    ] {
        let arguments = format!("crawl http://a.test/ -o {}/new {flag} {url}", dirs.path().display());
        let ended = binary::run(&arguments.split(' ').collect::<Vec<_>>()).expect_code(USAGE);
        let names_it = ended.stderr.starts_with(&format!("argiope: {flag} `")) && ended.stderr.contains("***@host/");
        assert!(names_it && ended.stderr.contains("has a user name or password"), "{}", ended.stderr);
        assert!(!ended.stderr.contains("S3CRET") && !ended.stderr.contains("ana"), "{}", ended.stderr);
        assert!(!dirs.path().join("new").exists(), "{flag} made the directory");
    }
}

#[test]
fn what_was_given_is_shown_without_what_a_terminal_obeys_and_not_without_end() {
    let dirs = tempfile::tempdir().unwrap();
    let seeds = dirs.path().join("seeds");
    std::fs::write(&seeds, format!("ftp://a.test/\u{1b}[31m{}\n", "x".repeat(1_000_000))).unwrap();
    let seeds = format!("--seeds={}", seeds.display());
    let long = format!("--depth={}", "y".repeat(100_000));
    let commands: [&[&str]; 6] = [
        &["crawl", "ftp://\u{1b}]0;owned\u{7}/"],
        &["crawl", &seeds],
        &["crawl", "http://a.test/", "--depth=\u{1b}[2J"],
        &["crawl", "http://a.test/", &long],
        &["status", "/nowhere/\u{1b}[2J"],
        &["client", "--server", "127.0.0.1:1\u{9b}2J", "stats"],
    ];
    for command in commands {
        let said = binary::run(command).stderr;
        assert!(
            !said.is_empty() && !said.chars().any(|character| character.is_control() && character != '\n'),
            "{said:?}"
        );
        assert!(said.len() < 10_000, "{} bytes", said.len());
    }
}

#[test]
fn a_wrong_settings_file_is_named_with_its_line() {
    let dirs = tempfile::tempdir().unwrap();
    let check = |text: &str, expect: &str| {
        std::fs::write(dirs.path().join("settings"), text).unwrap();
        let expect = format!("--config DIR/settings: {expect}");
        check(dirs.path(), "http://a.test/ -o DIR/new --config DIR/settings", USAGE, &expect);
    };
    check("depht = 3", "line 1: unknown key `depht`: `argiope settings` lists the keys");
    check("scope = 'any'\n[crawl]\n", "line 2: unknown key `crawl`: `argiope settings` lists the keys");
    check("scope = 'any'\ndepth = '3'", "line 2: `depth` takes a whole number from 0 on, without quotes");
    check("delay = true", "line 1: `delay` takes a duration in quotes, such as \"1m 30s\"");
    check("delay = 'soon'", "line 1: `delay`: `soon` is no duration such as 250ms, 1s or `1m 30s`");
    check("exclude = [", "line 1: `exclude` takes a list of texts in quotes, such as [\"a\", \"b\"]");
}

#[test]
fn a_directory_that_cannot_be_used_is_named() {
    let dirs = tempfile::tempdir().unwrap();
    std::fs::write(dirs.path().join("file"), "").unwrap();
    std::fs::create_dir(dirs.path().join("full")).unwrap();
    std::fs::write(dirs.path().join("full/thesis.tex"), "").unwrap();
    let check = |arguments: &str, expect: &str| check(dirs.path(), arguments, FAILED, expect);
    check("http://a.test/ -o DIR/file", "DIR/file: is not a directory");
    check("http://a.test/ -o DIR/file/below", "cannot make DIR/file/below: Not a directory (os error 20)");
    // Root, too, may not make anything there.
    check("http://a.test/ -o /proc/new", "cannot make /proc/new: No such file or directory (os error 2)");
    let full = "DIR/full: is not empty and holds no crawl: choose another directory with -o";
    check("http://a.test/ -o DIR/full", full);
    assert_eq!(dirs.path().join("full").read_dir().unwrap().count(), 1);
}

#[test]
fn a_directory_in_use_is_left_alone() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    let dir = dirs.path().to_str().unwrap();
    let text = format!("crawl http://simple.test/ --delay 1h -o {dir} {}", served.flags().join(" "));
    let running: Running = binary::start(&text.split(' ').collect::<Vec<_>>());
    while served.requests() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let refused = binary::run(&["crawl", "http://simple.test/", "-o", dir]).expect_code(FAILED);
    let expect = format!("argiope: {dir}/state is in use by another process (`argiope crawl`, process ");
    assert!(refused.stderr.starts_with(&expect), "{}", refused.stderr);
    assert_eq!(refused.stdout, "");
    assert!(running.kill(), "the first goes on");
}

#[test]
fn what_makes_another_crawl_cannot_change_and_the_rest_can() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    let dir = dirs.path().to_str().unwrap();
    let flags = served.flags().join(" ");
    let crawl = |more: &str| {
        let text = format!("crawl http://simple.test/ --delay 0 --ip-delay 0 --depth 1 -o {dir} {flags} {more}");
        binary::run(&text.trim().split(' ').collect::<Vec<_>>())
    };
    crawl("").expect_code(0);
    let fixed = "DIR holds a crawl with other settings of depth, scope, which cannot change in mid-crawl: \
                 choose another directory with -o";
    check(dirs.path(), "http://simple.test/ -o DIR --depth 2 --scope any", USAGE, fixed);
    crawl("--concurrency 3 --max-body-bytes 5MB").expect_code(0);
    assert!(std::fs::read_to_string(dirs.path().join("crawl.toml")).unwrap().contains("\nconcurrency = 3\n"));
}

#[test]
fn a_crawl_whose_seeds_all_fail_has_failed_and_says_why() {
    let dirs = tempfile::tempdir().unwrap();
    let closed = || std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (one, two) = (closed(), closed());
    let text = format!("crawl http://{one}/ http://{two}/ --delay 0 --ip-delay 0 --max-attempts 1 --robots ignore");
    let text = format!("{text} --no-sitemaps --progress none -o {}", dirs.path().join("crawl").display());
    let ended = binary::run(&text.split(' ').collect::<Vec<_>>()).expect_code(FAILED);
    for address in [one, two] {
        let expect = format!("argiope: http://{address}/: connection_error: connection refused\n");
        assert!(ended.stderr.contains(&expect), "{}", ended.stderr);
    }
}

#[test]
fn absurd_durations_and_numbers_are_refused_with_the_limit() {
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    let dir = dir.to_str().unwrap();
    let long = "`1000000000000d` is longer than 100 years, the longest duration";
    let large = "is no whole number from 0 to 9223372036854775807";
    let settings = binary::run(&["settings", "--json"]).expect_code(0).stdout;
    let mut checked = 0;
    for line in settings.lines() {
        let setting: serde_json::Value = serde_json::from_str(line).unwrap();
        let (key, form) = (setting["key"].as_str().unwrap(), setting["form"].as_str().unwrap());
        let flag = format!("--{key}");
        let given = match form {
            "D" => "1000000000000d",
            "SITE=D" => "a.test=1000000000000d",
            "N" => "18446744073709551615",
            _ => continue,
        };
        checked += 1;
        let said = binary::run(&["crawl", "http://a.test/", "-o", dir, &flag, given]).expect_code(USAGE).stderr;
        let is_told = match form {
            "N" => said.contains(large) || said.contains("is no whole number from 0 to "),
            _ => said.contains(long),
        };
        assert!(is_told && said.contains(&flag) && !said.contains("panicked"), "{flag}: {said}");
        assert!(!Path::new(dir).exists(), "{flag}");
    }
    assert!(checked > 40, "{checked} settings are durations or numbers");
    for arguments in [
        &["crawl", "http://a.test/", "-o", dir, "--render-wait", "1000000000000d"][..],
        &["crawl", "-o", dir, "--again", "--older-than", "1000000000000d"],
        &["watch", dir, "--budget", "1/1000000000000d"],
        &["watch", dir, "--budget", "1/s", "--every", "1000000000000d"],
        &["steer", dir, "delay", "1000000000000d", "a.test"],
        &["server", "--store", "postgres://127.0.0.1:1/x", "--archive", "file:///none", "--lease", "1000000000000d"],
        &["worker", "127.0.0.1:1", "--seal-after", "1000000000000d"],
        &["client", "watch", "--budget", "1/s", "--every", "1000000000000d"],
        &["client", "again", "--older-than", "1000000000000d"],
    ] {
        let said = binary::run(arguments).expect_code(USAGE).stderr;
        assert!(said.contains("is longer than 100 years"), "{arguments:?}: {said}");
    }
    // Sizes have no such limit. None breaks the program.
    for flag in
        ["--max-url-bytes", "--max-body-bytes", "--max-header-bytes", "--max-in-flight-bytes", "--max-front-bytes"]
    {
        let dir = dirs.path().join(flag);
        let arguments =
            ["crawl", "http://simple.test/", "--sandbox", "--delay", "0", "--ip-delay", "0", "--max-pages", "2"];
        let more = ["-o", dir.to_str().unwrap(), flag, "18446744073709551615"];
        let ended = binary::run(&[&arguments[..], &more].concat()).expect_code(3);
        assert!(ended.stderr.contains("--max-pages reached") && !ended.stderr.contains("panicked"), "{}", ended.stderr);
    }
}
