//! One URL, many spellings.

use super::{Link, path_of, site_text};
use crate::rng::Rng;

/// A link to `target`, written in some way. Relative ways only where `from` is given: the page must be the link's only one.
pub(super) fn link(rng: &mut Rng, from: Option<&str>, target: &str) -> Link {
    let (site, path) = (site_text(target), path_of(target));
    let relative = from.is_some_and(|from| site_text(from) == site);
    let href = match rng.below(if relative { 9 } else { 7 }) {
        0 | 1 => target.to_owned(),
        2 => format!("{}{path}", shout_host(site)),
        3 => format!("{site}/x/y/../..{path}"),
        4 => format!("{target}#part-{}", rng.below(9)),
        5 => encode_a_letter(site, path),
        6 => with_port(site, path),
        7 => path.to_owned(),
        _ => format!("/./{}", &path[1..]),
    };
    Link { target: target.to_owned(), href }
}

/// The host in capitals: the same host (RFC 3986 §6.2.2.1).
fn shout_host(site: &str) -> String {
    match site.split_once("://") {
        Some((scheme, host)) => format!("{scheme}://{}", host.to_ascii_uppercase()),
        None => site.to_owned(),
    }
}

/// The first letter of the path percent-encoded: the same path (RFC 3986 §6.2.2.2).
fn encode_a_letter(site: &str, path: &str) -> String {
    match path.char_indices().find(|(_, c)| c.is_ascii_lowercase()) {
        Some((at, letter)) => format!("{site}{}%{:02X}{}", &path[..at], u32::from(letter), &path[at + 1..]),
        None => format!("{site}{path}"),
    }
}

/// The default port written out; nothing where the site has another.
fn with_port(site: &str, path: &str) -> String {
    let port = match site.split_once("://") {
        Some((_, host)) if host.contains(':') => "",
        Some(("https", _)) => ":443",
        _ => ":80",
    };
    format!("{site}{port}{path}")
}
