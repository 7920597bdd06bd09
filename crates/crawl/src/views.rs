//! Views of the table of URLs that somebody saved, each a filter and an order under a name: the file `views.json`.
//!
//! Invariant: a file that cannot be read whole is never written over.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use settings::usage;

use crate::CrawlDir;

/// Views of a crawl, at most.
pub const VIEWS_MAX: usize = 100;
/// Characters of a name, at most.
pub const NAME_CHARS_MAX: usize = 100;
/// Bytes of what a view shows, at most.
const QUERY_BYTES_MAX: usize = 16 << 10;
/// Bytes of the file, at most: all views, written as JSON.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// The version of the format.
const VERSION: u32 = 1;

/// A saved view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedView {
    /// Its name, unique in the crawl.
    pub name: String,
    /// What it shows: the fields of a request for the table, as a URL has them.
    pub query: String,
}

/// The file.
#[derive(Serialize, Deserialize)]
struct Saved {
    version: u32,
    views: Vec<SavedView>,
}

/// The views of a crawl, in the order in which they were saved; none where there is no file.
///
/// # Errors
/// The file cannot be read, is damaged, or of another version.
pub fn all_of(dir: &CrawlDir) -> anyhow::Result<Vec<SavedView>> {
    let path = dir.views();
    read(&path)
        .with_context(|| format!("{}: the saved views cannot be read, and the file stays as it is", path.display()))
}

/// Saves a view under a name that no other has.
///
/// # Errors
/// The name or the query cannot be used, there are too many views, or the file cannot be read or written.
pub fn save(dir: &CrawlDir, view: SavedView) -> anyhow::Result<()> {
    check(&view)?;
    changed(dir, |views| {
        if views.iter().any(|other| other.name == view.name) {
            bail!(usage(format!("there is a view `{}` already: delete it first, or choose another name", view.name)));
        }
        if views.len() >= VIEWS_MAX {
            bail!(usage(format!("there are {VIEWS_MAX} views, which is the most: delete one first")));
        }
        views.push(view);
        Ok(())
    })
}

/// Deletes the view with a name. False where there is none.
///
/// # Errors
/// The file cannot be read or written.
pub fn delete(dir: &CrawlDir, name: &str) -> anyhow::Result<bool> {
    let mut is_deleted = false;
    changed(dir, |views| {
        let before = views.len();
        views.retain(|view| view.name != name);
        is_deleted = views.len() < before;
        Ok(())
    })?;
    Ok(is_deleted)
}

fn check(SavedView { name, query }: &SavedView) -> anyhow::Result<()> {
    let chars = name.chars().count();
    match () {
        () if name.trim().is_empty() => bail!(usage("the name of the view is empty")),
        () if chars > NAME_CHARS_MAX => {
            bail!(usage(format!("the name of the view has {chars} characters: it may have {NAME_CHARS_MAX}")))
        }
        () if name.chars().any(char::is_control) => bail!(usage("the name of the view has control characters")),
        () if query.len() > QUERY_BYTES_MAX => {
            bail!(usage(format!("the filter is longer than {QUERY_BYTES_MAX} bytes: it cannot be saved")))
        }
        () => Ok(()),
    }
}

/// Reads the views, has them changed, and writes them. Others who change them meanwhile wait.
fn changed(dir: &CrawlDir, change: impl FnOnce(&mut Vec<SavedView>) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let root = File::open(dir.root()).with_context(|| dir.root().display().to_string())?;
    root.lock().with_context(|| format!("{}: cannot be locked", dir.root().display()))?;
    let mut views = all_of(dir)?;
    let before = views.clone();
    change(&mut views)?;
    if views == before {
        return Ok(());
    }
    let path = dir.views();
    let bytes = serde_json::to_vec_pretty(&Saved { version: VERSION, views })?;
    write(&root, &path, &bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// Replaces the file as a whole.
fn write(root: &File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("json.tmp");
    fresh::renamed(&temporary, || {
        let mut file = fresh::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)?;
        root.sync_all()
    })
}

fn read(path: &Path) -> anyhow::Result<Vec<SavedView>> {
    let mut bytes = Vec::new();
    match fresh::open_to_read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        file => file?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?,
    };
    if bytes.len() as u64 > FILE_BYTES_MAX {
        bail!("it is longer than {FILE_BYTES_MAX} bytes");
    }
    let Saved { version, views } = serde_json::from_slice(&bytes)?;
    if version != VERSION {
        bail!("it has version {version}, and this program knows version {VERSION}");
    }
    Ok(views)
}

#[cfg(test)]
mod tests {
    use settings::Usage;

    use super::*;

    fn view(name: &str) -> SavedView {
        SavedView { name: name.to_owned(), query: "state=failed&sort=-size".to_owned() }
    }

    fn new() -> (tempfile::TempDir, CrawlDir) {
        let root = tempfile::tempdir().expect("a directory");
        let dir = CrawlDir::at(root.path());
        (root, dir)
    }

    #[test]
    fn views_are_saved_and_deleted_by_name() {
        let (_root, dir) = new();
        assert_eq!(all_of(&dir).expect("none"), []);
        for name in ["errors", "large <b>", "\u{e4} \u{1f577}"] {
            save(&dir, view(name)).expect("saved");
        }
        let refused = save(&dir, view("errors")).expect_err("there is one");
        assert!(refused.is::<Usage>() && refused.to_string().contains("`errors` already"), "{refused}");
        assert!(delete(&dir, "errors").expect("deleted") && !delete(&dir, "errors").expect("there is none"));
        assert_eq!(all_of(&dir).expect("read"), [view("large <b>"), view("\u{e4} \u{1f577}")]);
        let left: Vec<_> = dir.root().read_dir().expect("there").map(|entry| entry.expect("one").file_name()).collect();
        assert_eq!(left, ["views.json"]);
    }

    #[test]
    fn what_cannot_be_a_view_is_refused() {
        let (_root, dir) = new();
        let long = |chars: usize| "\u{e4}".repeat(chars);
        save(&dir, view(&long(NAME_CHARS_MAX))).expect("not too long");
        let with = |name: &str, query: &str| SavedView { name: name.to_owned(), query: query.to_owned() };
        for (refused, why) in [
            (with("", ""), "is empty"),
            (with("  ", ""), "is empty"),
            (with(&long(NAME_CHARS_MAX + 1), ""), "has 101 characters: it may have 100"),
            (with("a\nb", ""), "control characters"),
            (with("a", &"x".repeat(QUERY_BYTES_MAX + 1)), "is longer than"),
        ] {
            let error = save(&dir, refused).expect_err(why);
            assert!(error.is::<Usage>() && error.to_string().contains(why), "{error}");
        }
    }

    #[test]
    fn there_are_so_many_views_and_no_more() {
        let (_root, dir) = new();
        let query = "x".repeat(QUERY_BYTES_MAX);
        for n in 0..VIEWS_MAX {
            save(&dir, SavedView { name: n.to_string(), query: query.clone() }).expect("saved");
        }
        let refused = save(&dir, view("one more")).expect_err("too many");
        assert!(refused.is::<Usage>() && refused.to_string().contains("there are 100 views"), "{refused}");
        assert!(delete(&dir, "7").expect("deleted"));
        save(&dir, view("one more")).expect("there is room");
        assert_eq!(all_of(&dir).expect("read").len(), VIEWS_MAX);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_never_written_over() {
        let (_root, dir) = new();
        let other = r#"{"version":2,"views":[{"name":"a","query":"","colour":"red"}]}"#;
        for damaged in ["", "{", "[]", r#"{"version":1,"views":[{"name":"a"}]}"#, other] {
            std::fs::write(dir.views(), damaged).expect("written");
            for error in [
                all_of(&dir).expect_err("damaged"),
                save(&dir, view("new")).expect_err("damaged"),
                delete(&dir, "a").expect_err("damaged"),
            ] {
                assert!(format!("{error:#}").contains("the file stays as it is: "), "{error:#}");
            }
            assert_eq!(std::fs::read_to_string(dir.views()).expect("there"), damaged);
        }
        // Nor is what a link leads to.
        let elsewhere = dir.root().join("elsewhere");
        std::fs::write(&elsewhere, "precious").expect("written");
        std::fs::remove_file(dir.views()).expect("removed");
        std::os::unix::fs::symlink(&elsewhere, dir.views()).expect("a link");
        save(&dir, view("new")).expect_err("a link");
        assert_eq!(std::fs::read_to_string(&elsewhere).expect("there"), "precious");
    }

    #[test]
    fn views_that_cannot_be_written_leave_those_from_before() {
        let (_root, dir) = new();
        save(&dir, view("first")).expect("saved");
        // No file can have the temporary name.
        std::fs::create_dir_all(dir.root().join("views.json.tmp/below")).expect("directories");
        let error = save(&dir, view("second")).expect_err("not written");
        assert!(!error.is::<Usage>() && error.to_string().starts_with("cannot write "), "{error:#}");
        assert_eq!(all_of(&dir).expect("read"), [view("first")]);
    }

    #[test]
    fn views_saved_at_the_same_time_are_all_kept() {
        let (_root, dir) = new();
        std::thread::scope(|scope| {
            for n in 0..8 {
                let dir = &dir;
                scope.spawn(move || save(dir, view(&n.to_string())).expect("saved"));
            }
        });
        assert_eq!(all_of(&dir).expect("read").len(), 8);
    }
}
