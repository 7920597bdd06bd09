//! Where seeds and settings come from: files, standard input, `--config`, the crawl.toml of another crawl.

use std::path::Path;

use testweb::Web;

use crate::binary::{self, Ended};
use crate::result::{Row, assert_same, entries, rows};
use crate::served::Served;

/// Runs `crawl` with arguments split at spaces and the flags that lead to the server.
fn crawl(served: &Served, dir: &Path, arguments: &str, input: &str) -> Ended {
    let text = format!("crawl -o {} {arguments} {}", dir.display(), served.flags().join(" "));
    let arguments: Vec<&str> = text.split(' ').filter(|argument| !argument.is_empty()).collect();
    binary::run_with_input(&arguments, input.as_bytes())
}

/// The URLs with their outcomes, of which there are so many.
fn check(dir: &Path, content: usize) -> std::collections::BTreeMap<String, Row> {
    let rows = rows(&entries(dir));
    assert_eq!(rows.values().filter(|row| row.outcome == "content").count(), content, "{rows:?}");
    rows
}

#[test]
fn seeds_come_from_arguments_a_file_and_standard_input_alike() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    let list = "# the sandbox\n\n  http://simple.test/  \n";
    let file = dirs.path().join("seeds");
    std::fs::write(&file, list).unwrap();
    let crawl = |name: &str, seeds: &str, input: &str| {
        let dir = dirs.path().join(name);
        crawl(&served, &dir, &format!("--delay 0 --ip-delay 0 {seeds}"), input).expect_code(0);
        check(&dir, 10)
    };
    let expect = crawl("argument", "http://simple.test/", "");
    assert_same(&crawl("file", &format!("--seeds {}", file.display()), ""), &expect);
    assert_same(&crawl("input", "--seeds -", list), &expect);
    assert_same(&crawl("both", "simple.test --seeds -", list), &expect);
}

#[test]
fn further_seeds_can_be_given_to_a_crawl_that_is_done() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    let crawl = |seed: &str| crawl(&served, dirs.path(), &format!("--delay 0 --ip-delay 0 --depth 0 {seed}"), "");
    crawl("http://simple.test/").expect_code(0);
    check(dirs.path(), 1);
    crawl("").expect_code(0);
    crawl("http://hostile.test/").expect_code(0);
    check(dirs.path(), 2);
}

#[test]
fn a_line_of_a_file_that_is_no_url_is_named_and_left_out() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    let file = dirs.path().join("seeds");
    std::fs::write(&file, "# ours\nhttp://simple.test/\n\nmailto:a@b.test\nhttp://[::1/\n").unwrap();
    let dir = dirs.path().join("crawl");
    let flags = format!("--delay 0 --ip-delay 0 --progress none --seeds {}", file.display());
    let ended = crawl(&served, &dir, &flags, "").expect_code(0);
    let line = |number: u32, why: &str| format!("argiope: --seeds {} line {number}: {why}; left out\n", file.display());
    let expect = line(4, "seed `mailto:a@b.test`: the scheme is mailto, not http or https")
        + &line(5, "seed `http://[::1/`: not a URL: invalid IPv6 address");
    assert_eq!(ended.stderr, expect);
    check(&dir, 10);
}

/// A rule that is changed holds for what waits, whether it was given as a flag or written into the directory's settings.
#[test]
fn a_pattern_changed_between_runs_is_applied_to_the_queue() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    let fast = "--delay 0 --ip-delay 0 --no-sitemaps";
    for (name, by_flag, by_file, rule) in [
        ("flag", "--exclude *.html", None, "exclude *.html"),
        ("file", "", Some(("# exclude =", "exclude = [\"*.html\"]")), "exclude *.html"),
        ("include", "--include *none*", None, "matches no include pattern"),
    ] {
        let dir = dirs.path().join(name);
        crawl(&served, &dir, &format!("http://simple.test/ {fast} --max-pages 1"), "").expect_code(3);
        let waiting = entries(&dir).iter().filter(|entry| entry.visit.is_none()).count();
        assert!(waiting > 1, "{waiting}");
        if let Some((before, after)) = by_file {
            let path = dir.join("crawl.toml");
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, text.replace(before, after)).unwrap();
        }
        let requests = served.requests();
        crawl(&served, &dir, &format!("{fast} --max-pages 100 {by_flag}"), "").expect_code(0);
        let rows = rows(&entries(&dir));
        let excluded: Vec<_> = rows.values().filter(|row| row.outcome == "excluded").collect();
        assert_eq!(excluded.len(), waiting, "{name}: {rows:?}");
        assert!(excluded.iter().all(|row| row.reason == rule), "{name}: {excluded:?}");
        assert!(served.requests() <= requests + 1, "robots.txt may be asked for, pages are not");
    }
}

#[test]
fn a_crawl_of_the_sandbox_goes_on_in_the_sandbox() {
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    let run = |arguments: &str| {
        let text = format!("crawl -o {} --progress none {arguments}", dir.display());
        binary::run(&text.trim().split(' ').collect::<Vec<_>>())
    };
    run("--sandbox http://simple.test/ --delay 0 --ip-delay 0 --max-pages 3").expect_code(3);
    let ended = run("--max-pages 100").expect_code(0);
    check(&dir, 10);
    let said: Vec<&str> = ended.stdout.lines().collect();
    assert!(said[0].starts_with("this run: 7 pages and documents fetched ("), "{said:?}");
    assert!(said[1].starts_with("the whole crawl: 10 pages and documents fetched ("), "{said:?}");
    let nothing = run("").expect_code(0);
    assert!(nothing.stdout.starts_with("this run: 0 pages and documents fetched (0 B) in "), "{}", nothing.stdout);
}

/// Runs the binary in a directory, with arguments split at spaces.
fn run_in(place: &Path, text: &str) -> Ended {
    let mut command = std::process::Command::new(binary::BINARY);
    command.current_dir(place).args(text.split(' ').filter(|argument| !argument.is_empty()));
    binary::Running::start(&mut command).end()
}

#[test]
fn a_file_of_patterns_is_read_once_and_goes_with_the_crawl() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    let (first, second) = (dirs.path().join("first"), dirs.path().join("second"));
    for (place, patterns) in [(&first, "# ours\n*/page-none*\n*.pdf\n"), (&second, "*\n")] {
        std::fs::create_dir(place).unwrap();
        std::fs::write(place.join("ex.txt"), patterns).unwrap();
    }
    let flags = format!("--delay 0 --ip-delay 0 --no-sitemaps --progress none {}", served.flags().join(" "));
    let run = format!("crawl -o c http://simple.test/ --exclude-file ex.txt --max-pages 1 {flags}");
    run_in(&first, &run).expect_code(3);
    // Elsewhere, beside another file of the name, and later without any.
    std::fs::rename(first.join("c"), second.join("c")).unwrap();
    run_in(&second, &format!("crawl -o c --unset max-pages {flags}")).expect_code(0);
    check(&second.join("c"), 10);
    let explained = run_in(&second, "explain c http://simple.test/page-none-x").expect_code(0);
    assert!(explained.stdout.contains("*/page-none*"), "{}", explained.stdout);
    std::fs::remove_file(second.join("ex.txt")).unwrap();
    for command in [
        "status c",
        "explain c http://simple.test/",
        "report c",
        "export c jsonl",
        "check c",
        "derive c",
        "search c page",
    ] {
        run_in(&second, command).expect_code(0);
    }
    for change in ["pause", "resume", "exclude *.pdf"] {
        run_in(&second, &format!("steer c {change}")).expect_code(0);
    }
    let refused = run_in(&second, "steer c set --exclude-file ex.txt").expect_code(2);
    assert!(refused.stderr.contains("--exclude-file ex.txt: No such file"), "{}", refused.stderr);
    std::fs::write(second.join("ex.txt"), "*/new/*\n").unwrap();
    run_in(&second, "steer c set --exclude-file ex.txt").expect_code(0);
    std::fs::remove_file(second.join("ex.txt")).unwrap();
    let explained = run_in(&second, "explain c http://simple.test/new/x").expect_code(0);
    assert!(explained.stdout.contains("*/new/*"), "{}", explained.stdout);
}

/// Each kind of value: number, text, list, file, size, duration as text and as number, switch, fraction.
const SETTINGS: &str = r#"
depth = 5
scope = "host"
exclude = ["*/page-none*", "*.pdf"]
max-bytes = "100MB"
max-url-bytes = 2000
delay = 0
ip-delay = 0.0
backoff = "10ms"
delay-factor = 0.5
head-first = true
no-archive = true
header = ["X-Test: yes"]
sitemaps = false
"#;

#[test]
fn a_settings_file_takes_each_kind_of_value_and_flags_beat_it() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    let (file, dir) = (dirs.path().join("settings"), dirs.path().join("crawl"));
    std::fs::write(&file, SETTINGS).unwrap();
    let arguments = format!("http://simple.test/ --config {} --no-archive=false --delay 1ms", file.display());
    crawl(&served, &dir, &arguments, "").expect_code(0);
    check(&dir, 10);
    assert!(served.log().iter().any(|entry| entry.method == "HEAD"), "head-first = true");
    assert!(served.log().iter().all(|entry| entry.target != "/sitemap.xml"), "sitemaps = false");
    assert!(dir.join("archive").exists(), "--no-archive=false");
    let written = std::fs::read_to_string(dir.join("crawl.toml")).unwrap();
    for line in [
        "depth = 5",
        "exclude = [\"*/page-none*\", \"*.pdf\"]",
        "delay = \"1ms\"",
        "ip-delay = \"0s\"",
        "delay-factor = 0.5",
        "max-bytes = \"100MB\"",
        "max-url-bytes = \"2KB\"",
        "no-archive = false",
        "header = [\"X-Test: ***\"]",
    ] {
        assert!(written.lines().any(|have| have == line), "{line} is not in\n{written}");
    }
}

#[test]
fn the_settings_of_a_finished_crawl_make_the_same_crawl_again() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    let (first, second) = (dirs.path().join("first"), dirs.path().join("second"));
    crawl(&served, &first, "http://simple.test/ --delay 0 --ip-delay 0 --depth 2 --exclude *.pdf", "").expect_code(0);
    let settings = std::fs::read_to_string(first.join("crawl.toml")).unwrap();
    let arguments = format!("http://simple.test/ --config {}", first.join("crawl.toml").display());
    crawl(&served, &second, &arguments, "").expect_code(0);
    assert_same(&rows(&entries(&second)), &rows(&entries(&first)));
    assert_eq!(std::fs::read_to_string(second.join("crawl.toml")).unwrap(), settings);
}
