//! What one HTML page may contribute, at most.

/// Limits of [`html::extract`](crate::html::extract). What is past a limit is dropped, and
/// [`Truncated`](crate::Truncated) says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Different link targets kept from a page, fragments aside; later ones are dropped. Of a page with more links than this, those behind
    /// are kept only where they lead to a target that none before leads to: a page has at most twice as many links.
    pub links_max: usize,
    /// Images kept from a page; later ones are dropped.
    pub images_max: usize,
    /// Visible text kept, in bytes of UTF-8.
    pub text_bytes_max: usize,
    /// Title kept, in bytes of UTF-8.
    pub title_bytes_max: usize,
    /// Anchor text (and an image's `alt`) kept, each, in bytes of UTF-8.
    pub link_text_bytes_max: usize,
    /// The longest URL kept (link, image, `base`, refresh), in bytes of UTF-8; a longer one is left out, never cut.
    pub href_bytes_max: usize,
    /// The largest image in a `data:` URI that is decoded, in bytes after decoding.
    pub data_image_bytes_max: usize,
    /// All images in `data:` URIs of one page together, in bytes after decoding.
    pub data_images_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            links_max: 100_000,
            images_max: 10_000,
            text_bytes_max: 1 << 20,
            title_bytes_max: 1 << 10,
            link_text_bytes_max: 1 << 10,
            href_bytes_max: 8 << 10,
            data_image_bytes_max: 1 << 20,
            data_images_bytes_max: 4 << 20,
        }
    }
}
