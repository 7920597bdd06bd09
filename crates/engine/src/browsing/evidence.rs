//! Whether a page shows what it has to show without its scripts.

use extract::{LinkKind, html};

/// A page with less text than this has not much to show.
const TEXT_CHARS_MIN: usize = 200;
/// What the roots of known applications look like while they are empty.
const SHELLS: [&str; 8] = [
    "<div id=\"root\"></div>",
    "<div id=root></div>",
    "<div id=\"app\"></div>",
    "<div id=app></div>",
    "<div id=\"__next\"></div>",
    "<div id=\"__nuxt\"></div>",
    "<app-root></app-root>",
    "<div id=\"svelte\"></div>",
];

/// What a page has to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Worth {
    /// Characters of visible text.
    pub(super) text_chars: usize,
    /// Links that can be followed.
    pub(super) links: usize,
    /// It has scripts, handlers of events, or documents within it that have no URL.
    is_active: bool,
    is_shell: bool,
}

pub(super) fn worth(body: &[u8], content_type: Option<&str>) -> Worth {
    let page = html::extract(body, content_type, &extract::Limits::default());
    let source = String::from_utf8_lossy(body).to_ascii_lowercase();
    Worth {
        text_chars: page.text.chars().count(),
        links: page
            .links
            .iter()
            .filter(|link| matches!(link.kind, LinkKind::Anchor | LinkKind::Area | LinkKind::Onclick))
            .count(),
        is_active: ["<script", " onclick=", " srcdoc="].iter().any(|sign| source.contains(sign)),
        is_shell: SHELLS.iter().any(|shell| source.contains(shell)),
    }
}

impl Worth {
    /// What says that there is more than is seen; `None` where nothing does.
    pub(super) fn evidence(&self) -> Option<&'static str> {
        match self {
            Worth { is_active: false, .. } => None,
            Worth { is_shell: true, .. } => Some("the empty root of an application"),
            Worth { text_chars: 0, .. } => Some("nothing but scripts"),
            Worth { text_chars, .. } if *text_chars < TEXT_CHARS_MIN => Some("scripts and little text"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str, expect: Option<&str>) {
        assert_eq!(worth(html.as_bytes(), Some("text/html")).evidence(), expect, "{html}");
    }

    #[test]
    fn scripts_without_content_are_evidence() {
        let long = "Words that are there without any script. ".repeat(10);
        check("<p>short", None);
        check("<script src=/app.js></script>", Some("nothing but scripts"));
        check("<p>Loading</p><script>x()</script>", Some("scripts and little text"));
        check("<iframe srcdoc='<a href=/x>x</a>'></iframe>", Some("nothing but scripts"));
        check("<p onclick=\"location='/x'\">go</p>", Some("scripts and little text"));
        check(&format!("<script src=/doctools.js></script><p>{long}"), None);
        check(
            &format!("<DIV id=\"app\"></DIV><noscript>{long}</noscript><script></script><p>{long}"),
            Some("the empty root of an application"),
        );
    }
}
