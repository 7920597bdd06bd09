//! URLs of a `srcset` attribute (HTML Standard, "parse a srcset attribute").

/// The candidates' URLs in order. Descriptors (`2x`, `100w`) are skipped unjudged: which candidate a
/// browser would choose does not matter to someone who takes all.
pub fn urls(srcset: &str) -> impl Iterator<Item = &str> {
    let mut rest = srcset;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (url, after) = rest.split_at(end);
        let bare = url.trim_end_matches(',');
        // A comma at the URL's end ends the candidate: it has no descriptors then.
        rest = if bare.len() < url.len() { after } else { after_descriptors(after) };
        Some(bare)
    })
}

/// What follows the comma that ends the descriptors; commas in parentheses do not end them.
fn after_descriptors(text: &str) -> &str {
    let mut in_parens = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => in_parens = true,
            b')' => in_parens = false,
            b',' if !in_parens => return &text[at + 1..],
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(srcset: &str, expect: &[&str]) {
        assert_eq!(urls(srcset).collect::<Vec<_>>(), expect, "{srcset:?}");
    }

    #[test]
    fn srcset_follows_the_standard() {
        check("", &[]);
        check(" , ,\n", &[]);
        check("a.png", &["a.png"]);
        check("a.png, b.png 2x", &["a.png", "b.png"]);
        check("a.png 1x, b.png 2x", &["a.png", "b.png"]);
        check("a.png 100w,b.png 200w", &["a.png", "b.png"]);
        check("a.png,b.png 2x", &["a.png,b.png"]);
        check("a,b.png 1x, c,d.png 2x", &["a,b.png", "c,d.png"]);
        check("a.png,,, b.png", &["a.png", "b.png"]);
        check("  a.png\t1x\n,\n b.png", &["a.png", "b.png"]);
        check("a.png (1x, 2x), b.png", &["a.png", "b.png"]);
        check("a.png (1x, b.png", &["a.png"]);
        check("data:image/gif;base64,R0lG 1x, b.png 2x", &["data:image/gif;base64,R0lG", "b.png"]);
        check("a.png 1x 2x bogus, b.png", &["a.png", "b.png"]);
    }
}
