//! Parts of a dataset that are deleted, or come from an older copy or from another segment, are made again.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

use crawl::again::Again;
use crawl::tables::complete_dataset;
use crawl::{CanonicalUrl, CrawlDir, Options, Plan, Session};
use dataset::schema::Table;
use dataset::{Batches, Column, Layout};
use model::Timestamp;
use testweb::{Config, Pages, Server, Web};

/// Pages, the first of which links to the others.
const PAGES: usize = 21;

/// A crawl of three rounds, with many segments; its dataset after the first one lies beside it as `older`.
async fn of_three_rounds(root: &Path) -> (CrawlDir, Plan) {
    let links: String = (1..PAGES).map(|n| format!("<a href=/{n}>{n}</a>")).collect();
    let pages =
        (1..PAGES).fold(Pages::new().html("/", links), |pages, n| pages.html(format!("/{n}"), format!("page {n}")));
    let server = Server::start(Config::new(Web::new().site("one.test", pages))).await.unwrap();
    let options = format!(
        "ip-delay = \"0s\"\ndelay = \"0s\"\nsitemaps = false\nsegment-size = \"4KB\"\nconnect-to = [{:?}]\n",
        server.connect_to()
    );
    let plan = || Plan::new(&toml::from_str::<Options>(&options).unwrap()).unwrap();
    let dir = CrawlDir::at(root.join("crawl"));
    for round in 1..=3 {
        if round > 1 {
            let (plan, now) = (plan(), Timestamp(round));
            let store = dir.open_store(&plan.options).unwrap();
            Again { older_than: None, only: Vec::new(), now }.begin(store.as_ref(), &plan.settings).unwrap();
        }
        let session = Session::builder(dir.clone(), plan());
        let session = session.seeds(vec![CanonicalUrl::from_canonical("http://one.test/").unwrap()]).open().unwrap();
        session.run().await.unwrap();
        if round == 1 {
            copy(&dir.dataset(), &root.join("older"));
        }
    }
    (dir, plan())
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// The URLs of the rows, with the visit that each describes: of those that count, and of all.
fn rows(dir: &CrawlDir) -> [Vec<String>; 2] {
    let layout = Layout::at(dir.dataset());
    let all = layout.files(Table::Pages).unwrap();
    let all: Vec<Batches> = all.iter().map(|path| Batches::of_file(path, &["url", "visit"])).collect();
    [vec![layout.batches(Table::Pages, &["url", "visit"]).unwrap()], all].map(|batches| {
        let mut rows = Vec::new();
        for batch in batches.into_iter().flatten() {
            let batch = batch.unwrap();
            let row = |row| format!("{:?} {:?}", batch.text("url", row), batch.number("visit", row));
            rows.extend((0..batch.num_rows()).map(row));
        }
        rows.sort();
        rows
    })
}

fn lists(dir: &CrawlDir) -> PathBuf {
    dir.dataset().join("superseded")
}

fn remove_lists(dir: &CrawlDir) {
    for entry in std::fs::read_dir(lists(dir)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "keys") {
            std::fs::remove_file(path).unwrap();
        }
    }
}

/// Puts the files of two segments in each other's place.
fn swap(dir: &CrawlDir, names: &[String]) {
    for table in Table::ALL {
        let table = dir.dataset().join(table.as_str());
        let (one, other, aside) = (table.join(&names[0]), table.join(&names[1]), table.join("aside"));
        for (from, to) in [(&one, &aside), (&other, &one), (&aside, &other)] {
            std::fs::rename(from, to).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_deleted_or_restored_is_made_again() {
    let root = tempfile::tempdir().unwrap();
    let (dir, plan) = of_three_rounds(root.path()).await;
    let before = rows(&dir);
    assert!(before[0].len() >= PAGES && before[1].len() >= 3 * PAGES, "{before:?}");
    let settled = || std::fs::read(lists(&dir).join("settled")).unwrap();
    let settled_before = settled();
    let older = root.path().join("older");
    let mut names: Vec<String> = std::fs::read_dir(dir.dataset().join("pages"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with("unrecorded"))
        .collect();
    names.sort();
    let changes: [(&str, &dyn Fn()); 6] = [
        ("nothing", &|| ()),
        ("no lists", &|| remove_lists(&dir)),
        ("no directory of lists", &|| std::fs::remove_dir_all(lists(&dir)).unwrap()),
        ("older lists", &|| {
            std::fs::remove_dir_all(lists(&dir)).unwrap();
            copy(&older.join("superseded"), &lists(&dir));
        }),
        ("an older dataset", &|| {
            std::fs::remove_dir_all(dir.dataset()).unwrap();
            copy(&older, &dir.dataset());
        }),
        ("files of other segments", &|| swap(&dir, &names)),
    ];
    for (what, change) in changes {
        change();
        let store = dir.open_store(&plan.options).unwrap();
        complete_dataset(&dir, &plan, store.as_ref()).unwrap();
        assert_eq!(rows(&dir), before, "{what}");
        assert_eq!(settled(), settled_before, "{what}");
    }
}
