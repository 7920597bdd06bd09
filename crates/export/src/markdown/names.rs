//! File names made of URLs: `HOST/PATH.md`, readable, and safe on any file system.
//!
//! Names are in lower case, so that two of them differ on disks that do not tell cases apart; they never end with a dot, are
//! no device of Windows and have at most [`NAME_BYTES_MAX`] bytes. Directories never end with `.md` and files always do, so
//! that none is in the way of the other. Two URLs may come to the same name: then the later gets its key behind it.

use std::path::PathBuf;

use weburl::CanonicalUrl;

/// The bytes of a name that come from the URL. With the key and the ending it stays below the 255 that file systems allow.
const NAME_BYTES_MAX: usize = 180;
/// The directories below that of the host; what lies deeper goes into the name.
const DIRS_MAX: usize = 16;
/// The path of a file, in bytes; of a longer one only the host and the name stay.
const PATH_BYTES_MAX: usize = 800;

/// The ending of all files.
const ENDING: &str = ".md";

/// The names a page may have: the first that is free is taken.
pub(super) fn candidates(url: &CanonicalUrl) -> impl Iterator<Item = PathBuf> {
    let (dir, stem) = dir_and_stem(url);
    let key = data_encoding::HEXLOWER.encode(&url.key().to_bytes());
    let plain = dir.join(format!("{stem}{ENDING}"));
    let others = (0..100).map(move |n| {
        let count = if n == 0 { String::new() } else { format!("-{n}") };
        dir.join(format!("{stem}-{key}{count}{ENDING}"))
    });
    std::iter::once(plain).chain(others)
}

fn dir_and_stem(url: &CanonicalUrl) -> (PathBuf, String) {
    let site = url.site();
    let authority = site.as_str().split_once("://").map_or("", |(_, authority)| authority);
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => safe(&format!("{host}_{port}")),
        _ => safe(authority),
    };
    let (path, query) = url.path_and_query().split_once('?').unwrap_or((url.path_and_query(), ""));
    let mut names: Vec<String> = path.split('/').filter(|name| !name.is_empty()).map(decoded).collect();
    let mut stem = if path.ends_with('/') { "index".to_owned() } else { names.pop().unwrap_or("index".to_owned()) };
    for ending in [".html", ".htm", ".xhtml"] {
        stem.truncate(stem.strip_suffix(ending).filter(|rest| !rest.is_empty()).map_or(stem.len(), str::len));
    }
    if !query.is_empty() {
        stem = format!("{stem}-{}", decoded(query));
    }
    let deep = names.split_off(names.len().min(DIRS_MAX));
    let stem = safe(&[deep, vec![stem]].concat().join("-"));
    let mut dir = PathBuf::from(dir_name(host));
    let host = dir.clone();
    dir.extend(names.iter().map(|name| dir_name(safe(name))));
    if dir.as_os_str().len() > PATH_BYTES_MAX { (host, stem) } else { (dir, stem) }
}

/// A directory has not the ending of a file.
fn dir_name(name: String) -> String {
    if name.ends_with(ENDING) { format!("{name}_") } else { name }
}

/// A name as people write it: percent-encoding undone where it is UTF-8.
fn decoded(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let [first, others @ ..] = rest {
        let digit = |at: usize| others.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).unwrap_or_default());
                rest = &others[2..];
            }
            _ => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_owned())
}

/// A name that every file system takes: no separator, no control, no case, of bounded length.
fn safe(name: &str) -> String {
    let is_kept = |character: &char| character.is_alphanumeric() || "-_.~+=@,".contains(*character);
    let lower = name.chars().flat_map(char::to_lowercase);
    let mut safe: String = lower.map(|character| if is_kept(&character) { character } else { '-' }).collect();
    if safe.len() > NAME_BYTES_MAX {
        let end = (0..=NAME_BYTES_MAX).rev().find(|end| safe.is_char_boundary(*end)).unwrap_or_default();
        safe.truncate(end);
    }
    if safe.starts_with('.') {
        safe.replace_range(..1, "_");
    }
    if safe.ends_with('.') {
        safe.truncate(safe.len() - 1);
        safe.push('_');
    }
    if safe.is_empty() || is_device(safe.split('.').next().unwrap_or_default()) {
        safe.insert(0, '_');
    }
    safe
}

/// Names that Windows keeps for devices, whatever their ending.
fn is_device(stem: &str) -> bool {
    let numbered =
        |name: &str| stem.strip_prefix(name).is_some_and(|n| n.len() == 1 && n != "0" && n.parse::<u8>().is_ok());
    matches!(stem, "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(url: &str) -> String {
        let url = CanonicalUrl::parse(url, &weburl::CanonicalRules::default()).unwrap();
        candidates(&url).next().unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn names_are_readable() {
        for (url, expect) in [
            ("http://a.test/", "a.test/index.md"),
            ("https://a.test:8443/x/", "a.test_8443/x/index.md"),
            ("http://a.test/Docs/Intro.html", "a.test/docs/intro.md"),
            ("http://a.test/a/b?page=2&sort=up", "a.test/a/b-page=2-sort=up.md"),
            ("http://a.test/%C4%8Daj/%C5%A0koljka", "a.test/čaj/školjka.md"),
            ("http://a.test/.html", "a.test/_html.md"),
            ("http://[::1]/x", "---1-/x.md"),
        ] {
            assert_eq!(name(url), expect, "{url}");
        }
    }

    #[test]
    fn names_are_safe() {
        for (url, expect) in [
            ("http://a.test/..%2f..%2fetc/passwd", "a.test/_.-..-etc/passwd.md"),
            ("http://a.test/%00%0a|<>\"", "a.test/------.md"),
            ("http://a.test/.hidden/.x", "a.test/_hidden/_x.md"),
            ("http://a.test/con/AUX.html", "a.test/_con/_aux.md"),
            ("http://a.test/x.md/y", "a.test/x.md_/y.md"),
            ("http://a.test/x./y.", "a.test/x_/y_.md"),
        ] {
            assert_eq!(name(url), expect, "{url}");
        }
    }

    #[test]
    fn names_are_bounded() {
        for url in [
            format!("http://a.test/{}", "š".repeat(1000)),
            format!("http://a.test/{}", "d/".repeat(1000)),
            format!("http://a.test/{}x?{}", "dddddddddddddddddddddddddddd/".repeat(60), "q".repeat(1000)),
        ] {
            let rules = weburl::CanonicalRules { url_bytes_max: 1 << 20, ..weburl::CanonicalRules::default() };
            let url = CanonicalUrl::parse(&url, &rules).unwrap();
            for path in candidates(&url) {
                assert!(path.as_os_str().len() < 1_100, "{path:?}");
                assert!(path.components().all(|name| name.as_os_str().len() <= 255), "{path:?}");
            }
        }
    }

    #[test]
    fn what_comes_to_the_same_name_has_others_to_take() {
        let url = |text| CanonicalUrl::parse(text, &weburl::CanonicalRules::default()).unwrap();
        let (a, b) = (url("http://a.test/x"), url("https://a.test/X.html"));
        let (a, b): (Vec<_>, Vec<_>) = (candidates(&a).collect(), candidates(&b).collect());
        assert_eq!(a[0], b[0]);
        assert!(a[1..].iter().all(|name| !b.contains(name)));
    }
}
