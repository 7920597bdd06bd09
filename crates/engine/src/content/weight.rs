//! How much memory a content takes until it is recorded, about: its texts and links.

use compact_str::CompactString;
use model::Announcement;
use weburl::CanonicalUrl;

use super::{Content, Finding};
use crate::details::{Details, HtmlDetails, ImageDetails, LinkDetails, href_of};

impl Content {
    /// Bytes on the heap. Of what is bounded by a few kilobytes, nothing counts.
    pub(super) fn heap_bytes(&self) -> usize {
        let urls = match &self.finding {
            Finding::Page(page) => bytes_of_urls(&page.targets),
            Finding::Sitemap { pages, sitemaps, announced } => {
                bytes_of_urls(pages) + bytes_of_urls(sitemaps) + announced.len() * size_of::<Announcement>()
            }
            Finding::Feed { pages, announced, .. } => {
                bytes_of_urls(pages) + announced.len() * size_of::<Announcement>()
            }
            Finding::Nothing | Finding::Part | Finding::Redirect(_) | Finding::Document | Finding::Unwanted(_) => 0,
        };
        let loaded: usize = self.loaded.iter().map(|image| image.content.bytes).sum();
        urls + loaded + self.details.as_ref().map_or(0, |details| bytes_of_details(details))
    }
}

/// The targets of a page are those of its finding.
fn bytes_of_details(details: &Details) -> usize {
    let Details { html, document, .. } = details;
    let document = document.as_ref().map_or(0, |document| document.text.len());
    document + html.as_ref().map_or(0, bytes_of_html)
}

fn bytes_of_html(html: &HtmlDetails) -> usize {
    let links: usize = html.links.iter().map(|link| size_of::<LinkDetails>() + on_heap(&link.text)).sum();
    let of_image = |image: &ImageDetails| href_of(&image.image).map_or(0, str::len) + image.image.alt.len();
    let images: usize = html.images.iter().map(|image| size_of::<ImageDetails>() + of_image(image)).sum();
    let main = html.main.as_ref().map_or(0, |main| main.text.len());
    let items = html.structured.iter().flat_map(|structured| &structured.items);
    html.text.len() + main + links + images + items.map(|item| item.json.len()).sum::<usize>()
}

fn on_heap(text: &CompactString) -> usize {
    if text.is_heap_allocated() { text.capacity() } else { 0 }
}

fn bytes_of_urls(urls: &[CanonicalUrl]) -> usize {
    urls.iter().map(|url| size_of::<CanonicalUrl>() + url.as_str().len()).sum()
}
