//! Text sitemaps: one URL a line.

use super::{Kind, Limits, Sitemap};
use crate::href;

/// Takes the lines that are absolute http URLs. Others are counted, unless nothing at all is a URL:
/// then this is no sitemap.
pub(super) fn read(document: &str, limits: &Limits, sitemap: &mut Sitemap) {
    let mut others: u32 = 0;
    // A line ends with LF, CRLF or CR.
    for line in document.split(['\n', '\r']).filter(|line| !line.trim().is_empty()) {
        let loc = href::clean(line);
        if !href::is_absolute(&loc) {
            others = others.saturating_add(1);
        } else if !sitemap.add(&loc, None, limits) {
            break;
        }
    }
    if !sitemap.entries.is_empty() {
        sitemap.kind = Kind::Text;
        sitemap.flaws.without_url = others;
    }
}
