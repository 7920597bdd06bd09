//! Exact and near duplicates.

use super::html;
use crate::Pages;

/// Three URLs with the same bytes. Only the first is linked from elsewhere, so a crawl in order of depth finds the
/// others after it.
const COPIES: [&str; 3] = ["/duplicates/copy-1.html", "/duplicates/copy-2.html", "/duplicates/copy-3.html"];

pub(super) fn add(pages: Pages) -> Pages {
    let links = [COPIES[0], "/duplicates/near-1.html", "/duplicates/near-2.html"];
    let copy = html::list("Three times the same", &COPIES);
    let pages = pages
        .html("/duplicates/", html::list("Duplicates", &links))
        .html("/duplicates/near-1.html", near("evening"))
        .html("/duplicates/near-2.html", near("morning"));
    COPIES.iter().fold(pages, |pages, path| pages.html(*path, copy.clone()))
}

/// A long page of which one word differs.
fn near(word: &str) -> String {
    let threads: String = (1..=600).map(|n| format!("Thread {n} of the web holds. ")).collect();
    html::page("Nearly the same", &format!("<p>In the {word} the spider counts. {threads}"))
}
