//! The stored inputs of the fuzz targets `html`, `requisites` and `sitemap`, with the properties they assert (`docs/fuzzing.md`).

#[path = "../../../fuzz/properties/html.rs"]
mod html;
#[path = "../../../fuzz/properties/replay.rs"]
mod replay;
#[path = "../../../fuzz/properties/requisites.rs"]
mod requisites;
#[path = "../../../fuzz/properties/sitemap.rs"]
mod sitemap;

#[test]
fn stored_html_inputs_keep_their_properties() {
    replay::replay("html", html::hold);
}

#[test]
fn stored_requisites_inputs_keep_their_properties() {
    replay::replay("requisites", requisites::hold);
}

/// What scanners of style sheets, scripts and pages look at, so that they meet in any order.
const PIECES: [&str; 36] = [
    "url(",
    "\"",
    "'",
    "\\",
    "(",
    ")",
    "@import ",
    "@namespace ",
    "image-set(",
    "/*",
    "*/",
    "\n",
    "import ",
    "from ",
    "export ",
    "`",
    "${",
    "}",
    "{",
    "/",
    "<img src=",
    "<style>",
    "<script type=module>",
    ">",
    "č",
    ";",
    "[",
    "]",
    "a.png",
    "./b.js",
    "#",
    "import(",
    "<link rel=stylesheet href='data:text/css,",
    "@import%20%22http://a.test/%22;",
    "<xsl:import xmlns:xsl='http://www.w3.org/1999/XSL/Transform' href='a'/>",
    "<a>; rel=preload,",
];

proptest::proptest! {
    #[test]
    fn any_pieces_keep_the_properties_of_requisites(
        kind in 0..6_u8, pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..40),
    ) {
        requisites::hold(&[&[kind], pieces.concat().as_bytes()].concat());
    }
}

#[test]
fn stored_sitemap_inputs_keep_their_properties() {
    replay::replay("sitemap", sitemap::hold);
}
