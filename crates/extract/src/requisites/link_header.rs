//! The `Link` field of an answer (RFC 8288): browsers load some of its targets as those of `link` elements.

use super::Requisites;
use super::html::{candidates, role_of_link};

/// Links that are read of one value, at most.
const LINKS_MAX: usize = 1_000;

/// Adds what a value of the field names.
pub fn of_link_field(value: &str, found: &mut Requisites) {
    let mut rest = value;
    for _ in 0..LINKS_MAX {
        let Some((_, behind)) = rest.split_once('<') else { return };
        let Some((target, behind)) = behind.split_once('>') else { return };
        let (parameters, next) = behind.split_at(end_of(behind, b','));
        rest = next;
        let of = |name: &str| parameter(parameters, name).unwrap_or_default();
        if let Some(role) = role_of_link(of("rel"), of("as"), found) {
            found.add(target, role);
            candidates(of("imagesrcset"), found);
        }
    }
    found.is_cut |= rest.contains('<');
}

/// Where a part ends: before a separator that is in no quoted value, or at the end.
fn end_of(text: &str, separator: u8) -> usize {
    let mut is_quoted = false;
    let end = text.bytes().position(|byte| {
        is_quoted ^= byte == b'"';
        byte == separator && !is_quoted
    });
    end.unwrap_or(text.len())
}

/// The first parameter of this name, without its quotes.
fn parameter<'p>(mut parameters: &'p str, name: &str) -> Option<&'p str> {
    while !parameters.is_empty() {
        let (parameter, rest) = parameters.split_at(end_of(parameters, b';'));
        parameters = rest.strip_prefix(';').unwrap_or_default();
        if let Some((key, value)) = parameter.split_once('=')
            && key.trim().eq_ignore_ascii_case(name)
        {
            return Some(value.trim().trim_matches('"'));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requisites::{Limits, Role, hrefs};

    #[test]
    fn links_that_browsers_load() {
        for (value, expect) in [
            ("</a.css>; rel=stylesheet, <b.png>; rel=preload; as=image", &["/a.css", "b.png"][..]),
            ("<c.mjs>; rel=\"modulepreload\";x=\"a,<b>\", <d>; REL=\"icon x\"", &["c.mjs", "d"]),
            ("<e>; rel=next, <f>, <g>; rel=preconnect", &[]),
            ("<h", &[]),
            ("<i>; rel=\"stylesheet", &["i"]),
            (
                "</j.png>; rel=preload; as=image; imagesrcset=\"/k.png 1x, /l.png?a;b 2x\"; imagesizes=50vw, <m>; rel=icon",
                &["/j.png", "/k.png", "/l.png?a;b", "m"],
            ),
            ("<n>; rel=next; imagesrcset=\"o 1x\"", &[]),
        ] {
            let mut found = Requisites::new(Limits { references_max: 10, href_bytes_max: 100 });
            of_link_field(value, &mut found);
            assert_eq!(hrefs(&found), expect, "{value}");
        }
        let mut found = Requisites::new(Limits { references_max: 10, href_bytes_max: 100 });
        of_link_field("<a>; rel=preload; as=style", &mut found);
        assert_eq!((found.references[0].role, found.is_cut), (Role::StyleSheet, false));
        of_link_field(&"<a>,".repeat(LINKS_MAX + 1), &mut found);
        assert!(found.is_cut);
    }
}
