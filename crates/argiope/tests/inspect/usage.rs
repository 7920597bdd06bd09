//! Exit codes, and the one line that says what is wrong.

use std::io::Read as _;

use super::run::Dir;

#[test]
fn files_that_cannot_be_read_are_named() {
    let dir = Dir::new(&[]);
    std::fs::create_dir(dir.path("folder")).unwrap();
    for form in [&["robots"][..], &["html", "--url", "http://a.test/"], &["sitemap"], &["warc"]] {
        dir.check_failure(&[form, &["nothing"]].concat(), 1, "argiope: nothing: No such file or directory");
        dir.check_failure(&[form, &["folder"]].concat(), 1, "argiope: folder: Is a directory");
    }
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let dir = Dir::new(&[("a.warc", b"")]);
    dir.check_failure(
        &[],
        2,
        "argiope: inspect needs robots, url, html, extract, sitemap or warc, or --batch; see argiope inspect --help",
    );
    dir.check_failure(
        &["--batch", "url", "x"],
        2,
        "argiope: inspect --batch takes the form of each request from its \"inspect\" key",
    );
    dir.check_failure(
        &["warc", "--payload", "a.warc"],
        2,
        "argiope: --payload needs the offset of a record, as in a.warc.gz:1234",
    );
    for args in [
        &["url"][..],
        &["nonsense"],
        &["url", "x", "--base", "mailto:x"],
        &["html", "x"],
        &["html", "x", "--url", "relative"],
        &["robots", "x", "--status", "1000"],
        &["robots", "x", "--match", "longest"],
        &["warc", "x:1", "--payload", "--json"],
    ] {
        let run = dir.run(args);
        assert_eq!((run.code, run.stdout.len()), (Some(2), 0), "{args:?} {}", run.stderr);
        assert!(run.stderr.starts_with("error: "), "{args:?} {}", run.stderr);
    }
}

#[test]
fn the_help_describes_the_requests_of_a_batch() {
    let help = String::from_utf8(Dir::new(&[]).run(&["--help"]).stdout).unwrap();
    for word in ["body_base64", "\"inspect\":\"warc\"", "docs/inspect.md"] {
        assert!(help.contains(word), "{word}\n{help}");
    }
}

#[test]
fn a_reader_who_has_seen_enough_ends_it_quietly() {
    let sitemap: String = (0..50_000).map(|page| format!("http://a.test/a-rather-long-page-name/{page}\n")).collect();
    let dir = Dir::new(&[("sitemap.txt", sitemap.as_bytes())]);
    for (args, first) in [
        (&["sitemap", "sitemap.txt"][..], "kind         text\n"),
        (&["sitemap", "sitemap.txt", "--json"], "{\"inspect\":\"sitemap\",\"url\":null,"),
    ] {
        let mut child = dir.start(args);
        let mut beginning = vec![0; first.len()];
        child.stdout.take().unwrap().read_exact(&mut beginning).unwrap();
        assert_eq!(String::from_utf8(beginning).unwrap(), first);
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
    }
}
