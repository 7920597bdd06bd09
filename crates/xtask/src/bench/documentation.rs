//! Real pages to crawl: documentation as Debian packages it.
//!
//! The numbers of pages were found by an independent walk: one thread, lxml, links of `a`, `area`, `frame` and `iframe` within the host,
//! answers with status 200 and type text/html.

use std::fmt::Write;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::nginx::Nginx;
use crate::needs;

/// A site in a directory.
pub struct Site {
    /// The Debian package it comes with, and the version whose pages were counted.
    pub package: &'static str,
    /// Where that has its files.
    pub root: &'static str,
    /// The first page, below it.
    pub seed: &'static str,
    /// Pages that links lead to from the seed.
    pub pages: u64,
    /// What links lead to besides: images, text.
    others: u64,
}

/// The largest: 10,137 pages, 270 MB, 107 links a page.
pub const JDK: Site = Site {
    package: "openjdk-17-doc",
    root: "/usr/share/doc/openjdk-17-jre-headless",
    seed: "api/index.html",
    pages: 10_137,
    others: 60,
};

/// What many hosts serve in turn: host N has the site of its last digit.
const TEN: [Site; 10] = [
    Site {
        package: "python3.11-doc",
        root: "/usr/share/doc/python3.11/html",
        seed: "index.html",
        pages: 526,
        others: 1,
    },
    Site { package: "sqlite3-doc", root: "/usr/share/doc/sqlite3", seed: "index.html", pages: 757, others: 0 },
    Site {
        package: "python-django-doc",
        root: "/usr/share/doc/python-django-doc/html",
        seed: "index.html",
        pages: 691,
        others: 2,
    },
    handbook("/usr/share/doc/debian-handbook/html/en-US"),
    handbook("/usr/share/doc/debian-handbook/html/de-DE"),
    handbook("/usr/share/doc/debian-handbook/html/es-ES"),
    handbook("/usr/share/doc/debian-handbook/html/fr-FR"),
    handbook("/usr/share/doc/debian-handbook/html/it-IT"),
    handbook("/usr/share/doc/debian-handbook/html/pt-BR"),
    handbook("/usr/share/doc/debian-handbook/html/ru-RU"),
];

const fn handbook(root: &'static str) -> Site {
    Site { package: "debian-handbook", root, seed: "index.html", pages: 127, others: 0 }
}

/// Sites as they are served.
pub struct Served {
    /// Where to begin, one URL a host.
    pub seeds: Vec<String>,
    /// Pages of all hosts.
    pub pages: u64,
    /// What is no page, of all hosts.
    pub others: u64,
    _server: Nginx,
    /// The directory of a list of pages.
    _list: Option<TempDir>,
}

/// Serves one large site.
///
/// # Errors
/// A package is missing, or nginx does not start.
pub fn one() -> anyhow::Result<Served> {
    serve(&[&JDK], "")
}

/// Serves so many pages of the large site, none of which is much larger than the others, by these settings of nginx, which make it slow. The
/// seed is a list of them, which comes at once.
///
/// # Errors
/// As [`one`], or the pages cannot be listed.
pub fn pages_of_one_slow(pages: usize, settings: &str) -> anyhow::Result<Served> {
    needs::packages("the pages", &[(JDK.package, JDK.root)])?;
    let root = Path::new(JDK.root).canonicalize()?;
    let mut files = Vec::new();
    files_below(&root.join("api"), &mut files)?;
    files.sort_unstable();
    let dir = TempDir::with_prefix("argiope-bench-list-")?;
    let mut list = String::new();
    for file in files.iter().take(pages) {
        writeln!(list, "<p><a href=\"/{0}\">{0}</a>", file.strip_prefix(&root)?.display())?;
    }
    std::fs::write(dir.path().join(LIST), list)?;
    let settings = format!("{settings} location = /{LIST} {{ root {}; limit_rate 0; }}", dir.path().display());
    let served = serve(&[&Site { seed: LIST, ..JDK }], &settings)?;
    Ok(Served { pages: files.len().min(pages) as u64 + 1, others: 0, _list: Some(dir), ..served })
}

/// The list of pages, among the files of a site.
const LIST: &str = "argiope-list.html";

/// The size of pages that are about as large as others, in bytes.
const USUAL_BYTES: RangeInclusive<u64> = 16_384..=65_536;

fn files_below(dir: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in dir.read_dir()? {
        let entry = entry?;
        let (path, metadata) = (entry.path(), entry.metadata()?);
        if metadata.is_dir() {
            files_below(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "html") && USUAL_BYTES.contains(&metadata.len())
        {
            files.push(path);
        }
    }
    Ok(())
}

/// Serves that many hosts. Each is an address of 127.0.0.0/8, which Linux has without any setting up.
///
/// # Errors
/// A package is missing, or nginx does not start.
pub fn many(hosts: usize) -> anyhow::Result<Served> {
    let sites: Vec<&Site> = TEN.iter().cycle().take(hosts).collect();
    serve(&sites, "")
}

fn serve(sites: &[&Site], settings: &str) -> anyhow::Result<Served> {
    let mut packages: Vec<(&str, &str)> = sites.iter().map(|site| (site.package, site.root)).collect();
    packages.push(("nginx-light", "/usr/sbin/nginx"));
    packages.sort_unstable();
    packages.dedup();
    needs::packages("the pages", &packages)?;
    let mut roots = Vec::new();
    for (site, address) in sites.iter().zip(addresses()) {
        // Documentation is often reached through a link, which is followed once instead of for every request.
        let root: PathBuf = Path::new(site.root).canonicalize()?;
        roots.push((address, root));
    }
    let server = Nginx::serve(&roots, settings)?;
    let seed = |(site, address): (&&Site, Ipv4Addr)| format!("http://{address}:{}/{}", server.port, site.seed);
    let seeds = sites.iter().zip(addresses()).map(seed).collect();
    let sum = |of: fn(&Site) -> u64| sites.iter().map(|site| of(site)).sum();
    Ok(Served { seeds, pages: sum(|site| site.pages), others: sum(|site| site.others), _server: server, _list: None })
}

/// None that documentation names: its `http://127.0.0.1:8000/` would be a site of the crawl that does not answer, and is waited for.
fn addresses() -> impl Iterator<Item = Ipv4Addr> {
    (0..u8::MAX).flat_map(|third| (1..=250).map(move |fourth| Ipv4Addr::new(127, 1, third, fourth)))
}
