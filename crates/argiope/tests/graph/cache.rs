//! What is kept of the graph beside the dataset: never more than a way to answer faster.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use testweb::{Pages, Web};

use testkit::crawled::Crawled;

/// Pages that lead to the next and to the first.
fn chain() -> Web {
    let page = |number: u32| {
        format!("<title>{number}</title>{}<a href=/{}>next</a><a href=/>first</a>", "words ".repeat(200), number + 1)
    };
    let pages =
        (1..120).fold(Pages::new().html("/", page(0)), |pages, number| pages.html(format!("/{number}"), page(number)));
    Web::new().site("chain.test", pages)
}

fn graph_dir(crawled: &Crawled) -> PathBuf {
    Path::new(crawled.dir()).join("dataset/graph")
}

/// The files of parts, with when they were written.
fn parts(crawled: &Crawled) -> BTreeMap<PathBuf, SystemTime> {
    let entries = graph_dir(crawled).read_dir().expect("a directory").map(|entry| entry.expect("an entry").path());
    let parts = entries.filter(|path| path.extension().is_some_and(|extension| extension == "part"));
    parts.map(|path| (path.clone(), path.metadata().expect("a file").modified().expect("a time"))).collect()
}

fn ranks(crawled: &Crawled) -> String {
    let ran = crawled.run("rank", &["--json", "--top", "1000"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    ran.stdout
}

#[test]
fn new_segments_extend_what_is_kept() {
    let crawled = Crawled::of(chain(), "http://chain.test/", &["--segment-size", "20KB", "--max-pages", "60"]);
    ranks(&crawled);
    let before = parts(&crawled);
    assert!(before.len() > 2, "{before:?}");
    assert_eq!(crawled.crawl(&["--max-pages", "1000"]).code, 0);
    let whole = ranks(&crawled);
    let after = parts(&crawled);
    let kept = before.iter().filter(|(path, written)| after.get(*path) == Some(written)).count();
    assert!(kept >= before.len() - 1 && after.len() > before.len(), "only the last part grew: {before:?} {after:?}");
    assert_eq!(ranks(&crawled), whole);
    assert_eq!(parts(&crawled), after, "nothing is read again");
    let fresh = Crawled::of(chain(), "http://chain.test/", &[]);
    assert_eq!(ranks(&fresh), whole, "the same as in one segment");
}

#[test]
fn what_is_kept_may_be_damaged_lost_or_impossible() {
    let crawled = Crawled::of(chain(), "http://chain.test/", &[]);
    let whole = ranks(&crawled);
    let part = parts(&crawled).into_keys().next().expect("a part");
    let bytes = std::fs::read(&part).expect("a file");
    for at in [3, 20, bytes.len() / 2, bytes.len() - 1] {
        testkit::crawled::flip(&part, at as u64);
        assert_eq!(ranks(&crawled), whole, "byte {at}");
        assert!(std::fs::read(&part).expect("a file") == bytes, "made again");
    }
    std::fs::remove_dir_all(graph_dir(&crawled)).expect("a directory");
    assert_eq!(ranks(&crawled), whole);
    std::fs::remove_dir_all(graph_dir(&crawled)).expect("a directory");
    std::fs::write(graph_dir(&crawled), "in the way").expect("a file");
    assert_eq!(ranks(&crawled), whole, "nothing can be kept");
}
