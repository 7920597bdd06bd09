//! Hash routes: pages that an application makes of fragments.

use std::path::Path;

use serde_json::Value;
use sha1::{Digest, Sha1};
use testkit::python::script;
use testkit::pywb::{Pywb, get};
use testweb::{Pages, Reply, Web};

use crate::crawls::Crawled;
use crate::replayed::replayed;

/// A router as applications have it: it listens to the fragment, and shows one page for each.
const ROUTER: &str = "\
const pages = { '': 'Home', '/guide': 'Guide', '/guide/part two': 'Part two', '/about': 'About', '!/old': 'Old', '/hidden': 'Hidden' };
const show = () => {
  const route = decodeURIComponent(location.hash.slice(1)).split('?')[0].replace(/^\\/$/, '');
  document.title = pages[route] ?? 'None';
  document.getElementById('app').innerHTML = `<h1>${document.title}</h1><p>${'Words of this page. '.repeat(20)}</p>
    <a href='#/'>home</a> <a href='#/guide'>guide</a> <a href='#/guide?id=part'>a part of it</a> <a href='#/guide/part%20two'>two</a>
    <a href='/#/about'>about</a> <a href='#!/old'>old</a> <a href='#top'>top</a> <button>hidden</button>`;
  document.querySelector('button').onclick = () => { location.hash = '/hidden' };
};
addEventListener('hashchange', show);
show();
";

fn web() -> Web {
    let words = "Enough words to be read without any script at all. ".repeat(10);
    let app = Pages::new()
        .html("/", "<!DOCTYPE html><title>App</title><div id=app></div><script src=/app.js></script><noscript><a href=/plain.html>plain</a></noscript>")
        .html("/plain.html", format!("<title>Plain</title>{words}<a href='#/no-route'>x</a><a href='#part'>x</a>"))
        .reply("/app.js", Reply::new(200).header("Content-Type", "text/javascript").body(ROUTER));
    Web::new().site("app.test", app)
}

fn titles(crawled: &Crawled) -> Vec<(String, String)> {
    let title = |row: &serde_json::Value| row["title"].as_str().unwrap_or_default().to_owned();
    crawled.rows().iter().map(|(path, row)| (path.clone(), title(row))).collect()
}

#[test]
fn each_route_is_a_page_in_dataset_archive_and_replay() {
    let crawled = Crawled::of(web(), "http://app.test/", &["--render", "auto", "--render-time", "60s"]);
    let expect = [
        ("/", "Home"),
        ("/#!/old", "Old"),
        ("/#/about", "About"),
        ("/#/guide", "Guide"),
        ("/#/guide/part%20two", "Part two"),
        ("/#/hidden", "Hidden"),
        ("/plain.html", "Plain"),
    ];
    let expect = expect.map(|(path, title)| (path.to_owned(), title.to_owned()));
    assert_eq!(titles(&crawled), expect);
    assert_eq!(crawled.asked["GET app.test/"], 6, "the server sees no fragment: {:?}", crawled.asked);
    let reason = crawled.rows()["/#/guide"]["reason"].as_str().unwrap_or_default().to_owned();
    assert!(reason.starts_with("rendered (a hash route)"), "{reason}");
    let told = crawled.run("explain", &["http://app.test/#/guide", "--json"]).json();
    assert_eq!(told["row"]["title"], "Guide", "{told}");

    assert_eq!(crawled.run("check", &[]).code, 0);
    assert_eq!(crawled.run("derive", &["--all"]).code, 0);
    assert_eq!(titles(&crawled), expect, "derived again");

    let home = tempfile::tempdir().expect("a directory");
    let wacz = home.path().join("crawl.wacz").display().to_string();
    assert_eq!(crawled.run("export", &["wacz", "-o", &wacz]).code, 0);
    let read = "import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read('pages/pages.jsonl').decode())";
    let listed = script(&[], read, &[&wacz]);
    assert!(listed.contains("\"http://app.test/#/guide\""), "{listed}");
    for (url, title) in
        [("http://app.test/", "Home"), ("http://app.test/#/guide", "Guide"), ("http://app.test/#!/old", "Old")]
    {
        let html = replayed(&crawled, url);
        assert!(html.contains(&format!("<h1>{title}</h1>")), "{url}: {html}");
    }
}

#[test]
fn without_them_there_is_one_page() {
    let arguments = ["--render", "auto", "--render-time", "60s", "--hash-routes", "never"];
    let crawled = Crawled::of(web(), "http://app.test/#/guide", &arguments);
    let expect = [("/", "Home"), ("/plain.html", "Plain")];
    assert_eq!(titles(&crawled), expect.map(|(path, title)| (path.to_owned(), title.to_owned())));
}

/// The SHA-1 of the pictures in an archive, by the URL of their records.
const PICTURES: &str = "import sys, glob, hashlib, json; from warcio.archiveiterator import ArchiveIterator
found = {}
for path in glob.glob(sys.argv[1] + '/archive/*.warc.gz'):
    for record in ArchiveIterator(open(path, 'rb')):
        if record.rec_type == 'resource':
            found[record.rec_headers.get_header('WARC-Target-URI')] = hashlib.sha1(record.content_stream().read()).hexdigest()
print(json.dumps(found))";

#[test]
fn each_route_has_pictures_of_its_own_in_pywb() {
    let arguments = ["--render", "auto", "--render-time", "60s", "--screenshots", "view", "--viewport", "500x300"];
    let crawled = Crawled::of(web(), "http://app.test/", &arguments);
    let pictures: Value = serde_json::from_str(&script(&["warcio"], PICTURES, &[&crawled.dir()])).expect("JSON");
    let names = ["/", "/%23/guide", "/%23/about", "/%23!/old"].map(|page| format!("urn:view:http://app.test{page}"));
    let digests = names.clone().map(|name| pictures[&name].as_str().unwrap_or_default().to_owned());
    let different = std::collections::BTreeSet::from(digests.clone());
    assert!(different.len() == names.len() && !different.contains(""), "each shows its own page: {pictures}");

    let home = tempfile::tempdir().expect("a directory");
    let wacz = home.path().join("crawl.wacz").display().to_string();
    assert_eq!(crawled.run("export", &["wacz", "-o", &wacz]).code, 0);
    let pywb = Pywb::serve(home.path(), Path::new(&wacz));
    for (name, digest) in names.iter().zip(&digests) {
        let (status, head, body) = get(pywb.port, &format!("/it/2030id_/{}", name.replace('%', "%25")));
        assert_eq!(status, "200", "{name}: {head}");
        let found: String = Sha1::digest(&body).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(&found, digest, "{name}");
    }
    // A filtered copy has the pictures of its pages.
    let filtered = crawled.run("export", &["cdxj", "--outcome", "html"]).stdout;
    assert!(names.iter().all(|name| filtered.contains(name)), "{filtered}");
}
