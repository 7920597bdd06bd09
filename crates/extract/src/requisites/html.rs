//! A page to what it needs. The elements and attributes are those of the HTML Standard that make a browser request something without a
//! click; with them, common attributes from which scripts load images late.

use std::borrow::Cow;

use super::{Requisites, Role, css, is_unnamed_by, json, script};
use crate::html::dom::{Document, Node, Tag};
use crate::page::has_token;
use crate::srcset;

/// Attributes from which scripts take the `src` of an image, a frame or a film when it comes into view.
const LATE_SRC: [&str; 16] = [
    "data-src",
    "data-original",
    "data-original-src",
    "data-lazy",
    "data-lazy-src",
    "data-lazyload",
    "data-hi-res-src",
    "data-image",
    "data-fallback-src",
    "data-cfsrc",
    "data-orig-file",
    "data-large-file",
    "data-src-retina",
    "data-ll-src",
    "data-actualsrc",
    "nitro-lazy-src",
];
/// The same for `srcset`.
const LATE_SRCSET: [&str; 4] = ["data-srcset", "data-lazy-srcset", "data-original-set", "data-bgset"];
/// The same for the background of any element, and for the image that it shows before a film.
const LATE_BACKGROUND: [&str; 6] =
    ["data-bg", "data-background", "data-background-image", "data-bg-src", "data-bg-url", "data-poster"];

/// Relations of a `link` to what a browser loads with the page, and to its icons.
const LOADED: [&str; 4] = ["stylesheet", "manifest", "preload", "modulepreload"];
const ICONS: [&str; 6] = [
    "icon",
    "apple-touch-icon",
    "apple-touch-icon-precomposed",
    "apple-touch-startup-image",
    "mask-icon",
    "fluid-icon",
];

/// Attributes of SVG that are properties of CSS, of which some name another file (SVG 2, "presentation attributes").
const PROPERTIES: [&str; 9] =
    ["mask", "clip-path", "filter", "fill", "stroke", "marker-start", "marker-mid", "marker-end", "cursor"];

/// Bytes of one script, style sheet or document inside a page that are read, at most.
const INLINE_BYTES_MAX: usize = 4 << 20;
/// How deep documents in `srcdoc` are nested, at most.
const SRCDOC_DEPTH_MAX: usize = 2;

/// Adds what a page needs.
pub fn of_page(text: &str, found: &mut Requisites) {
    read(text, found, 0);
}

fn read(text: &str, found: &mut Requisites, depth: usize) {
    let document = Document::parse(text);
    found.is_cut |= document.is_cut();
    let hrefs = names_of_href(text);
    let (base_around, mut has_base) = (found.base, false);
    let mut inert_until = 0;
    for node in document.elements() {
        if node.id() < inert_until {
            continue;
        }
        if node.is("template") && !node.has_attribute("shadowrootmode") {
            // Nothing in it is shown before a script copies it, often with other references.
            inert_until = node.end();
            continue;
        }
        if !has_base && let Some(href) = base_href(node).filter(|href| href.len() <= found.limits.href_bytes_max) {
            has_base = true;
            found.rebase(&href);
            if depth == 0 {
                found.base_href = Some(crate::href::clean(&href).into_owned());
            }
        }
        element(node, found, depth, &hrefs);
    }
    found.base = base_around;
}

/// `href` of a `base` element that counts: one of HTML, in the document itself, that is there while scripts run. It is that of
/// [`extract`](crate::html::extract), which has no tree.
fn base_href(node: Node<'_>) -> Option<Cow<'_, str>> {
    /// Where SVG and MathML begin, and where HTML is allowed in them again (HTML Standard, "tree construction dispatcher").
    const FOREIGN: [&str; 2] = ["svg", "math"];
    const WITH_HTML: [&str; 9] = ["foreignobject", "desc", "title", "annotation-xml", "mi", "mo", "mn", "ms", "mtext"];
    let href = node.is("base").then(|| node.attribute("href"))??;
    let is_among = |node: &Node<'_>, names: &[&str]| names.iter().any(|name| node.is(name));
    let is_apart = node.ancestors().any(|node| is_among(&node, &["noscript", "template"]));
    let border = node.ancestors().find(|node| is_among(node, &FOREIGN) || is_among(node, &WITH_HTML));
    (!is_apart && !border.is_some_and(|node| is_among(&node, &FOREIGN))).then_some(href)
}

/// What the names of attributes stand for that are links in SVG.
const XLINK: &str = "http://www.w3.org/1999/xlink";
/// Prefixes for it in a document, at most, and the longest, in bytes.
const PREFIXES_MAX: usize = 8;
const PREFIX_BYTES_MAX: usize = 64;

/// What the attribute `href` is called in a document: in XML, any prefix may be declared for XLink.
fn names_of_href(text: &str) -> Vec<String> {
    let mut names = vec!["href".to_owned(), "xlink:href".to_owned()];
    for (at, _) in text.match_indices(XLINK).take(PREFIXES_MAX) {
        let before = &text[text.ceil_char_boundary(at.saturating_sub(PREFIX_BYTES_MAX))..at];
        let declared = before.trim_end_matches(|char: char| matches!(char, '"' | '\'' | '=') || char.is_whitespace());
        let prefix = declared.rsplit(char::is_whitespace).next().and_then(|name| name.strip_prefix("xmlns:"));
        names.extend(prefix.filter(|prefix| *prefix != "xlink").map(|prefix| format!("{prefix}:href")));
    }
    names
}

fn element(node: Node<'_>, found: &mut Requisites, depth: usize, hrefs: &[String]) {
    let name = node.name().to_ascii_lowercase();
    match name.as_str() {
        "link" => link(node, found),
        "meta" if node.attribute("name").is_some_and(|name| name.trim().eq_ignore_ascii_case("referrer")) => {
            let said = node.attribute("content").and_then(|policy| is_unnamed_by(&policy));
            // A document in `srcdoc` says it of its own requests.
            found.is_unnamed = said.filter(|_| depth == 0).unwrap_or(found.is_unnamed);
        }
        "script" => script_element(node, found, hrefs),
        "style" => css::of_style_sheet(&node.text_content(INLINE_BYTES_MAX), found),
        "img" | "source" | "picture" | "video" | "audio" | "track" | "bgsound" => shown(node, Role::File, found),
        "embed" | "frame" => shown(node, Role::Frame, found),
        "iframe" => {
            shown(node, Role::Frame, found);
            if let Some(page) = node.attribute("srcdoc").filter(|_| depth < SRCDOC_DEPTH_MAX) {
                read(&page, found, depth + 1);
            }
        }
        "input" if node.attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("image")) => {
            shown(node, Role::File, found);
        }
        "object" => add(node, "data", Role::Frame, found),
        "param" if node.attribute("name").is_some_and(|name| is_of_plugin(&name)) => {
            add(node, "value", Role::Frame, found);
        }
        "applet" => applet(node, found),
        "image" | "use" | "feimage" => {
            hrefs.iter().for_each(|name| add(node, name, Role::File, found));
            // In HTML an `image` is an `img`.
            add(node, "src", Role::File, found);
        }
        "body" | "table" | "thead" | "tbody" | "tfoot" | "tr" | "td" | "th" => {
            add(node, "background", Role::File, found);
        }
        _ => {}
    }
    if let Some(style) = node.attribute("style") {
        css::of_style_attribute(&style, found);
    }
    // In HTML they mean nothing, but stand nowhere either.
    if node.tag() == Some(Tag::Other) {
        for (_, value) in node.attributes().filter(|(name, value)| PROPERTIES.contains(name) && value.contains("url("))
        {
            css::of_style_sheet(&value, found);
        }
    }
    for background in LATE_BACKGROUND.iter().filter_map(|name| node.attribute(name)) {
        if background.contains("url(") {
            css::of_style_sheet(&background, found);
        } else {
            late(&background, Role::File, found);
        }
    }
}

fn add(node: Node<'_>, attribute: &str, role: Role, found: &mut Requisites) {
    if let Some(reference) = node.attribute(attribute) {
        found.add(&reference, role);
    }
}

/// What an element shows: by its own attributes, and by those of scripts.
fn shown(node: Node<'_>, role: Role, found: &mut Requisites) {
    add(node, "src", role, found);
    add(node, "poster", Role::File, found);
    candidates(&node.attribute("srcset").unwrap_or_default(), found);
    for reference in LATE_SRC.iter().filter_map(|name| node.attribute(name)) {
        late(&reference, role, found);
    }
    for name in LATE_SRCSET {
        candidates(&node.attribute(name).unwrap_or_default(), found);
    }
}

/// An attribute that only scripts know: a path, not a number, an identifier, or a template's `{{name}}`.
fn late(reference: &str, role: Role, found: &mut Requisites) {
    if reference.contains(['/', '.']) && !reference.contains(['{', '<', ' ']) {
        found.add(reference, role);
    }
}

pub(super) fn candidates(srcset: &str, found: &mut Requisites) {
    for url in srcset::urls(srcset) {
        found.add(url, Role::File);
    }
}

fn link(node: Node<'_>, found: &mut Requisites) {
    let rel = node.attribute("rel").unwrap_or_default();
    if let Some(role) = role_of_link(&rel, &node.attribute("as").unwrap_or_default(), found) {
        add(node, "href", role, found);
        candidates(&node.attribute("imagesrcset").unwrap_or_default(), found);
    }
}

/// What a link of this relation is for, if a browser loads it.
pub(super) fn role_of_link(rel: &str, kind: &str, found: &mut Requisites) -> Option<Role> {
    let is_icon = ICONS.iter().any(|icon| has_token(rel, icon));
    found.has_icon |= is_icon;
    let is_sheet = has_token(rel, "stylesheet") || kind.eq_ignore_ascii_case("style");
    let is_loaded = is_icon || LOADED.iter().any(|loaded| has_token(rel, loaded));
    is_loaded.then_some(if is_sheet { Role::StyleSheet } else { Role::File })
}

/// Whether a parameter of an `object` names what it shows.
fn is_of_plugin(parameter: &str) -> bool {
    ["movie", "src"].iter().any(|name| parameter.trim().eq_ignore_ascii_case(name))
}

/// A program in Java: its archives, and the class with which it begins (HTML 4.01, 13.4).
fn applet(node: Node<'_>, found: &mut Requisites) {
    let base = found.base;
    if let Some(codebase) = node.attribute("codebase") {
        found.rebase(&codebase);
    }
    for archive in node.attribute("archive").unwrap_or_default().split(',') {
        found.add(archive, Role::File);
    }
    if let Some(class) = node.attribute("code").as_deref().and_then(|code| code.trim().strip_suffix(".class")) {
        found.add(&format!("{}.class", class.replace('.', "/")), Role::File);
    }
    found.base = base;
}

fn script_element(node: Node<'_>, found: &mut Requisites, hrefs: &[String]) {
    add(node, "src", Role::File, found);
    hrefs.iter().for_each(|name| add(node, name, Role::File, found));
    let kind = node.attribute("type").unwrap_or_default();
    if kind.trim().eq_ignore_ascii_case("importmap") {
        json::of_import_map(&node.text_content(INLINE_BYTES_MAX), found);
    } else if kind.trim().eq_ignore_ascii_case("module") {
        script::of_script(&node.text_content(INLINE_BYTES_MAX), found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requisites::{Limits, hrefs};

    fn found(html: &str) -> Requisites {
        let mut found = Requisites::new(Limits { references_max: 100, href_bytes_max: 1_000 });
        of_page(html, &mut found);
        found
    }

    fn check(html: &str, expect: &[&str]) {
        assert_eq!(hrefs(&found(html)), expect, "{html}");
    }

    #[test]
    fn what_browsers_load() {
        check(
            "<link rel='Alternate StyleSheet' href=a.css><link rel=next href=b><link rel=dns-prefetch href=//c>",
            &["a.css"],
        );
        check("<link rel='shortcut icon' href=f.ico><link rel=manifest href=m.json>", &["f.ico", "m.json"]);
        check(
            "<link rel=preload as=image imagesrcset='a.png 1x, b.png 2x'><link rel=modulepreload href=c.js>",
            &["a.png", "b.png", "c.js"],
        );
        check(
            "<script src=a.js></script><script>import 'no.js'</script><script type=module>import './b.js'</script>",
            &["a.js", "./b.js"],
        );
        check(
            "<style>@import 'a.css'; p { background: url(b.png) }</style><p style=\"background:url('c.png')\">",
            &["a.css", "b.png", "c.png"],
        );
        check(
            "<img src=a.png srcset='b.png 1x, c.png 2x'><picture><source srcset=d.avif><img src=e.png></picture>",
            &["a.png", "b.png", "c.png", "d.avif", "e.png"],
        );
        check(
            "<video src=a.mp4 poster=b.jpg><source src=c.webm><track src=d.vtt></video><audio src=e.ogg></audio>",
            &["a.mp4", "b.jpg", "c.webm", "d.vtt", "e.ogg"],
        );
        check(
            "<iframe src=a.html></iframe><embed src=b.svg><object data=c.pdf></object><input type=image src=d.png><input src=no>",
            &["a.html", "b.svg", "c.pdf", "d.png"],
        );
        check("<frameset><frame src=a.html></frameset>", &["a.html"]);
        check("<iframe srcdoc=\"<img src='a.png'>\"></iframe>", &["a.png"]);
        check(
            "<svg><image href=a.png /><use xlink:href='b.svg#c'/><use href='#d'/><style>p{fill:url(e.svg)}</style></svg>",
            &["a.png", "b.svg#c", "e.svg"],
        );
        check(
            "<svg><rect mask='url(a.svg#m)' clip-path='url(#c)' filter=\"url('b.svg#f')\" fill=red /><path data-x='url(no)'/></svg>",
            &["a.svg#m", "b.svg#f"],
        );
        check("<body background=a.gif><table background=b.gif><tr><td background=c.gif>", &["a.gif", "b.gif", "c.gif"]);
        check(
            "<noscript><img src=a.png></noscript><template><img src=no.png></template><img src=b.png>",
            &["a.png", "b.png"],
        );
        check("<script type=importmap>{\"imports\":{\"x\":\"./x.js\"}}</script>", &["./x.js"]);
    }

    #[test]
    fn documents_in_their_references() {
        check(
            "<link rel=stylesheet href='data:text/css,@import %22http://a.test/a.css%22;p{x:url(no)}'>",
            &["http://a.test/a.css"],
        );
        check(
            "<link rel=stylesheet href='data:text/css;base64,cHt4OnVybChodHRwOi8vYS50ZXN0L2IucG5nKX0='>",
            &["http://a.test/b.png"],
        );
        check("<iframe src='DATA:text/html,<img src=http://a.test/c.png>'></iframe>", &["http://a.test/c.png"]);
        check("<script src='data:text/javascript,import %22http://a.test/d.js%22'></script>", &["http://a.test/d.js"]);
        let page = found("<script src='data:text/javascript,import %22lib/a%22;import %22./no.js%22'></script>");
        assert_eq!((hrefs(&page).len(), page.modules.iter().map(String::as_str).collect()), (0, vec!["lib/a"]));
        let long = format!("data:text/css,{}", "x".repeat(1 << 20));
        for (href, is_cut) in [(format!("{long}y"), true), (long, false)] {
            assert_eq!(found(&format!("<link rel=stylesheet href='{href}'>")).is_cut, is_cut);
        }
        check("<img src='data:image/svg+xml,<svg><image href=%22http://a.test/no.png%22/></svg>'>", &[]);
        check(
            "<iframe src='data:text/html,<iframe src=%22data:text/html,<img src=http://a.test/no>%22>'></iframe>",
            &[],
        );
    }

    #[test]
    fn what_plugins_show() {
        check(
            "<object><param name=Movie value=a.swf><param name=src value=b.swf><param name=quality value=high></object>",
            &["a.swf", "b.swf"],
        );
        check("<applet code=A.class archive='a.jar, b.jar'></applet>", &["a.jar", "b.jar", "A.class"]);
        check("<applet code=org.a.B.class></applet><applet code=C></applet>", &["org/a/B.class"]);
        let page = found("<applet code=A.class codebase=/c/></applet><img src=i.png>");
        let bases: Vec<usize> = page.references.iter().map(|reference| reference.base).collect();
        assert_eq!((bases, page.bases[0].href.as_str()), (vec![1, 0], "/c/"));
    }

    #[test]
    fn links_of_svg_by_any_prefix_that_is_declared() {
        let svg = |declared: &str| format!("<svg {declared}><image xl:href=a.png /><use xlink:href=b.svg /></svg>");
        check(&svg("xmlns:xl = 'http://www.w3.org/1999/xlink'"), &["a.png", "b.svg"]);
        check(&svg("xmlns:xl='http://www.w3.org/2000/svg'"), &["b.svg"]);
        check(&svg("č='http://www.w3.org/1999/xlink'"), &["b.svg"]);
    }

    /// What each reference is relative to: the bases, from the outermost one on.
    fn bases(html: &str) -> Vec<(String, String)> {
        let page = found(html);
        let chain = |base: usize| {
            let above =
                std::iter::successors(Some(base), |base| page.bases.get(base.checked_sub(1)?).map(|base| base.of));
            let mut chain: Vec<&str> =
                above.filter(|base| *base > 0).map(|base| page.bases[base - 1].href.as_str()).collect();
            chain.reverse();
            chain.join(" ")
        };
        page.references.iter().map(|reference| (reference.href.clone(), chain(reference.base))).collect()
    }

    #[test]
    fn a_reference_is_relative_to_the_base_that_a_browser_knows_by_then() {
        for (html, expect) in [
            ("<img src=a><base href=/b/><base href=/c/><img src=a>", &[("a", ""), ("a", "/b/")][..]),
            ("<base href=/b/><iframe srcdoc='<img src=a>'></iframe><img src=a>", &[("a", "/b/")]),
            (
                "<base href=/b/><iframe srcdoc='<img src=a><base href=c/><img src=a>'></iframe><img src=d>",
                &[("a", "/b/"), ("a", "/b/ c/"), ("d", "/b/")],
            ),
            ("<iframe srcdoc='<base href=/c/><img src=a>'></iframe><img src=a>", &[("a", "/c/"), ("a", "")]),
        ] {
            let expect: Vec<_> = expect.iter().map(|(href, base)| ((*href).to_owned(), (*base).to_owned())).collect();
            assert_eq!(bases(html), expect, "{html}");
        }
        let many = "<iframe srcdoc='<base href=/c/><img src=a>'></iframe>".repeat(200);
        assert!(found(&many).is_cut);
    }

    #[test]
    fn the_base_is_that_of_the_links() {
        let limits = crate::Limits::default();
        for html in [
            "<base href=/b/>",
            "<base target=x><base href=' /b/ '><base href=/c/>",
            "<base href=''><base href=/c/>",
            "<p><noscript><base href=/no/></noscript><img src=a>",
            "<svg><base href=/no/></svg><math><base href=/no/></math><base href=/b/>",
            "<svg><foreignObject><base href=/b/></foreignObject></svg>",
            "<template><base href=/no/></template><div><template shadowrootmode=open><base href=/no/></template></div>",
            "<textarea><base href=/no/></textarea><iframe srcdoc='<base href=/no/>'></iframe>",
            "<iframe srcdoc='<base href=/no/>'></iframe><base href=/b/>",
        ] {
            let links = crate::html::extract(html.as_bytes(), Some("text/html"), &limits);
            assert_eq!(found(html).base_href, links.base_href, "{html}");
            assert_eq!(links.base_href.is_some(), html.contains("/b/") || html.contains("''>"), "{html}");
        }
    }

    #[test]
    fn what_for() {
        let of = |html: &str| found(html).references.first().map(|reference| reference.role);
        for (html, role) in [
            ("<iframe src=a></iframe>", Role::Frame),
            ("<iframe data-src=a/></iframe>", Role::Frame),
            ("<frameset><frame src=a>", Role::Frame),
            ("<object data=a></object>", Role::Frame),
            ("<embed src=a>", Role::Frame),
            ("<img src=a><iframe src=a></iframe>", Role::Frame),
            ("<link rel=stylesheet href=a>", Role::StyleSheet),
            ("<link rel=preload as=style href=a>", Role::StyleSheet),
            ("<style>@import url(a)</style>", Role::StyleSheet),
            ("<link rel=preload href=a>", Role::File),
            ("<link rel=icon href=a>", Role::File),
            ("<img src=a>", Role::File),
            ("<iframe srcdoc='<img src=a>'></iframe>", Role::File),
            ("<script src=a></script>", Role::File),
            ("<video poster=a></video>", Role::File),
        ] {
            assert_eq!(of(html), Some(role), "{html}");
        }
    }

    #[test]
    fn what_scripts_load_late() {
        check("<img data-src=a.png data-srcset='b.png 2x' src='data:image/gif;base64,R0lG'>", &["a.png", "b.png"]);
        check("<img data-original=a/b><img data-src=12><img data-src='{{ url }}.png'><div data-src=c.png>", &["a/b"]);
        check("<div data-bg='url(a.png)'></div><div data-background-image=b.png></div>", &["a.png", "b.png"]);
        check("<iframe data-src=https://a.test/x></iframe>", &["https://a.test/x"]);
        for name in
            ["cfsrc", "orig-file", "large-file", "src-retina", "ll-src", "actualsrc"].map(|name| format!("data-{name}"))
        {
            check(&format!("<img {name}=a.png><div {name}=b.png>"), &["a.png"]);
        }
        check(
            "<img nitro-lazy-src=a.png><div data-bg-url=b.png></div><div data-poster=c.png>",
            &["a.png", "b.png", "c.png"],
        );
    }

    #[test]
    fn nothing_that_leads_nowhere() {
        check("<img src><img src=''><img src='#x'><img src=about:blank><iframe src=javascript:1><img src=blob:x>", &[]);
        check("<img src=a.png><img src=a.png#b><img src=' a.png '>", &["a.png"]);
    }

    #[test]
    fn base_icons_and_limits() {
        let page = found("<base href=/b/><base href=/c/><link rel=icon href=i>");
        assert_eq!((page.base_href.as_deref(), page.has_icon, page.is_cut), (Some("/b/"), true, false));
        assert!(!found("<p>").has_icon);
        let meta = |policy: &str| format!("<meta name=referrer content='{policy}'>");
        for (policy, is_unnamed) in [("no-referrer", true), ("Same-Origin", true), ("origin", false), ("", false)] {
            assert_eq!(found(&meta(policy)).is_unnamed, is_unnamed, "{policy}");
        }
        for (later, is_unnamed) in [("", true), ("unheard-of", true), ("origin", false), ("origin, unheard-of", false)]
        {
            assert_eq!(found(&[meta("no-referrer"), meta(later)].concat()).is_unnamed, is_unnamed, "{later}");
        }
        let frame = "<iframe srcdoc='<meta name=referrer content=origin>'></iframe>";
        assert!(found(&[&meta("no-referrer"), frame].concat()).is_unnamed, "a frame says nothing of its page");
        let many: String = (0..200).map(|n| format!("<img src={n}.png>")).collect();
        let many = found(&many);
        assert_eq!((many.references.len(), many.is_cut), (100, true));
        assert!(found(&format!("<img src={}>", "x".repeat(1_001))).is_cut);
    }
}
