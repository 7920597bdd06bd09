//! Whether the built site is whole: its pages by a crawl, the places inside pages by looking for them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use serde_json::Value;

use super::{files_below, joined};
use crate::testweb::TestWeb;

/// The name under which the test web serves the site.
const HOST: &str = "docs.test";

/// Serves the site on loopback, crawls it, and gives the number of HTML pages.
///
/// # Errors
/// A link inside the site leads nowhere, or the crawler fails.
pub fn crawled(binary: &Path, html: &Path, dir: &Path) -> anyhow::Result<usize> {
    let web = TestWeb::start(binary, &["--root", &format!("{HOST}={}", html.display())])?;
    let status = Command::new(binary)
        .args(["crawl", &format!("http://{HOST}/"), "--connect-to", &web.connect_to, "--quiet"])
        .args(["--delay", "0", "--ip-delay", "0", "--images", "-o"])
        .arg(dir)
        .status()?;
    if !status.success() {
        bail!("the crawl of the site failed");
    }
    let rows = Command::new(binary).arg("export").arg(dir).arg("jsonl").stderr(Stdio::inherit()).output()?;
    judged(&String::from_utf8_lossy(&rows.stdout))
}

/// The number of HTML pages among the rows of a crawl.
///
/// # Errors
/// Some URL of the site could not be fetched: each is named, with a page that links to it.
fn judged(rows: &str) -> anyhow::Result<usize> {
    let mut broken = Vec::new();
    let mut pages = 0;
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).context("a row of the export")?;
        let text = |column: &str| row[column].as_str().unwrap_or_default().to_owned();
        match text("outcome").as_str() {
            "html" => pages += 1,
            "binary" | "duplicate" | "redirect" => {}
            // Links to the web outside are out of the crawl's scope, and not followed.
            "excluded" if text("site") != format!("http://{HOST}") => {}
            outcome => broken.push(format!("{} ({outcome} {}) on {}", text("url"), row["status"], text("found_on"))),
        }
    }
    if !broken.is_empty() {
        bail!("broken links:\n  {}", broken.join("\n  "));
    }
    Ok(pages)
}

/// Checks that every `#place` that a page links to is there.
///
/// # Errors
/// Some are not: each is named, with the page.
pub fn fragments(html: &Path) -> anyhow::Result<()> {
    let mut pages = BTreeMap::new();
    for file in files_below(html)? {
        if file.extension().is_some_and(|extension| extension == "html") {
            pages.insert(file.strip_prefix(html)?.to_owned(), std::fs::read_to_string(&file)?);
        }
    }
    let ids: BTreeMap<&PathBuf, BTreeSet<&str>> =
        pages.iter().map(|(page, text)| (page, values(text, " id=\"").collect())).collect();
    let mut missing = Vec::new();
    for (page, text) in &pages {
        for link in values(text, " href=\"").filter(|link| !link.contains("://")) {
            let Some((file, place)) = link.split_once('#') else { continue };
            let target = match file {
                "" => Some(page.clone()),
                file => joined(page.parent().unwrap_or(Path::new("")), file),
            };
            let is_there = target.and_then(|target| ids.get(&target)).is_some_and(|ids| ids.contains(place));
            if !is_there && !place.is_empty() {
                missing.push(format!("{link} on {}", page.display()));
            }
        }
    }
    if !missing.is_empty() {
        bail!("links to places that are not there:\n  {}", missing.join("\n  "));
    }
    Ok(())
}

/// The values of an attribute, as they are written.
fn values<'a>(html: &'a str, attribute: &'a str) -> impl Iterator<Item = &'a str> {
    html.split(attribute).skip(1).filter_map(|rest| rest.split('"').next())
}

#[cfg(test)]
mod tests {
    use super::{fragments, judged};

    fn row(url: &str, site: &str, outcome: &str) -> String {
        format!(
            "{{\"url\":\"{url}\",\"site\":\"{site}\",\"outcome\":\"{outcome}\",\"status\":404,\"found_on\":\"here\"}}\n"
        )
    }

    #[test]
    fn a_page_that_is_missing_is_named_with_the_page_that_links_to_it() -> anyhow::Result<()> {
        let site = "http://docs.test";
        let good = row("a", site, "html") + &row("b", site, "binary") + &row("c", "https://else.test", "excluded");
        assert_eq!(judged(&good)?, 1);
        for outcome in ["http_error", "excluded", "trap", "frontier"] {
            let error = judged(&(good.clone() + &row("gone", site, outcome))).err().map(|error| error.to_string());
            assert_eq!(error, Some(format!("broken links:\n  gone ({outcome} 404) on here")));
        }
        Ok(())
    }

    #[test]
    fn a_place_that_is_missing_is_named_with_its_page() -> anyhow::Result<()> {
        let dir = tempfile::tempdir()?;
        std::fs::create_dir(dir.path().join("in"))?;
        std::fs::write(
            dir.path().join("a.html"),
            "<h1 id=\"top\">A</h1><a href=\"#top\">a</a><a href=\"in/b.html#b\">b</a>",
        )?;
        let b = |links: &str| std::fs::write(dir.path().join("in/b.html"), format!("<h1 id=\"b\">B</h1>{links}"));
        b("<a href=\"../a.html#top\">a</a><a href=\"https://else.test/#x\">x</a>")?;
        fragments(dir.path())?;
        b("<a href=\"../a.html#bottom\">a</a><a href=\"c.html#c\">c</a>")?;
        let error = fragments(dir.path()).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.ends_with("../a.html#bottom on in/b.html\n  c.html#c on in/b.html"), "{error}");
        Ok(())
    }
}
