//! The stored inputs of the fuzz targets `html` and `sitemap`, with the properties they assert (`docs/fuzzing.md`).

#[path = "../../../fuzz/properties/html.rs"]
mod html;
#[path = "../../../fuzz/properties/replay.rs"]
mod replay;
#[path = "../../../fuzz/properties/sitemap.rs"]
mod sitemap;

#[test]
fn stored_html_inputs_keep_their_properties() {
    replay::replay("html", html::hold);
}

#[test]
fn stored_sitemap_inputs_keep_their_properties() {
    replay::replay("sitemap", sitemap::hold);
}
