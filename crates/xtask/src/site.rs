//! `cargo xtask site`: the documentation as a site, made by mdBook from `docs/`, its links checked by the crawler itself.
//!
//! `docs/SUMMARY.md` lists the pages. They are staged with links that hold inside the site: a link to another page leads to that page, and a
//! link to any other file of the repository leads to a copy of that file.

mod check;
mod links;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::needs;
use crate::workspace::workspace;

/// Where the site is made, below cargo's target directory.
const SITE: &str = "site";
/// The directory of the documentation, and the list of its pages there.
const DOCS: &str = "docs";
const SUMMARY: &str = "docs/SUMMARY.md";
/// The directory of the site that has copies of other files.
const COPIES: &str = "source";
/// Files that browsers show as they are. Any other gets a name that ends with `.txt`.
const SHOWN: [&str; 2] = ["svg", "png"];

/// Builds the site into `target/site/html`, crawls it, and fails where a link is broken.
///
/// # Errors
/// A link leads nowhere, a page is not listed, or mdBook or the crawl fails.
pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let binary = binary(arguments)?;
    let site = crate::bench::argiope::target().join(SITE);
    if site.exists() {
        fs::remove_dir_all(&site).with_context(|| site.display().to_string())?;
    }
    let (staged, html) = (site.join("staged"), site.join("html"));
    let book = Book::read()?;
    book.stage(&staged.join(DOCS))?;
    fs::copy(workspace().join("book.toml"), staged.join("book.toml"))?;
    let status = Command::new(needs::mdbook()?).arg("build").arg(&staged).arg("--dest-dir").arg(&html).status()?;
    if !status.success() {
        bail!("mdBook failed");
    }
    check::fragments(&html)?;
    let checked = check::crawled(&binary, &html, &site.join("crawl"))?;
    if checked < book.pages.len() {
        bail!("the crawl found {checked} of {} pages: some are not linked", book.pages.len());
    }
    println!("{checked} pages, no link is broken: {}", html.join("index.html").display());
    Ok(())
}

/// The crawler that the arguments name by `--binary FILE`, or that of the profile `dev`, built now.
///
/// # Errors
/// The arguments are others, or the build fails.
pub fn binary(arguments: &[&str]) -> anyhow::Result<PathBuf> {
    match arguments {
        [] => {}
        ["--binary", file] => return Path::new(file).canonicalize().with_context(|| (*file).to_owned()),
        _ => bail!("the only option is --binary FILE"),
    }
    let status = Command::new("cargo").args(["build", "--quiet", "-p", "argiope"]).current_dir(workspace()).status()?;
    if !status.success() {
        bail!("the build failed");
    }
    Ok(crate::bench::argiope::target().join("debug/argiope"))
}

/// The pages that the summary lists: where each is in the repository, and where in the site's sources.
struct Book {
    pages: BTreeMap<PathBuf, PathBuf>,
}

impl Book {
    /// Reads the summary.
    ///
    /// # Errors
    /// It lists a page that is not there, or leaves out a page of `docs/`.
    fn read() -> anyhow::Result<Self> {
        let text = fs::read_to_string(workspace().join(SUMMARY)).context(SUMMARY)?;
        let mut pages = BTreeMap::new();
        links::rewritten(&text, |target| {
            if target.is_empty() {
                return Ok(String::new());
            }
            let path = joined(Path::new(DOCS), target).with_context(|| format!("{SUMMARY}: {target}"))?;
            if !workspace().join(&path).is_file() {
                bail!("{SUMMARY}: {target} is not there");
            }
            pages.insert(path.clone(), in_site(&path));
            Ok(target.to_owned())
        })?;
        let mut unlisted = BTreeSet::new();
        for file in files_below(&workspace().join(DOCS))? {
            let path = file.strip_prefix(workspace())?.to_owned();
            if path.extension().is_some_and(|it| it == "md") && path != Path::new(SUMMARY) && !pages.contains_key(&path)
            {
                unlisted.insert(path.display().to_string());
            }
        }
        if !unlisted.is_empty() {
            bail!("{SUMMARY} does not list {}", unlisted.into_iter().collect::<Vec<_>>().join(", "));
        }
        Ok(Self { pages })
    }

    /// Writes the sources of the site into a directory.
    fn stage(&self, to: &Path) -> anyhow::Result<()> {
        let mut copies = BTreeSet::new();
        for (path, in_site) in &self.pages {
            let text = fs::read_to_string(workspace().join(path))?;
            let text = links::rewritten(&text, |target| {
                self.target(path, target, &mut copies).with_context(|| format!("{}: ({target})", path.display()))
            })?;
            write(&to.join(in_site), &text)?;
        }
        let summary = fs::read_to_string(workspace().join(SUMMARY))?;
        let summary = links::rewritten(&summary, |target| {
            let path = joined(Path::new(DOCS), target).context("outside the repository")?;
            // A title without a page has no target.
            Ok(if target.is_empty() { String::new() } else { in_site(&path).display().to_string() })
        })?;
        write(&to.join("SUMMARY.md"), &summary)?;
        for path in &copies {
            self.copy(path, to)?;
        }
        Ok(())
    }

    /// Where a link of a page leads in the site. What has to be copied for it is noted.
    fn target(&self, page: &Path, target: &str, copies: &mut BTreeSet<PathBuf>) -> anyhow::Result<String> {
        let (file, fragment) = target.split_at(target.find('#').unwrap_or(target.len()));
        if file.is_empty() || file.contains("://") || file.starts_with("mailto:") {
            return Ok(target.to_owned());
        }
        let path = joined(page.parent().unwrap_or(Path::new("")), file).context("outside the repository")?;
        let place = match self.pages.get(&path) {
            Some(place) => place.clone(),
            None if workspace().join(&path).exists() => {
                copies.insert(path.clone());
                place_of_copy(&path)
            }
            None => bail!("there is no {}", path.display()),
        };
        let depth = in_site(page).components().count() - 1;
        Ok(format!("{}{}{fragment}", "../".repeat(depth), place.display()))
    }

    /// Copies a file of the repository beside the pages, or a list of a directory and the files in it.
    fn copy(&self, path: &Path, to: &Path) -> anyhow::Result<()> {
        let from = workspace().join(path);
        if from.is_file() {
            let target = to.join(place_of_copy(path));
            fs::create_dir_all(target.parent().unwrap_or(to))?;
            fs::copy(&from, target)?;
            return Ok(());
        }
        let mut list =
            format!("<!doctype html>\n<html lang=en>\n<title>{0}</title>\n<h1>{0}</h1>\n<ul>\n", path.display());
        for file in files_below(&from)? {
            let file = file.strip_prefix(workspace())?;
            let place = match self.pages.get(file) {
                Some(place) => place.with_extension("html"),
                None => place_of_copy(file),
            };
            // `source` and the directory itself are above the list.
            let up = "../".repeat(path.components().count() + 1);
            writeln!(list, "<li><a href=\"{up}{}\">{}</a>", place.display(), file.display())?;
            if !self.pages.contains_key(file) {
                self.copy(file, to)?;
            }
        }
        write(&to.join(place_of_copy(path)), &(list + "</ul>\n"))
    }
}

/// Where a page is in the site's sources: `docs/` is their root, and what lies outside has its name in lower case, the README as home.
fn in_site(path: &Path) -> PathBuf {
    match path.strip_prefix(DOCS) {
        Ok(inside) => inside.to_owned(),
        Err(_) if path == Path::new("README.md") => PathBuf::from("index.md"),
        Err(_) => PathBuf::from(path.display().to_string().to_lowercase()),
    }
}

/// Where the copy of a file is, or the list of a directory.
fn place_of_copy(path: &Path) -> PathBuf {
    let place = Path::new(COPIES).join(path);
    match path.extension().and_then(|extension| extension.to_str()) {
        _ if workspace().join(path).is_dir() => place.join("index.html"),
        Some(extension) if SHOWN.contains(&extension) => place,
        // mdBook takes a link with `.md` in it for one to a page.
        Some("md") => place.with_extension("txt"),
        _ => PathBuf::from(format!("{}.txt", place.display())),
    }
}

/// The path that a relative link means in a directory of the repository; none where it leads out of it.
fn joined(base: &Path, target: &str) -> Option<PathBuf> {
    let mut path = base.to_owned();
    for part in Path::new(target).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::ParentDir if path.pop() => {}
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(path)
}

/// All files below a directory, in the order of their names.
fn files_below(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut entries: Vec<PathBuf> = dir.read_dir()?.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<_>>()?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            files.extend(files_below(&entry)?);
        } else {
            files.push(entry);
        }
    }
    Ok(files)
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    fs::write(path, text).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Book, in_site, joined, place_of_copy};

    #[test]
    fn links_mean_paths_of_the_repository() {
        let path = |target| joined(Path::new("docs/decisions"), target).map(|path| path.display().to_string());
        assert_eq!(path("../pages.md").as_deref(), Some("docs/pages.md"));
        assert_eq!(path("./0001-keys.md").as_deref(), Some("docs/decisions/0001-keys.md"));
        assert_eq!(path("../../deploy/").as_deref(), Some("deploy"));
        assert_eq!(path("../../../secret"), None);
        assert_eq!(path("/etc/passwd"), None);
    }

    #[test]
    fn files_have_their_place_in_the_site() {
        let page = |path: &str| in_site(Path::new(path)).display().to_string();
        assert_eq!(page("docs/decisions/0001-keys.md"), "decisions/0001-keys.md");
        assert_eq!((page("README.md").as_str(), page("ARCHITECTURE.md").as_str()), ("index.md", "architecture.md"));
        let copy = |path: &str| place_of_copy(Path::new(path)).display().to_string();
        assert_eq!(copy("docs/known.svg"), "source/docs/known.svg");
        assert_eq!(copy("docs/crawldb.sql"), "source/docs/crawldb.sql.txt");
        assert_eq!(copy("bench/runs/day.md"), "source/bench/runs/day.txt");
        assert_eq!(copy("docs/decisions"), "source/docs/decisions/index.html");
    }

    #[test]
    fn every_page_is_listed_and_every_link_leads_somewhere() -> anyhow::Result<()> {
        let staged = tempfile::tempdir()?;
        Book::read()?.stage(staged.path())?;
        assert!(staged.path().join("index.md").is_file());
        Ok(())
    }
}
