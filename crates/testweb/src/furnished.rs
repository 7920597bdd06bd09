//! A site whose pages need something of every kind to be shown: style sheets, scripts, images, fonts, media, frames, icons, on two hosts.

use bytes::Bytes;

use crate::{Pages, Reply, Web};

/// The host of the pages.
pub const HOST: &str = "furnished.test";
/// Another host, outside of the scope of a crawl of [`HOST`].
pub const OTHER_HOST: &str = "furniture.test";

/// A file that a page needs.
#[derive(Clone, Debug)]
pub struct File {
    /// Its URL.
    pub url: String,
    /// Its media type.
    pub media_type: &'static str,
    /// Its bytes.
    pub body: Bytes,
}

/// The paths of the pages.
pub const PAGES: [&str; 3] = ["/", "/second.html", "/inner.html"];

const INDEX: &str = r##"<!doctype html>
<html lang=en><head><meta charset=utf-8><title>Furnished</title>
<link rel=stylesheet href=/style/main.css>
<link rel="alternate stylesheet" title=dark href=/style/dark.css>
<link rel=icon href=/icons/favicon.svg type=image/svg+xml>
<link rel="apple-touch-icon" href=/icons/touch.png><link rel=mask-icon href=/icons/mask.svg>
<link rel=manifest href=/app.webmanifest>
<link rel=preload as=font crossorigin href=/fonts/preloaded.woff2>
<link rel=preload as=image imagesrcset="/img/preloaded.png 1x">
<link rel=modulepreload href=/script/preloaded.mjs>
<link rel=next href=/second.html><meta property=og:image content=/img/not-shown.png>
<style>h1 { background: url(/img/inline.png) }</style>
<script type=importmap>{"imports": {"vendor": "/script/vendor.mjs"}}</script>
<script src=/script/classic.js defer></script><script type=module src=/script/app.mjs></script>
<script type=module>import { a } from "/script/inline.mjs"; import vendor from "vendor";</script>
</head><body background=/img/body.gif>
<h1>Furnished</h1><p style="background: url('/img/attribute.png')"><a href=/second.html>second</a> <a href=https://elsewhere.test/>elsewhere</a>
<img src=/img/plain.png srcset="/img/small.png 1x, /img/large.png 2x" alt="">
<picture><source srcset=/img/photo.avif type=image/avif><source srcset="/img/photo.webp"><img src=/img/photo.jpg alt=""></picture>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" data-src=/img/lazy.png data-srcset="/img/lazy-2x.png 2x" alt="">
<noscript><img src=/img/noscript.png alt=""></noscript><div data-bg=/img/late-background.png></div>
<img src=/img/moved.png alt=""><input type=image src=/img/button.png alt=go>
<svg><use xlink:href="/img/sprite.svg#star"/><use href="#here"/><image href=/img/in-svg.png /></svg>
<video poster=/media/poster.jpg controls><source src=/media/film.webm><source src=/media/film.mp4><track src=/media/film.vtt></video>
<audio src=/media/sound.ogg></audio><object data=/media/drawing.svg></object><embed src=/media/embedded.svg>
<iframe src=//furniture.test/frame.html></iframe><iframe src=/inner.html></iframe>
<iframe srcdoc="<img src=/img/srcdoc.png>"></iframe>
<template><img src=/img/not-copied.png></template>
</body></html>
"##;

const SECOND: &str =
    "<!doctype html><title>Second</title><link rel=stylesheet href=/style/main.css><img src=img/plain.png>
<p>It shares a style sheet and an image with the first, and names no icon.";

const INNER: &str =
    "<!doctype html><title>Inner</title><link rel=icon href=/icons/favicon.svg><p>In a frame, and a page as well.";

/// Files with references in them, or with bytes that matter: host, path, media type, content.
const WRITTEN: [(&str, &str, &str, &str); 15] = [
    (
        HOST,
        "/style/main.css",
        "text/css",
        "@charset \"utf-8\"; @import \"print.css\" print; @import url(//furniture.test/theme.css);\np { color: black }",
    ),
    (
        HOST,
        "/style/print.css",
        "text/css",
        "li { list-style: url( ../img/bullet.svg ); cursor: url('../img/hand.cur'), auto } /* url(no.png) */",
    ),
    (HOST, "/style/dark.css", "text/css", "body { background: black }"),
    (
        OTHER_HOST,
        "/theme.css",
        "text/css",
        "@font-face { font-family: F; src: local('F'), url(fonts/body.woff2) format('woff2'), url(\"fonts/body.woff\") }\n.a { background: image-set('img/set.avif' type('image/avif') 1x, url(img/set.png) 2x) }",
    ),
    (HOST, "/script/classic.js", "text/javascript", "// import './no.js'\nconsole.log(\"import './no.js'\")"),
    (
        HOST,
        "/script/app.mjs",
        "text/javascript",
        "import { a } from './lib.mjs'; import vendor from 'vendor';\nconst lazy = () => import('./lazy.mjs');",
    ),
    (HOST, "/script/lib.mjs", "application/javascript", "export { b as a } from '../script/deep.mjs'"),
    (HOST, "/script/deep.mjs", "text/javascript; charset=utf-8", "export const b = /'/.test('č')"),
    (
        HOST,
        "/app.webmanifest",
        "application/manifest+json",
        "{\"icons\": [{\"src\": \"/icons/192.png\"}], \"screenshots\": [{\"src\": \"icons/shot.png\"}]}",
    ),
    (
        OTHER_HOST,
        "/frame.html",
        "text/html",
        "<!doctype html><base href=/in/><link rel=stylesheet href=frame.css><img src=frame.png><a href=/not-followed>no</a>",
    ),
    (OTHER_HOST, "/in/frame.css", "text/css", "p{}"),
    (
        HOST,
        "/media/drawing.svg",
        "image/svg+xml",
        "<svg xmlns=\"http://www.w3.org/2000/svg\"><image href=\"inside.png\"/></svg>",
    ),
    (HOST, "/media/embedded.svg", "image/svg+xml", "<svg xmlns=\"http://www.w3.org/2000/svg\"><rect/></svg>"),
    (HOST, "/media/film.vtt", "text/vtt", "WEBVTT\n\n00:00.000 --> 00:01.000\nSilence\n"),
    (HOST, "/img/sprite.svg", "image/svg+xml", "<svg xmlns=\"http://www.w3.org/2000/svg\"><symbol id=\"star\"/></svg>"),
];

/// Files of which only the bytes matter: host, path, media type.
const BINARY: [(&str, &str, &str); 45] = [
    (HOST, "/img/bullet.svg", "image/svg+xml"),
    (HOST, "/img/hand.cur", "image/x-icon"),
    (OTHER_HOST, "/fonts/body.woff2", "font/woff2"),
    (OTHER_HOST, "/fonts/body.woff", "font/woff"),
    (OTHER_HOST, "/img/set.avif", "image/avif"),
    (OTHER_HOST, "/img/set.png", "image/png"),
    (OTHER_HOST, "/img/new-place.png", "image/png"),
    (OTHER_HOST, "/in/frame.png", "image/png"),
    (HOST, "/script/lazy.mjs", "text/javascript"),
    (HOST, "/script/inline.mjs", "text/javascript"),
    (HOST, "/script/vendor.mjs", "text/javascript"),
    (HOST, "/script/preloaded.mjs", "text/javascript"),
    (HOST, "/fonts/preloaded.woff2", "font/woff2"),
    (HOST, "/icons/favicon.svg", "image/svg+xml"),
    (HOST, "/icons/touch.png", "image/png"),
    (HOST, "/icons/mask.svg", "image/svg+xml"),
    (HOST, "/icons/192.png", "image/png"),
    (HOST, "/icons/shot.png", "image/png"),
    (HOST, "/favicon.ico", "image/x-icon"),
    (HOST, "/img/preloaded.png", "image/png"),
    (HOST, "/img/inline.png", "image/png"),
    (HOST, "/img/attribute.png", "image/png"),
    (HOST, "/img/body.gif", "image/gif"),
    (HOST, "/img/plain.png", "image/png"),
    (HOST, "/img/small.png", "image/png"),
    (HOST, "/img/large.png", "image/png"),
    (HOST, "/img/photo.avif", "image/avif"),
    (HOST, "/img/photo.webp", "image/webp"),
    (HOST, "/img/photo.jpg", "image/jpeg"),
    (HOST, "/img/lazy.png", "image/png"),
    (HOST, "/img/lazy-2x.png", "image/png"),
    (HOST, "/img/noscript.png", "image/png"),
    (HOST, "/img/late-background.png", "image/png"),
    (HOST, "/img/button.png", "image/png"),
    (HOST, "/img/in-svg.png", "image/png"),
    (HOST, "/img/srcdoc.png", "image/png"),
    (HOST, "/media/poster.jpg", "image/jpeg"),
    (HOST, "/media/film.webm", "video/webm"),
    (HOST, "/media/film.mp4", "video/mp4"),
    (HOST, "/media/sound.ogg", "audio/ogg"),
    (HOST, "/media/inside.png", "image/png"),
    // Of these nothing leads to the first three.
    (HOST, "/img/not-shown.png", "image/png"),
    (HOST, "/img/not-copied.png", "image/png"),
    (OTHER_HOST, "/not-followed", "image/png"),
    (HOST, "/img/moved.png", "image/png"),
];

/// The URL that redirects to a file on the other host.
pub const MOVED: &str = "http://furnished.test/img/moved.png";
const NEW_PLACE: &str = "http://furniture.test/img/new-place.png";

/// The files that the pages need, with [`MOVED`]'s target and without it.
#[must_use]
pub fn files() -> Vec<File> {
    all().into_iter().filter(|file| !file.url.contains("/not-") && file.url != MOVED).collect()
}

/// The web.
#[must_use]
pub fn web() -> Web {
    let pages = Pages::new().text("/robots.txt", "User-agent: *\nAllow: /\n");
    let mut own =
        PAGES.into_iter().zip([INDEX, SECOND, INNER]).fold(pages, |pages, (path, html)| pages.html(path, html));
    let mut other = Pages::new();
    for File { url, media_type, body } in all() {
        let reply = if url == MOVED {
            Reply::redirect(301, NEW_PLACE)
        } else {
            Reply::new(200).header("Content-Type", media_type).body(body)
        };
        match (url.strip_prefix("http://furnished.test"), url.strip_prefix("http://furniture.test")) {
            (Some(path), _) => own = own.reply(path, reply),
            (None, Some(path)) => other = other.reply(path, reply),
            (None, None) => {}
        }
    }
    Web::new().site(HOST, own).site(OTHER_HOST, other)
}

fn all() -> Vec<File> {
    let file =
        |host: &str, path: &str, media_type, body| File { url: format!("http://{host}{path}"), media_type, body };
    let written = WRITTEN
        .into_iter()
        .map(|(host, path, media, text)| file(host, path, media, Bytes::from_static(text.as_bytes())));
    let binary = BINARY.into_iter().map(|(host, path, media)| file(host, path, media, bytes_of(path)));
    written.chain(binary).collect()
}

/// Bytes that differ from file to file, some of them no UTF-8.
fn bytes_of(path: &str) -> Bytes {
    let begin = [b"\x89\xff\0\r\n".as_slice(), path.as_bytes()].concat();
    begin.iter().copied().cycle().take(1_000 + path.len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_enough_files_each_once() {
        let urls: std::collections::BTreeSet<String> = files().into_iter().map(|file| file.url).collect();
        assert_eq!(urls.len(), files().len());
        assert!(urls.len() >= 44, "{}", urls.len());
    }
}
