//! Help and manual pages say what the command line takes.

use std::path::Path;

use crate::binary::run;

/// The text of a manual page's synopsis, without its markup.
fn synopsis(dir: &Path, name: &str) -> String {
    let page = std::fs::read_to_string(dir.join(name)).unwrap();
    let (_, rest) = page.split_once(".SH SYNOPSIS\n").unwrap();
    let (synopsis, _) = rest.split_once("\n.SH ").unwrap();
    ["\\fB", "\\fR", "\\fI"].into_iter().fold(synopsis.replace("\\-", "-"), |text, mark| text.replace(mark, ""))
}

#[test]
fn the_synopsis_of_each_manual_page_is_the_usage_of_its_help() {
    let dir = tempfile::tempdir().unwrap();
    run(&["man", dir.path().to_str().unwrap()]).expect_code(0);
    let mut steer = 0;
    for words in [
        &["steer", "hold"][..],
        &["steer", "pause"],
        &["steer", "exclude"],
        &["steer", "set"],
        &["client", "steer", "hold"],
        &["client", "add-seeds"],
        &["inspect", "url"],
        &["crawl"],
        &["export"],
    ] {
        let help = run(&[words, &["--help"]].concat()).expect_code(0).stdout;
        let usage = help.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap();
        assert_eq!(synopsis(dir.path(), &format!("argiope-{}.1", words.join("-"))), usage, "{words:?}");
    }
    for entry in dir.path().read_dir().unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.starts_with("argiope-steer-") {
            steer += 1;
            assert!(synopsis(dir.path(), &name).starts_with("argiope steer <DIR> "), "{name}");
        }
    }
    assert!(steer >= 13, "{steer}");
    assert!(synopsis(dir.path(), "argiope-steer-hold.1").ends_with("<SITE>..."));
}

#[test]
fn a_server_offers_no_option_that_it_refuses() {
    let help = run(&["server", "--help"]).expect_code(0).stdout;
    let store = ["--store", "postgres://nobody@127.0.0.1:9/none", "--archive", "file:///none"];
    for option in ["--sandbox", "--no-archive", "--no-dataset"] {
        let refused = run(&[&["server", option][..], &store].concat()).expect_code(2).stderr;
        assert!(refused.contains(&format!("{option}: ")), "{option}: {refused}");
        assert!(!help.contains(&format!("{option} ")) && !help.contains(&format!("{option}[")), "{help}");
    }
    for option in ["--max-pages-per-site ", "--max-pages ", "--max-bytes ", "--max-time "] {
        assert!(help.contains(option), "others are offered: {help}");
    }
}

/// The help of an option, on one line, up to the next option.
fn help_of(command: &str, option: &str) -> String {
    let help = run(&[command, "--help"]).expect_code(0).stdout;
    let text = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, rest) = text.split_once(&format!("{option} <")).unwrap();
    rest.split(" --").next().unwrap().to_owned()
}

#[test]
fn help_names_all_that_an_option_takes() {
    for (option, before) in [("--stream-fields", "is none of "), ("--retry", "possible are ")] {
        let refused = run(&["crawl", "http://a.test/", "--dry-run", option, "nonsense"]).expect_code(2).stderr;
        let (_, names) = refused.split_once(before).unwrap();
        let names = names.lines().next().unwrap();
        assert!(names.contains(", "), "{refused}");
        let help = help_of("crawl", option);
        for name in names.split(", ") {
            assert!(help.split([' ', ',']).any(|word| word == name), "{option}: {name}: {help}");
        }
    }
}

#[test]
fn options_of_steer_stand_before_the_change_or_behind_it() {
    for words in [&["--dry-run", "stop"][..], &["stop", "--dry-run"], &["hold", "a.test", "--dry-run"]] {
        for before in [&["steer", "/nowhere"][..], &["client", "--server", "127.0.0.1:1", "steer"]] {
            // Understood, and refused for what it is about.
            let ended = run(&[before, words].concat()).expect_code(1);
            assert!(!ended.stderr.contains("unexpected argument"), "{words:?}: {}", ended.stderr);
        }
    }
}
