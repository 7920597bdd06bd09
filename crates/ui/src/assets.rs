//! The style, the scripts and the icon of the pages. A browser keeps them: their addresses change with their content.

use std::hash::{DefaultHasher, Hasher};
use std::sync::LazyLock;

use axum::extract::RawQuery;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::query::{Fields, with_fields};

/// A file of the pages.
#[derive(Clone, Copy)]
pub(crate) struct Asset {
    path: &'static str,
    content_type: &'static str,
    content: &'static str,
}

pub(crate) const STYLE: Asset =
    Asset { path: "/ui.css", content_type: "text/css; charset=utf-8", content: include_str!("assets/ui.css") };
pub(crate) const SCRIPT: Asset =
    Asset { path: "/ui.js", content_type: "text/javascript; charset=utf-8", content: include_str!("assets/ui.js") };
/// The script of the picture.
pub(crate) const GRAPH_SCRIPT: Asset = Asset {
    path: "/graph.js",
    content_type: "text/javascript; charset=utf-8",
    content: include_str!("assets/graph.js"),
};
/// A web.
pub(crate) const ICON: Asset =
    Asset { path: "/icon.svg", content_type: "image/svg+xml", content: include_str!("assets/icon.svg") };

/// The paths of what every page needs, also one for those who may not come in.
pub(crate) const OF_ALL_PAGES: [&str; 3] = [STYLE.path, SCRIPT.path, ICON.path];

/// Changes with any of the files.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = DefaultHasher::new();
    for asset in [STYLE, SCRIPT, GRAPH_SCRIPT, ICON] {
        hash.write(asset.content.as_bytes());
    }
    format!("{:016x}", hash.finish())
});

impl Asset {
    /// Its address, for a page.
    pub(crate) fn link(self) -> String {
        with_fields(self.path, &[("v", &VERSION)])
    }

    /// The answer to a request for it. Only the address of this version may be kept.
    fn answer(self, query: Option<String>) -> Response {
        let is_this = Fields::parse(&query.unwrap_or_default()).get("v") == *VERSION;
        let cache = if is_this { "private, max-age=31536000, immutable" } else { "no-store" };
        ([(header::CONTENT_TYPE, self.content_type), (header::CACHE_CONTROL, cache)], self.content).into_response()
    }
}

/// Answers with the style.
pub(crate) async fn style(RawQuery(query): RawQuery) -> Response {
    STYLE.answer(query)
}

/// Answers with the script of all pages.
pub(crate) async fn script(RawQuery(query): RawQuery) -> Response {
    SCRIPT.answer(query)
}

/// Answers with the script of the picture.
pub(crate) async fn graph_script(RawQuery(query): RawQuery) -> Response {
    GRAPH_SCRIPT.answer(query)
}

/// Answers with the icon.
pub(crate) async fn icon(RawQuery(query): RawQuery) -> Response {
    ICON.answer(query)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_kept_under_the_address_of_its_version_alone() {
        let link = STYLE.link();
        let (path, query) = link.split_once('?').expect("a version");
        assert_eq!(path, "/ui.css");
        for (query, is_kept) in [(Some(query.to_owned()), true), (Some("v=0".to_owned()), false), (None, false)] {
            let answer = STYLE.answer(query.clone());
            let cache = answer.headers()[header::CACHE_CONTROL].to_str().expect("text").to_owned();
            assert_eq!(cache.contains("immutable"), is_kept, "{query:?}: {cache}");
        }
    }
}
