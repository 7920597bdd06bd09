//! The pages as a site: HTML written straight into the reply's buffer.

use std::io::Write as _;

use super::text::word;
use super::text::write_sentences;
use super::{PageId, Synthetic};
use crate::{Reply, Request, Site};

/// Names the stream of random numbers that makes texts.
const TEXT: u64 = 2;
/// Room for what surrounds the text, and for each link.
const FRAME_BYTES: usize = 256;
const LINK_BYTES: usize = 80;

impl Site for Synthetic {
    /// Pages; a robots.txt that allows everything; `/` leads to `/p/0`; everything else, hosts included, is 404.
    fn reply(&self, request: &Request) -> Reply {
        let found = PageId::from_host_and_path(&request.host, &request.target).filter(|id| self.contains(*id));
        match (found, request.target.as_str()) {
            (Some(id), _) => Reply::html(self.html(id)),
            (None, "/robots.txt") => Reply::text("User-agent: *\nDisallow:\n"),
            (None, "/") => Reply::redirect(301, "/p/0"),
            _ => Reply::error(404, &request.target),
        }
    }
}

impl Synthetic {
    /// The HTML of a page.
    pub fn html(&self, id: PageId) -> Vec<u8> {
        let links = self.links(id);
        let mut random = self.random(id, TEXT);
        let mean = self.settings().text_bytes_mean;
        let text_bytes = mean / 4 + usize::try_from(random.below(mean as u64 * 3 / 2 + 1)).unwrap_or(0);
        let mut out = Vec::with_capacity(text_bytes + FRAME_BYTES + links.len() * LINK_BYTES);
        let title = random.next();
        let (first, second) = (word(title), word(title >> 6));
        // Writing to a vector cannot fail.
        let _ = write!(
            out,
            "<!doctype html>\n<html lang=en>\n<head><title>Page {} of site {}: {first} {second}</title></head>\n<body>\n<p>",
            id.page, id.site
        );
        write_sentences(&mut out, &mut random, text_bytes);
        out.extend_from_slice(b"</p>\n<ul>\n");
        for link in links {
            let bits = random.next();
            let (first, second) = (word(bits), word(bits >> 6));
            let _ = if link.site == id.site {
                writeln!(out, "<li><a href=\"/p/{}\">{first} {second}</a></li>", link.page)
            } else {
                writeln!(out, "<li><a href=\"{link}\">{first} {second}</a></li>")
            };
        }
        out.extend_from_slice(b"</ul>\n</body>\n</html>\n");
        out
    }
}
