//! Arguments that cannot be used: one line that says why, exit code 2, and nothing left behind.

use testweb::Web;

use crate::run::{Course, text};

/// The line of a run that must be refused.
fn refused(course: &Course, arguments: &[&str]) -> String {
    let before = course.names();
    let output = course.run(arguments);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()), "{arguments:?}");
    assert_eq!(course.names(), before, "{arguments:?}");
    assert!(course.log().is_empty(), "nothing is fetched: {arguments:?}");
    let line = text(&output.stderr);
    line.strip_prefix("argiope: ").and_then(|line| line.strip_suffix('\n')).unwrap_or(&line).to_owned()
}

#[test]
fn exactly_three_arguments_are_taken() {
    let course = Course::on(Web::sandboxes());
    for count in [0, 1, 2, 4, 5] {
        let arguments = ["http://simple.test/", "data", "1", "2", "3"];
        let expect = format!("pages takes exactly three arguments, seedURL pageDirectory maxDepth: {count} given");
        assert_eq!(refused(&course, &arguments[..count]), expect);
    }
}

#[test]
fn each_argument_is_checked() {
    let course = Course::on(Web::sandboxes());
    std::fs::write(course.path("file"), "").unwrap();
    let seed = "http://simple.test/";
    for (arguments, expect) in [
        (["simple.test", "data", "1"], "seedURL `simple.test` does not begin with http:// or https://"),
        (["", "data", "1"], "seedURL `` does not begin with http:// or https://"),
        (["ftp://simple.test/", "data", "1"], "seedURL `ftp://simple.test/`: the scheme is ftp, not http or https"),
        (["http://", "data", "1"], "seedURL `http://`: not a URL: empty host"),
        (["http://a b/", "data", "1"], "seedURL `http://a b/`: not a URL: invalid international domain name"),
        ([seed, "nowhere", "1"], "pageDirectory nowhere does not exist"),
        ([seed, "file", "1"], "pageDirectory file is not a directory"),
        ([seed, "", "1"], "pageDirectory has no name"),
        ([seed, "data", "-1"], "maxDepth `-1` is not an integer from 0 to 1000"),
        ([seed, "data", "1001"], "maxDepth `1001` is not an integer from 0 to 1000"),
        ([seed, "data", "1.5"], "maxDepth `1.5` is not an integer from 0 to 1000"),
        ([seed, "data", "two"], "maxDepth `two` is not an integer from 0 to 1000"),
        ([seed, "data", ""], "maxDepth `` is not an integer from 0 to 1000"),
    ] {
        assert_eq!(refused(&course, &arguments), expect, "{arguments:?}");
    }
}

#[test]
fn options_are_checked_with_them() {
    let course = Course::on(Web::sandboxes());
    for (options, expect) in [
        (
            &["--internal", "http://other.test/"][..],
            "seedURL http://simple.test/ is not internal: it is not in http://other.test/*",
        ),
        (&["--internal", "other"], "--internal `other` does not begin with http:// or https://"),
        (
            &["--internal", "http://simple.test/", "--scope", "any"],
            "--internal and --scope both say what is internal: give one of them",
        ),
        (&["--depth", "2"], "--depth: maxDepth says how deep to go"),
        (&["--no-archive"], "--no-archive: the page files are written from the archive"),
        (&["-o", "data"], "-o data: is inside pageDirectory, which is only for pages"),
        (&["-o", "data/state"], "-o data/state: is inside pageDirectory, which is only for pages"),
        (&["--robots", "no"], "--robots `no` is not rfc9309, first-match or ignore"),
    ] {
        let arguments = [&["http://simple.test/", "data", "1"], options].concat();
        assert_eq!(refused(&course, &arguments), expect, "{options:?}");
    }
}

#[test]
fn a_directory_with_something_in_it_is_refused() {
    let course = Course::on(Web::sandboxes());
    for name in ["0", "notes.txt"] {
        std::fs::write(course.path("data").join(name), "mine").unwrap();
        let line = refused(&course, &["http://simple.test/", "data", "1"]);
        assert_eq!(line, "pageDirectory data is not empty: choose an empty directory");
        assert_eq!(std::fs::read(course.path("data").join(name)).unwrap(), b"mine");
        std::fs::remove_file(course.path("data").join(name)).unwrap();
    }
}
