//! What a command makes in a crawl's directory before anything is begun there: it is removed again where the command is refused.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use store::Store;
use store_embedded::EmbeddedStore;

/// What was missing before a command. Unless it is kept, what the command has made of it goes when this is dropped. What was there before stays,
/// and so does what another process has begun meanwhile.
pub(crate) struct Traces {
    /// The directory and those above it that were missing, the innermost first. They go only if they are empty.
    above: Vec<PathBuf>,
    /// `crawl.toml`, where it was missing. It is made last: once it is there, a crawl has begun.
    settings: Option<PathBuf>,
    state: PathBuf,
    has_state: bool,
    /// The mark of a state in a database.
    mark: PathBuf,
    /// Other files of the crawl: those that are missing when the store is open. Before that another process may make them.
    others: Vec<PathBuf>,
    /// The store, once it is open: until it is closed, nobody else begins anything in the directory.
    store: Option<Arc<dyn Store>>,
    is_kept: bool,
}

impl Traces {
    /// Looks what is missing of the directory `root`, with `settings`, `state` (in which is the `mark` of a state in a database), and `others`
    /// in it.
    pub(crate) fn of(root: &Path, settings: PathBuf, [state, mark]: [PathBuf; 2], others: Vec<PathBuf>) -> Self {
        let above = root.ancestors().filter(|path| *path != Path::new("")).take_while(|path| is_missing(path));
        let above = above.map(Path::to_owned).collect();
        let (settings, has_state) = (Some(settings).filter(|path| is_missing(path)), !is_missing(&state));
        Traces { above, settings, state, has_state, mark, others, store: None, is_kept: false }
    }

    /// The store is open. It is kept open until all is removed.
    pub(crate) fn hold(&mut self, store: Arc<dyn Store>) {
        self.others.retain(|path| is_missing(path));
        self.store = Some(store);
    }

    /// Something is begun: all stays.
    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }

    /// Removes the state if it is new and nothing was committed to it. Where it could not be opened, another process may have it.
    fn remove_state(&self) {
        if self.has_state || is_missing(&self.state) {
            return;
        }
        let (is_empty, _lock) = match &self.store {
            Some(store) => (store.seeds().is_ok_and(|seeds| seeds.is_empty()), None),
            // This command has opened no database, so another has marked the directory. No lock in it says whether that one goes on.
            None if !is_missing(&self.mark) => return,
            None => {
                let Ok(lock) = EmbeddedStore::keep_closed(&self.state) else { return };
                let last = EmbeddedStore::acknowledged(&self.state);
                (last.is_ok_and(|last| last.is_none_or(|last| last == 0)), Some(lock))
            }
        };
        if is_empty {
            remove(&self.state);
        }
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        if self.is_kept || self.settings.as_ref().is_some_and(|settings| settings.exists()) {
            return;
        }
        if self.store.is_some() {
            self.others.iter().filter(|path| !is_missing(path)).for_each(|path| remove(path));
        }
        self.remove_state();
        for dir in &self.above {
            if fs::remove_dir(dir).is_err() {
                return;
            }
        }
    }
}

fn is_missing(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// What cannot be removed stays: the command has its error to tell.
fn remove(path: &Path) {
    let _ = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
}

#[cfg(test)]
mod tests {
    use store::Batch;
    use store_embedded::Options;
    use weburl::{CanonicalRules, CanonicalUrl};

    use super::*;

    fn traces(root: &Path) -> Traces {
        let state = [root.join("state"), root.join("state/crawl-id")];
        Traces::of(root, root.join("crawl.toml"), state, vec![root.join("cookies.jsonl")])
    }

    fn open(root: &Path) -> EmbeddedStore {
        EmbeddedStore::open(&root.join("state"), Options::default()).expect("a store")
    }

    #[test]
    fn what_was_made_goes_and_what_was_there_stays() {
        let dir = tempfile::tempdir().expect("a directory");
        let (above, root) = (dir.path().join("above"), dir.path().join("above/crawl"));
        let made = traces(&root);
        drop(open(&root));
        drop(made);
        assert!(!above.exists(), "all was made");

        let mut made = traces(&root);
        let store = Arc::new(open(&root));
        made.hold(store.clone());
        fs::write(root.join("cookies.jsonl"), "").expect("written");
        drop(made);
        assert!(!above.exists(), "all was made, and is open");
        drop(store);
        assert!(!above.exists(), "nothing comes back");

        fs::create_dir_all(&root).expect("made");
        let mut made = traces(&root);
        let store = Arc::new(open(&root));
        fs::write(root.join("cookies.jsonl"), "of another").expect("written");
        made.hold(store);
        drop(made);
        assert!(!root.join("state").exists() && root.join("cookies.jsonl").exists());

        let made = traces(&root);
        drop(open(&root));
        made.keep();
        assert!(root.join("state/lock").exists());
    }

    #[test]
    fn what_another_process_has_begun_stays() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().join("crawl");
        let made = traces(&root);
        let other = open(&root);
        drop(made);
        assert!(root.join("state/engine").exists(), "another has it open");
        drop(other);

        fs::remove_dir_all(&root).expect("removed");
        let made = traces(&root);
        drop(open(&root));
        fs::write(root.join("crawl.toml"), "").expect("written");
        drop(made);
        assert!(root.join("state/engine").exists(), "another has begun and ended");

        for is_open in [false, true] {
            fs::remove_dir_all(root.join("state")).expect("removed");
            let mut made = traces(&root);
            let store = Arc::new(open(&root));
            let seed = CanonicalUrl::parse("http://a.test/", &CanonicalRules::default()).expect("a URL");
            store.commit(&Batch { seeds: vec![seed], ..Batch::default() }).expect("committed");
            if is_open {
                made.hold(store.clone());
            }
            drop(store);
            drop(made);
            assert!(root.join("state/engine").exists(), "another has committed");
        }

        fs::remove_dir_all(root.join("state")).expect("removed");
        let made = traces(&root);
        fs::create_dir(root.join("state")).expect("made");
        fs::write(root.join("state/crawl-id"), "id\n").expect("written");
        drop(made);
        assert!(root.join("state/crawl-id").exists(), "another has a database open");
    }
}
