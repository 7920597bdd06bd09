//! Links in all their forms: where they stand, how they are spelled, and which must not be followed.

use super::html::{leaf, list, page};
use crate::{Pages, Reply};

/// The pages of the section, with their bodies.
const PAGES: [(&str, &str); 10] = [
    ("spelling", SPELLING),
    ("base", "<base href=\"deep/er/\">\n<a href=\"target.html\">below the base</a>"),
    ("refresh", "<meta http-equiv=\"Refresh\" content=\"5; URL='/links/refresh-target.html'\">"),
    ("onclick", ONCLICK),
    ("frames", "<iframe src=\"/links/iframe.html\"></iframe>\n<a href=\"/links/frameset.html\">an older page</a>"),
    ("map", "<map name=m><area shape=rect coords=0,0,9,9 href=\"/links/area.html\" alt=\"the area\"></map>"),
    ("next", "<link rel=next href=\"/links/next-2.html\">"),
    ("images", IMAGES),
    ("odd", ODD),
    ("elsewhere", ELSEWHERE),
];

/// One page in many spellings, and two whose names need escapes.
const SPELLING: &str = r#"<a href="same.html">relative</a>
<a href="/links/same.html#part">with a fragment</a>
<a href="HTTP://ADVANCED.TEST/links/same.html">capitals in scheme and host</a>
<a href="http://advanced.test:80/links/same.html">the default port</a>
<a href="//advanced.test/links/same.html">without a scheme</a>
<a href="/links/./x/../same.html">dot segments</a>
<a href="/links/%2e/same.html">an escaped dot segment</a>
<a href="/links/%73ame.html">an escaped letter</a>
<a href="
  /links/same.html ">white space around</a>
<a href="\links\same.html">backslashes</a>
<a href="/links/caf%c3%a9.html">small hex digits</a>
<a href="/links/caf%C3%A9.html">capital hex digits</a>
<a href="/links/café.html">no escapes</a>
<a href="/links/%7Etilde.html">an escaped tilde</a>
<a href="/links/~tilde.html">a tilde</a>"#;

const ONCLICK: &str = r#"<button onclick="location.href='/links/onclick-1.html'">one</button>
<div onclick='document.location = "/links/onclick-2.html"; return false'>two</div>"#;

/// Images are noted, and not fetched unless asked for.
const IMAGES: &str = r#"<img src="/links/small.png" srcset="/links/large.png 2x, /links/huge.png 3x" alt="a spider">
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==" alt="a dot">"#;

/// Odd but valid HTML, and things that look like links and are none.
const ODD: &str = r#"<A HREF=/links/entity.html?a=1&amp;b=2>an entity, and no quotes</A>
<!-- <a href="/links/never-comment.html">a comment</a> -->
<script>var text = '<a href="/links/never-script.html">a script</a>';</script>
<a name="/links/never-name.html">a name</a>
<a>nothing</a>
<a href="">this page</a>
<a href="rel-nofollow.html" rel="nofollow">a link marked nofollow</a>"#;

/// What is outside, and what is no web page.
const ELSEWHERE: &str = r#"<a href="http://other.test/">another site</a>
<a href="http://sub.advanced.test/page.html">a host below</a>
<a href="http://advanced.test.evil.test/">a host that only begins alike</a>
<a href="mailto:spider@advanced.test">mail</a>
<a href="tel:+386123456">telephone</a>
<a href="javascript:void(0)">script</a>
<a href="data:text/html,hello">data</a>
<a href="ftp://advanced.test/file">ftp</a>
<a href="http://[broken/">broken</a>"#;

/// What the pages lead to.
const LEAVES: [&str; 14] = [
    "/links/same.html",
    "/links/caf%C3%A9.html",
    "/links/~tilde.html",
    "/links/deep/er/target.html",
    "/links/refresh-target.html",
    "/links/onclick-1.html",
    "/links/onclick-2.html",
    "/links/iframe.html",
    "/links/frame.html",
    "/links/area.html",
    "/links/next-2.html",
    "/links/entity.html?a=1&b=2",
    "/links/rel-nofollow.html",
    "/links/canonical.html",
];

pub(super) fn add(pages: Pages) -> Pages {
    let mut links: Vec<String> = PAGES.iter().map(|(name, _)| format!("/links/{name}.html")).collect();
    links.extend(
        [
            "/links/canonical.html?from=list",
            "/links/canonical.html",
            "/links/nofollow-meta.html",
            "/links/nofollow-header.html",
        ]
        .map(str::to_owned),
    );
    let nofollow = "<meta name=robots content=\"nofollow\">\n<a href=\"/links/never-meta.html\">not to be followed</a>";
    let by_header = Reply::html(list("nofollow by header", &["/links/never-header.html"]));
    let canonical = "<link rel=canonical href=\"/links/canonical.html\">";
    let pages = pages
        .html("/links/", list("Links", &links))
        .html("/links/frameset.html", "<title>frames</title><frameset cols=100%><frame src=\"frame.html\"></frameset>")
        .html("/links/canonical.html?from=list", page("A page that names its canonical URL", canonical))
        .html("/links/nofollow-meta.html", page("nofollow by meta", nofollow))
        .reply("/links/nofollow-header.html", by_header.header("X-Robots-Tag", "nofollow"));
    let pages =
        PAGES.iter().fold(pages, |pages, (name, body)| pages.html(format!("/links/{name}.html"), page(name, body)));
    LEAVES.iter().fold(pages, |pages, path| pages.html(*path, leaf(path)))
}
