//! A web to crawl: sandboxes, real files as sites, a synthetic web of any size.
