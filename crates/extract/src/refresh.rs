//! `content` of `meta http-equiv=refresh` (HTML Standard, "shared declarative refresh steps").

use crate::href;
use crate::page::Refresh;

/// Reads a refresh; `None` if a browser would not refresh either.
#[must_use]
pub fn parse(content: &str) -> Option<Refresh> {
    let content = content.trim_ascii_start();
    let digits = count(content, |b| b.is_ascii_digit());
    let rest = &content[digits..];
    if digits == 0 && !rest.starts_with('.') {
        return None;
    }
    // Only too many digits can fail here: such a page never refreshes, but it has a URL.
    let delay_s = content[..digits].parse().unwrap_or(if digits == 0 { 0 } else { u32::MAX });
    let rest = &rest[count(rest, |b| b.is_ascii_digit() || b == b'.')..];
    if rest.is_empty() {
        return Some(Refresh { delay_s, url: None });
    }
    if !rest.starts_with([';', ',']) && !rest.starts_with(|c: char| c.is_ascii_whitespace()) {
        return None;
    }
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_ascii_start();
    let url = (!rest.is_empty()).then(|| href::clean(url_part(rest)).into_owned());
    Some(Refresh { delay_s, url })
}

/// The URL, with or without `url=` and quotes.
fn url_part(rest: &str) -> &str {
    let named = rest
        .get(..3)
        .filter(|word| word.eq_ignore_ascii_case("url"))
        .and_then(|_| rest[3..].trim_ascii_start().strip_prefix('='));
    let value = named.map_or(rest, str::trim_ascii_start);
    for quote in ['\'', '"'] {
        if let Some(quoted) = value.strip_prefix(quote) {
            return quoted.split(quote).next().unwrap_or(quoted);
        }
    }
    value
}

fn count(text: &str, wanted: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|&b| wanted(b)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, expect: Option<(u32, Option<&str>)>) {
        let expect = expect.map(|(delay_s, url)| Refresh { delay_s, url: url.map(str::to_owned) });
        assert_eq!(parse(content), expect, "{content:?}");
    }

    #[test]
    fn refresh_follows_the_standard() {
        check("", None);
        check("x", None);
        check("url=/a", None);
        check("5", Some((5, None)));
        check(" 5 ", Some((5, None)));
        check("5;", Some((5, None)));
        check("5x", None);
        check(".5; url=a", Some((0, Some("a"))));
        check("1.9; url=a", Some((1, Some("a"))));
        check("0; url=/a", Some((0, Some("/a"))));
        check("0;URL=/a", Some((0, Some("/a"))));
        check("0, url = '/a b' x", Some((0, Some("/a b"))));
        check("0; url=\"/a'b\"", Some((0, Some("/a'b"))));
        check("0; '/a", Some((0, Some("/a"))));
        check("0 /a", Some((0, Some("/a"))));
        check("0; /a", Some((0, Some("/a"))));
        check("0; urlx", Some((0, Some("urlx"))));
        check("0; url /a", Some((0, Some("url /a"))));
        check("0; url=", Some((0, Some(""))));
        check("99999999999; url=a", Some((u32::MAX, Some("a"))));
        check("0; ur\u{e9}", Some((0, Some("ur\u{e9}"))));
    }
}
