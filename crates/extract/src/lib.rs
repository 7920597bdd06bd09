//! Response bytes to links, images, text, metadata; sitemaps; charset.
