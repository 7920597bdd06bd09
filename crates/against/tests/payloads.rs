//! What earlier archives hold is found by its digest, verified by its bytes, and stays found.

#![expect(clippy::expect_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use against::{Against, AgainstError, Held, Standing, Taken, take_in};
use model::{PayloadDigest, Timestamp};
use warc::{Digest, Record, RecordId, RefersTo, SegmentWriter, warc_date, write_index};

const AT: u64 = 1_700_000_000_000;
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";

fn url(n: u64) -> String {
    format!("http://a.test/{n}")
}

fn payload(n: u64) -> Vec<u8> {
    format!("payload {n}").into_bytes()
}

fn digest(payload: &[u8]) -> PayloadDigest {
    PayloadDigest(*Digest::of(payload).as_bytes())
}

/// A WARC file with these payloads, and a revisit that has none.
fn warc(path: &Path, numbers: std::ops::Range<u64>) {
    let id = |n: u64| RecordId::new([n as u8; 16]);
    let mut file = SegmentWriter::create(path).expect("a file");
    for n in numbers {
        file.append(&Record::response(id(n), AT, &url(n), HEAD, &payload(n))).expect("written");
    }
    let refers_to = RefersTo { id: None, target_uri: "http://b.test/", date: &warc_date(AT) };
    file.append(&Record::revisit(id(255), AT, "http://c.test/", HEAD, Digest::of(b"elsewhere"), &refers_to))
        .expect("written");
    file.sync().expect("written");
}

fn found(against: &Against, n: u64) -> Option<Held> {
    against.find(digest(&payload(n)), &payload(n)).expect("looked up")
}

/// How many were verified, believed unread, and wrong.
fn tally(against: &Against) -> [u64; 3] {
    let tally = against.tally();
    [&tally.verified, &tally.unverified, &tally.wrong].map(|count| count.load(Ordering::Relaxed))
}

/// How the archives stand to a payload as a record of this URL and date.
fn standing(against: &Against, of: u64, n: u64, at_ms: u64) -> Standing {
    against.standing(digest(&payload(of)), (&url(n), Timestamp(at_ms * 1_000)), 100).expect("looked up")
}

struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Place { root: tempfile::tempdir().expect("a directory") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn take_in(&self, names: &[&str]) -> Taken {
        let paths: Vec<PathBuf> = names.iter().map(|name| self.path(name)).collect();
        take_in(&self.path("against"), &paths).expect("taken in")
    }

    fn open(&self) -> Against {
        Against::open(&self.path("against")).expect("readable").expect("something")
    }
}

#[test]
fn a_payload_is_found_with_the_record_that_has_it() {
    let place = Place::new();
    assert!(Against::open(&place.path("against")).expect("readable").is_none());
    warc(&place.path("one.warc.gz"), 0..1_000);
    assert_eq!(
        place.take_in(&["one.warc.gz"]),
        Taken { payloads: 1_000, files: 1, unverifiable: 0, links: 0, cut: vec![] }
    );
    let against = place.open();
    for n in 0..1_000 {
        let held = found(&against, n).expect("held");
        assert_eq!((held.url, held.at), (url(n), Timestamp(AT * 1_000)));
        assert!(held.id.expect("an id").starts_with("<urn:uuid:"));
    }
    assert_eq!(found(&against, 1_000), None);
    assert_eq!(against.find(digest(b"elsewhere"), b"elsewhere").expect("looked up"), None, "a revisit has no payload");
    // The same digest is not enough.
    assert_eq!(against.find(digest(&payload(1)), b"another").expect("looked up"), None);
    assert_eq!(tally(&against), [1_000, 0, 1]);
}

#[test]
fn what_was_taken_in_before_stays_and_is_not_read_again() {
    let place = Place::new();
    warc(&place.path("one.warc.gz"), 0..10);
    warc(&place.path("two.warc.gz"), 5..20);
    place.take_in(&["one.warc.gz"]);
    assert_eq!(
        place.take_in(&["one.warc.gz", "two.warc.gz"]),
        Taken { payloads: 25, files: 1, unverifiable: 0, links: 0, cut: vec![] }
    );
    assert_eq!(place.take_in(&["."]).files, 0, "nothing has changed");
    let against = place.open();
    assert!((0..20).all(|n| found(&against, n).is_some()));
    // A file that is gone is made up for by another with the same payload.
    std::fs::remove_file(place.path("one.warc.gz")).expect("removed");
    let against = place.open();
    assert!(found(&against, 0).is_none() && found(&against, 7).is_some());
    assert_eq!(standing(&against, 0, 0, AT), Standing::Missing);
    assert_eq!(standing(&against, 7, 7, AT), Standing::There);
    assert_eq!(standing(&against, 7, 8, AT), Standing::Another, "another URL");
    assert_eq!(standing(&against, 7, 7, AT + 1), Standing::Another, "another date");
    let record = against.payload(digest(&payload(7)), 100).expect("looked up").expect("a record");
    assert_eq!(record.http_parts().1, payload(7));
}

#[test]
fn an_index_stands_for_its_warc_file_and_alone_is_not_believed() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("with")).expect("a directory");
    std::fs::create_dir_all(place.path("without")).expect("a directory");
    warc(&place.path("with/a.warc.gz"), 0..10);
    write_index(place.path("with/a.warc.gz"), place.path("with/a.cdxj")).expect("an index");
    std::fs::copy(place.path("with/a.cdxj"), place.path("without/a.cdxj")).expect("copied");
    assert_eq!(place.take_in(&["with"]), Taken { payloads: 10, files: 1, unverifiable: 0, links: 0, cut: vec![] });
    let against = place.open();
    assert!(found(&against, 3).is_some_and(|held| held.id.is_some()));
    assert_eq!(tally(&against), [1, 0, 0]);

    let alone = Place::new();
    let paths = [place.path("without/a.cdxj")];
    let taken = take_in(&alone.path("against"), &paths).expect("taken in");
    assert_eq!(taken, Taken { payloads: 10, files: 1, unverifiable: 10, links: 0, cut: vec![] });
    let against = alone.open();
    assert_eq!(found(&against, 3), None);
    assert_eq!(tally(&against), [0, 1, 0]);
    assert_eq!(standing(&against, 3, 3, AT), Standing::Missing);
    // The WARC file comes to lie beside the index.
    std::fs::rename(place.path("with/a.warc.gz"), place.path("without/a.warc.gz")).expect("moved");
    assert!(found(&against, 3).is_some_and(|held| held.url == url(3) && held.id.is_some()));
    assert_eq!(tally(&against), [1, 1, 0]);
    assert_eq!(standing(&against, 3, 3, AT), Standing::There);
    assert_eq!(standing(&against, 3, 4, AT), Standing::Another);
    // The index is gone.
    std::fs::remove_file(&paths[0]).expect("removed");
    assert_eq!((found(&against, 3), tally(&against)), (None, [1, 2, 0]));
}

#[test]
fn a_date_is_taken_as_it_stands_there() {
    let place = Place::new();
    let http = "HTTP/1.1 200 OK\r\n\r\npayload 0";
    for (n, date) in
        ["2026-11-21T08:30:00Z", "2026-11-21T08:30:00.120Z", "2026-11-21T08:30:00.123456Z"].iter().enumerate()
    {
        let record = format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:{n}>\r\nWARC-Date: {date}\r\nWARC-Target-URI: {}\r\n\
             Content-Type: application/http;msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
            url(0),
            http.len()
        );
        let name = format!("{n}.warc");
        std::fs::write(place.path(&name), record).expect("a file");
        let taken_in = place.path(&format!("against-{n}"));
        take_in(&taken_in, &[place.path(&name)]).expect("taken in");
        let against = Against::open(&taken_in).expect("readable").expect("something");
        assert_eq!(found(&against, 0).map(|held| held.date).as_deref(), Some(*date));
    }
}

#[test]
fn what_an_earlier_crawl_refers_to_is_found_too() {
    let place = Place::new();
    let crawls = ["one", "two", "three"].map(|name| place.path(name));
    for (n, crawl) in (0..).zip(&crawls) {
        std::fs::create_dir_all(crawl.join("archive")).expect("a directory");
        warc(&crawl.join("archive/a.warc.gz"), n..n + 1);
    }
    let taken_in = |n: usize, given: &[PathBuf]| take_in(&crawls[n].join("archive/against"), given).expect("taken in");
    taken_in(1, &crawls[..1]);
    assert_eq!(taken_in(2, &crawls[1..2]), Taken { payloads: 2, files: 2, unverifiable: 0, links: 0, cut: vec![] });
    assert_eq!(taken_in(2, &crawls[1..2]).files, 0, "nothing has changed");
    let against = Against::open(&crawls[2].join("archive/against")).expect("readable").expect("something");
    for n in 0..2 {
        assert_eq!(found(&against, n).map(|held| held.url), Some(url(n)));
    }
    // Nothing refers to itself by way of a later crawl.
    assert_eq!(taken_in(0, &crawls[1..2]), Taken { payloads: 1, files: 2, unverifiable: 0, links: 0, cut: vec![] });
}

#[test]
fn an_index_that_is_older_than_its_warc_file_is_passed_over() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("with")).expect("a directory");
    let (file, index) = (place.path("with/a.warc.gz"), place.path("with/a.cdxj"));
    warc(&file, 0..5);
    write_index(&file, &index).expect("an index");
    warc(&place.path("longer"), 0..10);
    std::fs::rename(place.path("longer"), &file).expect("replaced");
    let written = std::fs::metadata(&file).expect("a file").modified().expect("a time");
    let earlier = written - std::time::Duration::from_secs(60);
    std::fs::File::options().write(true).open(&index).expect("a file").set_modified(earlier).expect("set");
    assert_eq!(place.take_in(&["with"]), Taken { payloads: 10, files: 1, unverifiable: 0, links: 0, cut: vec![] });
}

#[test]
fn links_are_counted_and_neither_followed_nor_believed() {
    let place = Place::new();
    for name in ["with", "far"] {
        std::fs::create_dir_all(place.path(name)).expect("a directory");
    }
    warc(&place.path("far/a.warc.gz"), 0..5);
    write_index(place.path("far/a.warc.gz"), place.path("with/a.cdxj")).expect("an index");
    std::os::unix::fs::symlink(place.path("far/a.warc.gz"), place.path("with/a.warc.gz")).expect("a link");
    std::os::unix::fs::symlink(place.path("far"), place.path("with/more")).expect("a link");
    let taken = place.take_in(&["with"]);
    assert_eq!(taken, Taken { payloads: 0, files: 1, unverifiable: 0, links: 2, cut: vec![] });
    std::fs::remove_file(place.path("with/a.cdxj")).expect("removed");
    let error = take_in(&place.path("against"), &[place.path("with")]).expect_err("nothing to read").to_string();
    assert!(error.ends_with("in this directory; symbolic links are not followed: name what they lead to"), "{error}");
}

#[test]
fn what_a_crawl_has_not_committed_is_left_out() {
    let place = Place::new();
    let segment = place.path("argiope-20261121083000-00000.warc.gz");
    warc(&segment, 0..10);
    let half = {
        let first = place.take_in(&["argiope-20261121083000-00000.warc.gz"]);
        assert_eq!(first.payloads, 10);
        let mut reader = warc::Reader::open(&segment, 0).expect("a file");
        let mut offset = 0;
        for _ in 0..=5 {
            let record = reader.next_record().expect("valid").expect("a record");
            offset = record.offset();
            record.finish().expect("valid");
        }
        offset
    };
    write_index(&segment, place.path("argiope-20261121083000-00000.cdxj")).expect("an index");
    std::fs::write(place.path("acknowledged"), format!("0a1b {:>10} {half:>20}\n", 0)).expect("written");
    for given in ["argiope-20261121083000-00000.warc.gz", "argiope-20261121083000-00000.cdxj"] {
        let earlier = Place::new();
        let taken = take_in(&earlier.path("against"), &[place.path(given)]).expect("taken in");
        assert_eq!(taken.payloads, 5, "{given}");
    }
}

#[test]
fn bodies_in_chunks_are_found_by_what_the_chunks_hold() {
    let place = Place::new();
    // The second is broken off, and the third only says that it is in chunks.
    let bodies = ["7\r\npayload\r\n2\r\n 0\r\n0\r\n\r\n", "9\r\npayl", "payload 2"];
    let records = (0..).zip(bodies).map(|(n, body)| {
        let http = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
        format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:{n}>\r\nWARC-Date: 2026-11-21T08:30:00Z\r\n\
             WARC-Target-URI: {}\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
            url(n),
            http.len()
        )
    });
    std::fs::write(place.path("chunks.warc"), records.collect::<String>()).expect("a file");
    assert_eq!(
        place.take_in(&["chunks.warc"]),
        Taken { payloads: 2, files: 1, unverifiable: 0, links: 0, cut: vec![] }
    );
    let against = place.open();
    assert_eq!([0, 1, 2].map(|n| found(&against, n).is_some()), [true, false, true]);
    let record = against.payload(digest(&payload(0)), 100).expect("looked up").expect("a record");
    assert_eq!(record.http_parts().1, payload(0));
    assert_eq!(tally(&against), [2, 0, 0]);
}

#[test]
fn what_is_damaged_is_refused_and_leaves_what_there_was() {
    let place = Place::new();
    warc(&place.path("good.warc.gz"), 0..10);
    place.take_in(&["good.warc.gz"]);
    let mut bytes = std::fs::read(place.path("good.warc.gz")).expect("a file");
    let half = bytes.len() / 2;
    bytes[half..half + 20].fill(0);
    std::fs::write(place.path("bad.warc.gz"), bytes).expect("a file");
    let error = take_in(&place.path("against"), &[place.path("bad.warc.gz")]).expect_err("damaged");
    assert!(matches!(error, AgainstError::Warc { .. }), "{error}");
    assert!(error.to_string().ends_with("name the other archives without this file"), "{error}");
    // A directory that would be new does not stay.
    take_in(&place.path("against-new"), &[place.path("bad.warc.gz")]).expect_err("damaged");
    assert!(!place.path("against-new").exists());
    assert!(found(&place.open(), 9).is_some());
    // A file of ours that is none is refused too.
    let ours = place.path("against/payloads");
    for length in [0, 10, 600_000] {
        let bytes = std::fs::read(&ours).expect("a file");
        std::fs::write(&ours, &bytes[..length.min(bytes.len() - 1)]).expect("a file");
        assert!(matches!(Against::open(&place.path("against")), Err(AgainstError::Form { .. })), "{length}");
        std::fs::write(&ours, bytes).expect("a file");
    }
}

#[test]
fn of_a_file_that_ends_inside_a_record_the_others_count() {
    let plain = |n: u64| {
        let http = format!("HTTP/1.1 200 OK\r\n\r\npayload {n}");
        format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:{n}>\r\nWARC-Date: 2026-11-21T08:30:00Z\r\n\
             WARC-Target-URI: {}\r\nWARC-Payload-Digest: {}\r\nContent-Type: application/http;msgtype=response\r\n\
             Content-Length: {}\r\n\r\n{http}\r\n\r\n",
            url(n),
            Digest::of(&payload(n)),
            http.len()
        )
        .into_bytes()
    };
    let place = Place::new();
    warc(&place.path("whole.warc.gz"), 0..10);
    let zipped = std::fs::read(place.path("whole.warc.gz")).expect("a file");
    let (two, three) = ([plain(0), plain(1)].concat(), [plain(0), plain(1), plain(2)].concat());
    let cuts = [two.len() + 3, two.len() + 60, three.len() - 12, three.len() - 5];
    for (name, bytes, expect) in cuts.map(|cut| ("cut.warc", &three[..cut], 2..3)).into_iter().chain([(
        "cut.warc.gz",
        &zipped[..zipped.len() / 2],
        3..8,
    )]) {
        std::fs::write(place.path(name), bytes).expect("a file");
        let to = place.path(&format!("against-{}", bytes.len()));
        let taken = take_in(&to, &[place.path(name)]).expect("taken in");
        assert!(expect.contains(&taken.payloads), "{name}: {taken:?}");
        assert!(taken.cut.len() == 1 && taken.cut[0].ends_with(name), "{taken:?}");
        let against = Against::open(&to).expect("readable").expect("something");
        let there = (0..10).take_while(|n| found(&against, *n).is_some()).count() as u64;
        assert_eq!(
            (there, tally(&against)),
            (taken.payloads, [there, 0, 0]),
            "{name}: the record that is cut off is not named"
        );
    }
    // A program that went on writing it.
    std::fs::write(place.path("cut.warc"), &two).expect("a file");
    let taken = place.take_in(&["cut.warc"]);
    assert_eq!((taken.payloads, taken.cut.len()), (2, 0));
    std::fs::write(place.path("cut.warc"), &three).expect("a file");
    assert_eq!(place.take_in(&["cut.warc"]).payloads, 3);
}
