//! Real documents: those of Debian's documentation packages.

use std::path::{Path, PathBuf};

/// The HTML files below a directory, by path.
pub fn html_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    walk(dir, &mut files);
    files.sort();
    files
}

fn walk(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir)
        .unwrap_or_else(|error| panic!("{}: {error}: install it, or run `cargo xtask test`", dir.display()))
    {
        let path = entry.expect("an entry").path();
        match path.extension() {
            _ if path.is_dir() => walk(&path, files),
            Some(extension) if extension == "html" => files.push(path),
            _ => {}
        }
    }
}
