//! What reading a page left out, as limits of the crawl.

use extract::Truncated;
use model::{Limit, LimitSet};

/// The limits that cut off something of a page.
#[must_use]
pub fn limits_of(truncated: Truncated) -> LimitSet {
    let Truncated { links, link_repeats, images, text, title, link_text, href, data_images } = truncated;
    let cut = [
        (links, Limit::Links),
        (link_repeats, Limit::LinkRepeats),
        (images, Limit::Images),
        (text, Limit::Text),
        (title, Limit::Title),
        (link_text, Limit::LinkText),
        (href, Limit::Href),
        (data_images, Limit::DataImages),
    ];
    cut.into_iter().filter_map(|(is_cut, limit)| is_cut.then_some(limit)).collect()
}
