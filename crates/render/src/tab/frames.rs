//! The frames and workers of a page, and which of them are of another site. Those bear none of the crawl's secrets: they could read
//! the answers, and act as the user, which a browser does not let them (RFC 6265bis §5.2.1, HTML 2.4.3).

use std::collections::HashSet;

use weburl::{CanonicalRules, CanonicalUrl};

/// Frames and workers of a page that are remembered. Further ones count as foreign.
const FRAMES_MAX: usize = 10_000;

/// The frames and workers of a page.
pub(super) struct Frames<'a> {
    page: &'a CanonicalUrl,
    /// Those that have shown the page's own site only, by their names in the protocol; frames in them may be such.
    own: HashSet<String>,
}

impl<'a> Frames<'a> {
    /// Begins with the frame of the page.
    pub(super) fn new(page: &'a CanonicalUrl, frame: &str) -> Self {
        Frames { page, own: HashSet::from([frame.to_owned()]) }
    }

    /// A frame was put into another, or a worker was started by it.
    pub(super) fn attached(&mut self, frame: &str, parent: &str) {
        if self.own.contains(parent) {
            self.add(frame);
        }
    }

    /// A frame shows a document of this origin. That of a frame without a URL is its parent's; that of a sandbox is of no site.
    pub(super) fn navigated(&mut self, frame: &str, origin: &str) {
        if !self.is_of_site(origin) {
            self.own.remove(frame);
        }
    }

    /// A worker runs the script at a URL, which is of the site that started it.
    pub(super) fn started(&mut self, worker: &str, url: &str) {
        if self.is_of_site(url) {
            self.add(worker);
        }
    }

    /// Whether what makes a request is foreign. If the request is for the document of a frame, the frame is from then on what it shows.
    pub(super) fn is_foreign(&mut self, initiator: &str, document: Option<&str>) -> bool {
        let is_foreign = !self.own.contains(initiator);
        document.into_iter().for_each(|url| self.navigated(initiator, url));
        is_foreign
    }

    fn add(&mut self, name: &str) {
        if self.own.len() < FRAMES_MAX {
            self.own.insert(name.to_owned());
        }
    }

    fn is_of_site(&self, url: &str) -> bool {
        let url = url.strip_prefix("blob:").unwrap_or(url);
        CanonicalUrl::parse(url, &CanonicalRules::default()).is_ok_and(|url| self.page.is_same_site(&url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_foreign_from_the_document_of_another_site_on() {
        let page = CanonicalUrl::parse("http://www.bank.test/", &CanonicalRules::default()).expect("a URL");
        let mut frames = Frames::new(&page, "page");
        assert!(!frames.is_foreign("page", None));
        for (frame, parent) in [("own", "page"), ("ad", "page"), ("in-own", "own"), ("blank", "page"), ("data", "page")]
        {
            frames.attached(frame, parent);
        }
        assert!(!frames.is_foreign("own", Some("http://login.bank.test/frame")));
        assert!(!frames.is_foreign("ad", Some("http://ad.test/frame")), "the page itself requests the document");
        frames.attached("in-ad", "ad");
        for (frame, origin) in [("own", "http://login.bank.test"), ("blank", "http://www.bank.test"), ("data", "://")] {
            frames.navigated(frame, origin);
        }
        frames.attached("sandbox", "own");
        frames.navigated("sandbox", "null");
        for (frame, expect) in [
            ("own", false),
            ("in-own", false),
            ("blank", false),
            ("ad", true),
            ("in-ad", true),
            ("data", true),
            ("sandbox", true),
            ("?", true),
        ] {
            assert_eq!(frames.is_foreign(frame, None), expect, "{frame}");
        }
        assert!(frames.is_foreign("ad", Some("http://www.bank.test/transfer")), "it stays foreign");
        assert!(frames.is_foreign("ad", None));
        assert!(!frames.is_foreign("own", Some("https://www.bank.test/")));
        assert!(frames.is_foreign("own", None), "another scheme is another site");
    }

    #[test]
    fn workers_are_of_the_site_of_their_scripts() {
        let page = CanonicalUrl::parse("http://bank.test/", &CanonicalRules::default()).expect("a URL");
        let mut frames = Frames::new(&page, "page");
        for (worker, url, expect) in [
            ("1", "http://bank.test/w.js", false),
            ("2", "blob:http://bank.test/0b4c", false),
            ("3", "blob:http://ad.test/0b4c", true),
            ("4", "data:text/javascript,x", true),
            ("5", "", true),
        ] {
            frames.started(worker, url);
            assert_eq!(frames.is_foreign(worker, None), expect, "{url}");
        }
    }
}
